"""`TeamEnv`: a scenario as a `brax.envs.Env` with a leading robot axis in observation, action and reward."""

import jax
import jax.numpy as jnp

from robomarl.core.config import UserError
from robomarl.core.view import LocalView
from robomarl.domains.flight.lab.engines.fast import make_fast
from robomarl.domains.flight.lab.engines.near import advance_near, is_large, rows, with_near
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.start import ROBOT_DRAWS, TEAM_DRAWS, num_cells, start_world
from robomarl.domains.flight.lab.step import Integrate, advance, num_step_draws, with_plans
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.domains.flight.lab.views import local_views
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.agents import (
    CORRECTED,
    MISSED,
    AgentsEnv,
    EpisodeState,
    State,
    StepOutcome,
    merge_weights,
    of_team,
)
from robomarl.lab.sim.model.training_filter import PassThrough, make_filter
from robomarl.lab.sim.random_bits import seed_words
from robomarl.lab.trees import Tree

MEMBER_KEY = 4
"""Number folded into a team's key to draw its member of a residual's ensemble; all further draws equal those of a
team without residual.
"""


class TeamEnv(AgentsEnv):
    """One scenario on a JAX engine.

    `reset(key)` and `step(state, action)` are pure; use `jax.vmap` for a batch. `state.obs` is [N, O],
    `action` is [N, A] in physical units (the action `Spec`), `state.reward` is [N], `state.done` is one flag
    for the team: 1 when the episode ended, by failure or by time (then `info["truncation"]` is 1 as well).
    `state.metrics` has every weighted reward term, `reward/NAME`, and `success`, `contact`, averaged over robots.
    """

    scenario: FlightScenario

    def __init__(
        self, scenario: FlightScenario, sim: str = "fast", weights: dict[str, float] | None = None, safety: str = "off"
    ) -> None:
        """Decide everything that does not change within an episode.

        Args:
            scenario: the simulated scenario.
            sim: "fast" or "mjx".
            weights: reward weights that replace the task's own, by name.
            safety: "qp": the safety filter stands between action and vehicle, as on the robot; "off": it
                does not.

        Raises:
            UserError: an engine or a reward term of that name does not exist.
        """
        self.scenario = scenario
        self.task = task_of(scenario)
        filtered = {} if safety == "off" else {CORRECTED: 0.0}
        self.weights = merge_weights(self.task.weights | filtered, weights)
        self.observation = self.task.observation(scenario)
        self.action = self.task.action(scenario)
        self.integrate = make_engine(scenario, sim)
        self._backend = sim
        self._filter = make_filter(scenario, safety)
        self._is_large = is_large(scenario, safety)

    @property
    def backend(self) -> str:
        """Name of the engine."""
        return self._backend

    def reset(self, rng: jax.Array, scenario: FlightScenario | None = None) -> State:
        """Begin a new episode with new draws of all randomized parameters; `scenario` replaces their ranges."""
        key, k1, k2, k3 = jax.random.split(rng, 4)
        robot = jax.random.uniform(k1, (self.num_agents, ROBOT_DRAWS))
        team = jax.random.uniform(k2, (TEAM_DRAWS,))
        cells = jax.random.uniform(k3, (num_cells(self.scenario),))
        world = start_world(scenario or self.scenario, robot, team, cells)
        if self.scenario.residual:
            drawn = jax.random.randint(jax.random.fold_in(rng, MEMBER_KEY), (), 0, self.scenario.residual.members)
            world = world._replace(member=drawn)
        if not isinstance(self._filter, PassThrough):
            world = with_plans(self.scenario, world)
        if self._is_large:
            world = with_near(self.scenario, world)
        return self.first(world, seed_words(key), jnp.zeros((), bool), self._filter.init((self.num_agents,)))

    def first(self, world: FlightWorld, seed: jax.Array, own: Tree, safety: Tree = ()) -> State:
        """The state at the start of an episode; a large team has a metric more."""
        return self._with_missed(super().first(world, seed, own, safety))

    def step(self, state: State, action: jax.Array) -> State:
        """One decision of all robots."""
        return self._with_missed(super().step(state, action))

    def _with_missed(self, state: State) -> State:
        if not self._is_large:
            return state
        missed = state.pipeline_state.world.missed.mean()  # type: ignore[union-attr]
        return state.replace(metrics={**state.metrics, MISSED: missed})  # type: ignore[attr-defined]

    def decide(
        self, episode: EpisodeState, action: jax.Array, draws: jax.Array
    ) -> tuple[FlightWorld, jax.Array, tuple]:
        """Behind the filter, if there is one."""
        if self._is_large:
            return self.advance(episode.world, action, draws), action, episode.safety
        safety, command = self._filter(episode.safety, self.views(episode.world), action)
        plan = getattr(safety, "plan", None)
        return advance(self.scenario, episode.world, command, draws, self.integrate, plan), command, safety

    def terms(self, before: FlightWorld, after: FlightWorld, command: jax.Array) -> dict[str, jax.Array]:
        """Return the reward terms of the task."""
        return self.task.reward_terms(self.scenario, before, after, command)

    def outcome(self, episode: EpisodeState, world: FlightWorld) -> StepOutcome:
        """Failed and succeeded, as the task says."""
        failed, succeeded = (judge(self.scenario, world) for judge in (self.task.failed, self.task.succeeded))
        return of_team(episode, world, failed, succeeded, self.scenario.max_steps)

    @property
    def num_draws(self) -> int:
        """Random numbers of each robot and decision."""
        return 9 + rows(self.scenario) if self._is_large else num_step_draws(self.scenario)

    def advance(self, world: FlightWorld, command: jax.Array, draws: jax.Array) -> FlightWorld:
        """The world one decision later, without filters."""
        step = advance_near if self._is_large else advance
        return step(self.scenario, world, command, draws, self.integrate)

    def views(self, world: FlightWorld) -> LocalView:
        """Return the views of all robots, [N, ...]."""
        return local_views(self.scenario, world)

    def seen(self, safety: Tree, view: LocalView) -> LocalView:
        """Return the views that policies decide on; certified robots are where their references are."""
        return self._filter.seen(safety, view)

    def privileged(self, state: State) -> jax.Array:
        """Return [N, P], the input of a central critic."""
        return self.task.privileged(self.scenario, state.pipeline_state.world)  # type: ignore[union-attr]

    def team_privileged(self, state: State) -> jax.Array:
        """Return [P], the input of a critic of the whole team; without one of the task's own, all robots' inputs in
        a row.
        """
        if self.task.team_privileged is None:
            return super().team_privileged(state)
        return self.task.team_privileged(self.scenario, state.pipeline_state.world)  # type: ignore[union-attr]


def make_engine(scenario: FlightScenario, sim: str) -> Integrate:
    """The integration function of a JAX engine.

    Raises:
        UserError: there is no JAX engine of that name.
    """
    if sim == "fast":
        return make_fast(scenario)
    if sim == "mjx":
        from robomarl.domains.flight.lab.engines.mjx import make_mjx

        return make_mjx(scenario)
    raise UserError(f"Engine {sim!r} is not a JAX engine; allowed: fast, mjx.")
