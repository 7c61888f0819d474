"""Cases that a filter failed once, with what their episodes had in common."""

from typing import NamedTuple

import numpy as np

from benchmarks.filter.fallbacks import genes as drawn
from benchmarks.filter.fallbacks.drive import Case
from benchmarks.filter.fallbacks.genes import BASES, MODES, PATTERNS, SIGNALS, Genes


class Example(NamedTuple):
    """A case, and choices that all of its episodes share."""

    changes: dict
    """Of `Case`."""
    fixed: dict
    """Of `Genes`."""


def toward(mode: str = "plus") -> dict:
    """Constant errors: robots are nearer to the limit than they believe, and are pushed at it."""
    found: dict = {f"{name}_base": BASES.index("g0") for name in SIGNALS}
    found |= {f"{name}_mode": MODES.index("minus") for name in ("pos", "vel")}
    return found | {"push_mode": MODES.index(mode), "wish_mode": 0, "bias": 0, "amplitude": 1.0, "tracks": False}


ALWAYS = {"pattern": PATTERNS.index("always"), "all": True, "near_too": False, "together": True}
EDGE = ALWAYS | {"pattern": PATTERNS.index("edge")}
EXAMPLES = {
    "N1": Example({"reason": "nan_nominal", "limit": "heard"}, toward() | ALWAYS),
    "N1_gain": Example({"reason": "nan_gain", "limit": "heard"}, toward() | ALWAYS | {"amplitude": 0.0}),
    "N2": Example({"reason": "nan_mate", "limit": "heard"}, toward() | ALWAYS),
    "N3": Example({"reason": "stale", "limit": "obstacle"}, toward() | EDGE | {"edge": 1, "lost": 0}),
    "N3_heard": Example({"reason": "stale", "limit": "heard"}, toward() | EDGE | {"edge": 9, "lost": 0}),
    "N4": Example({"crowd": "corner", "count": 8}, toward() | {"lost": 0}),
    "N5": Example({"limit": "stranger"}, {}),
}
"""By the number of their row in the issue that found them."""


def genes_of(case: Case, fixed: dict) -> Genes:
    """Draw the choices of a case from its seed, those that are fixed excepted."""
    genes = drawn.draw(np.random.default_rng(case.seed), case.episodes, case.robots)
    for name, value in fixed.items():
        genes[name] = np.full_like(genes[name], value)
    if case.limit == "heard" and not case.crowd:
        genes["way"], genes["bias_drawn"] = np.zeros_like(genes["way"]) + [1, 0, 0], 0 * genes["bias_drawn"]
        genes["place"][:, [0, 4]] = 0.0
    if case.limit == "obstacle":
        genes["place"][:, 6], genes["bias_drawn"] = 0.0, 0 * genes["bias_drawn"]
    return genes
