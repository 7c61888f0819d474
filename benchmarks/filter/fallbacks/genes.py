"""What an episode draws, and the errors, disturbances and hostile commands that come of it.

Each choice is one array whose first axis is the episode, so that a search can mix episodes.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.filter.fallbacks.words import Words, length, unit

Genes = dict[str, np.ndarray]
SIGNALS = ("pos", "vel", "push", "wish")
"""Error of the estimated position, of the velocity, disturbance, and command of the policy."""
BASES = ("g0", "g", "near", "speed", "across", "drawn", "noise", "zero")
"""Directions of a signal: of the attack at the start and now, to the nearest teammate, of the velocity, and so on."""
MODES = ("plus", "minus", "flip", "turn")
"""A signal keeps its sign, is opposite, changes its sign, or turns slowly."""
CHANCE = {
    "pos": ([4, 2, 2, 1, 1, 2, 1, 0.5], [1, 4, 2, 1]),
    "vel": ([4, 2, 2, 2, 1, 2, 1, 0.5], [1.5, 4, 2, 1]),
    "push": ([4, 2, 1, 2, 1, 2, 1, 0.2], [5, 1, 1, 1]),
    "wish": ([4, 8, 2, 1, 1, 1, 1, 1], [8, 0.5, 2, 0.5]),
}
"""Weights of the bases and of the modes, by signal."""
LATE = ("newest", "oldest", "toward", "against", "random", "alternating")
"""Which of the commands that the delay allows is in force."""
LOST = ("none", "half", "edge", "burst", "old")
"""How messages of teammates are lost, below the age limit."""
PATTERNS = ("always", "onset", "alternate", "burst", "random", "edge")
"""When a fault is there: the last is a message age that swings about its limit."""


def draw(random: np.random.Generator, episodes: int, robots: int) -> Genes:
    """Draw the choices of all episodes."""
    pair = (episodes, robots)
    genes: Genes = {
        "place": random.random((episodes, 8)),
        "way": random.normal(size=(episodes, 3)),
        "heading": random.uniform(-np.pi, np.pi, pair),
        "bias": random.choice(4, pair, p=[0.6, 0.1, 0.2, 0.1]),
        "bias_drawn": random.uniform(-1, 1, (*pair, 3)),
        "late": random.choice(len(LATE), pair, p=[0.1, 0.3, 0.3, 0.1, 0.1, 0.1]),
        "lost": random.choice(len(LOST), episodes, p=[0.4, 0.15, 0.2, 0.15, 0.1]),
        "link_phase": random.integers(0, 1000, (episodes, robots, robots)),
        "latency": random.choice([1, 1, 2, 4], episodes),
        "amplitude": random.choice([1.0, 1.0, 1.0, 0.5, 0.2], pair),
        "tracks": random.random(pair) < 0.15,
        "alike": random.random(episodes) < 0.5,
        "pattern": random.choice(len(PATTERNS), episodes),
        "onset": random.integers(0, 250, episodes),
        "on": 1 + (random.random(episodes) ** 2 * 60).astype(int),
        "off": 1 + (random.random(episodes) ** 2 * 60).astype(int),
        "edge": random.choice([-2, -1, 0, 1, 2, 3, 6, 12], episodes),
        "fault_phase": random.integers(0, 1000, pair),
        "salt": random.integers(0, 2**31, episodes),
        "together": random.random(episodes) < 0.4,
        "all": random.random(episodes) < 0.7,
        "near_too": random.random(episodes) < 0.5,
        "gain": random.choice([1.0, 1.0, 0.3, 0.0], episodes),
        "value": random.choice([np.nan, np.inf, -np.inf, 1e39, 1e7], episodes),
    }
    for name in SIGNALS:
        bases, modes = (np.array(p) / np.sum(p) for p in CHANCE[name])
        genes[f"{name}_base"] = random.choice(len(BASES), pair, p=bases)
        genes[f"{name}_mode"] = random.choice(len(MODES), pair, p=modes)
        genes[f"{name}_period"] = 1 + (random.random(pair) ** 3 * 150).astype(int)
        genes[f"{name}_phase"] = random.integers(0, 300, pair)
        genes[f"{name}_drawn"] = random.normal(size=(*pair, 3))
    return share(genes)


def share(genes: Genes) -> Genes:
    """In episodes whose robots are alike, all have the signals, the bias and the delay of the first."""
    alike = genes["alike"]
    names = [f"{s}_{part}" for s in SIGNALS for part in ("base", "mode", "period", "phase")]
    for name in (*names, "bias", "late", "amplitude", "tracks"):
        genes[name] = np.where(alike[:, None], genes[name][:, :1], genes[name])
    return genes


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
