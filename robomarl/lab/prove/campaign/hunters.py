"""Strangers that hunt robots: point masses at the bounds that robots were told of. Numpy; nothing of the certificate is
imported here."""

from typing import NamedTuple

import numpy as np

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


class HuntRules(NamedTuple):
    """Bounds of strangers, and numbers of the robots that they hunt."""

    told: Strangers
    """Bounds that robots were told of, which strangers reach."""
    period_s: float
    """Time between two decisions of a robot."""
    spacing_m: float
    """Strangers begin once to three times this far outside the circle of the robots [m]."""
    still_m_s: float
    """Speed of a robot that stands as well as its errors let it."""


class StrangerSightings(NamedTuple):
    """Sightings, by the names that the filter looks for in a view; [E, N, S] each."""

    strangers_mask: np.ndarray
    strangers_pos_m: np.ndarray
    strangers_vel_m_s: np.ndarray
    strangers_age_s: np.ndarray


class Hunters:
    """E times S strangers."""

    def __init__(self, rules: HuntRules, centre: np.ndarray, count: int, random: np.random.Generator) -> None:
        """Place them at rest around robots [E, N, 3], where no robot is."""
        self.rules, self.told, self.random, episodes = rules, rules.told, random, len(centre)
        shape = (episodes, count)
        middle = centre.mean(1, keepdims=True)
        far = length(centre - middle).max(1)[:, None] + rules.spacing_m * random.uniform(1, 3, shape)
        angle = 2 * np.pi * random.random(shape)
        self.pos = middle + far[..., None] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1)
        self.vel, self.way = np.zeros_like(self.pos), random.integers(0, len(WAYS), shape)
        self.swerve, self.turn = random.uniform(-0.4, 0.4, shape), random.integers(10, 60, shape)
        self.late = random.integers(0, 1 + int(LATEST_S / rules.period_s), episodes)
        self.silent = random.random(shape) < 0.3
        """Are not seen for half of the time, at stretches."""
        self.tricks = random.random((2, *shape)) < 0.7
        """Errors of places and velocities hide the attack, or are drawn."""
        self._past: list[tuple[np.ndarray, np.ndarray]] = []
        self._age = np.zeros((*shape,), int)

    def move(self, before: np.ndarray, centre: np.ndarray, vel: np.ndarray, step: int) -> Touches:
        """Hunt for a period in which the centres of robots [E, N, 3] go from `before` to `centre`."""
        self._past = [(self.pos, self.vel), *self._past[: int(5 / self.rules.period_s)]]
        h, went = self.rules.period_s / PARTS, (centre - before) / PARTS
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
        near = (length(there - self.pos) < NEAR_S * self.told.speed_m_s) & (length(goes) > self.rules.still_m_s)
        waits = (self.way == WAYS.index("ambush")) & ~near
        return np.where(waits[..., None], 0.0, np.where(back[..., None], -wanted, wanted)) * self.told.speed_m_s

    def seen(self, robots: np.ndarray, step: int) -> StrangerSightings:
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
        return StrangerSightings(
            mask,
            pos + off * self.told.position_error_m,
            vel + off_speed * self.told.velocity_error_m_s,
            np.broadcast_to((age * self.rules.period_s)[:, None], mask.shape),
        )


def unit(vectors: np.ndarray) -> np.ndarray:
    """[..., 3] directions; of a vector of length 0, zero."""
    return vectors / np.maximum(length(vectors), 1e-9)[..., None]


def length(vectors: np.ndarray) -> np.ndarray:
    """[...] lengths of [..., 3]."""
    return np.sqrt(np.einsum("...i,...i->...", vectors, vectors))
