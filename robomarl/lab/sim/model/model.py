"""`Model`: definition of a kind of team, sufficient to train, check, evaluate and rehearse it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.core.types import Array
from robomarl.core.view import LocalView, NothingSensed, Plan
from robomarl.lab.sim.law import FirstLaw
from robomarl.lab.sim.model.world import TeamWorld, gaps, said_of, views_of
from robomarl.lab.sim.scenario import Scenario


def nothing(scenario: object, world: TeamWorld) -> tuple:
    """Robots sense nothing but themselves."""
    return NothingSensed()


S = TypeVar("S", bound=Scenario)
"""The domain's scenario."""


@dataclass(frozen=True)
class Mujoco:
    """The team in MuJoCo: its moving parts as joints."""

    xml: str
    """The model, without activations; its time step is the scenario's."""
    joints: Callable[[TeamWorld], tuple[Array, Array]]
    """World [E, ...] -> qpos [E, Q], qvel [E, V]."""
    moved: Callable[[TeamWorld, Array, Array], TeamWorld]
    """(world, qpos [E, Q], qvel [E, V]) -> the world with its moving parts from qpos and qvel."""
    control: Callable[[TeamWorld, Array], Array]
    """(world, command [E, N, A]) -> ctrl [E, U]."""


@dataclass(frozen=True)
class Model(Generic[S]):
    """Every function is array-generic: NumPy or JAX, any leading axes `...`; S is the domain's scenario."""

    observation: Callable[[S], ObservationSpec]
    """S -> observation of a robot's policy."""
    action: Callable[[S], ActionSpec]
    """S -> command of a robot; commands are clipped to its limits."""
    start: Callable[[S, Array], TeamWorld]
    """(S, draws [..., N, D]) -> the start of an episode; see `placed`."""
    move: Callable[[S, TeamWorld, Array, Array], TeamWorld]
    """(S, world, command [..., N, A], draws [..., N, D]) -> the world with its moving parts one decision later."""
    reward_terms: Callable[[S, TeamWorld, TeamWorld], dict[str, Array]]
    """(S, world before, world after) -> named terms per second, [..., N] each."""
    weights: Callable[[S], dict[str, float]]
    """S -> the weight of every term; `contact` is there by itself, 1 for robots that touch."""
    succeeded: Callable[[S, TeamWorld], Array]
    """[...] bool: True if the team has done its task."""
    failed: Callable[[S, TeamWorld], Array] = lambda scenario, world: world.step < 0
    """[...] bool: the episode ends, besides by robots that touch."""
    sensed: Callable[[S, TeamWorld], tuple] = nothing
    """Data that robots sense beyond themselves, a NamedTuple of arrays [..., N, ...]."""
    messages: Callable[[S, TeamWorld, float], dict[str, object]] = lambda scenario, world, stamp_s: {}
    """(S, world of one team, stamp [s]) -> messages of the simulator about the world, by the name of a shared topic."""
    mujoco: Callable[[S], Mujoco] | None = None
    """None: there is one engine, `fast`."""
    law: Callable[[S], FirstLaw | None] = lambda scenario: None
    """S -> controller of the first elements of the action, if the policy learns only the remaining ones. Its
    observation is the first part of the policy's, without histories.
    """
    not_modelled: tuple[str, ...] = ()
    """Sections and dotted keys of vehicle files that no engine knows, as `("body.mass_kg", "rotors")`: the vehicle
    follows its commands regardless of their values. `robomarl check` fails for all further keys that no engine
    knows.
    """
    role: Callable[[S], tuple[int, ...]] = lambda scenario: (0,) * scenario.count
    """S -> `LocalView.role` of each robot by its index; `FieldTask.role` gives these roles on robots."""
    num_draws: int = 6
    """D, uniform random numbers in [0, 1) of each robot, at the start and at each decision."""

    def advance(
        self, scenario: S, world: TeamWorld, command: Array, draws: Array, plan: Plan | None = None
    ) -> TeamWorld:
        """Advance the whole team by one decision on the engine `fast`.

        Args:
            scenario: fixed numbers.
            world: the state before.
            command: [..., N, A], clipped to the limits of `action`.
            draws: [..., N, D].
            plan: [..., N, 3] each, plans of the filters; None: the robots send plans that brake at once.
        """
        return self.completed(scenario, world, self.move(scenario, world, self.clipped(scenario, command), draws), plan)

    def clipped(self, scenario: S, command: Array) -> Array:
        """Return the elements of a command [..., N, A] that are sent, within their limits."""
        xp, fields = namespace(command), self.action(scenario).sent
        command = command[..., : len(fields)]
        low, high = (xp.asarray([getattr(f, end) for f in fields], dtype=command.dtype) for end in ("low", "high"))
        return xp.clip(command, low, high)

    def completed(self, scenario: S, before: TeamWorld, after: TeamWorld, plan: Plan | None = None) -> TeamWorld:
        """The world after a decision with messages, distances and the count of decisions brought up to date."""
        said = said_of(before, plan, scenario.vehicle_config.safety.brake_m_s2)
        return after._replace(said=said, closest_m=gaps(before.pos_m, after.pos_m), step=before.step + 1)

    def views(self, scenario: S, world: TeamWorld) -> LocalView:
        """Return the view of every robot, [..., N, ...]."""
        views = views_of(world, self.sensed(scenario, world), scenario.period_s)
        return views._replace(role=views.role + np.array(self.role(scenario), np.int32))

    def touching(self, scenario: S, world: TeamWorld) -> Array:
        """[..., N] bool: another robot's sphere was touched since the last decision."""
        return world.closest_m < 2 * scenario.vehicle_config.body.radius_m

    def ended(self, scenario: S, world: TeamWorld) -> Array:
        """[...] bool: the episode ends as a failure now."""
        return self.touching(scenario, world).any(-1) | self.failed(scenario, world)

    def terms(self, scenario: S, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
        """Reward terms, `contact` included, [..., N] each."""
        contact = self.touching(scenario, after).astype(after.pos_m.dtype) / scenario.period_s
        return {**self.reward_terms(scenario, before, after), "contact": contact}

    def weights_of(self, scenario: S) -> dict[str, float]:
        """Return the weights of the terms, that of `contact` included."""
        return {"contact": -20.0, **self.weights(scenario)}
