"""Several actors in one policy: on each field the actor that was trained there decides.

Teams of two and of three play different games on fields of different length, and one actor improved
in one game at the cost of the second (docs/log/benchmarks_history.md). A robot knows how long its
field is, so the actor that decides is known before the match and not learned: a mixture of experts
(Jacobs et al., Neural Computation 1991) with a given gate.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.config import UserError
from robomarl.core.domain.scenario import needed
from robomarl.core.spec import ObservationSpec
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of

PolicyFn = Callable[[tuple, jax.Array], tuple[tuple, jax.Array]]
APART_M = 0.2
"""Least difference [m] in length between fields that can be told apart."""


class TrainedRun(Protocol):
    """Interface of a run with one of several actors: the dataclass `robomarl.lab.train.run.run_folder.Run`."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """Return the name of its folder."""
        ...

    @property
    def scenario(self) -> Scenario:
        """Return the scenario in which it was trained."""
        ...

    @cached_property
    def env(self) -> AgentsEnv:
        """The environment that it was trained in."""
        ...

    @property
    def init_carry(self) -> tuple:
        """The memory before the first decision."""
        ...

    @property
    def experts(self) -> Sequence:
        """Return the runs of other fields with actors in this policy."""
        ...


R = TypeVar("R", bound=TrainedRun)


def by_field(policies: Mapping[float, PolicyFn], observation: ObservationSpec, half_length: Sequence[str]) -> PolicyFn:
    """Combine policies with memories of equal shape into one: the policy with the field nearest in length
    decides.

    Args:
        policies: (carry, obs [..., O]) -> (carry, action [..., A]), by the length [m] of the field from
            goal to goal.
        observation: observation of all policies.
        half_length: elements of the observation that sum to half of that length.
    """
    names = observation.element_names()
    place, goal = (names.index(element) for element in half_length)
    lengths = sorted(policies)

    def policy(carry: tuple, obs: jax.Array) -> tuple[tuple, jax.Array]:
        length = 2 * (obs[..., place, None] + obs[..., goal, None])
        chosen, *others = (policies[known](carry, obs) for known in lengths)
        for (shorter, longer), other in zip(pairwise(lengths), others, strict=True):
            is_longer = length > (shorter + longer) / 2
            chosen = jax.tree.map(lambda a, b, here=is_longer: jnp.where(here, b, a), chosen, other)
        return chosen

    return policy


def with_experts(run: R, experts: Sequence[R]) -> R:
    """The run with others' actors beside those that it has, each of which decides on the field where it was trained.

    Raises:
        UserError: their robots, memories or filters differ, or their fields are alike.
    """
    experts = [replace(other, experts=()) for other in experts]
    for own in run.experts:  # a new actor takes the place of the one of its field
        if all(abs(length_m(own.scenario) - length_m(other.scenario)) >= APART_M for other in experts):
            experts.append(own)
    for other in experts:
        if alike(other) != alike(run):
            raise UserError(
                f"--expert {other.name}: sees, commands, remembers or is filtered in another way than {run.name}; "
                "train both with one vehicle, network and observation."
            )
    runs = sorted((run, *experts), key=lambda r: length_m(r.scenario))
    for a, b in pairwise(runs):
        here, there = length_m(a.scenario), length_m(b.scenario)
        if there - here < APART_M:
            fields = f"fields of {here:g} and {there:g} m"
            raise UserError(f"--expert: {a.name} and {b.name} were trained on {fields}; name one of them only.")
    return replace(run, experts=tuple(experts))


def alike(run: TrainedRun) -> tuple:
    """Return the properties that actors in one policy must have in common."""
    spec, shapes = run.env.observation, [np.shape(part) for part in run.init_carry]
    safety = replace(safety_params(run.scenario, least_team=1), boards_m=None)  # a robot knows where it plays
    return spec, run.env.action.fields, shapes, safety


def length_m(scenario: Scenario) -> float:
    """Return the length [m] of the field, from goal to goal; 0 if there are no goals."""
    games = simulation_of(scenario).games
    return games.length_m(scenario) if games else 0.0


def half_length(scenario: Scenario) -> tuple[str, ...]:
    """Return the elements of the observation that sum to half the length; raise `UserError` if there are no games."""
    return needed(simulation_of(scenario).games, scenario, "pitch", "leave out the experts").half_length


def weights_for(weights: Mapping[str, np.ndarray], scenario: str) -> Mapping[str, np.ndarray]:
    """Return a bundle's weights for the actor of this scenario, or for the first actor if this scenario has none."""
    mine = {name: value for name, value in weights.items() if name.startswith(f"{scenario}/")}
    if not mine:
        return {name: value for name, value in weights.items() if "/" not in name}
    return {name.removeprefix(f"{scenario}/"): value for name, value in mine.items()}
