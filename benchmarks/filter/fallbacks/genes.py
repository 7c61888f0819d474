"""What an episode draws: one array for each choice, the first axis is the episode, so that a search can mix them."""

import numpy as np

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
