"""Scenarios with randomized parameters pinned: by the user, held out from training, and at the corners of its range."""

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from robomarl.core.config import UsageError, suggest
from robomarl.lab.sim.scenario import S, Scenario

HELD_OUT = ("weak_battery", "heavy")
"""Variations that are attacked, where the scenario has them."""


class Variation(NamedTuple):
    """A scenario with parameters pinned."""

    name: str
    scenario: Scenario


def variations(scenario: Scenario) -> Iterator[Variation]:
    """The held-out ones, and corners of the training range."""
    for name in HELD_OUT:
        if name in scenario.held_out:
            yield Variation(name, perturbed(scenario, [name]))
    ranges = {n: getattr(scenario.randomize, n) for n in scenario.randomized}
    ranges = {name: ends for name, ends in ranges.items() if ends[0] < ends[1]}
    for corner in covering(len(ranges)):
        ends = {name: pair[high] for (name, pair), high in zip(ranges.items(), corner, strict=True)}
        pinned = {name: (value, value) for name, value in ends.items()}
        one = dataclasses.replace(scenario, randomize=dataclasses.replace(scenario.randomize, **pinned))
        yield Variation(" ".join(f"{name}={value:g}" for name, value in ends.items()) or "as it is", one)


def covering(count: int) -> np.ndarray:
    """[C, count] zeros and ones: corners of a box in which every choice of any three sides occurs; all of a small one.

    The columns are words of odd weight over GF(2), any three of which are independent (a resolution IV design).
    """
    bits = count if count <= 4 else math.ceil(math.log2(count)) + 1
    rows = np.array(list(itertools.product((0, 1), repeat=bits)), int).reshape(2**bits, bits)
    if count <= 4:
        return rows
    words = [w for w in rows if w.sum() % 2][:count]
    return rows @ np.array(words).T % 2


def spelled_out(scenario: Scenario, changes: list[str] | tuple[str, ...]) -> list[str]:
    """Return the changes, with every name of a held-out variation replaced by its `NAME=VALUE` changes."""
    words = []
    for change in changes:
        variation = scenario.held_out.get(change)
        words += [change] if variation is None else [f"{name}={value!r}" for name, value in variation.items()]
    return words


def with_estimator(scenario: S, names: tuple[str, ...]) -> S:
    """Return the scenario with a filter that assumes the bounds of the first of these estimators, if there is one.

    Raises:
        UserError: the vehicle file has no bounds of it.
    """
    changed = dataclasses.replace(scenario, estimator=names[0]) if names else scenario
    assert changed.vehicle_config, "read here, so that an estimator without figures is refused before any flight"
    return changed


def perturbed(scenario: S, changes: list[str] | tuple[str, ...]) -> S:
    """The scenario with randomized parameters pinned to one value each.

    Args:
        scenario: the scenario.
        changes: `NAME=VALUE` each, NAME one of `scenario.randomized`; or the name of a held-out variation.

    Raises:
        UserError: not of that form, an unknown name, or a value out of range.
    """
    names = scenario.randomized
    pinned = {}
    for change in spelled_out(scenario, changes):
        name, _, text = change.partition("=")
        if name not in names:
            meant = suggest(name, [*names, *scenario.held_out])
            raise UsageError(f"--perturb {change}: {name!r} is not a randomized parameter; {meant}")
        if name in pinned:
            raise UsageError(f"--perturb {change}: {name} is pinned twice; name one value.")
        try:
            pinned[name] = (float(text), float(text))
            if not math.isfinite(pinned[name][0]):
                raise ValueError
        except ValueError:
            raise UsageError(f"--perturb {change}: write NAME=VALUE, a number, as in {name}=1.1.") from None
    try:
        randomize = dataclasses.replace(scenario.randomize, **pinned)
    except ValueError as error:
        raise UsageError(f"--perturb: {error}") from None
    return dataclasses.replace(scenario, randomize=randomize)
