"""Campaign: does `policy_filtered.onnx` ever say `ok` where the filter in double precision does not?"""

from typing import Any

import numpy as np

from benchmarks import Row
from benchmarks.filter import faults

COUNT = 100_000
CHUNK = 2500
CLOSE_M_S2 = 1e-4
"""Largest difference of a command that counts as none in single precision."""


def rows() -> list[Row]:
    """The whole campaign: robots in a crowd, and the same with a fault each."""
    return campaign(COUNT)


def campaign(count: int, seed: int = 0) -> list[Row]:
    """At least so many decisions, half of them with a fault; what the graph said of them."""
    from tqdm import tqdm

    safety, graph, random = faults.make_filter("numpy"), make_graph(), np.random.default_rng(seed)
    done = infeasible = falsely = needless = off = 0
    kinds = list(faults.FAULTS)
    with tqdm(total=count, desc="graph", unit="decision", disable=None) as bar:
        while done < count:
            for arrays in (crowd(random, CHUNK), faults.draw(kinds[done % len(kinds)], random, CHUNK).arrays):
                arrays = {name: single(array) for name, array in arrays.items()}
                expected = safety(safety.init((CHUNK,)), faults.view_of(arrays), arrays["nominal"])[1]
                command, ok, _ = graph(faults.view_of(arrays), arrays["nominal"])
                apart = np.abs(command - expected.command).max(-1)
                infeasible += int((expected.reason == 1).sum())
                falsely += int((ok & ~expected.solved).sum())
                needless += int((~ok & expected.solved).sum())
                off += int((ok & expected.solved & ~(apart <= CLOSE_M_S2)).sum())
                done += CHUNK
                bar.update(CHUNK)
    found = {"infeasible among them": infeasible, "ok, but not in double precision": falsely}
    found |= {"not ok, but solved in double": needless, f"ok, and off by more than {CLOSE_M_S2:g}": off}
    return [Row("graph, decisions", "tried", done, ""), *(Row("graph, decisions", k, v, "") for k, v in found.items())]


def crowd(random: np.random.Generator, num: int) -> dict[str, np.ndarray]:
    """Robots so close to each other and so fast that many have no way out."""
    mates = faults.MATES
    return {
        "pos": random.uniform(-1, 1, (num, 3)) + [0, 0, 1.5],
        "vel": random.normal(size=(num, 3)) * 0.7,
        "age": random.uniform(0, 0.01, num),
        "mate_pos": random.uniform(-1, 1, (num, mates, 3)) + [0, 0, 1.5],
        "mate_vel": random.normal(size=(num, mates, 3)) * 0.7,
        "mate_age": random.uniform(0, 0.1, (num, mates)),
        "mask": np.ones((num, mates), bool),
        "nominal": random.normal(size=(num, 4)) * 3,
    }


def single(array: np.ndarray) -> np.ndarray:
    """The numbers that single precision holds, in double."""
    return array.astype(np.float32).astype(float) if array.dtype == float else array


def make_graph() -> Any:
    """The graph of a policy that does what its observation says: (view, nominal) -> (command, ok, reason)."""
    import onnxruntime

    from robomarl.core.bundle.filtered import leaves
    from robomarl.lab.export.filtered import Shapes, filtered_function
    from robomarl.lab.export.graph import to_onnx

    params, memory = faults.make_filter("numpy").params, faults.make_filter("numpy").init
    graph = to_onnx(*filtered_function(lambda carry, obs: (carry, obs), Shapes(4, faults.MATES), params))
    session = onnxruntime.InferenceSession(graph)
    kinds = {"tensor(float)": np.float32, "tensor(bool)": bool, "tensor(int32)": np.int32}

    def decide(view: Any, nominal: np.ndarray) -> list[np.ndarray]:
        given = dict(leaves(view, "")) | dict(leaves(memory((len(nominal),)), "safety"))
        given["obs"] = nominal
        feed = {node.name: np.asarray(given[node.name], kinds[node.type]) for node in session.get_inputs()}
        return [np.asarray(found) for found in session.run(["command", "ok", "reason"], feed)]

    return decide
