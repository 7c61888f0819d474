"""`bench tick`: one robot's decision, view to command, beside bare onnxruntime and bare daqp on the same inputs."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import Row, percentiles
from benchmarks.nodes import tick_eyes, tick_load

BLOCKS, BLOCK, WARM_UP = 20, 300, 20


def rows(cases: tuple[str, ...] = ()) -> list[Row]:
    """Both cases, or those that are named."""
    return [row for case in cases or CASES for row in CASES[case]()]


def swap() -> list[Row]:
    """The shipped bundle on its golden views; the cases take turns, some hundred decisions each."""
    from robomarl.core.bundle.pilot import Pilot, pilot_of
    from robomarl.core.bundle.runtime import load_policy, read_golden
    from robomarl.core.filter.filter import SafetyFilter

    policy = load_policy("swap_4")
    sequences = read_golden(policy.bundle)
    steps = sequences.obs.shape[1]
    views = tick_load.views_of(sequences)
    observations = [sequences.obs[0, t, 0] for t in range(steps)]
    # The kernel keeps its problems to itself; the numpy filter sets up the same ones.
    problems = recorded_problems(Pilot(policy, SafetyFilter(policy.contract.safety, backend="numpy")), views)
    memory = policy.observation.init(views[0])
    run_network = bare_network(policy, observations)
    cases = {
        "view to command": decisions(Pilot(policy, SafetyFilter(policy.contract.safety)), views),
        "the same with the rules against deadlock": decisions(pilot_of(policy, policy.contract.safety), views),
        "observation alone": lambda i: timed(policy.observation.observe, memory, views[i % steps])[0],
        "bare onnxruntime, io binding": lambda i: run_network(i % steps),
        "bare daqp, the filter's problems": lambda i: timed(bare_daqp, *problems[i % len(problems)])[0],
    }
    samples: dict[str, list[float]] = {case: [] for case in cases}
    for _ in range(BLOCKS):
        for case, measure in cases.items():
            samples[case] += [measure(i) for i in range(BLOCK + WARM_UP)][WARM_UP:]
    found = [row for case, taken in samples.items() for row in percentiles(taken, case)]
    p50 = {row.case: row.value for row in found if row.metric == "p50"}
    bare = p50["bare onnxruntime, io binding"] + p50["bare daqp, the filter's problems"]
    return [*found, Row("view to command", "times bare onnxruntime + daqp", p50["view to command"] / bare, "x")]


def decisions(pilot: Any, views: list) -> Callable[[int], float]:
    """Seconds of the next decision, on the view of that number."""
    carry = pilot.init(views[0])

    def next_one(i: int) -> float:
        nonlocal carry
        took, (carry, _) = timed(pilot.step, carry, views[i % len(views)])
        return took

    return next_one


def timed(call: Callable, *args: Any) -> tuple[float, Any]:
    """Seconds of a call, and its result."""
    started = time.perf_counter_ns()
    result = call(*args)
    return (time.perf_counter_ns() - started) / 1e9, result


def bare_network(policy: Any, observations: list[np.ndarray]) -> Callable[[int], float]:
    """A function that times the network alone, inputs and outputs bound, on one of the observations."""
    from robomarl.core.bundle.bundle import POLICY_FILE
    from robomarl.core.bundle.runtime import open_session

    session = open_session(policy.bundle.files[POLICY_FILE])
    source, target = np.zeros((1, policy.observation.size), np.float32), np.zeros((1, policy.action.size), np.float32)
    binding = session.io_binding()
    names = session.get_inputs()[0].name, session.get_outputs()[0].name
    binding.bind_input(names[0], "cpu", 0, np.float32, source.shape, source.ctypes.data)
    binding.bind_output(names[1], "cpu", 0, np.float32, target.shape, target.ctypes.data)

    def run(i: int) -> float:
        source[0] = observations[i]
        return timed(session.run_with_iobinding, binding)[0]

    return run


def recorded_problems(pilot: Any, views: list) -> list[tuple]:
    """The QPs that the filter sets up on these views, as daqp takes them: the box, the last six rows, apart."""
    from robomarl.core.filter import filter as module

    problems, library = [], module._NUMPY

    def record(rows: np.ndarray, point: np.ndarray) -> Any:
        *normals, bounds = np.moveaxis(rows[:-6, :, 0], 1, 0)
        high, low = rows[-6::2, 3, 0], -rows[-5::2, 3, 0]
        sides = np.concatenate([high, bounds]), np.concatenate([low, np.full(len(bounds), -1e30)])
        matrix = np.ascontiguousarray(np.stack(normals, -1))
        problems.append((-point[:, 0], matrix, *sides, np.zeros(len(bounds) + 3, np.int32)))
        return library.solve(rows, point)

    carry = pilot.init(views[0])
    module._NUMPY = library._replace(solve=record)
    try:
        for view in views:
            carry, _ = pilot.step(carry, view)
    finally:
        module._NUMPY = library
    return problems


_IDENTITY = np.eye(3)


def bare_daqp(aim: np.ndarray, rows: np.ndarray, upper: np.ndarray, lower: np.ndarray, sense: np.ndarray) -> Any:
    """Nothing but the solver."""
    import daqp

    return daqp.solve(_IDENTITY, aim, rows, upper, lower, sense)


CASES: dict[str, Callable[[], list[Row]]] = {"swap": swap, "load": tick_load.rows, "eyes": tick_eyes.rows}
"""By the bundle's task: a team that carries nothing, a carrier with its low-level controller, a player that sees."""
