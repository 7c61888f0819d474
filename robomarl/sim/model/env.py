"""`ModelEnv`: the environment of a `Model` in JAX."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from robomarl.config import UserError
from robomarl.sim.agents import AgentsEnv, State, merge_weights
from robomarl.sim.model.model import Model
from robomarl.sim.model.world import TeamWorld
from robomarl.sim.random_bits import seed_words, uniform
from robomarl.spec import Memory
from robomarl.view import LocalView


class Simulated(NamedTuple):
    """What `State.pipeline_state` holds."""

    world: TeamWorld
    memory: Memory
    """Of the observation, [N, ...] each."""
    seed: jax.Array
    """[2] uint32: randomness of the steps to come."""
    succeeded: jax.Array
    """[] bool: the team has succeeded at some time of this episode."""


class ModelEnv(AgentsEnv):
    """One team; shapes and metrics as of the other environments, see `robomarl.domains.flight.env`."""

    def __init__(
        self,
        model: Model,
        scenario: Any,
        sim: str = "fast",
        weights: dict[str, float] | None = None,
        safety: str = "off",
    ) -> None:
        """Decide everything that does not change within an episode.

        Raises:
            UserError: an engine, a filter or a reward term of that name does not exist here.
        """
        if sim != "fast" or safety != "off":
            raise UserError(f"{scenario.name}.toml: trains on the engine fast with filter = 'off' only; say so there.")
        self.model, self.scenario = model, scenario
        self.weights = merge_weights(model.all_weights, weights)
        self.observation, self.action = model.observation(scenario), model.action(scenario)

    @property
    def num_agents(self) -> int:
        """N, robots in the team."""
        return self.scenario.count

    @property
    def backend(self) -> str:
        """Name of the engine."""
        return "fast"

    @property
    def num_draws(self) -> int:
        """Random numbers of each robot and decision."""
        return self.model.num_draws

    def reset(self, rng: jax.Array) -> State:
        """A new episode."""
        key, start = jax.random.split(rng)
        world = self.model.start(self.scenario, jax.random.uniform(start, (self.num_agents, self.num_draws)))
        views = self.views(world)
        memory, obs = self.observation.observe(self.observation.init(views), views)
        return self.first(Simulated(world, memory, seed_words(key), jnp.zeros((), bool)), obs)

    def step(self, state: State, action: jax.Array) -> State:
        """One decision of the team."""
        sim: Simulated = state.pipeline_state  # type: ignore[assignment]
        scenario, model = self.scenario, self.model
        world = self.advance(sim.world, action, uniform(sim.seed, sim.world.step, self.num_agents, self.num_draws))
        memory, obs = self.observation.observe(sim.memory, self.views(world))
        terms = model.terms(scenario, sim.world, world)
        weighted = {k: w * scenario.period_s * terms[k] for k, w in self.weights.items()}
        failed, succeeded = model.ended(scenario, world), sim.succeeded | model.succeeded(scenario, world)
        timeout = ~failed & (world.step >= scenario.max_steps)
        metrics = {f"reward/{k}": v.mean() for k, v in weighted.items()}
        metrics |= {"success": (succeeded & timeout).astype(jnp.float32), "contact": failed.astype(jnp.float32)}
        info = {"truncation": timeout.astype(jnp.float32), "steps": world.step.astype(jnp.float32)}
        return state.replace(  # type: ignore[attr-defined]
            pipeline_state=Simulated(world, memory, sim.seed, succeeded),
            obs=obs,
            reward=jnp.stack(list(weighted.values())).sum(0),
            done=(failed | timeout).astype(jnp.float32),
            metrics={**state.metrics, **metrics},
            info={**state.info, **info},
        )

    def advance(self, world: TeamWorld, command: jax.Array, draws: jax.Array) -> TeamWorld:
        """The world one decision later."""
        return self.model.advance(self.scenario, world, command, draws)

    def views(self, world: TeamWorld) -> LocalView:
        """What every robot may know, [N, ...]."""
        return self.model.views(self.scenario, world)

    def privileged(self, state: State) -> jax.Array:
        """[N, P]: everybody's place, velocity and goal, seen from each robot, what it observes, and the time left."""
        world: TeamWorld = state.pipeline_state.world  # type: ignore[union-attr]
        away = world.pos_m[None] - world.pos_m[:, None]
        others = jnp.concatenate([away, away * 0 + world.vel_m_s[None], away + (world.goal_m - world.pos_m)[None]], -1)
        left = jnp.full((self.num_agents, 1), 1.0) * (1 - world.step / self.scenario.max_steps)
        return jnp.concatenate([state.obs, others.reshape(self.num_agents, -1), left], -1)  # type: ignore[list-item]
