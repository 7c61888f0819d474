"""What a task is, and the registry of tasks. Tasks from outside come through the `robomarl.tasks` entry points."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Protocol, runtime_checkable

from robomarl.config import UserError
from robomarl.domains.flight.world import World, positions
from robomarl.geometry import norm
from robomarl.sim.scenario import Scenario
from robomarl.spec import ActionSpec, ObservationSpec
from robomarl.types import Array

Terms = dict[str, Array]
"""Reward terms by name, [..., N] each, before their weights."""


def robot_errors(world: World) -> tuple[Array, Array]:
    """Mean distance of the robots to their goals; their attitude is their own affair."""
    distance = norm(positions(world.body) - world.goal_m).mean(-1)
    return distance, distance * math.nan


class Law(Protocol):
    """A decentralized controller that nobody trained."""

    observation: ObservationSpec
    """What it reads of the view."""

    def act(self, obs: Array) -> Array:
        """Observation [..., O] to command [..., A]."""
        ...


@runtime_checkable
class GainedLaw(Law, Protocol):
    """A law with gains that can be searched: NamedTuples of numbers, all of one type."""

    gains: Any
    search_from: Any
    """Where a search begins."""
    search_step: Any
    """What counts as a step of 1 in it."""
    search_least: Any
    """Least values."""

    def with_gains(self, gains: Any) -> "GainedLaw":
        """The same law with others; arrays are fine that broadcast with what it works on."""
        ...


@dataclass(frozen=True)
class Task:
    """Reward, termination and what the policy sees; every function is array-generic."""

    observation: Callable[[Scenario], ObservationSpec]
    """What a robot's policy sees."""
    action: Callable[[Scenario], ActionSpec]
    """What a robot's policy commands."""
    reward_terms: Callable[[Scenario, World, World, Array], Terms]
    """(scenario, world before, world after, command [..., N, A]) -> named terms."""
    weights: dict[str, float]
    """Default weight of every term; a recipe may override them."""
    failed: Callable[[Scenario, World], Array]
    """[...] bool: the episode ends as a failure now (contact, out of the arena)."""
    succeeded: Callable[[Scenario, World], Array]
    """[...] bool: the team has done what was asked, now."""
    privileged: Callable[[Scenario, World], Array]
    """[..., N, P] what the critic sees of the truth, for every robot."""
    errors: Callable[[World], tuple[Array, Array]] = robot_errors
    """[...] each: distance [m] and angle [rad] between where things are and where they shall be; NaN where the task
    asks for none."""
    law: Callable[[Scenario], Law] | None = None
    """A controller that a policy may imitate first; none where there is none."""


TASKS: dict[str, Task] = {}
"""Tasks by the name that scenario files use."""


def gained_law(scenario: Scenario) -> GainedLaw:
    """The law of the scenario's task, whose gains can be searched.

    Raises:
        UserError: there is none, or it has no gains.
    """
    law = task_of(scenario).law
    found = law(scenario) if law else None
    if not isinstance(found, GainedLaw):
        raise UserError(f'{scenario.name}.toml: algorithm = "search" is for a law with gains; name lift_3, 4 or 6.')
    return found


def task_of(scenario: Scenario) -> Task:
    """The scenario's task.

    Raises:
        UserError: no task of that name, here or in an installed package.
    """
    from robomarl.domains.flight.tasks import swap  # noqa: F401  (they register themselves)
    from robomarl.domains.payload import lift  # noqa: F401  (they register themselves)

    if scenario.task not in TASKS:
        for point in entry_points(group="robomarl.tasks", name=scenario.task):
            TASKS[scenario.task] = point.load()
    if scenario.task not in TASKS:
        known = ", ".join(sorted(TASKS))
        raise UserError(f"{scenario.name}.toml: task = {scenario.task!r} is not known; allowed: {known}.")
    return TASKS[scenario.task]
