"""Nominal commands that try to make robots collide, and one that only wants to get somewhere. Numpy.

They see the truth, without delay or noise: worse than any policy, which only sees its view.
"""

from typing import NamedTuple

import numpy as np

from robomarl.safety.params import SafetyParams

KINDS = ("seek", "intercept", "bang_bang", "rush")
CRUISE_M_S = 1.0
"""Speed of the swap's nominal."""
GAIN_PER_S = 5.0
"""Acceleration per velocity error."""
URGENCY = 3.0
"""Factor on an adversary's acceleration before the input limits cut it."""


class Team(NamedTuple):
    """Who is where, and wants what, [E, N, 3] each."""

    pos: np.ndarray
    vel: np.ndarray
    goal: np.ndarray


class Adversaries:
    """One adversary per robot, its kind drawn once: chases the nearest, cuts it off, jerks, or rushes to the centre."""

    def __init__(self, params: SafetyParams, shape: tuple[int, int], centre_m: np.ndarray, random: np.random.Generator):
        """Draw the kinds for E teams of N."""
        self.params = params
        self.centre_m = centre_m
        self.kind = random.integers(0, len(KINDS), (*shape, 1))
        self.jerk = random.choice([-1.0, 1.0], (*shape, 3))

    def __call__(self, team: Team, random: np.random.Generator) -> np.ndarray:
        """Accelerations [E, N, 3] within the input limits."""
        flip = random.random((*team.pos.shape[:2], 1)) < self.params.period_s / 0.5
        self.jerk = np.where(flip, random.choice([-1.0, 1.0], team.pos.shape), self.jerk)
        offset = team.pos[:, None] - team.pos[:, :, None]
        distance = np.linalg.norm(offset, axis=-1) + 1e9 * np.eye(team.pos.shape[1])
        nearest = distance.argmin(-1)[..., None]
        prey, flight = np.take_along_axis(team.pos, nearest, 1), np.take_along_axis(team.vel, nearest, 1)
        lead = np.take_along_axis(distance, nearest, -1) / self.params.limits.speed_m_s
        accel = np.select(
            [self.kind == i for i in range(len(KINDS))],
            [
                self._rush(team, prey),
                self._rush(team, prey + flight * lead),
                self.jerk * 10.0,
                self._rush(team, self.centre_m),
            ],
        )
        return within_limits(self.params, accel)

    def _rush(self, team: Team, target: np.ndarray) -> np.ndarray:
        speed = 1.2 * self.params.limits.speed_m_s
        return URGENCY * _toward(team.pos, team.vel, target, speed, 3.0)


def swap(params: SafetyParams, team: Team) -> np.ndarray:
    """Straight to the goal at a cruising speed, [E, N, 3]."""
    return within_limits(params, _toward(team.pos, team.vel, team.goal, CRUISE_M_S, 1.5))


def within_limits(params: SafetyParams, accel: np.ndarray) -> np.ndarray:
    """Clipped to the input box."""
    return np.clip(accel, params.limits.accel_min_m_s2, params.limits.accel_max_m_s2)


def _toward(pos: np.ndarray, vel: np.ndarray, target: np.ndarray, speed_m_s: float, slope_per_s: float) -> np.ndarray:
    offset = target - pos
    distance = np.maximum(np.linalg.norm(offset, axis=-1, keepdims=True), 1e-9)
    wanted = offset / distance * np.minimum(speed_m_s, slope_per_s * distance)
    return (wanted - vel) * GAIN_PER_S
