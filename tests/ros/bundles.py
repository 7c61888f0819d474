"""A bundle that flies without training: straight to the goal, as an ONNX graph, and everybody keeps right."""

from pathlib import Path

import numpy as np
from onnx import helper

from robomarl.core.bundle.contract import SCHEMA_VERSION, Carry, Contract, Element, Observation, conditions, describe
from robomarl.core.bundle.provenance import Training
from robomarl.core.filter.filter import Arena, from_vehicle
from robomarl.core.filter.params import SafetyParams
from robomarl.core.spec import ActionSpec, ObservationField, ObservationSpec
from robomarl.domains.flight.lab.engines.mujoco import MujocoTeam
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.export.facts import source_of
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.simulation import simulation_of
from tests.ros.handmade import golden_of, graph, write_bundle

POSITION_PER_S = np.array([1.6, 1.6, 3.5], np.float32)
VELOCITY_PER_S = 4.0
CRUISE_M_S = 1.0
VEER_RAD = 0.5
SPEC = ObservationSpec((ObservationField("goal_error"), ObservationField("velocity")))


def veer() -> np.ndarray:
    """[3, 3] goal error to wanted velocity, as a row vector's right factor."""
    c, s = np.cos(VEER_RAD), np.sin(VEER_RAD)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]], np.float32) * POSITION_PER_S


def act(obs: np.ndarray, spec: ActionSpec) -> np.ndarray:
    """What the graph computes, [..., 6] -> [..., 4]."""
    wanted = obs[..., :3] @ veer()
    size = np.linalg.norm(wanted, axis=-1, keepdims=True)
    accel = np.float32(VELOCITY_PER_S) * (wanted * (CRUISE_M_S / np.maximum(size, CRUISE_M_S)) - obs[..., 3:])
    return np.clip(np.concatenate([accel, np.zeros_like(accel[..., :1])], -1), spec.low, spec.high).astype(np.float32)


def network(spec: ActionSpec) -> bytes:
    """The same as ONNX."""
    node = helper.make_node
    nodes = [
        node("Slice", ["obs", "0", "3", "axis"], ["error"]),
        node("Slice", ["obs", "3", "6", "axis"], ["velocity"]),
        node("MatMul", ["error", "veer"], ["wanted"]),
        node("ReduceL2", ["wanted"], ["size"], axes=[1], keepdims=1),
        node("Max", ["size", "cruise"], ["longest"]),
        node("Div", ["cruise", "longest"], ["scale"]),
        node("Mul", ["wanted", "scale"], ["limited"]),
        node("Sub", ["limited", "velocity"], ["missing"]),
        node("Mul", ["missing", "gain"], ["accel"]),
        node("Mul", ["size", "nothing"], ["still"]),
        node("Concat", ["accel", "still"], ["raw"], axis=1),
        node("Max", ["raw", "low"], ["above"]),
        node("Min", ["above", "high"], ["action"]),
    ]
    constants = {str(i): np.array([i], np.int64) for i in (0, 3, 6)} | {"axis": np.array([1], np.int64)}
    constants |= {"veer": veer(), "low": spec.low[None], "high": spec.high[None]}
    scalars = {"cruise": CRUISE_M_S, "gain": VELOCITY_PER_S, "nothing": 0.0}
    constants |= {name: np.array([[value]], np.float32) for name, value in scalars.items()}
    return graph(nodes, constants, (SPEC.size, spec.size))


def contract_of(scenario: FlightScenario, name: str) -> Contract:
    safety = from_vehicle(
        scenario.vehicle_config,
        scenario.period_s,
        Arena(scenario.arena.low_m, scenario.arena.high_m),
        min_mates=1,
    )
    return untrained(scenario, name, safety, (2, 16))


def untrained(scenario: Scenario, name: str, safety: SafetyParams, team_size: tuple[int, int]) -> Contract:
    """Contract of a graph of `SPEC` that nobody trained."""
    elements = tuple(Element(n, unit, frame, -9.0, 9.0, 0.0, 1.0, 0.1) for n, unit, frame, _ in describe(SPEC))
    return Contract(
        schema_version=SCHEMA_VERSION,
        name=name,
        observation=Observation(SPEC, elements, tuple(sorted(SPEC.reads))),
        action=simulation_of(scenario).action(scenario),
        rate_hz=scenario.rates.policy_hz,
        team_size=team_size,
        carries=(Carry("safety", "commands", (safety.queue_length, 4)),),
        scenario=source_of(scenario.name, scenario),
        vehicle=source_of(scenario.vehicle_config.name, scenario.vehicle_config),
        safety=safety,
        training=Training({"algorithm": "none"}, 0, "0" * 40, {}),
        files={},
        **conditions(source_of(scenario.name, scenario).content),
    )


def make_bundle(folder: Path, scenario_name: str = "swap_4", name: str = "goto") -> Path:
    """Write the bundle and return its folder."""
    scenario = load_scenario(scenario_name)
    contract = contract_of(scenario, name)
    flown = golden_of(MujocoTeam(scenario, 2, 0), contract, lambda obs: act(obs, contract.action))
    return write_bundle(folder, contract, network(contract.action), flown)
