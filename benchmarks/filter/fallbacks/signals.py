"""Errors, disturbances and hostile commands as directions that change in time."""

from typing import NamedTuple

import numpy as np

from benchmarks.filter.fallbacks.genes import Genes
from benchmarks.filter.fallbacks.words import Words, length, unit


class Directions(NamedTuple):
    """Unit vectors [E, N, 3] that an attack is steered by."""

    g0: np.ndarray
    """Towards the limit that is attacked, at the start."""
    g: np.ndarray
    """The same now."""
    near: np.ndarray
    """To the nearest teammate."""
    speed: np.ndarray
    """Of the velocity."""
    across: np.ndarray
    """Horizontal, across `g`."""


def directions(g0: np.ndarray, g: np.ndarray, pos: np.ndarray, vel: np.ndarray) -> Directions:
    """Find all from positions and velocities [E, N, 3]."""
    apart = pos[:, None] - pos[:, :, None]
    robots = np.arange(pos.shape[1])
    distance = length(apart)
    distance[:, robots, robots] = np.inf
    which = distance.argmin(-1)[..., None, None]
    near = unit(np.take_along_axis(apart, which, 2)[:, :, 0]) if len(robots) > 1 else g
    across = unit(np.stack([-g[..., 1], g[..., 0], 0 * g[..., 0]], -1) + [1e-6, 0, 0])
    return Directions(g0, g, near, unit(vel), across)


class Signals:
    """The signals of E teams of N robots."""

    def __init__(self, words: Words, genes: Genes, random: np.random.Generator) -> None:
        """Keep what was drawn."""
        self.words, self.genes, self.random = words, genes, random
        self.most = np.array([1, 1, 0.0 if words.planar else 1])

    def of(self, name: str, now: Directions, step: int) -> np.ndarray:
        """[E, N, 3] of at most unit length: the signal of this name."""
        genes = self.genes
        drawn, noise = (unit(x * self.most) for x in (genes[f"{name}_drawn"], self.random.normal(size=now.g.shape)))
        ways = np.stack([*now, drawn, noise, 0 * drawn])
        way = np.take_along_axis(ways, genes[f"{name}_base"][None, ..., None], 0)[0]
        turn = step + genes[f"{name}_phase"]
        period, mode = genes[f"{name}_period"], genes[f"{name}_mode"][..., None]
        flip = np.where(turn // period % 2, 1.0, -1.0)[..., None]
        angle = (2 * np.pi * turn / (50 + 4 * period))[..., None]
        turned = unit(np.cos(angle) * way + np.sin(angle) * drawn)
        return np.choose(mode, [way, -way, flip * way, turned]) * self.most

    def bias(self, g0: np.ndarray) -> np.ndarray:
        """[E, N, 3] constant acceleration at its bound, towards the limit at the start or as drawn [m/s^2]."""
        drawn, kind = self.genes["bias_drawn"], self.genes["bias"][..., None]
        toward = np.sign(np.where(np.abs(g0) > 0.1, g0, drawn))
        return np.choose(kind, [toward, -toward, np.sign(drawn), drawn]) * self.words.bias_m_s2

    def wish(self, now: Directions, vel: np.ndarray, step: int) -> np.ndarray:
        """[E, N, 4] acceleration and yaw rate that a hostile policy asks for."""
        way, most = self.of("wish", now, step), self.words.accel_m_s2
        most = np.maximum(most, 1e-9)
        full = way / np.maximum(np.abs(way / most).max(-1, keepdims=True), 1e-9)
        tracked = 3 * (way * self.words.speed_m_s - vel)
        asked = np.where(self.genes["tracks"][..., None], tracked, full * self.genes["amplitude"][..., None])
        return np.concatenate([asked * self.most, np.zeros((*asked.shape[:2], 1))], -1)
