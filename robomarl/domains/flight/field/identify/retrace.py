"""Legs of recorded flights on the `mujoco` engine: every vehicle alone, with the commands that were in force."""

import dataclasses

import numpy as np

from robomarl.domains.flight.lab.engines.mujoco import MujocoTeam
from robomarl.domains.flight.lab.quadrotor import RigidVehicle, rotor_targets
from robomarl.domains.flight.lab.randomize import RandomizeConfig
from robomarl.domains.flight.lab.safety.plants import alone
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.legs import Legs
from robomarl.lab.sim.scenario import RateConfig


def retrace(scenario: FlightScenario, legs: Legs, seed: int | None) -> np.ndarray:
    """[L, sub-steps + 1, 13] states; see `robomarl.field.identify.legs.Reflown`."""
    fine = stepwise_alone(scenario, seed is not None)
    team = MujocoTeam(fine, len(legs.state), seed or 0)
    world, told = team.reset(), legs.command.astype(np.float32)[:, None]
    body = placed(scenario, legs.state, told[:, :, legs.before - 1])
    queue = tuple(told[:, :, max(legs.before - 1 - age, 0)] for age in range(len(world.queue)))
    team.set_world(world._replace(body=body, queue=queue))
    path = [states(team.world.body)]
    for k in range(legs.before, legs.command.shape[1]):
        path.append(states(team.step(told[:, :, k]).body))
    return np.stack(path, 1)


def stepwise_alone(scenario: FlightScenario, drawn: bool) -> FlightScenario:
    """One vehicle with one decision for each physics step; without draws the vehicle is as its file has it."""
    hz = scenario.rates.physics_hz
    return dataclasses.replace(
        alone(scenario),
        rates=RateConfig(hz, hz),
        radio=dataclasses.replace(scenario.radio, latency_s=0.0),
        randomize=scenario.randomize if drawn else RandomizeConfig(),
        action_m_s2=None,
    )


def placed(scenario: FlightScenario, state: np.ndarray, command: np.ndarray) -> RigidVehicle:
    """Vehicles [L, 1] in these states [L, 13]; rotors turn as the command [L, 1, A] wants them to."""
    columns = [np.asarray(column, np.float32)[:, None] for column in state.T]
    pos, quat, vel, omega = columns[:3], columns[3:7], columns[7:10], columns[10:]
    *accel, yaw_rate = np.moveaxis(command, -1, 0)
    rotors = rotor_targets(scenario.vehicle_config, tuple(quat), tuple(omega), tuple(accel), yaw_rate)  # type: ignore[arg-type]
    return RigidVehicle(*(tuple(part) for part in (pos, quat, vel, omega)), rotors)  # type: ignore[arg-type]


def states(body: RigidVehicle) -> np.ndarray:
    """[L, 13] of vehicles [L, 1]."""
    return np.stack([*body.pos, *body.quat, *body.vel, *body.omega], -1)[:, 0]
