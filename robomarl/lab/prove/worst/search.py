"""CMA-ES over the numbers of attacks, from the structured attacks that came nearest. Needs `cmaes`.

Many small searches run side by side, each in a few of the columns at a time: the whole populations
of all searches are one batch of episodes.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from robomarl.lab.prove.worst.attack import COLUMNS, HIGH, LOW, SEARCHED, Attack
from robomarl.lab.prove.worst.errors import Random
from robomarl.lab.prove.worst.plant import norm
from robomarl.lab.prove.worst.words import Words

AT_ONCE = 12
"""Columns that a stage of a search moves in."""
POPULATION = 16
GENERATIONS = 8
"""Generations of a stage; the next stage draws other columns."""
STEP = 0.25
"""First standard deviation, as a share of a column's range."""
STARTS = [i for i, column in enumerate(COLUMNS) if column.name.startswith("start_") or column.name == "heading_rad"]
_RANGE = HIGH - LOW

Clearance = Callable[[Attack], np.ndarray]
"""Function that flies attacks and returns the values [E] to minimize."""


class Best(NamedTuple):
    """Best results of the searches."""

    values: np.ndarray
    """[S, N, columns]"""
    clearance_m: np.ndarray
    """[S]"""


def repaired(words: Words, values: np.ndarray) -> np.ndarray:
    """Tables within their ranges, with robots that are too near at the start moved apart; [E, N, columns]."""
    values = values.copy()
    values[..., SEARCHED] = np.clip(values, LOW, HIGH)[..., SEARCHED]
    if values.shape[1] == 2 and words.arena is None:
        start = values[..., :3]
        middle = start.mean(1, keepdims=True)
        lean = (start[:, 1] - start[:, 0]) * words.squash
        need = (words.apart_m + 2 * words.ahead_m) / np.maximum(norm(lean), 1e-6)
        values[..., :3] = middle + (start - middle) * np.maximum(need, 1.0)[:, None, None]
        flat = np.abs(lean).max(-1) < 1e-6
        values[flat, 1, 0] += words.apart_m + 2 * words.ahead_m
    return values


def search(words: Words, fly: Clearance, start: Best, stages: int, random: Random) -> Best:
    """Make S attacks worse, by `stages` times `GENERATIONS` generations of `POPULATION`."""
    best = Best(start.values.copy(), start.clearance_m.copy())
    for _ in range(stages):
        searches = [_Stage(words, table, random) for table in best.values]
        for _ in range(GENERATIONS):
            asked = np.concatenate([s.ask() for s in searches])
            found = fly(Attack(asked)).reshape(len(searches), POPULATION)
            for i, one in enumerate(searches):
                one.tell(found[i])
                lowest = int(found[i].argmin())
                if found[i, lowest] < best.clearance_m[i]:
                    best.clearance_m[i] = found[i, lowest]
                    best.values[i] = asked[i * POPULATION + lowest]
    return best


class _Stage:
    """One search in a few columns about one attack."""

    def __init__(self, words: Words, table: np.ndarray, random: Random) -> None:
        from cmaes import CMA

        self._words, self._table = words, table
        movable = SEARCHED.copy()
        if words.arena is not None or len(table) != 2:
            movable[STARTS] = False
        self._mirrored = bool(random.random() < 0.4)
        if self._mirrored:  # both do the same: but not from the same place
            movable[STARTS] = False
        self._columns = random.choice(np.flatnonzero(movable), AT_ONCE, replace=False)
        whose, low = slice(1 if self._mirrored else None), LOW[self._columns]
        mean = ((table[whose, self._columns] - low) / _RANGE[self._columns]).ravel()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._cma: Any = CMA(
                mean=np.clip(mean, 0.02, 0.98),
                sigma=STEP,
                bounds=np.repeat([[0.0, 1.0]], len(mean), 0),
                population_size=POPULATION,
                seed=int(random.integers(2**31)),
            )
        self._points: list[np.ndarray] = []

    def ask(self) -> np.ndarray:
        """[POPULATION, N, columns] attacks to fly."""
        self._points = [self._cma.ask() for _ in range(POPULATION)]
        tables = np.repeat(self._table[None], POPULATION, 0)
        moved = np.stack(self._points).reshape(POPULATION, -1, len(self._columns))
        tables[..., self._columns] = LOW[self._columns] + moved * _RANGE[self._columns]
        return repaired(self._words, tables)

    def tell(self, clearance_m: np.ndarray) -> None:
        """Report the clearances [m] of the flown attacks, [POPULATION], to CMA-ES."""
        self._cma.tell([(p, float(c)) for p, c in zip(self._points, clearance_m, strict=True)])
