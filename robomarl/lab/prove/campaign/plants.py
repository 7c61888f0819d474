"""Point masses and differential drives, for the safety campaign. Numpy."""

import numpy as np

from robomarl.core.filter.model.look_ahead import wheel_accel
from robomarl.core.filter.params import SafetyParams
from robomarl.lab.prove.campaign.adversary import Team

SEGMENTS = 8
"""Straight pieces that stand for a period's arcs: at 50 Hz and 12 m/s^2 they are 10 micrometres off."""


def point_masses(team: Team, accel: np.ndarray, period_s: float) -> tuple[np.ndarray, np.ndarray]:
    """One period: positions within it [S, E, N, 3], and the velocity at its end."""
    times = (np.arange(1, SEGMENTS + 1) / SEGMENTS * period_s)[:, None, None, None]
    return team.pos + team.vel * times + accel * (times**2 / 2), team.vel + accel * period_s


class Drives:
    """E teams of N differential drives; their low-level controllers produce the commanded acceleration of
    a point ahead.

    The controllers see their own speed and yaw rate without error; `wheel_accel` gives the resulting
    motion of the wheels.
    """

    def __init__(self, params: SafetyParams, goal_from: np.ndarray, random: np.random.Generator) -> None:
        """Start at rest, facing the middle of the ring with a small error."""
        self.params = params
        lead = goal_from.shape[:2]
        self.angle = np.arctan2(goal_from[..., 1], goal_from[..., 0]) + random.uniform(-0.3, 0.3, lead)
        self.speed, self.turn = np.zeros(lead), np.zeros(lead)
        self.fastest = np.zeros(2)
        """Largest forward speed and yaw rate so far."""

    @property
    def quat_wxyz(self) -> np.ndarray:
        """[E, N, 4] attitudes."""
        zero = 0 * self.angle
        return np.stack([np.cos(self.angle / 2), zero, zero, np.sin(self.angle / 2)], -1)

    @property
    def omega_rad_s(self) -> np.ndarray:
        """[E, N, 3] angular velocities."""
        return np.stack([0 * self.turn, 0 * self.turn, self.turn], -1)

    def points(self, team: Team) -> Team:
        """State of the points ahead."""
        ahead, swing = self.params.look_ahead_m, (self.params.look_ahead_m * self.turn)[..., None]
        along, across = self._axes()
        return team._replace(pos=team.pos + ahead * along, vel=team.vel + swing * across)

    def __call__(self, team: Team, accel: np.ndarray, period_s: float) -> tuple[np.ndarray, np.ndarray]:
        """One period: positions of the centres within it [S, E, N, 3], and their velocity at its end."""
        pos, path, dt = team.pos, [], period_s / SEGMENTS
        for _ in range(SEGMENTS):
            along, _ = self._axes()
            axes = (along[..., 0], along[..., 1])
            parts = (accel[..., 0], accel[..., 1], accel[..., 2])
            wheels = wheel_accel(parts, axes, self.speed, self.turn, self.params.look_ahead_m)
            speed, turn = self.speed + wheels.forward_m_s2 * dt, self.turn + wheels.turn_rad_s2 * dt
            self.angle = self.angle + (self.turn + turn) / 2 * dt
            along, _ = self._axes()
            pos = pos + along * ((self.speed + speed) / 2 * dt)[..., None]
            self.speed, self.turn = speed, turn
            path.append(pos)
        self.fastest = np.maximum(self.fastest, [np.abs(self.speed).max(), np.abs(self.turn).max()])
        return np.stack(path), self._axes()[0] * self.speed[..., None]

    def _axes(self) -> tuple[np.ndarray, np.ndarray]:
        cos, sin, zero = np.cos(self.angle), np.sin(self.angle), 0 * self.angle
        return np.stack([cos, sin, zero], -1), np.stack([-sin, cos, zero], -1)
