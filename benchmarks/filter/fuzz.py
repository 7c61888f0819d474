"""Campaign: the filter's backends on ugly decisions. Numpy for many robots at once is what the others are held to."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import Row
from benchmarks.filter.uglies import Case, draw, filter_of, leaves, one_of, vehicles

COUNT = 100_000
CHUNK = 500
CLOSE = 1e-9
"""Largest difference that counts as none; of numbers above 1 relative to them."""
NUDGE = 4e-16
"""What rounding does to an input, as a share of it or of 1, ..."""
BOUND_NUDGE = 2e-13
"""... and to a row [m/s^2]: a decision that it turns has no answer in double precision."""

Params = Any
"""`SafetyParams`: the filter is imported where it is run."""
Decide = Callable[[Params, Case], dict[str, np.ndarray]]


class Tally:
    """What came of one backend."""

    def __init__(self, name: str, decide: Decide) -> None:
        """Start with nothing seen."""
        self.name, self._decide = name, decide
        self.cases = self.other_reason = self.off = self.undecided = 0
        self.furthest = 0.0
        self.found: list[tuple[str, Case, dict]] = []
        """Vehicle, decision and differences of the first few that are off."""

    def add(self, vehicle: tuple[str, Params], case: Case, right: dict, undecided: np.ndarray) -> None:
        """Decide, and compare with what is right; `undecided` [P] are the decisions that have no answer."""
        told = self._decide(vehicle[1], case)
        apart = {name: difference(value, right[name]) for name, value in told.items()}
        worst = np.where(undecided, 0.0, np.max(list(apart.values()), axis=0))
        self.cases += len(worst)
        self.undecided += int(undecided.sum())
        self.other_reason += int(((apart["result.reason"] > 0) & ~undecided).sum())
        self.off += int((worst > CLOSE).sum())
        self.furthest = max(self.furthest, float(worst.max()))
        for i in np.flatnonzero(worst > CLOSE)[: max(0, 5 - len(self.found))]:
            self.found.append((vehicle[0], one_of(case, i), {n: d[i] for n, d in apart.items() if d[i] > CLOSE}))

    def rows(self) -> list[Row]:
        """The figures."""
        name = f"ugly decisions, {self.name}"
        return [
            Row(name, "decisions", self.cases, ""),
            Row(name, "other reason", self.other_reason, ""),
            Row(name, f"off by more than {CLOSE:g}", self.off, ""),
            Row(name, "furthest off", self.furthest, ""),
            Row(name, "no answer in double precision", self.undecided, ""),
        ]


def rows(more: dict[str, Decide] | None = None) -> list[Row]:
    """The whole campaign; see `campaign`."""
    return [row for tally in campaign(COUNT, more=more) for row in tally.rows()]


def campaign(count: int, seed: int = 0, more: dict[str, Decide] | None = None) -> list[Tally]:
    """Draw at least so many decisions, and let every backend make them.

    Args:
        count: of decisions.
        seed: of the draws.
        more: backends beside those that run here.
    """
    from tqdm import tqdm

    kinds, random, done = vehicles(), np.random.default_rng(seed), 0
    tallies = [Tally(name, decide) for name, decide in {**backends(), **(more or {})}.items()]
    size = min(CHUNK, -(-count // len(kinds)))
    with tqdm(total=count, desc="ugly decisions", unit="", disable=None) as bar:
        while done < count:
            for vehicle in kinds.items():
                case = draw(vehicle[1], random, size, 5 if vehicle[0] == "carrier" else 4)
                right = many("numpy")(vehicle[1], case)
                undecided = turns(vehicle[1], case, random)
                for tally in tallies:
                    tally.add(vehicle, case, right, undecided)
                done += size
                bar.update(size)
    return tallies


def backends() -> dict[str, Decide]:
    """All that can run here."""
    from robomarl.core.filter import kernel

    found = {"numpy for one robot": alone("numpy")}
    if kernel.usable():
        found |= {"C": many("c"), "C for one robot": alone("c")}
    return found


def many(backend: Any) -> Decide:
    """All robots at once."""

    def decide(params: Params, case: Case) -> dict[str, np.ndarray]:
        return read(filter_of(params, case.nominal.shape[-1], backend)(*case))

    return decide


def alone(backend: Any) -> Decide:
    """One robot after the other."""

    def decide(params: Params, case: Case) -> dict[str, np.ndarray]:
        safety = filter_of(params, case.nominal.shape[-1], backend)
        told = [read(safety(*one_of(case, i))) for i in range(len(case.nominal))]
        return {name: np.stack([one[name] for one in told]) for name in told[0]}

    return decide


def read(answer: tuple[Any, Any]) -> dict[str, np.ndarray]:
    """Everything that comes out but the nominal command, by name."""
    carry, result = answer
    parts = [(f"carry.{name}", part) for name, part in leaves(carry)]
    parts += [(f"result.{name}", part) for name, part in leaves(result) if name != "nominal"]
    return {name: np.asarray(part, float) for name, part in parts}


def difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """[P] largest difference of arrays [P, ...]; what is equal, infinite or no number in both differs by nothing."""
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(a - b) / np.maximum(1.0, np.abs(b))
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, apart)
    apart = np.where(np.isnan(apart), np.inf, apart)
    return apart.reshape(len(a), -1).max(-1, initial=0.0)


def turns(params: Params, case: Case, random: np.random.Generator) -> np.ndarray:
    """[P] whether rounding of inputs and rows turns the decision of a backend, or moves it noticeably.

    Each is compared with itself only, so that one that is wrong is not taken for undecided.
    """
    from robomarl.core.filter import kernel

    found = np.zeros(len(case.nominal), bool)
    for decide in (many("numpy"), many("c"))[: 1 + kernel.usable()]:
        before = decide(params, case)
        for move in (-BOUND_NUDGE, 0.0, BOUND_NUDGE):
            error = params.safety.accel_error_m_s2 + move  # which is taken off every row's right-hand side
            moved = dataclasses.replace(params, safety=dataclasses.replace(params.safety, accel_error_m_s2=error))
            after = decide(moved, nudged(case, random))
            found |= np.max([difference(after[name], before[name]) for name in before], axis=0) > CLOSE / 2
    return found


def nudged(case: Case, random: np.random.Generator) -> Case:
    """The decisions with what is summed up off by what rounding does; what is only compared stays."""

    def near(part: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            return part + NUDGE * random.choice([-1.0, 1.0], part.shape) * np.maximum(np.abs(part), 1.0)

    own = case.view.own
    view = case.view._replace(own=own._replace(pos_m=near(own.pos_m), vel_m_s=near(own.vel_m_s)))
    carry = case.carry._replace(commands=near(case.carry.commands))
    return case._replace(carry=carry, view=view, nominal=near(case.nominal))
