"""Strangers that hunt certified robots: point masses at the bounds that robots were told of. Nothing of the certificate
is imported here."""

from typing import NamedTuple

import numpy as np

from benchmarks.filter.fallbacks.strangers import Sensed
from benchmarks.filter.fallbacks.words import Words, length, unit
from robomarl.core.filter.model.bodies import Strangers

PARTS = 4
"""Steps of a period."""
WAYS = ("chase", "cut", "swing", "ambush")
"""Straight at the nearest robot; at where it will be; at it and back; standing until a moving robot is near."""
AHEAD_S, NEAR_S, LATEST_S = 0.6, 0.8, 0.4
"""How far ahead a robot is cut off; how far away, in time at full speed, a robot is when an ambush begins; largest age
of a sighting that is not withheld."""


class Touches(NamedTuple):
    """Robots [E, N] and strangers [E, S] in one period."""

    apart_m: np.ndarray
    """[E, N, S] least distance of the centres."""
    speed_m_s: np.ndarray
    """[E, N] of the robots."""


def told_of(words: Words, share: float) -> Strangers:
    """What robots are told: strangers with this share of their own speed and acceleration, and errors as their own."""
    return Strangers(
        separation_m=2 * words.radius_m,
        accel_m_s2=share * float(words.accel_m_s2.max()),
        speed_m_s=share * words.speed_m_s,
        position_error_m=words.off_m,
        velocity_error_m_s=words.off_m_s,
        max_age_s=words.max_age_s,
    )


class Hunters:
    """E times S strangers."""

    def __init__(
        self, words: Words, told: Strangers, centre: np.ndarray, count: int, random: np.random.Generator
    ) -> None:
        """Place them at rest around robots [E, N, 3], where no robot is."""
        self.words, self.told, self.random, episodes = words, told, random, len(centre)
        shape = (episodes, count)
        middle = centre.mean(1, keepdims=True)
        far = length(centre - middle).max(1)[:, None] + words.spacing_m * random.uniform(1, 3, shape)
        angle = 2 * np.pi * random.random(shape)
        self.pos = middle + far[..., None] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1)
        self.vel, self.way = np.zeros_like(self.pos), random.integers(0, len(WAYS), shape)
        self.swerve, self.turn = random.uniform(-0.4, 0.4, shape), random.integers(10, 60, shape)
        self.late = random.integers(0, 1 + int(LATEST_S / words.period_s), episodes)
        self.silent = random.random(shape) < 0.3
        """Are not seen for half of the time, at stretches."""
        self.tricks = random.random((2, *shape)) < 0.7
        """Errors of places and velocities hide the attack, or are drawn."""
        self._past: list[tuple[np.ndarray, np.ndarray]] = []
        self._age = np.zeros((*shape,), int)

    def move(self, before: np.ndarray, centre: np.ndarray, vel: np.ndarray, step: int) -> Touches:
        """Hunt for a period in which the centres of robots [E, N, 3] go from `before` to `centre`."""
        self._past = [(self.pos, self.vel), *self._past[: int(5 / self.words.period_s)]]
        h, went = self.words.period_s / PARTS, (centre - before) / PARTS
        least = np.full((*centre.shape[:2], self.pos.shape[1]), np.inf)
        for part in range(PARTS):
            robots, old = before + went * part, self.pos
            accel = (self._wanted(robots, vel, step) - self.vel) / h
            accel *= np.minimum(self.told.accel_m_s2 / np.maximum(length(accel), 1e-9), 1)[..., None]
            fast = self.vel + accel * h
            fast *= np.minimum(self.told.speed_m_s / np.maximum(length(fast), 1e-9), 1)[..., None]
            self.pos, self.vel = old + (self.vel + fast) * h / 2, fast
            start = robots[:, :, None] - old[:, None]
            moved = went[:, :, None] - (self.pos - old)[:, None]
            square = np.maximum((moved**2).sum(-1), 1e-15)
            when = np.clip(-(start * moved).sum(-1) / square, 0, 1)
            least = np.minimum(least, length(start + moved * when[..., None]))
        return Touches(least, length(vel))

    def _wanted(self, robots: np.ndarray, vel: np.ndarray, step: int) -> np.ndarray:
        """[E, S, 3] velocities that they go for."""
        which = length(robots[:, None] - self.pos[:, :, None]).argmin(-1)[..., None]
        there, goes = (np.take_along_axis(part, which, 1) for part in (robots, vel))
        aim = there + np.where((self.way == WAYS.index("cut"))[..., None], goes * AHEAD_S, 0)
        toward = unit(aim - self.pos)
        side = np.stack([-toward[..., 1], toward[..., 0], 0 * toward[..., 0]], -1)
        wanted = unit(toward + self.swerve[..., None] * side)
        back = (self.way == WAYS.index("swing")) & (step // self.turn % 2 > 0)
        near = (length(there - self.pos) < NEAR_S * self.told.speed_m_s) & (length(goes) > self.words.still_m_s)
        waits = (self.way == WAYS.index("ambush")) & ~near
        return np.where(waits[..., None], 0.0, np.where(back[..., None], -wanted, wanted)) * self.told.speed_m_s

    def seen(self, robots: np.ndarray, step: int) -> Sensed:
        """What robots [E, N, 3] see: late, wrong within the bounds, and for some strangers now and then nothing new."""
        rows = np.arange(self.pos.shape[1])
        hides = self.silent & (step // 40 % 2 > 0)
        self._age = np.where(hides, self._age + 1, self.late[:, None])
        age = np.minimum(self._age, len(self._past))
        past = [(self.pos, self.vel), *self._past]
        pos, vel = (np.stack([moment[i] for moment in past]) for i in range(2))
        episodes = np.arange(len(age))[:, None]
        pos, vel = pos[age, episodes, rows][:, None], vel[age, episodes, rows][:, None]
        away = unit(pos - robots[:, :, None])
        off, off_speed = (
            np.where(trick[:, None, :, None], away, unit(self.random.normal(size=away.shape))) for trick in self.tricks
        )
        mask = np.ones(away.shape[:3], bool)
        return Sensed(
            mask,
            pos + off * self.told.position_error_m,
            vel + off_speed * self.told.velocity_error_m_s,
            np.broadcast_to((age * self.words.period_s)[:, None], mask.shape),
        )
