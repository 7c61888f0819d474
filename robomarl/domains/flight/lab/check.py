"""Comparison of the engines of a flying team: see `robomarl.lab.sim.check`.

The commands are harsh: accelerations anywhere within the vehicle's limits, held for 0.2 to 0.4 s,
with yaw rates on top. Robots start so far apart and so high that nothing touches, because the
engines differ in their response to a contact.
"""

import dataclasses
import math

import numpy as np

from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld, positions
from robomarl.lab.probe import CheckTrial, Probe
from robomarl.lab.sim.check import drift

HOLD_S = (0.2, 0.4)


def spread_out(scenario: FlightScenario, seconds: float) -> FlightScenario:
    """Return the scenario with a start from which no robot can reach another robot or the floor within the time."""
    limits = scenario.vehicle_config.limits
    sides = zip(limits.accel_min_m_s2, limits.accel_max_m_s2, strict=True)
    accel = math.hypot(*(max(-low, high) for low, high in sides))
    reach = accel * seconds**2 / 2 + 2 * scenario.start.speed_m_s * seconds + 1.0
    start = dataclasses.replace(scenario.start, min_spacing_m=2 * reach + 1.0, height_m=reach, places_m=())
    goal = dataclasses.replace(scenario.goal, kind="far_side", places_m=())
    return dataclasses.replace(scenario, start=start, goal=goal)


def heavier(world: FlightWorld, factor: float) -> FlightWorld:
    """Return the state with masses times `factor`, unknown to the controller."""
    physics = world.hidden.physics
    changed = physics._replace(mass_kg=physics.mass_kg * np.float32(factor))
    return world._replace(hidden=world.hidden._replace(physics=changed))


def harsh_commands(
    scenario: FlightScenario, world: FlightWorld, random: np.random.Generator, seconds: float
) -> tuple[FlightWorld, np.ndarray]:
    """Return the start as drawn, and [T, E, N, 4] commands within the limits, each element held for `HOLD_S`."""
    limits = scenario.vehicle_config.limits
    low = np.array([*limits.accel_min_m_s2, -limits.yaw_rate_rad_s], np.float32)
    high = np.array([*limits.accel_max_m_s2, limits.yaw_rate_rad_s], np.float32)
    shape = world.closest_m.shape
    steps, shortest, longest = (max(1, round(s * scenario.rates.policy_hz)) for s in (seconds, *HOLD_S))
    commands = np.zeros((steps, *shape, 4), np.float32)
    left = np.zeros(shape, int)
    now = np.zeros((*shape, 4), np.float32)
    for step in range(steps):
        fresh = left == 0
        now = np.where(fresh[..., None], random.uniform(low, high, (*shape, 4)), now)
        left = np.where(fresh, random.integers(shortest, longest + 1, shape), left) - 1
        commands[step] = now
    return world, commands


def seen(world: FlightWorld) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions [E, N, 3] and the attitudes [E, N, 4] of the robots."""
    return positions(world.body), np.stack(world.body.quat, -1).astype(float)


PROBE = Probe(
    trials=(CheckTrial(harsh_commands, spread_out),),
    compare=drift,
    limits={"position_diff_m": 0.02, "attitude_diff_rad": math.radians(2.0)},
    seen=seen,
    mistaken=heavier,
)
