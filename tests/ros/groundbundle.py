"""A bundle for robots that drive, without training: straight to the goal, a little to the right."""

from pathlib import Path

import numpy as np
from onnx import helper

from robomarl.core.bundle.contract import SCHEMA_VERSION, Carry, Contract, Element, Observation, conditions, describe
from robomarl.core.bundle.provenance import Training
from robomarl.core.spec import ActionSpec, ObservationField, ObservationSpec
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.lab.export.facts import source_of
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of
from tests.ros.handmade import golden_of, graph, write_bundle

POSITION_PER_S2, VELOCITY_PER_S = 0.3, 1.2
"""So slow that a reference with a fifteenth of the TurtleBot's acceleration follows without swinging."""
SPEC = ObservationSpec((ObservationField("goal_error"), ObservationField("velocity")))
SCENARIO = """extends = "navigation"
vehicle = "{vehicle}"
count = 2
time_limit_s = 40.0

[start]
width_m = 2.1
height_m = 1.4
spacing_m = 0.7
"""


def gains() -> np.ndarray:
    """[6, 4] observation to command, as a row vector's right factor."""
    found = np.zeros((6, 4), np.float32)
    for axis in range(2):
        found[axis, axis], found[3 + axis, axis] = POSITION_PER_S2, -VELOCITY_PER_S
    found[0, 1], found[1, 0] = -POSITION_PER_S2 / 3, POSITION_PER_S2 / 3
    return found


def act(obs: np.ndarray, spec: ActionSpec) -> np.ndarray:
    """What the graph computes, [..., 6] -> [..., 4]."""
    return np.clip(obs @ gains(), spec.low, spec.high).astype(np.float32)


def network(spec: ActionSpec) -> bytes:
    """The same as ONNX."""
    node = helper.make_node
    nodes = [
        node("MatMul", ["obs", "gains"], ["raw"]),
        node("Max", ["raw", "low"], ["above"]),
        node("Min", ["above", "high"], ["action"]),
    ]
    return graph(nodes, {"gains": gains(), "low": spec.low[None], "high": spec.high[None]}, (SPEC.size, spec.size))


def contract_of(scenario: GroundScenario) -> Contract:
    safety = safety_params(scenario)
    elements = tuple(Element(n, unit, frame, -9.0, 9.0, 0.0, 1.0, 0.1) for n, unit, frame, _ in describe(SPEC))
    return Contract(
        schema_version=SCHEMA_VERSION,
        name="straight",
        observation=Observation(SPEC, elements, tuple(sorted(SPEC.reads))),
        action=simulation_of(scenario).action(scenario),
        rate_hz=scenario.rates.policy_hz,
        team_size=(2, 2),
        carries=(Carry("safety", "commands", (safety.queue_length, 4)),),
        scenario=source_of(scenario.name, scenario),
        vehicle=source_of(scenario.vehicle_config.name, scenario.vehicle_config),
        safety=safety,
        training=Training({"algorithm": "none"}, 0, "0" * 40, {}),
        files={},
        **conditions(source_of(scenario.name, scenario).content),
    )


def make_ground_bundle(folder: Path, vehicle: str) -> tuple[Path, Path]:
    """Write scenario and bundle of two such robots into a folder, and return their paths."""
    file = folder / f"two_{vehicle}.toml"
    file.write_text(SCENARIO.format(vehicle=vehicle))
    scenario = load_scenario(str(file), GroundScenario)
    contract = contract_of(scenario)
    sim = simulation_of(scenario).batch(scenario, "fast", 2, 0)
    flown = golden_of(sim, contract, lambda obs: act(obs, contract.action))
    return file, write_bundle(folder / f"straight_{vehicle}", contract, network(contract.action), flown)
