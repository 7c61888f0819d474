"""What is wrong with the inputs, of which robot, and when."""

import numpy as np

from benchmarks.filter.fallbacks.genes import Genes
from benchmarks.filter.fallbacks.words import PERIOD_S, Words

REASONS = (
    "ok",
    "infeasible",
    "stale",
    "stale_own",
    "nan_nominal",
    "nan_gain",
    "nan_memory",
    "nan_mate",
    "nan_own",
    "missing",
    "blind",
    "blind_late",
    "restart",
    "mixed",
)
"""Causes of each `Reason`. `blind` calls `SafetyFilter.blind` at the first tick without an estimate, `blind_late` once
the last estimate is older than the delay, as a policy node does. `restart` starts the memory anew."""
MIXED = ("ok", "stale", "nan_nominal", "nan_gain", "nan_mate", "missing")
"""What `mixed` changes between."""
SHORT = ("stale_own", "nan_own", "blind", "blind_late")
"""Without an estimate of its own a robot is for twice the delay at most."""
RARE = ("nan_memory", "restart")
"""A memory is lost for single ticks."""


class Faults:
    """The schedule of E teams of N robots."""

    def __init__(self, words: Words, genes: Genes, reason: str, robots: int) -> None:
        """Plan all of it."""
        self.words, self.genes, self.reason = words, genes, reason
        together = genes["together"][:, None]
        self._phase = np.where(together, genes["fault_phase"][:, :1], genes["fault_phase"])
        self._struck = genes["all"][:, None] | (np.arange(robots) == 0)
        self._pattern = genes["pattern"].copy()
        if reason in SHORT:
            self._pattern = np.where(self._pattern == 2, 2, 3)
        if reason in RARE:
            self._pattern = np.full_like(self._pattern, 3)

    def active(self, step: int) -> np.ndarray:
        """[E, N] bool: the fault is there now."""
        if self.reason in ("ok", "infeasible"):
            return np.zeros(self._struck.shape, bool)
        on, off = self._spans()
        turn = step + self._phase
        segment = turn // np.maximum(on, 1)
        dice = (segment * 2654435761 + self.genes["salt"][:, None]) >> 9
        limit = int(self.words.max_age_s / PERIOD_S + 1e-6)
        period = np.maximum(limit + self.genes["edge"][:, None], 2)
        each = [
            turn >= 0,
            np.broadcast_to(step >= self.genes["onset"][:, None], turn.shape),
            turn % 2 == 0,
            turn % (on + off) < on,
            dice % 2 == 0,
            turn % period != 0,
        ]
        return np.choose(self._pattern[:, None], each) & self._struck

    def _spans(self) -> tuple[np.ndarray, np.ndarray]:
        """[E, 1] ticks with the fault, and then without it."""
        on, off = self.genes["on"][:, None], self.genes["off"][:, None]
        if self.reason in SHORT:
            longest = max(int(2 * self.words.delay_s / PERIOD_S), 1)
            on = 1 + on % longest
            off = on + off
        if self.reason in RARE:
            on, off = np.ones_like(on), 25 + off
        return on, off

    def now(self, step: int) -> np.ndarray:
        """[E, N] what is wrong now: a name of `REASONS`, as its number."""
        active = self.active(step)
        code = np.full(active.shape, REASONS.index(self.reason))
        if self.reason == "mixed":
            spell = (step + self._phase) // np.maximum(self.genes["off"][:, None] // 2, 1)
            dice = (spell * 40503 + self.genes["salt"][:, None] * 31) >> 4
            code = np.array([REASONS.index(name) for name in MIXED])[dice % len(MIXED)]
        return np.where(active, code, 0)


def is_any(code: np.ndarray, *names: str) -> np.ndarray:
    """[E, N] bool: what is wrong now is one of these names of `REASONS`."""
    return np.array([name in names for name in REASONS])[code]
