"""`SoccerEnv`: a game as a `brax.envs.Env` whose agents are all robots on the field, ours first."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from robomarl.domains.soccer import task
from robomarl.domains.soccer.engines.fast import make_fast
from robomarl.domains.soccer.game import Game, advance, num_step_draws, planning
from robomarl.domains.soccer.safety.jax_command_filter import JaxPlayerFilter
from robomarl.domains.soccer.scenario import SoccerScenario
from robomarl.domains.soccer.start import num_start_draws, start_game, starts_alone
from robomarl.domains.soccer.views import player_views
from robomarl.sim.agents import AgentsEnv, State, merge_weights
from robomarl.sim.filter_params import safety_params
from robomarl.sim.random_bits import seed_words, uniform
from robomarl.sim.starts import Starts
from robomarl.spec import Memory
from robomarl.view import LocalView, Plan


class Rally(NamedTuple):
    """What `State.pipeline_state` holds."""

    world: Game
    memory: Memory
    """Of the observation, [M, ...] each."""
    seed: jax.Array
    """[2] uint32: randomness of the steps to come."""
    idle: jax.Array
    """[M] bool: robots that stand still all the time."""
    safety: Any = ()
    """Memory of our robots' filters, [N, ...] each; empty without one."""


class SoccerEnv(AgentsEnv):
    """One game on the `fast` engine; an episode ends at a goal or after the rally's time.

    `reset(key)` and `step(state, action)` are pure; use `jax.vmap` for a batch. `state.obs` is [M, O], `action` is
    [M, 4] in physical units, each team's in its own field frame, `state.reward` is [M], `state.done` is one flag: 1
    when the episode ended (then `info["truncation"]` says whether by time). `state.metrics` has every weighted reward
    term of our team, `reward/NAME`, and `success` (we scored) and `contact` (we conceded).
    """

    def __init__(
        self,
        scenario: SoccerScenario,
        weights: dict[str, float] | None = None,
        safety: str = "off",
        starts: Starts | None = None,
    ) -> None:
        """Decide everything that does not change within an episode.

        Args:
            scenario: what is simulated.
            weights: reward weights that replace the task's own, by name.
            safety: "qp": our robots play behind the safety filter, as on the robot; "off": nobody does.
            starts: how episodes start.

        Raises:
            UserError: a reward term of that name does not exist.
        """
        self.scenario, self.starts = scenario, starts or Starts()
        self.weights = merge_weights(task.WEIGHTS, weights)
        self.observation = task.observation(scenario)
        self.action = task.action(scenario)
        self.play = make_fast(scenario)
        self._filter = None if safety == "off" else JaxPlayerFilter(safety_params(scenario), scenario.count)

    @property
    def num_agents(self) -> int:
        """M, robots of both teams."""
        return self.scenario.players

    @property
    def backend(self) -> str:
        """Name of the engine."""
        return "fast"

    def reset(self, rng: jax.Array) -> State:
        """A new episode with a new draw of everything that is randomized."""
        key, draw = jax.random.split(rng)
        draws = jax.random.uniform(draw, (self.num_agents, num_start_draws(self.scenario)))
        game = start_game(self.scenario, draws, self.starts)
        game = planning(game) if self._filter else game
        views = self.views(game)
        memory, obs = self.observation.observe(self.observation.init(views), views)
        safety = self._filter.init((self.scenario.count,)) if self._filter else ()
        idle = starts_alone(draws, self.starts) & (jnp.arange(self.num_agents) > 0)
        rally = Rally(game, memory, seed_words(key), idle, safety)
        return self.first(rally, obs)

    def step(self, state: State, action: jax.Array) -> State:
        """One decision of both teams."""
        rally: Rally = state.pipeline_state  # type: ignore[assignment]
        draws = uniform(rally.seed, rally.world.step, self.num_agents, num_step_draws(self.scenario))
        safety, action, plan = self._guard(rally, action)
        action = jnp.where(rally.idle[:, None], 0.0, action)
        game = advance(self.scenario, rally.world, action, draws, self.play, plan)
        memory, obs = self.observation.observe(rally.memory, self.views(game))
        terms = task.reward_terms(self.scenario, rally.world, game, action)
        weighted = {k: w * self.scenario.period_s * terms[k] for k, w in self.weights.items()}
        ended = task.finished(self.scenario, game)
        timeout = ~ended & (game.step >= self.scenario.rally_steps)
        metrics = {f"reward/{k}": v[: self.scenario.count].mean() for k, v in weighted.items()}
        metrics["success"] = (game.referee.scored > 0).astype(jnp.float32)
        metrics["contact"] = (game.referee.scored < 0).astype(jnp.float32)
        return state.replace(  # type: ignore[attr-defined]
            pipeline_state=Rally(game, memory, rally.seed, rally.idle, safety),
            obs=obs,
            reward=sum(weighted.values()),
            done=(ended | timeout).astype(jnp.float32),
            metrics={**state.metrics, **metrics},
            info={**state.info, "truncation": timeout.astype(jnp.float32), "steps": game.step.astype(jnp.float32)},
        )

    def _guard(self, rally: Rally, action: jax.Array) -> tuple[Any, jax.Array, Plan | None]:
        """What our robots' filters let through of both teams' commands, and what all commit to."""
        if self._filter is None:
            return (), action, None
        count, views = self.scenario.count, self.views(rally.world)
        ours = jax.tree.map(lambda part: part[:count], views)
        safety, result = self._filter(rally.safety, ours, action[:count])
        states = Plan(views.own.pos_m, views.own.vel_m_s, views.own.pos_m)
        plan = Plan(*(jnp.concatenate([a, b[count:]]) for a, b in zip(safety.plan, states, strict=True)))
        return safety, jnp.concatenate([result.command.astype(action.dtype), action[count:]]), plan

    @property
    def num_draws(self) -> int:
        """Random numbers of each robot and decision."""
        return num_step_draws(self.scenario)

    def advance(self, world: Game, command: jax.Array, draws: jax.Array) -> Game:
        """The game one decision later, without filters."""
        return advance(self.scenario, world, command, draws, self.play)

    def views(self, game: Game) -> LocalView:
        """What every robot may know, [M, ...]."""
        return player_views(self.scenario, game)

    def privileged(self, state: State) -> jax.Array:
        """[M, P] what a central critic may see."""
        return task.privileged(self.scenario, state.pipeline_state.world)  # type: ignore[union-attr]
