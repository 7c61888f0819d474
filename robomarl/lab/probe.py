"""`Probe`: how the engines of a kind of team are driven and compared, as its domain says it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.types import Figures
from robomarl.lab.sim.batch import SIMS

TEAMS = 8
Seen = list[Any]
"""Items seen of each decision, [T]."""
Begin = Callable[[Any, Any, np.random.Generator, float], tuple[Any, np.ndarray]]
"""(scenario, drawn world, random numbers, seconds) -> world at the start, commands [T, E, N, A]."""


class CheckTrial(NamedTuple):
    """One way to drive every engine."""

    begin: Begin
    where: Callable[[Any, float], Any] = lambda scenario, seconds: scenario
    """(scenario, seconds) -> the scenario with room for it."""


@dataclass(frozen=True)
class Probe:
    """How the engines of a kind of team are compared."""

    trials: tuple[CheckTrial, ...]
    compare: Callable[[Any, tuple[Seen, ...], tuple[Seen, ...]], Figures]
    """(scenario, items seen on one engine, a `Seen` for each trial, and those on another engine) -> figures."""
    limits: Mapping[str, float]
    """Figure of `compare` -> the most that it may be; in the JSON as `..._limit...` for a figure `..._diff...`."""
    least: Mapping[str, float] = field(default_factory=dict)
    """Figure -> the least that it has to be, for the comparison to mean anything."""
    seen: Callable[[Any], Any] = lambda world: world
    """World after a decision -> the part to keep."""
    mistaken: Callable[[Any, Any], Any] | None = None
    """(world, error) -> world with the error in it, to test that the error is found."""
    engines: tuple[str, ...] = SIMS
    teams: int = TEAMS
    """Side by side, each with its own draws and commands."""
    is_timed: bool = True
    """True if the user sets the length of the trials; otherwise their length is part of each trial."""
    compared: str = ""
    """Description of the quantities that `robomarl check` compares between engines, for its report."""
    felt: Callable[[Any, Callable[[Any], list[Any]]], dict[str, bool]] | None = None
    """See `robomarl.lab.sim.model.vehicle_keys.felt`; None: the domain's tests plant errors instead."""
    not_modelled: tuple[str, ...] = ()
    """Sections and dotted keys of vehicle files that its engines need not know."""
