"""A search for robots that leave their tubes: `python -m benchmarks.certificate.swings --vehicle NAME`.

Robots that nobody hears are pushed along one direction each. Errors, disturbance, bias and delay take the side that an
evolution found to be the worst, and the policy swings to and fro along it. Random crowds (`flight.py`) do that
rarely for long.
"""

import sys
from dataclasses import dataclass, replace

import numpy as np
import tyro
from tqdm import tqdm

from benchmarks.certificate.flight import SETTLED_S, Crowd, CrowdFlight
from benchmarks.filter.fallbacks.genes import SIGNALS, Genes
from benchmarks.filter.fallbacks.words import PERIOD_S, unit

SEARCHED = ("late", "bias", *(f"{name}_{part}" for name in SIGNALS for part in ("mode", "period", "phase")))
"""Genes that a search mixes and changes, and `way`, the direction."""
KEPT, CHANGED = 0.1, 0.15
"""Shares of the population that become parents, and of genes that change in a child."""
LONGEST_S = 1.2
"""Longest period of a signal."""


@dataclass(frozen=True)
class Search:
    """Vehicle and size of the search."""

    vehicle: str
    robots: int = 600
    """Robots of a generation."""
    generations: int = 10
    seconds: float = 8.0
    scale: float = 1.0
    """Factor of all declared bounds, for the plant."""
    seed: int = 0
    period_s: float = PERIOD_S
    """Time between two decisions."""
    delay_s: float | None = None
    """Longest delay of the vehicle; None: that of its file."""


class SwingFlight(CrowdFlight):
    """Robots in pairs far apart, each with a direction of its own in place of an aim."""

    def __init__(self, search: Search, genes: Genes) -> None:
        """Place them. `genes`: [pairs, 2] each, `way` [pairs, 2, 3]."""
        self.way = None
        crowd = Crowd(search.vehicle, "ring", 2, search.robots // 2, search.seconds, search.scale, seed=search.seed)
        super().__init__(replace(crowd, period_s=search.period_s, delay_s=search.delay_s))
        self.genes.update(genes)
        self.way = unit(genes["way"] * (1, 1, 0 if self.words.planar else 1))
        self.toward, self.present = self.way, self.present & False
        self.bias = self.signals.bias(self.way)
        self.share = np.zeros(self.way.shape[:2])

    def _aim(self) -> np.ndarray:
        return self.team.pos + (1.0 if self.way is None else self.way)

    def _watch(self, step: int, point: np.ndarray, now_s: np.ndarray) -> None:
        super()._watch(step, point, now_s)
        if step * self.crowd.period_s > SETTLED_S:
            self.share = np.maximum(self.share, self.off_m() / self.figures.learned.radius_m)


def drawn(random: np.random.Generator, shape: tuple[int, int], period_s: float) -> Genes:
    """Draw choices [pairs, 2] in which all signals point along the direction of the robot."""
    longest = round(LONGEST_S / period_s)
    way = random.normal(size=(*shape, 3)) * random.choice([(1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 0, 1)], shape)
    diagonal = random.random((*shape, 1)) < 0.3
    genes: Genes = {
        "way": np.where(diagonal, np.sign(way), way) + 1e-9,
        "late": random.choice([2, 2, 2, 3, 1, 5, 4], shape),
        "bias": random.choice([0, 1], shape),
        "amplitude": np.ones(shape),
        "tracks": np.zeros(shape, bool),
    }
    for name in SIGNALS:
        genes[f"{name}_base"] = np.zeros(shape, int)
        genes[f"{name}_mode"] = np.full(shape, 2) if name == "wish" else random.choice([0, 0, 1, 2], shape)
        genes[f"{name}_period"] = random.integers(1, longest, shape)
        genes[f"{name}_phase"] = random.integers(0, 5 * longest, shape)
    return genes


def children(random: np.random.Generator, genes: Genes, share: np.ndarray, period_s: float) -> Genes:
    """Mix the best robots' choices, and change some; the best stay as they are."""
    pairs, size = share.shape, share.size
    best = np.argsort(-share.ravel())[: max(int(KEPT * size), 2)]
    fresh = drawn(random, pairs, period_s)

    def child(name: str) -> np.ndarray:
        one = genes[name].reshape(size, *genes[name].shape[2:])
        new = one[best[random.integers(0, len(best), size)]].reshape(genes[name].shape)
        changed = random.random(pairs) < CHANGED
        new = np.where(changed[..., None] if name == "way" else changed, fresh[name], new)
        new.reshape(one.shape)[: len(best)] = one[best]
        return new

    return genes | {name: child(name) for name in ("way", *SEARCHED)}


def worst_share(search: Search) -> float:
    """The largest share of its tube that a robot took, of all generations."""
    random, worst = np.random.default_rng(search.seed), 0.0
    genes = drawn(random, (search.robots // 2, 2), search.period_s)
    for _ in tqdm(range(search.generations), unit="generation", disable=None):
        flight = SwingFlight(search, genes)
        for step in range(round(search.seconds / flight.crowd.period_s)):
            flight.tick(step)
        worst = max(worst, float(flight.share.max()))
        genes = children(random, genes, flight.share, search.period_s)
    return worst


def main() -> int:
    """Search; ends with 1 where a robot leaves its tube."""
    worst = worst_share(tyro.cli(Search))
    print(f"tube_share {worst:.4g}")
    return int(worst > 1)


if __name__ == "__main__":
    sys.exit(main())
