"""Search for the worst episodes of a cell: `python -m benchmarks.filter.fallbacks.search VEHICLE --reason R --limit L`.

Each generation keeps the worst quarter of all episodes, and mixes their choices with each other and with new ones.
"""

from dataclasses import replace

import numpy as np

from benchmarks.filter.fallbacks import genes as drawn
from benchmarks.filter.fallbacks.__main__ import cases_of, parser
from benchmarks.filter.fallbacks.cells import Row, merged
from benchmarks.filter.fallbacks.drive import Case, Flight, Found, summary
from benchmarks.filter.fallbacks.genes import Genes
from benchmarks.filter.fallbacks.words import PERIOD_S

KEPT, NEW, MIXED = 0.25, 0.15, 0.3
"""Shares of a generation that are kept, and drawn anew; chance of a choice of a child to come from another parent."""


def badness(case: Case, found: Found) -> np.ndarray:
    """[E] how far each episode is beyond the limit that the case attacks, in its unit."""
    near = found.contact_m - found.least_m
    own = {
        "obstacle": found.depth_m,
        "wall": found.outside_m,
        "speed": found.over_m_s,
        "stranger": found.hit_m_s,
    }.get("" if case.crowd else case.limit, near)
    for other in (near, found.depth_m, found.outside_m):  # another limit counts once it is broken
        own = np.where(other > 1e-4, np.maximum(own, other), own)
    return own


def children(genes: Genes, bad: np.ndarray, random: np.random.Generator) -> Genes:
    """Choices of the next generation; the worst episodes come first, unchanged."""
    episodes, robots = genes["heading"].shape
    order, kept = np.argsort(-bad), int(KEPT * episodes)
    fresh = drawn.draw(random, episodes, robots)
    first = order[random.integers(0, kept, episodes)]
    second = order[random.integers(0, kept, episodes)]
    first[:kept] = order[:kept]
    is_new = np.arange(episodes) >= (1 - NEW) * episodes
    rate = random.choice([0.02, 0.05, 0.15], episodes)
    made: Genes = {}
    for name, value in genes.items():
        other, again = random.random(episodes) < MIXED, random.random(episodes) < rate
        picked = np.where(_wide(other, value), value[second], value[first])
        picked = np.where(_wide(again | is_new, value), fresh[name], picked)
        picked[:kept] = value[order[:kept]]
        made[name] = picked
    return drawn.share(made)


def _wide(mask: np.ndarray, like: np.ndarray) -> np.ndarray:
    return mask.reshape(mask.shape + (1,) * (like.ndim - 1))


def search(case: Case, generations: int) -> tuple[Row, Genes]:
    """Fly so many generations; the row of all of them together, and the choices of the worst episode."""
    random, genes, rows = np.random.default_rng(case.seed), None, []
    worst: tuple[float, Genes] = (-np.inf, {})
    for generation in range(generations):
        flight = Flight(replace(case, seed=case.seed + generation), genes)
        for step in range(round(case.seconds / PERIOD_S)):
            flight.tick(step)
        found = flight.found()
        bad, row = badness(case, found), summary(case, found)
        rows.append(row)
        if bad.max() > worst[0]:
            worst = float(bad.max()), {k: v[bad.argmax()][None] for k, v in flight.genes.items()}
        print(f"{generation:3d}: worst {bad.max():7.3f}, tenth of them {np.quantile(bad, 0.9):7.3f}", flush=True)
        genes = children(flight.genes, bad, random)
    return merged(rows), worst[1]


def main() -> None:
    """Search each cell that the options name, and print what was found."""
    options = parser()
    options.add_argument("--generations", type=int, default=10)
    options.add_argument("--save", help="file of numpy arrays for the choices of the worst episode")
    told = options.parse_args()
    for case in cases_of(told):
        row, worst = search(case, told.generations)
        print({k: v for k, v in row.items() if not k.startswith("share_")})
        print({k: v[0].tolist() for k, v in worst.items() if v.ndim < 3})
        if told.save:
            np.savez(told.save, **worst)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
