"""E teams of N robots as point masses behind a delay, and how near they come to each limit in continuous time."""

import math

import numpy as np

from benchmarks.filter.fallbacks.places import surface_m
from benchmarks.filter.fallbacks.words import Words, length
from robomarl.core.filter.filter import Arena
from robomarl.core.filter.model.bodies import Obstacle

EPS = 1e-9


class Team:
    """What moves. The commanded point is the centre, or a look-ahead in front of it for a differential drive."""

    def __init__(
        self, words: Words, centre: np.ndarray, heading_rad: np.ndarray, random: np.random.Generator, parts: int = 4
    ) -> None:
        """Place all robots at rest.

        Args:
            words: bounds.
            centre: [E, N, 3] where the centres are.
            heading_rad: [E, N] yaw.
            random: draws the delays that are random.
            parts: into how many parts a period is cut.
        """
        self.words, self.angle, self.parts, self.random = words, heading_rad.copy(), parts, random
        self.pos = centre + words.ahead_m * self.ahead
        """[E, N, 3] commanded points."""
        self.vel = np.zeros_like(centre)
        self._sent = np.zeros((math.ceil(words.delay_s / words.period_s) + 2, *centre.shape))
        self._first, self._second = np.triu_indices(centre.shape[1], 1)
        episodes = len(centre)
        self.least = np.full(episodes, np.inf)
        self.depth, self.outside, self.top = np.full((3, episodes), -np.inf)

    @property
    def ahead(self) -> np.ndarray:
        """[E, N, 3] unit vectors of the heading."""
        return np.stack([np.cos(self.angle), np.sin(self.angle), 0 * self.angle], -1)

    @property
    def centre(self) -> np.ndarray:
        """[E, N, 3] centres of the bodies."""
        return self.pos - self.words.ahead_m * self.ahead if self.words.ahead_m else self.pos

    def move(self, command: np.ndarray, extra: np.ndarray, late: np.ndarray, toward: np.ndarray) -> None:
        """Go on for one period.

        Args:
            command: [E, N, 3] what was decided at its beginning.
            extra: [E, N, 3] bias and disturbance.
            late: [E, N] number in `LATE`.
            toward: [E, N, 3] direction of the attack.
        """
        self._sent, period = np.concatenate([command[None], self._sent[:-1]]), self.words.period_s
        for part in range(self.parts):
            begin, end = (period * x / self.parts for x in (part, part + 1))
            newest = max(math.ceil((self.words.delay_s / 2 - begin) / period - EPS), 0)
            oldest = max(math.floor((period + self.words.delay_s - end) / period + EPS), newest)
            accel = self._in_force(self._sent[newest : oldest + 1], late, toward) + extra
            self._drift(accel, end - begin)

    def _in_force(self, able: np.ndarray, late: np.ndarray, toward: np.ndarray) -> np.ndarray:
        """[E, N, 3] which of the commands [ages, E, N, 3] acts, in the order of `LATE`."""
        newest, last = 0 * late, len(able) - 1
        if not last:
            return able[0]
        reach = np.einsum("aeni,eni->aen", able, toward)
        spin = self.random.integers(0, last + 1, late.shape)
        ends = np.where(spin % 2, 0, last)
        which = np.choose(late, [newest, newest + last, reach.argmax(0), reach.argmin(0), spin, ends])
        return np.take_along_axis(able, which[None, ..., None], 0)[0]

    def _drift(self, accel: np.ndarray, seconds: float) -> None:
        start, half = self.centre, self.vel + accel * (seconds / 2)
        if self.words.ahead_m:  # midpoint rule
            turn = (self.vel * _across(self.angle)).sum(-1) / self.words.ahead_m
            middle = self.angle + turn * (seconds / 2)
            self.angle = self.angle + (half * _across(middle)).sum(-1) / self.words.ahead_m * seconds
        self.pos, self.vel = self.pos + half * seconds, self.vel + accel * seconds
        self.top = np.maximum(self.top, length(self.vel).max(-1))
        if len(self._first):
            apart = start[:, self._first] - start[:, self._second]
            way = self.centre - start
            way = way[:, self._first] - way[:, self._second]
            square = np.einsum("...i,...i->...", way, way)
            when = np.clip(-np.einsum("...i,...i->...", apart, way) / np.maximum(square, 1e-15), 0, 1)
            self.least = np.minimum(self.least, length(apart + way * when[..., None]).min(-1))

    def compare(self, arena: Arena | None, obstacles: tuple[Obstacle, ...]) -> None:
        """Note how far bodies are inside obstacles and centres outside the arena."""
        centre = self.centre
        if arena:
            over = np.maximum(np.array(arena.low_m) - centre, centre - np.array(arena.high_m))
            over = over[..., :2] if self.words.planar else over
            self.outside = np.maximum(self.outside, over.max((-1, -2)))
        for obstacle in obstacles:
            depth = self.words.radius_m - surface_m(obstacle, centre, self.words.planar)
            self.depth = np.maximum(self.depth, depth.max(-1))


def _across(angle: np.ndarray) -> np.ndarray:
    return np.stack([-np.sin(angle), np.cos(angle), 0 * angle], -1)
