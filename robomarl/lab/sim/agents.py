"""`AgentsEnv`: the common part of team environments and games, as a `brax.envs.Env` with a leading robot axis."""

import contextlib
import io
from typing import Generic, NamedTuple, Self, TypeVar

import jax
import jax.numpy as jnp

from robomarl.core.config import UserError
from robomarl.core.spec import ActionSpec, Memory, ObservationSpec
from robomarl.core.view import LocalView
from robomarl.lab.sim.batch import World
from robomarl.lab.sim.law import FirstLaw
from robomarl.lab.sim.random_bits import uniform
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.trees import Tree

with contextlib.redirect_stdout(io.StringIO()):  # it prints that an optional backend of MJX is not installed
    from brax.envs.base import Env, State

W = TypeVar("W", bound=World)
"""State of the domain at one decision, a NamedTuple of arrays."""


class EpisodeState(NamedTuple, Generic[W]):
    """Content of `State.pipeline_state`."""

    world: W
    memory: Memory
    """Memory of the observation, [N, ...] each."""
    seed: jax.Array
    """[2] uint32: randomness of the steps to come."""
    own: Tree = ()
    """Additional episode state of the kind of team."""
    safety: Tree = ()
    """Memory of the safety filters, [N, ...] each; empty without one."""


class StepOutcome(NamedTuple):
    """Outcome of a decision, [] bool each but the first."""

    own: Tree
    """The next `EpisodeState.own`."""
    ended: jax.Array
    """The episode ends, and not by time."""
    timeout: jax.Array
    """It ends by time."""
    success: jax.Array
    contact: jax.Array


MISSED = "missed"
"""Metric of teams with neighbours by cells: mean number of near robots that a robot was not compared with."""
CORRECTED = "corrected"
"""Reward term of teams behind the filter; its weight is 0 unless a recipe says another."""


def corrected(spec: ActionSpec, asked: jax.Array, sent: jax.Array) -> jax.Array:
    """[N] how much a filter changed of each robot's action [N, A]: squares, with half of each range as unit."""
    return (((sent - asked) * (2 / (spec.high - spec.low))) ** 2).sum(-1)


def of_team(
    episode: EpisodeState, world: World, failed: jax.Array, succeeded: jax.Array, max_steps: int
) -> StepOutcome:
    """An outcome where `own` is whether the team has succeeded so far: that counts if nothing fails to the end."""
    timeout, once = ~failed & (world.step >= max_steps), episode.own | succeeded
    return StepOutcome(once, failed, timeout, once & timeout, failed)


class AgentsEnv(Env, Generic[W]):
    """Part of an environment that does not depend on the simulated team."""

    observation: ObservationSpec
    action: ActionSpec
    weights: dict[str, float]
    """Reward weights by name."""
    scenario: Scenario
    """The simulated scenario."""

    @property
    def num_agents(self) -> int:
        """Robots that act: rows of observation, action and reward."""
        return self.scenario.count

    @property
    def backend(self) -> str:
        """Name of the engine."""
        return "fast"

    @property
    def num_draws(self) -> int:
        """Random numbers of each robot and decision."""
        raise NotImplementedError

    def advance(self, world: W, command: jax.Array, draws: jax.Array) -> W:
        """The world one decision later, without filters; draws are uniform, [N, `num_draws`]."""
        raise NotImplementedError

    def without_filter(self, robots: jax.Array) -> Self:
        """Return this environment with the commands of these robots, [N] bool, sent as they are."""
        raise NotImplementedError

    def views(self, world: W) -> LocalView:
        """Return the view of every robot, [N, ...]."""
        raise NotImplementedError

    def seen(self, safety: Tree, view: LocalView) -> LocalView:
        """Return the views [N, ...] that policies decide on, given the filters' memory; here those of the robots."""
        return view

    def privileged(self, state: State) -> jax.Array:
        """Return the input [N, P] of a central critic."""
        raise NotImplementedError

    def teacher_obs(self, state: State) -> jax.Array:
        """Return the observations [N, O] that a trained teacher decides on; by default those of the robots."""
        return state.obs  # type: ignore[return-value]

    def team_privileged(self, state: State) -> jax.Array:
        """Return the input [P] of a critic of the whole team, robots in order; by default all of `privileged`."""
        return self.privileged(state).reshape(-1)

    @property
    def observation_size(self) -> int:
        """Length of one robot's observation."""
        return self.observation.size

    law: FirstLaw | None = None
    """Controller of the first elements of the command, if `action` has only the remaining ones."""

    @property
    def commanded(self) -> ActionSpec:
        """Return the outputs of a deployed policy: `action`, preceded by the elements that `law` makes."""
        return self.action

    @property
    def decision_s(self) -> float:
        """Return the time [s] between two decisions."""
        return self.scenario.period_s

    @property
    def action_size(self) -> int:
        """Length of one robot's action."""
        return self.action.size

    def terms(self, before: W, after: W, command: jax.Array) -> dict[str, jax.Array]:
        """Reward terms per second, [N] each, before their weights."""
        raise NotImplementedError

    def outcome(self, episode: EpisodeState, world: W) -> StepOutcome:
        """Return the outcome of the decision after `episode`, which led to `world`."""
        raise NotImplementedError

    def decide(self, episode: EpisodeState, action: jax.Array, draws: jax.Array) -> tuple[W, jax.Array, Tree]:
        """Return the world one decision later, the commands [N, A], and the filters' memory; here there are no
        filters.
        """
        return self.advance(episode.world, action, draws), action, ()

    def first(self, world: W, seed: jax.Array, own: Tree, safety: Tree = ()) -> State:
        """The state at the start of an episode; see `EpisodeState`."""
        views, zero = self.seen(safety, self.views(world)), jnp.zeros(())
        memory, obs = self.observation.observe(self.observation.init(views), views)
        names = [*(f"reward/{name}" for name in self.weights), "success", "contact"]
        info = {"truncation": zero, "steps": zero}
        episode = EpisodeState(world, memory, seed, own, safety)
        return State(episode, obs, jnp.zeros(len(obs)), zero, dict.fromkeys(names, zero), info)  # type: ignore[arg-type]

    def step(self, state: State, action: jax.Array) -> State:
        """One decision of all robots, [N, A]; metrics are those of our team."""
        episode: EpisodeState[W] = state.pipeline_state  # type: ignore[assignment]
        draws = uniform(episode.seed, episode.world.step, self.num_agents, self.num_draws)
        world, command, safety = self.decide(episode, action, draws)
        memory, obs = self.observation.observe(episode.memory, self.seen(safety, self.views(world)))
        terms, now = self.terms(episode.world, world, command), self.outcome(episode, world)
        if CORRECTED in self.weights:
            terms = terms | {CORRECTED: corrected(self.action, action, command)}
        weighted = {k: w * self.scenario.period_s * terms[k] for k, w in self.weights.items()}
        metrics = {f"reward/{k}": v[: self.scenario.count].mean() for k, v in weighted.items()}
        said = {"success": now.success.astype(jnp.float32), "contact": now.contact.astype(jnp.float32)}
        return state.replace(  # type: ignore[attr-defined]
            pipeline_state=EpisodeState(world, memory, episode.seed, now.own, safety),
            obs=obs,
            reward=sum(weighted.values()),
            done=(now.ended | now.timeout).astype(jnp.float32),
            metrics={**state.metrics, **metrics, **said},
            info={**state.info, "truncation": now.timeout.astype(jnp.float32), "steps": world.step.astype(jnp.float32)},
        )


def merge_weights(own: dict[str, float], replaced: dict[str, float] | None) -> dict[str, float]:
    """A task's reward weights with those that the user replaces.

    Raises:
        UserError: a reward term of that name does not exist.
    """
    unknown = set(replaced or {}) - set(own)
    if unknown:
        raise UserError(f"Reward weight {min(unknown)!r} is not a term; allowed: {', '.join(own)}.")
    return {**own, **(replaced or {})}
