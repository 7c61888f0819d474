"""A bundle that plays without training: run after the ball, turn to it, kick; as an ONNX graph."""

from pathlib import Path

import numpy as np
from onnx import helper

from robomarl.core.bundle.contract import SCHEMA_VERSION, Carry, Contract, Element, Observation, conditions, describe
from robomarl.core.bundle.provenance import Training
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.task import action
from robomarl.lab.export.facts import source_of
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario
from tests.ros.handmade import golden_of, graph, write_bundle

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


def network(low: np.ndarray, high: np.ndarray) -> bytes:
    gains, bias = law()
    node = helper.make_node
    nodes = [
        node("MatMul", ["obs", "gains"], ["turned"]),
        node("Add", ["turned", "bias"], ["raw"]),
        node("Max", ["raw", "low"], ["above"]),
        node("Min", ["above", "high"], ["action"]),
    ]
    constants = {"gains": gains, "bias": bias[None], "low": low[None], "high": high[None]}
    return graph(nodes, {name: value.astype(np.float32) for name, value in constants.items()}, gains.shape)


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


def make_player_bundle(folder: Path, scenario_name: str = "soccer_2v2") -> Path:
    """Write the bundle and return its folder."""
    scenario, (gains, bias) = load_scenario(scenario_name), law()
    contract = contract_for(scenario)
    low, high = contract.action.low, contract.action.high
    played = golden_of(
        make_soccer(scenario, "mujoco", 2, 0),
        contract,
        lambda obs: np.clip(obs @ gains + bias, low, high).astype(np.float32),
    )
    return write_bundle(folder, contract, network(low, high), played)
