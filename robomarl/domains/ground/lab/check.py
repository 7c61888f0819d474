"""How the engines of ground robots are compared: apart from each other, driven forwards on winding ways.

A differential drive that goes backwards turns about, ever faster the more it is off: as a trailer that is pushed. Its
heading then tells the engines' rounding, and not their agreement.
"""

import numpy as np

from robomarl.core.geometry import yaw_of
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.lab.probe import CheckTrial, Probe
from robomarl.lab.sim.check import drift, held
from robomarl.lab.sim.model.check import seen
from robomarl.lab.sim.model.world import TeamWorld

APART_M = 5.0
"""Distance [m] from one robot to the next, so that no robots meet."""
SPEED_SHARE, SPEED_UP_S = 0.7, 0.7
"""Fraction of the speed limit at which robots drive, and time [s] in which they reach it."""
WIND_SHARE, HOLD_S = 0.35, 0.3
"""Speed that a drawn acceleration changes while it is held, over that."""


def begin(
    scenario: GroundScenario, world: TeamWorld, random: np.random.Generator, seconds: float
) -> tuple[TeamWorld, np.ndarray]:
    """Robots in a row, and commands [T, E, N, 4]: first along their headings, then anywhere."""
    limits, hz = scenario.vehicle_config.limits, scenario.rates.policy_hz
    steps, up, hold = (max(1, round(s * hz)) for s in (seconds, SPEED_UP_S, HOLD_S))
    row = np.arange(scenario.count)[:, None] * np.array([APART_M, 0, 0]) + world.pos_m * 0
    yaw, speed = yaw_of(world.quat_wxyz), SPEED_SHARE * limits.speed_m_s
    ahead = np.stack([np.cos(yaw), np.sin(yaw), yaw * 0, yaw * 0], -1) * speed / SPEED_UP_S
    change = WIND_SHARE * speed / HOLD_S
    ends = np.array([-change, -change, 0, 0]), np.array([change, change, 0, 0])
    drawn = held(random, ends, (steps, *yaw.shape), 2 * hold)
    back = (np.arange(steps) // hold % 2)[:, None, None, None]  # what was changed is taken back, so nobody turns about
    commands = np.where((np.arange(steps) < up)[:, None, None, None], ahead, np.where(back, -drawn, drawn))
    return world._replace(pos_m=row.astype(np.float32)), commands.astype(np.float32)


PROBE = Probe(
    (CheckTrial(begin),),
    drift,
    {"position_diff_m": 0.02, "attitude_diff_rad": 0.1},
    seen=seen,
    engines=("fast", "mujoco"),
)
