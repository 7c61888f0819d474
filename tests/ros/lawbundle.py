"""A bundle that carries without training: a decentralized law, linear but for its limits, as an ONNX graph."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from onnx import helper

from robomarl.core.bundle.contract import Carry, Contract, Element, Observation, describe
from robomarl.core.filter.filter import Arena, from_vehicle
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.domains.flight.lab.engines.mujoco import MujocoTeam
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.sim.scenario import load_scenario
from tests.ros.bundles import contract_of
from tests.ros.handmade import golden_of, graph, write_bundle

POSITION_PER_S, VELOCITY_PER_S, DAMPING_PER_S, HISTORY = 1.5, 3.0, 1.0, 3
SPEC = ObservationSpec(
    (ObservationField("place_error"), ObservationField("velocity"), ObservationField("point_error", HISTORY))
)


def gains(scenario: FlightScenario) -> np.ndarray:
    """[15, 5] the law's matrix: to the own place, and along with the own point of the load, which calms its swing."""
    law, swing = np.zeros((SPEC.size, 5)), DAMPING_PER_S / ((HISTORY - 1) * scenario.period_s)
    eye = np.eye(3)
    law[0:3, :3], law[3:6, :3] = VELOCITY_PER_S * POSITION_PER_S * eye, -VELOCITY_PER_S * eye
    law[6:9, :3], law[-3:, :3] = -swing * eye, swing * eye
    return law


def network(matrix: np.ndarray, low: np.ndarray, high: np.ndarray) -> bytes:
    node = helper.make_node
    nodes = [
        node("MatMul", ["obs", "gains"], ["raw"]),
        node("Max", ["raw", "low"], ["above"]),
        node("Min", ["above", "high"], ["action"]),
    ]
    constants = {"gains": matrix, "low": low[None], "high": high[None]}
    return graph(nodes, {name: value.astype(np.float32) for name, value in constants.items()}, matrix.shape)


def contract_for(scenario: FlightScenario, spec: ObservationSpec) -> Contract:
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


def make_law_bundle(folder: Path, scenario_name: str = "lift_3") -> Path:
    """Write the bundle and return its folder."""
    scenario = load_scenario(scenario_name)
    contract, matrix = contract_for(scenario, SPEC), gains(scenario)
    low, high = contract.action.low, contract.action.high
    flown = golden_of(
        MujocoTeam(scenario, 2, 0), contract, lambda obs: np.clip(obs @ matrix, low, high).astype(np.float32)
    )
    return write_bundle(folder, contract, network(matrix, low, high), flown)
