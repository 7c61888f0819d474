"""Actions of an attack at one instant: it sees the truth, and acts along the line to its target. Numpy."""

from typing import NamedTuple

import numpy as np

from robomarl.lab.prove.worst.attack import ASIDE, COLUMNS, Attack
from robomarl.lab.prove.worst.plant import Robots, dot, norm, unit
from robomarl.lab.prove.worst.words import Words

STIFF_PER_S = 15.0
"""Acceleration per missing speed of the nominal commands."""
HOLD_PER_S = 2.0
"""Speed per distance of a robot that stays where it started."""
FAR_M = 1e3


class Aim(NamedTuple):
    """Each robot's target now."""

    toward: np.ndarray
    """[E, N, 3] unit vector."""
    side: np.ndarray
    """[E, N, 3] across it."""
    gap_m: np.ndarray
    """[E, N] remaining distance [m], in the metric of the separation."""
    brakes: np.ndarray
    """[E, N] bool: the newest command is away from the target, and the robot moves towards it."""


class Steering:
    """Plays an attack back."""

    def __init__(self, words: Words, attack: Attack, start: np.ndarray) -> None:
        """Take the columns apart; `start` [E, N, 3] is where robots stay that have nothing to do."""
        self.words, self.start = words, start
        self.c = {name: np.ascontiguousarray(attack[name]) for name in (column.name for column in COLUMNS)}
        self.way = unit(attack.vector("way"))
        self.bias = np.clip(attack.vector("bias"), -1, 1) * np.array(words.bias_m_s2)
        self.flat = np.array([1.0, 1.0, 0.0 if words.planar else 1.0])
        self._stretch = 1 + (words.squash**2 - 1) * self.c["metric"][..., None]
        self._fixed = self.c["target"].max() > -0.5
        self._aside = (self.c["target"] <= ASIDE + 0.5)[..., None]
        self._any_aside = bool(self._aside.any())

    def aim(self, robots: Robots, newest: np.ndarray) -> Aim:
        """Look at the true state; `newest` [E, N, 3] are the last commands."""
        offset, gap = self._to_mates(robots)
        if self._any_aside:
            offset = np.where(self._aside, self.way, offset)
            gap = np.where(self._aside[..., 0], self._to_wall(robots.centre), gap)
        toward = unit(offset * self._stretch * self.flat)
        across = unit(np.stack([-toward[..., 1], toward[..., 0], 0 * gap], -1))
        up = np.cross(toward, across) * self.flat
        turn = self.c["side_rad"][..., None] if not self.words.planar else np.zeros((*gap.shape, 1))
        side = np.cos(turn) * across + np.sin(turn) * up
        closing = dot(robots.vel, toward) > 0
        return Aim(toward, side, gap, closing & (dot(newest, toward) < -1e-6))

    def _to_mates(self, robots: Robots) -> tuple[np.ndarray, np.ndarray]:
        pos, count = robots.centre, robots.centre.shape[1]
        if count == 1:
            return self.way, np.full(pos.shape[:2], FAR_M)
        if count == 2:
            offset = pos[:, ::-1] - pos
            return offset, norm(offset * self.words.squash) - self.words.vehicle.safety.separation_m
        apart = pos[:, None] - pos[:, :, None]
        distance = norm(apart * self.words.squash) + FAR_M * np.eye(count)
        which = distance.argmin(-1)
        if self._fixed:
            asked = np.rint(self.c["target"]).astype(int)
            which = np.where(asked >= 0, np.minimum(asked, count - 1), which)
        offset = np.take_along_axis(apart, which[..., None, None], 2)[..., 0, :]
        gap = np.take_along_axis(distance, which[..., None], 2)[..., 0]
        return offset, gap - self.words.vehicle.safety.separation_m

    def _to_wall(self, pos: np.ndarray) -> np.ndarray:
        arena = self.words.arena
        if arena is None:
            return np.full(pos.shape[:2], FAR_M)
        room = np.where(self.way > 0, np.array(arena.high_m) - pos, pos - np.array(arena.low_m))
        return np.where(np.abs(self.way) * self.flat > 0.05, room, FAR_M).min(-1)

    def error(self, name: str, bound: float, aim: Aim, time_s: float) -> np.ndarray:
        """[E, N, 3] the vector of a channel, at most `bound` long."""
        c = self.c
        flip = (aim.gap_m < c[f"{name}_flip_m"]) | (time_s >= c[f"{name}_flip_s"])
        flip = flip | (aim.brakes & (c[f"{name}_flip_brake"] > 0.5))
        sign = _wave(c[f"{name}_wave_s"], c[f"{name}_phase"], time_s)
        along = np.where(flip, c[f"{name}_radial_b"], c[f"{name}_radial_a"]) * sign
        aside = np.where(flip, c[f"{name}_side_b"], c[f"{name}_side_a"]) * sign
        scale = bound / np.maximum(np.sqrt(along * along + aside * aside), 1.0)
        return (aim.toward * (along * scale)[..., None] + aim.side * (aside * scale)[..., None]) * self.flat

    def delay(self, aim: Aim, time_s: float) -> tuple[np.ndarray, np.ndarray]:
        """`late` and `picked` of `Actuators.in_force`, [E, N]."""
        c = self.c
        flip = (aim.gap_m < c["late_flip_m"]) | (aim.brakes & (c["late_flip_brake"] > 0.5))
        late, picked = np.where(flip, c["late_b"], c["late_a"]), np.where(flip, c["picked_b"], c["picked_a"])
        return np.where(_wave(c["late_wave_s"], 0.0, time_s) > 0, late, 1 - late), picked

    def age_ticks(self, aim: Aim, time_s: float) -> np.ndarray:
        """[E, N] the largest age of the messages that the robot has now, if they come as the attack wants."""
        c, period = self.c, self.words.period_s
        most = self.words.vehicle.safety.max_age_s / period
        want = np.maximum(np.floor(np.where(aim.gap_m < c["age_flip_m"], c["age_b"], c["age_a"]) * most + 1e-6), 1)
        wave = c["age_wave_s"]
        every = np.maximum(wave, period)
        arrives = np.floor((time_s + period) / every) > np.floor(time_s / every + 1e-9)
        return np.where((wave > 0) & arrives, 1, want).astype(int)

    def nominal(self, aim: Aim, robots: Robots, time_s: float) -> np.ndarray:
        """Return the nominal commands [E, N, 3] of the attack."""
        c, top = self.c, self.words.vehicle.limits.speed_m_s
        near = aim.gap_m < c["near_m"]
        push, tangent, along = (
            np.where(near, c[f"{n}_b"], c[f"{n}_a"])[..., None] for n in ("push", "tangent", "along")
        )
        bang = c["bang_s"]
        phase = np.mod(time_s / np.where(bang > 0, bang, 1.0) + c["bang_phase"], 1.0)
        sign = np.where((bang > 0) & (phase >= c["bang_share"]), -1.0, 1.0)[..., None]
        wanted = (push * sign * aim.toward + tangent * aim.side + along * self.way) * top
        stays = (time_s < c["go_s"])[..., None] | ((push == 0) & (tangent == 0) & (along == 0))
        back = HOLD_PER_S * (self.start - robots.pos)
        wanted = np.where(stays, np.clip(back, -0.3 * top, 0.3 * top), wanted)
        low, high = self.words.box
        return np.clip(STIFF_PER_S * (wanted - robots.vel), low, high)


def _wave(period_s: np.ndarray, phase: np.ndarray | float, time_s: float) -> np.ndarray:
    turn = np.mod(time_s / np.where(period_s > 0, period_s, 1.0) + phase, 1.0)
    return np.where((period_s > 0) & (turn >= 0.5 - 1e-9), -1.0, 1.0)
