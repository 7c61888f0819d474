"""Bodies that do not run the filter, and attack."""

from typing import NamedTuple

import numpy as np

from benchmarks.filter.fallbacks.words import PERIOD_S, Words, length, unit
from robomarl.core.filter.model.bodies import Strangers


class Sensed(NamedTuple):
    """What a robot sees of strangers; the names are those that the filter reads."""

    strangers_mask: np.ndarray
    strangers_pos_m: np.ndarray
    strangers_vel_m_s: np.ndarray
    strangers_age_s: np.ndarray


def assumed(words: Words) -> Strangers:
    """What the filter is told of them: slower than the robot, able to come at more than half of its brake."""
    return Strangers(
        separation_m=words.kept_m - 2 * words.ahead_m,
        accel_m_s2=0.6 * words.brake_m_s2,
        speed_m_s=0.7 * words.speed_m_s,
        position_error_m=words.off_m,
        velocity_error_m_s=words.off_m_s,
        max_age_s=words.max_age_s,
    )


class Attackers:
    """E times S strangers that go for the nearest robot."""

    def __init__(self, words: Words, centre: np.ndarray, count: int, draw: np.ndarray) -> None:
        """Place them at rest around the robots [E, N, 3]; `draw` [E, 8] says where."""
        self.words, self.told = words, assumed(words)
        angle = 2 * np.pi * (draw[:, :1] + np.arange(count) / count)
        far = words.spacing_m * (2 + 3 * draw[:, 1:2])
        around = np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1)
        self.pos = centre.mean(1, keepdims=True) + far[..., None] * around
        self.vel = np.zeros_like(self.pos)
        self.hasty = draw[:, 2] < 0.7
        self.swerve = (draw[:, 3] - 0.5)[:, None, None]
        episodes = len(draw)
        self.least = np.full(episodes, np.inf)
        self.hit = np.zeros((episodes, centre.shape[1], count), bool)
        self.fastest, self.toward = np.zeros((2, episodes))
        """[E] m/s, the fastest robot at the moment when it was first hit, and its part towards the stranger."""

    def move(self, centre: np.ndarray, vel: np.ndarray, parts: int = 4) -> None:
        """Go for the nearest robot for a period; robots [E, N, 3] are at the period's end, and came with `vel`."""
        step = PERIOD_S / parts
        before = centre - vel * PERIOD_S
        for part in range(parts):
            robots = before + vel * (part * step)
            apart = robots[:, None] - self.pos[:, :, None]
            which = length(apart).argmin(-1)[..., None, None]
            target = unit(np.take_along_axis(apart, which, 2)[:, :, 0])
            side = np.stack([-target[..., 1], target[..., 0], 0 * target[..., 0]], -1)
            wanted = unit(target + self.swerve * side) * self.told.speed_m_s
            accel = (wanted - self.vel) / step
            accel = accel * np.minimum(self.told.accel_m_s2 / np.maximum(length(accel), 1e-9), 1)[..., None]
            self.pos, self.vel = self.pos + self.vel * step + accel * step**2 / 2, self.vel + accel * step
            self._compare(robots + vel * step, vel)

    def _compare(self, centre: np.ndarray, vel: np.ndarray) -> None:
        distance = length(centre[:, :, None] - self.pos[:, None])
        self.least = np.minimum(self.least, distance.min((1, 2)))
        touch = (distance < 2 * self.words.radius_m) & ~self.hit
        self.hit |= touch
        toward = np.einsum("ensi,eni->ens", unit(self.pos[:, None] - centre[:, :, None]), vel)
        self.fastest = np.maximum(self.fastest, (touch * length(vel)[..., None]).max((1, 2)))
        self.toward = np.maximum(self.toward, (touch * toward).max((1, 2)))

    def seen(self, robots: np.ndarray, off: np.ndarray, off_speed: np.ndarray) -> Sensed:
        """What robots [E, N, 3] see, with errors [E, N, 3] of at most unit length times the bound."""
        shape = (*robots.shape[:2], self.pos.shape[1])
        pos = self.pos[:, None] + off[:, :, None] * self.told.position_error_m
        vel = self.vel[:, None] + off_speed[:, :, None] * self.told.velocity_error_m_s
        return Sensed(np.ones(shape, bool), pos, vel, np.zeros(shape))
