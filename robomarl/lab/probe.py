"""`Probe`: how the engines of a kind of team are driven and compared, as its domain says it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from robomarl.core.types import Figures
from robomarl.lab.sim.batch import SIMS
from robomarl.lab.sim.scenario import Scenario

TEAMS = 8
Seen = list[Any]
"""Items seen of each decision, [T]."""
S = TypeVar("S", bound=Scenario)
W = TypeVar("W")
Begin = Callable[[S, W, np.random.Generator, float], tuple[W, np.ndarray]]
"""(scenario, drawn world, random numbers, seconds) -> world at the start, commands [T, E, N, A]."""


class CheckTrial(NamedTuple, Generic[S, W]):
    """One way to drive every engine."""

    begin: Begin[S, W]
    where: Callable[[S, float], S] = lambda scenario, seconds: scenario
    """(scenario, seconds) -> the scenario with room for it."""


@dataclass(frozen=True)
class Probe(Generic[S, W]):
    """How the engines of a kind of team are compared."""

    trials: tuple[CheckTrial[S, W], ...]
    compare: Callable[[S, tuple[Seen, ...], tuple[Seen, ...]], Figures]
    """(scenario, items seen on one engine, a `Seen` for each trial, and those on another engine) -> figures."""
    limits: Mapping[str, float]
    """Figure of `compare` -> the most that it may be; in the JSON as `..._limit...` for a figure `..._diff...`."""
    least: Mapping[str, float] = field(default_factory=dict)
    """Figure -> the least that it has to be, for the comparison to mean anything."""
    seen: Callable[[W], object] = lambda world: world
    """World after a decision -> the part to keep."""
    mistaken: Callable[..., W] | None = None
    """(world, error) -> world with the error in it, to test that the error is found."""
    engines: tuple[str, ...] = SIMS
    teams: int = TEAMS
    """Side by side, each with its own draws and commands."""
    is_timed: bool = True
    """True if the user sets the length of the trials; otherwise their length is part of each trial."""
    compared: str = ""
    """Description of the quantities that `robomarl check` compares between engines, for its report."""
    felt: Callable[[S, Callable[[S], Seen]], dict[str, bool]] | None = None
    """See `robomarl.lab.sim.model.vehicle_keys.felt`; None: the domain's tests plant errors instead."""
    not_modelled: tuple[str, ...] = ()
    """Sections and dotted keys of vehicle files that its engines need not know."""
