"""A bundle that plays without training: run after the ball, turn to it, kick; as an ONNX graph."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from robomarl.policies import golden
from robomarl.policies.bundle import entry_of, seal
from robomarl.policies.contract import (
    SCHEMA_VERSION,
    Carry,
    Contract,
    Element,
    Observation,
    Training,
    conditions,
    describe,
    source_of,
)
from robomarl.sim.guard import safety_params
from robomarl.sim.soccer.scenario import SoccerScenario, load_soccer
from robomarl.sim.soccer.sim import make_soccer
from robomarl.sim.tasks.soccer import action
from robomarl.spec import ObservationField, ObservationSpec

SPEC = ObservationSpec((ObservationField("ball_seen"), ObservationField("own_motion")))
KICK_M_S = 4.0


def law() -> tuple[np.ndarray, np.ndarray]:
    """[14, 4] and [4]: acceleration to the ball, less where one is fast; yaw rate to it, or round and round."""
    names = SPEC.element_names()
    at = {name: names.index(name) for name in names}
    gains, bias = np.zeros((SPEC.size, 4)), np.array([0.0, 0.0, 1.5, KICK_M_S])
    for axis, (place, speed) in enumerate((("dx", "vx"), ("dy", "vy"))):
        gains[at[f"ball_seen.{place}"], axis] = 2.0
        gains[at[f"own_motion.{speed}"], axis] = -2.0
    gains[at["ball_seen.left"], 2], gains[at["ball_seen.seen"], 2] = 4.0, -1.5
    return gains.astype(np.float32), bias.astype(np.float32)


def graph(low: np.ndarray, high: np.ndarray) -> bytes:
    gains, bias = law()
    node = helper.make_node
    nodes = [
        node("MatMul", ["obs", "gains"], ["turned"]),
        node("Add", ["turned", "bias"], ["raw"]),
        node("Max", ["raw", "low"], ["above"]),
        node("Min", ["above", "high"], ["action"]),
    ]
    constants = {"gains": gains, "bias": bias[None], "low": low[None], "high": high[None]}
    made = helper.make_graph(
        nodes,
        "player",
        [helper.make_tensor_value_info("obs", TensorProto.FLOAT, ["batch", SPEC.size])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["batch", 4])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def contract_for(scenario: SoccerScenario) -> Contract:
    safety = safety_params(scenario)
    elements = tuple(Element(n, unit, frame, -9.0, 9.0, 0.0, 1.0, 0.2) for n, unit, frame, _ in describe(SPEC))
    source = source_of(scenario.name, scenario)
    return Contract(
        schema_version=SCHEMA_VERSION,
        name="player",
        observation=Observation(SPEC, elements, tuple(sorted(SPEC.reads))),
        action=action(scenario),
        rate_hz=scenario.rates.policy_hz,
        team_size=(scenario.count, scenario.count),
        carries=(Carry("safety", "commands", (safety.queue_length, 4), max_gap_s=0.2),),
        scenario=source,
        vehicle=source_of(scenario.robot.name, scenario.robot),
        safety=safety,
        training=Training({"algorithm": "none"}, 0, "0" * 40, {}),
        files={},
        **conditions(source.content),
    )


def play(scenario: SoccerScenario, contract: Contract, steps: int = 25) -> golden.Golden:
    sim, (gains, bias) = make_soccer(scenario, "mujoco", 2, 0), law()
    sim.reset()
    views, seen, acts = [], [], []
    for _ in range(steps):
        view = sim.views()
        _, obs = SPEC.observe(SPEC.init(view), view)
        wanted = np.clip(obs @ gains + bias, contract.action.low, contract.action.high).astype(np.float32)
        views, seen, acts = [*views, view], [*seen, obs], [*acts, wanted]
        sim.step(wanted)

    def stack(*leaves: Any) -> Any:
        return type(leaves[0])(*map(stack, *leaves)) if hasattr(leaves[0], "_fields") else np.stack(leaves, 1)

    played, wanted = stack(*views), np.stack(acts, 1)
    return golden.Golden(played, np.stack(seen, 1), wanted, golden.filtered(contract, played, wanted))


def make_player_bundle(folder: Path, scenario_name: str = "soccer_2v2") -> Path:
    """Write the bundle and return its folder."""
    scenario = load_soccer(scenario_name)
    plain = contract_for(scenario)
    network = graph(plain.action.low, plain.action.high)
    onnx.checker.check_model(onnx.load_from_string(network))
    files = {
        "policy.onnx": network,
        "golden.npz": golden.to_bytes(play(scenario, plain)),
        "README.md": b"# player\n",
    }
    contract = replace(plain, files={path: entry_of(data) for path, data in files.items()})
    folder.mkdir(parents=True)
    for path, data in {**files, "bundle.json": seal(contract)}.items():
        (folder / path).write_bytes(data)
    return folder
