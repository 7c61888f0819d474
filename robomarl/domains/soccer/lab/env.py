"""`SoccerEnv`: a game as a `brax.envs.Env`; its agents are all robots on the field, ours first."""

import jax
import jax.numpy as jnp

from robomarl.core.view import LocalView, Plan
from robomarl.domains.soccer.lab import task
from robomarl.domains.soccer.lab.engines.fast import make_fast
from robomarl.domains.soccer.lab.game import SoccerWorld, advance, num_step_draws, planning
from robomarl.domains.soccer.lab.safety.jax_command_filter import JaxPlayerFilter
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.clear_views import cleared
from robomarl.domains.soccer.lab.start import num_start_draws, start_game, starts_alone
from robomarl.domains.soccer.lab.views import player_views
from robomarl.lab.sim.agents import AgentsEnv, EpisodeState, State, StepOutcome, merge_weights
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.random_bits import seed_words
from robomarl.lab.sim.starts import Starts


class SoccerEnv(AgentsEnv):
    """One game on the `fast` engine; an episode ends at a goal or after the rally's time.

    `reset(key)` and `step(state, action)` are pure; use `jax.vmap` for a batch. `state.obs` is [M, O], `action` is
    [M, 4] in physical units, each team's in its own field frame, `state.reward` is [M], `state.done` is one flag: 1
    when the episode ended (then `info["truncation"]` says whether by time). `state.metrics` has every weighted reward
    term of our team, `reward/NAME`, and `success` (we scored) and `contact` (we conceded).
    """

    scenario: SoccerScenario

    def __init__(
        self,
        scenario: SoccerScenario,
        weights: dict[str, float] | None = None,
        safety: str = "off",
        starts: Starts | None = None,
    ) -> None:
        """Decide everything that does not change within an episode.

        Args:
            scenario: the simulated scenario.
            weights: reward weights that replace the task's own, by name.
            safety: "qp": our robots play behind the safety filter, as on the robot; "off": no robot does.
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

    def reset(self, rng: jax.Array) -> State:
        """A new episode with a new draw of everything that is randomized."""
        key, draw = jax.random.split(rng)
        draws = jax.random.uniform(draw, (self.num_agents, num_start_draws(self.scenario)))
        game = start_game(self.scenario, draws, self.starts)
        game = planning(game) if self._filter else game
        safety = self._filter.init((self.scenario.count,)) if self._filter else ()
        idle = starts_alone(draws, self.starts) & (jnp.arange(self.num_agents) > 0)
        return self.first(game, seed_words(key), idle, safety)

    def decide(
        self, episode: EpisodeState, action: jax.Array, draws: jax.Array
    ) -> tuple[SoccerWorld, jax.Array, tuple]:
        """Ours behind their filters, if there are any; idle robots, [M] bool of `own`, stand still all the time."""
        safety, action, plan = self._guard(episode, action)
        action = jnp.where(episode.own[:, None], 0.0, action)
        return advance(self.scenario, episode.world, action, draws, self.play, plan), action, safety

    def terms(self, before: SoccerWorld, after: SoccerWorld, command: jax.Array) -> dict[str, jax.Array]:
        """Return the reward terms of the task."""
        return task.reward_terms(self.scenario, before, after, command)

    def outcome(self, episode: EpisodeState, world: SoccerWorld) -> StepOutcome:
        """A goal, or the end of the rally."""
        ended, scored = task.finished(self.scenario, world), world.referee.scored
        timeout = ~ended & (world.step >= self.scenario.rally_steps)
        return StepOutcome(episode.own, ended, timeout, scored > 0, scored < 0)

    def _guard(self, episode: EpisodeState, action: jax.Array) -> tuple[tuple, jax.Array, Plan | None]:
        """Return the commands of both teams after our robots' filters, and the plans that all commit to."""
        if self._filter is None:
            return (), action, None
        count, views = self.scenario.count, self.views(episode.world)
        ours = jax.tree.map(lambda part: part[:count], views)
        safety, result = self._filter(episode.safety, ours, action[:count])
        states = Plan(views.own.pos_m, views.own.vel_m_s, views.own.pos_m)
        plan = Plan(*(jnp.concatenate([a, b[count:]]) for a, b in zip(safety.plan, states, strict=True)))
        return safety, jnp.concatenate([result.command.astype(action.dtype), action[count:]]), plan

    @property
    def num_draws(self) -> int:
        """Random numbers of each robot and decision."""
        return num_step_draws(self.scenario)

    def advance(self, world: SoccerWorld, command: jax.Array, draws: jax.Array) -> SoccerWorld:
        """The game one decision later, without filters."""
        return advance(self.scenario, world, command, draws, self.play)

    def views(self, game: SoccerWorld) -> LocalView:
        """Return the views of all robots, [M, ...]."""
        return player_views(self.scenario, game)

    def teacher_obs(self, state: State) -> jax.Array:
        """Return the observations [M, O] that a trained teacher decides on: where our robots' errors change slowly,
        those of robots that see without errors.
        """
        game: SoccerWorld = state.pipeline_state.world  # type: ignore[union-attr]
        if not game.errors:
            return super().teacher_obs(state)
        views = self.views(cleared(self.scenario, game))
        return self.observation.observe(self.observation.init(views), views)[1]  # type: ignore[return-value]

    def privileged(self, state: State) -> jax.Array:
        """Return [M, P], the input of a central critic."""
        return task.privileged(self.scenario, state.pipeline_state.world)  # type: ignore[union-attr]
