"""A bundle for robots that drive, without training: straight to the goal, a little to the right."""

from pathlib import Path

import numpy as np
from onnx import helper

from robomarl.core.spec import ActionSpec
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of
from tests.ros.bundles import SPEC, untrained
from tests.ros.handmade import golden_of, graph, write_bundle

POSITION_PER_S2, VELOCITY_PER_S = 0.3, 1.2
"""So slow that a reference with a fifteenth of the TurtleBot's acceleration follows without swinging."""
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


def make_ground_bundle(folder: Path, vehicle: str) -> tuple[Path, Path]:
    """Write scenario and bundle of two such robots into a folder, and return their paths."""
    file = folder / f"two_{vehicle}.toml"
    file.write_text(SCENARIO.format(vehicle=vehicle))
    scenario = load_scenario(str(file), GroundScenario)
    contract = untrained(scenario, "straight", safety_params(scenario), (2, 2))
    sim = simulation_of(scenario).batch(scenario, "fast", 2, 0)
    flown = golden_of(sim, contract, lambda obs: act(obs, contract.action))
    return file, write_bundle(folder / f"straight_{vehicle}", contract, network(contract.action), flown)
