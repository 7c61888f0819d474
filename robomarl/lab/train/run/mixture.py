"""Several actors in one policy: in each variant of a game the actor that was trained in it decides.

In soccer, teams of two and of three play on fields of different length, and one actor improved in one
game at the cost of the second (docs/log/benchmarks_history.md). A robot observes which variant it
plays, so the actor that decides is known before the match and not learned: a mixture of experts
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
from robomarl.core.types import Array
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import Games, simulation_of

PolicyFn = Callable[[tuple, jax.Array], tuple[tuple, jax.Array]]
APART = 0.2
"""Least difference between variants that can be told apart."""


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
        """Return the runs of other variants with actors in this policy."""
        ...


R = TypeVar("R", bound=TrainedRun)


def by_variant(
    policies: Mapping[float, PolicyFn],
    observation: ObservationSpec,
    observed: Callable[[Callable[[str], Array]], Array],
) -> PolicyFn:
    """Combine policies with memories of equal shape into one: the policy of the nearest variant decides.

    Args:
        policies: (carry, obs [..., O]) -> (carry, action [..., A]), by their variant.
        observation: observation of all policies.
        observed: see `Games.observed_variant`.
    """
    names = observation.element_names()
    variants = sorted(policies)

    def policy(carry: tuple, obs: jax.Array) -> tuple[tuple, jax.Array]:
        seen = observed(lambda element: obs[..., names.index(element), None])
        chosen, *others = (policies[variant](carry, obs) for variant in variants)
        for (less, more), other in zip(pairwise(variants), others, strict=True):
            is_more = seen > (less + more) / 2
            chosen = jax.tree.map(lambda a, b, here=is_more: jnp.where(here, b, a), chosen, other)
        return chosen

    return policy


def with_experts(run: R, experts: Sequence[R]) -> R:
    """The run with others' actors beside those that it has, each of which decides in the variant of its training.

    Of an expert that has several actors, those of other variants than the run's are taken.

    Raises:
        UserError: their robots, memories or filters differ, or their variants are alike.
    """
    experts = [actor for other in experts for actor in _elsewhere(run, other)]
    for own in run.experts:  # a new actor takes the place of the one of its variant
        if all(abs(variant_of(own.scenario) - variant_of(other.scenario)) >= APART for other in experts):
            experts.append(own)
    for other in experts:
        if alike(other) != alike(run):
            raise UserError(
                f"--expert {other.name}: sees, commands, remembers or is filtered in another way than {run.name}; "
                "train both with one vehicle, network and observation."
            )
    runs = sorted((run, *experts), key=lambda r: variant_of(r.scenario))
    for a, b in pairwise(runs):
        here, there = variant_of(a.scenario), variant_of(b.scenario)
        if there - here < APART:
            alike_ones = f"variants {here:g} and {there:g} of a game"
            raise UserError(f"--expert: {a.name} and {b.name} were trained in {alike_ones}; name one of them only.")
    return replace(run, experts=tuple(experts))


def _elsewhere(run: R, expert: R) -> list[R]:
    """Return the actor of an expert, or of its several actors those of other variants than the run's."""
    every = [replace(expert, experts=()), *expert.experts]
    here = variant_of(run.scenario)
    return [one for one in every if len(every) == 1 or abs(variant_of(one.scenario) - here) >= APART]


def alike(run: TrainedRun) -> tuple:
    """Return the properties that actors in one policy must have in common."""
    spec, shapes = run.env.observation, [np.shape(part) for part in run.init_carry]
    safety = replace(safety_params(run.scenario, least_team=1), boards_m=None)  # a robot knows where it plays
    return spec, run.env.action.fields, shapes, safety


def variant_of(scenario: Scenario) -> float:
    """Return the number of a game's variant, see `Games.variant`; 0 if the scenario is no game."""
    games = simulation_of(scenario).games
    return games.variant(scenario) if games else 0.0


def games_of(scenario: Scenario) -> Games:
    """Return the games of a scenario; raise `UserError` if it is none."""
    return needed(simulation_of(scenario).games, scenario, "game", "leave out the experts")


def weights_for(weights: Mapping[str, np.ndarray], scenario: str) -> Mapping[str, np.ndarray]:
    """Return a bundle's weights for the actor of this scenario, or for the first actor if this scenario has none."""
    mine = {name: value for name, value in weights.items() if name.startswith(f"{scenario}/")}
    if not mine:
        return {name: value for name, value in weights.items() if "/" not in name}
    return {name.removeprefix(f"{scenario}/"): value for name, value in mine.items()}
