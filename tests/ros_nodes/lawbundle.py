"""A bundle that carries without training: a decentralized law, linear but for its limits, as an ONNX graph."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from robomarl.policies import golden
from robomarl.policies.bundle import entry_of, seal
from robomarl.policies.contract import Carry, Contract, Element, Observation, describe
from robomarl.safety.filter import Arena, from_vehicle
from robomarl.sim.engines.mujoco import MujocoTeam
from robomarl.sim.scenario import Scenario, load_scenario
from robomarl.spec import ObservationField, ObservationSpec
from tests.ros_nodes.bundles import contract_of

POSITION_PER_S, VELOCITY_PER_S, DAMPING_PER_S, HISTORY = 1.5, 3.0, 1.0, 3
SPEC = ObservationSpec(
    (ObservationField("place_error"), ObservationField("velocity"), ObservationField("point_error", HISTORY))
)


def gains(scenario: Scenario) -> np.ndarray:
    """[15, 5] the law's matrix: to the own place, and along with the own point of the load, which calms its swing."""
    law, swing = np.zeros((SPEC.size, 5)), DAMPING_PER_S / ((HISTORY - 1) * scenario.period_s)
    eye = np.eye(3)
    law[0:3, :3], law[3:6, :3] = VELOCITY_PER_S * POSITION_PER_S * eye, -VELOCITY_PER_S * eye
    law[6:9, :3], law[-3:, :3] = -swing * eye, swing * eye
    return law


def graph(matrix: np.ndarray, low: np.ndarray, high: np.ndarray) -> bytes:
    node = helper.make_node
    nodes = [
        node("MatMul", ["obs", "gains"], ["raw"]),
        node("Max", ["raw", "low"], ["above"]),
        node("Min", ["above", "high"], ["action"]),
    ]
    constants = {"gains": matrix, "low": low[None], "high": high[None]}
    made = helper.make_graph(
        nodes,
        "law",
        [helper.make_tensor_value_info("obs", TensorProto.FLOAT, ["batch", len(matrix)])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["batch", matrix.shape[1]])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def contract_for(scenario: Scenario, spec: ObservationSpec) -> Contract:
    arena = Arena(scenario.arena.low_m, scenario.arena.high_m)
    safety = from_vehicle(scenario.vehicle_config, scenario.period_s, arena, min_mates=scenario.count - 1)
    elements = tuple(Element(n, unit, frame, -9.0, 9.0, 0.0, 1.0, 0.16) for n, unit, frame, _ in describe(spec))
    gap_s = 5 * scenario.period_s
    seen = {f.name: f.history for f in spec.fields if f.history > 1}
    memory = tuple(Carry("observation", name, (history - 1, 3), max_gap_s=gap_s) for name, history in seen.items())
    return replace(
        contract_of(scenario, "law"),
        observation=Observation(spec, elements, tuple(sorted(spec.reads))),
        team_size=(scenario.count, scenario.count),
        carries=(*memory, Carry("safety", "commands", (safety.queue_length, 4), max_gap_s=gap_s)),
        safety=safety,
    )


def fly(scenario: Scenario, contract: Contract, matrix: np.ndarray, steps: int = 25) -> golden.Golden:
    team = MujocoTeam(scenario, 2, 0)
    team.reset()
    spec, views, seen, acts = contract.observation.spec, [], [], []
    memory = spec.init(team.views())
    for _ in range(steps):
        view = team.views()
        memory, obs = spec.observe(memory, view)
        action = np.clip(obs @ matrix, contract.action.low, contract.action.high).astype(np.float32)
        views, seen, acts = [*views, view], [*seen, obs], [*acts, action]
        team.step(action)

    def stack(*leaves: Any) -> Any:
        return type(leaves[0])(*map(stack, *leaves)) if hasattr(leaves[0], "_fields") else np.stack(leaves, 1)

    flown, action = stack(*views), np.stack(acts, 1)
    return golden.Golden(flown, np.stack(seen, 1), action, golden.filtered(contract, flown, action))


def make_law_bundle(folder: Path, scenario_name: str = "lift_3") -> Path:
    """Write the bundle and return its folder."""
    scenario = load_scenario(scenario_name)
    plain, matrix = contract_for(scenario, SPEC), gains(scenario)
    network = graph(matrix, plain.action.low, plain.action.high)
    onnx.checker.check_model(onnx.load_from_string(network))
    files = {
        "policy.onnx": network,
        "golden.npz": golden.to_bytes(fly(scenario, plain, matrix)),
        "README.md": b"# law\n",
    }
    contract = replace(plain, files={path: entry_of(data) for path, data in files.items()})
    folder.mkdir(parents=True)
    for path, data in {**files, "bundle.json": seal(contract)}.items():
        (folder / path).write_bytes(data)
    return folder
