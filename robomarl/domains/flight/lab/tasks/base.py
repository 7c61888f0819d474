"""`Task`: the observation, action, reward and termination of a flying team."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from robomarl.core.geometry import norm
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.core.types import Array
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld, positions
from robomarl.lab.sim.law import Law

Terms = dict[str, Array]
"""Reward terms by name, [..., N] each, before their weights."""


def robot_errors(world: FlightWorld) -> tuple[Array, Array]:
    """Mean distance of the robots to their goals; their attitude is their own affair."""
    distance = norm(positions(world.body) - world.goal_m).mean(-1)
    return distance, distance * math.nan


@dataclass(frozen=True)
class Task:
    """Reward, termination, observation and action of a task; every function is array-generic."""

    observation: Callable[[FlightScenario], ObservationSpec]
    """Scenario -> observation of a robot's policy."""
    action: Callable[[FlightScenario], ActionSpec]
    """Scenario -> action of a robot's policy."""
    reward_terms: Callable[[FlightScenario, FlightWorld, FlightWorld, Array], Terms]
    """(scenario, world before, world after, command [..., N, A]) -> named terms."""
    weights: dict[str, float]
    """Default weight of every term; a recipe may override them."""
    failed: Callable[[FlightScenario, FlightWorld], Array]
    """[...] bool: the episode ends as a failure now (contact, out of the arena)."""
    succeeded: Callable[[FlightScenario, FlightWorld], Array]
    """[...] bool: the team has fulfilled its task, now."""
    privileged: Callable[[FlightScenario, FlightWorld], Array]
    """[..., N, P] true values that the critic sees, for every robot."""
    errors: Callable[[FlightWorld], tuple[Array, Array]] = robot_errors
    """[...] each: distance [m] and angle [rad] between where things are and where they shall be; NaN where the task
    asks for none."""
    team_privileged: Callable[[FlightScenario, FlightWorld], Array] | None = None
    """[..., P] true values once for the whole team, robots in their order, without repetitions of `privileged`."""
    law: Callable[[FlightScenario], Law] | None = None
    """A controller that a policy may imitate first; none where there is none."""
