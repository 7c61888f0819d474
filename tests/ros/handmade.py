"""What bundles have in common whose policy is written by hand: an ONNX graph, a golden sequence, the files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

from robomarl.core.bundle import golden
from robomarl.core.bundle.bundle import entry_of, seal
from robomarl.core.bundle.contract import Contract
from robomarl.lab.export.record import actions_seen

STEPS = 25
"""Decisions of the golden sequence."""


def graph(nodes: list[NodeProto], constants: dict[str, np.ndarray], sizes: tuple[int, int]) -> bytes:
    """ONNX from `obs` to `action`, of so many elements each."""
    obs, action = sizes
    made = helper.make_graph(
        nodes,
        "handmade",
        [helper.make_tensor_value_info("obs", TensorProto.FLOAT, ["batch", obs])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["batch", action])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def golden_of(sim: Any, contract: Contract, act: Callable[[np.ndarray], np.ndarray]) -> golden.Golden:
    """Views, observations, actions and filtered commands of a flight from the simulator's reset."""
    sim.reset()
    spec, views, seen, acts = contract.observation.spec, [], [], []
    memory = spec.init(sim.views())
    for _ in range(STEPS):
        view = sim.views()
        memory, obs = spec.observe(memory, view)
        action = act(obs)
        views, seen, acts = [*views, view], [*seen, obs], [*acts, action]
        sim.step(action)

    def stack(*leaves: Any) -> Any:
        return type(leaves[0])(*map(stack, *leaves)) if hasattr(leaves[0], "_fields") else np.stack(leaves, 1)

    flown, action = stack(*views), np.stack(acts, 1)
    return golden.Golden(flown, np.stack(seen, 1), action, golden.filtered(contract, flown, action))


def write_bundle(folder: Path, plain: Contract, network: bytes, flown: golden.Golden) -> Path:
    """Seal and write; returns the folder."""
    files = {
        "policy.onnx": network,
        "golden.npz": golden.to_bytes(flown),
        "README.md": f"# {plain.name}\n".encode(),
    }
    seen = actions_seen(flown.action)
    contract = replace(plain, actions_seen=seen, files={path: entry_of(data) for path, data in files.items()})
    folder.mkdir(parents=True)
    for path, data in {**files, "bundle.json": seal(contract)}.items():
        (folder / path).write_bytes(data)
    return folder
