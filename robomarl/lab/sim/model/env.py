"""`ModelEnv`: the environment of a `Model` in JAX."""

from copy import copy
from typing import Self

import jax
import jax.numpy as jnp

from robomarl.core.config import UserError
from robomarl.core.spec import ActionSpec
from robomarl.core.view import LocalView
from robomarl.lab.sim.agents import AgentsEnv, EpisodeState, State, StepOutcome, merge_weights, of_team
from robomarl.lab.sim.model.model import Model
from robomarl.lab.sim.model.training_filter import make_filter
from robomarl.lab.sim.model.world import TeamWorld
from robomarl.lab.sim.random_bits import seed_words
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.trees import Tree


class ModelEnv(AgentsEnv):
    """One team; shapes and metrics as in `robomarl.domains.flight.lab.env`."""

    def __init__(
        self,
        model: Model,
        scenario: Scenario,
        sim: str = "fast",
        weights: dict[str, float] | None = None,
        safety: str = "off",
    ) -> None:
        """Decide everything that does not change within an episode.

        Raises:
            UserError: an engine, a filter or a reward term of that name does not exist here.
        """
        if sim != "fast":
            raise UserError(f"{scenario.name}.toml: trains on the engine fast only; name no other.")
        self.model, self.scenario = model, scenario
        self.weights = merge_weights(model.weights_of(scenario), weights)
        self.observation, self.action = model.observation(scenario), model.action(scenario)
        self.law = model.law(scenario)
        if self.law:
            self.action = ActionSpec(self.action.fields[self.law.count :])
        self._filter = make_filter(scenario, safety)
        self._unfiltered: jax.Array | None = None

    def without_filter(self, robots: jax.Array) -> Self:
        """Return this environment with the commands of these robots, [N] bool, sent as they are."""
        found = copy(self)
        found._unfiltered = robots
        return found

    @property
    def commanded(self) -> ActionSpec:
        """The law's elements too."""
        return self.model.action(self.scenario)

    @property
    def num_draws(self) -> int:
        """Random numbers of each robot and decision."""
        return self.model.num_draws

    def reset(self, rng: jax.Array) -> State:
        """A new episode."""
        key, start = jax.random.split(rng)
        world = self.model.start(self.scenario, jax.random.uniform(start, (self.num_agents, self.num_draws)))
        return self.first(world, seed_words(key), jnp.zeros((), bool), self._filter.init((self.num_agents,)))

    def decide(self, episode: EpisodeState, action: jax.Array, draws: jax.Array) -> tuple[TeamWorld, jax.Array, Tree]:
        """Decide behind the filter, if there is one; the filter's plan is sent with the state."""
        views = self.views(episode.world)
        if self.law and action.shape[-1] == self.action.size:
            seen = self.law.observation.observe((), self.seen(episode.safety, views))[1]
            action = jnp.concatenate([self.law.act(seen), action], -1)
        safety, command = self._filter(episode.safety, views, action)
        if self._unfiltered is not None:
            command = jnp.where(self._unfiltered[:, None], action, command)
        plan = getattr(safety, "plan", None)
        return self.model.advance(self.scenario, episode.world, command, draws, plan), command, safety

    def terms(self, before: TeamWorld, after: TeamWorld, command: jax.Array) -> dict[str, jax.Array]:
        """Return the reward terms of the model."""
        return self.model.terms(self.scenario, before, after)

    def outcome(self, episode: EpisodeState, world: TeamWorld) -> StepOutcome:
        """Failed and succeeded, as the model says."""
        failed, succeeded = (judge(self.scenario, world) for judge in (self.model.ended, self.model.succeeded))
        return of_team(episode, world, failed, succeeded, self.scenario.max_steps)

    def advance(self, world: TeamWorld, command: jax.Array, draws: jax.Array) -> TeamWorld:
        """The world one decision later."""
        return self.model.advance(self.scenario, world, command, draws)

    def views(self, world: TeamWorld) -> LocalView:
        """Return the view of every robot, [N, ...]."""
        return self.model.views(self.scenario, world)

    def seen(self, safety: Tree, view: LocalView) -> LocalView:
        """Return the views that policies decide on; certified robots are where their references are."""
        return self._filter.seen(safety, view)

    def privileged(self, state: State) -> jax.Array:
        """Return [N, P]: each robot's observation, all robots' positions, velocities and goals seen from it, and the
        time left.
        """
        world: TeamWorld = state.pipeline_state.world  # type: ignore[union-attr]
        away = world.pos_m[None] - world.pos_m[:, None]
        others = jnp.concatenate([away, away * 0 + world.vel_m_s[None], away + (world.goal_m - world.pos_m)[None]], -1)
        left = jnp.full((self.num_agents, 1), 1.0) * (1 - world.step / self.scenario.max_steps)
        return jnp.concatenate([state.obs, others.reshape(self.num_agents, -1), left], -1)  # type: ignore[list-item]
