"""`TeamEnv`: a scenario as a `brax.envs.Env` with a leading robot axis in observation, action and reward."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from robomarl.config import UserError
from robomarl.domains.flight.engines.fast import make_fast
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.flight.start import ROBOT_DRAWS, TEAM_DRAWS, num_cells, start_world
from robomarl.domains.flight.tasks import task_of
from robomarl.domains.flight.views import local_views
from robomarl.domains.flight.world import Integrate, World, advance, num_step_draws, with_plans
from robomarl.domains.registry import domain_of_task
from robomarl.sim.agents import AgentsEnv, EpisodeState, State, StepOutcome, merge_weights, of_team
from robomarl.sim.random_bits import seed_words
from robomarl.view import LocalView, Plan


class TeamEnv(AgentsEnv):
    """One scenario on a JAX engine.

    `reset(key)` and `step(state, action)` are pure; use `jax.vmap` for a batch. `state.obs` is [N, O],
    `action` is [N, A] in physical units (the action `Spec`), `state.reward` is [N], `state.done` is one flag
    for the team: 1 when the episode ended, by failure or by time (then `info["truncation"]` is 1 as well).
    `state.metrics` has every weighted reward term, `reward/NAME`, and `success`, `contact`, averaged over robots.
    """

    def __init__(
        self, scenario: FlightScenario, sim: str = "fast", weights: dict[str, float] | None = None, safety: str = "off"
    ) -> None:
        """Decide everything that does not change within an episode.

        Args:
            scenario: what is simulated.
            sim: "fast" or "mjx".
            weights: reward weights that replace the task's own, by name.
            safety: "qp": the safety filter stands between action and vehicle, as on the robot; "off": it does not.

        Raises:
            UserError: an engine or a reward term of that name does not exist.
        """
        self.scenario = scenario
        self.task = task_of(scenario)
        self.weights = merge_weights(self.task.weights, weights)
        self.observation = self.task.observation(scenario)
        self.action = self.task.action(scenario)
        self.integrate = make_engine(scenario, sim)
        self._backend = sim
        self._filter = PassThrough() if safety == "off" else make_filter(scenario, safety)

    @property
    def backend(self) -> str:
        """Name of the engine."""
        return self._backend

    def reset(self, rng: jax.Array, scenario: FlightScenario | None = None) -> State:
        """A new episode with a new draw of everything that is randomized; `scenario` replaces the ranges of it."""
        key, k1, k2, k3 = jax.random.split(rng, 4)
        robot = jax.random.uniform(k1, (self.num_agents, ROBOT_DRAWS))
        team = jax.random.uniform(k2, (TEAM_DRAWS,))
        cells = jax.random.uniform(k3, (num_cells(self.scenario),))
        world = start_world(scenario or self.scenario, robot, team, cells)
        if not isinstance(self._filter, PassThrough):
            world = with_plans(self.scenario, world)
        return self.first(world, seed_words(key), jnp.zeros((), bool), self._filter.init((self.num_agents,)))

    def decide(self, episode: EpisodeState, action: jax.Array, draws: jax.Array) -> tuple[World, jax.Array, Any]:
        """Behind the filter, if there is one."""
        safety, command = self._filter(episode.safety, self.views(episode.world), action)
        plan = getattr(safety, "plan", None)
        return advance(self.scenario, episode.world, command, draws, self.integrate, plan), command, safety

    def terms(self, before: World, after: World, command: jax.Array) -> dict[str, jax.Array]:
        """As the task says."""
        return self.task.reward_terms(self.scenario, before, after, command)

    def outcome(self, episode: EpisodeState, world: World) -> StepOutcome:
        """Failed and succeeded, as the task says."""
        failed, succeeded = (judge(self.scenario, world) for judge in (self.task.failed, self.task.succeeded))
        return of_team(episode, world, failed, succeeded, self.scenario.max_steps)

    @property
    def num_draws(self) -> int:
        """Random numbers of each robot and decision."""
        return num_step_draws(self.scenario)

    def advance(self, world: World, command: jax.Array, draws: jax.Array) -> World:
        """The world one decision later, without filters."""
        return advance(self.scenario, world, command, draws, self.integrate)

    def views(self, world: World) -> LocalView:
        """What every robot may know, [N, ...]."""
        return local_views(self.scenario, world)

    def privileged(self, state: State) -> jax.Array:
        """[N, P] what a central critic may see."""
        return self.task.privileged(self.scenario, state.pipeline_state.world)  # type: ignore[union-attr]

    def team_privileged(self, state: State) -> jax.Array:
        """[P] what a critic of the whole team may see; where the task has no view of its own, all robots' in a row."""
        if self.task.team_privileged is None:
            return super().team_privileged(state)
        return self.task.team_privileged(self.scenario, state.pipeline_state.world)  # type: ignore[union-attr]


class PassThrough:
    """The filter that lets everything through."""

    def init(self, batch: tuple[int, ...]) -> tuple:
        """No memory."""
        return ()

    def __call__(self, carry: tuple, view: LocalView, nominal: jax.Array) -> tuple[tuple, jax.Array]:
        """The command is what was asked for."""
        return carry, nominal


class Guarded(NamedTuple):
    """Memory of the filter, and of the rules before it."""

    safety: Any
    way: Any = ()

    @property
    def plan(self) -> Plan:
        """What the filter committed to."""
        return self.safety.plan


class Filter:
    """The safety filter in JAX behind the task's rules against deadlock, as a function to the command alone."""

    def __init__(self, scenario: FlightScenario, mode: str) -> None:
        """Work out the constants."""
        from robomarl.safety.body_rates import filter_carrier
        from robomarl.safety.jax_filter import make_jax_filter
        from robomarl.sim.filter_params import safety_params
        from robomarl.sim.upright_filter import FilterOnceUpright

        params, thrown = safety_params(scenario), mode == "upright"
        safety = make_jax_filter(params, "qp" if thrown else mode, gradients=False)  # type: ignore[arg-type]
        decide = partial(filter_carrier, safety) if scenario.load else safety
        once = FilterOnceUpright(safety, scenario.period_s, decide)
        self._init, self._decide = (once.init, once) if thrown else (safety.init, decide)
        self._rules = domain_of_task(scenario.task).onboard.rules(params)

    def init(self, batch: tuple[int, ...]) -> Guarded:
        """The memory before the first decision."""
        return Guarded(self._init(batch), self._rules.init(jnp.zeros(batch)) if self._rules else ())

    def __call__(self, carry: Guarded, view: LocalView, nominal: jax.Array) -> tuple[Guarded, jax.Array]:
        """The command that is sent; no gradient is asked of it."""
        way, asked = self._rules(carry.way, view, nominal) if self._rules else (carry.way, nominal)
        safety, result = self._decide(carry.safety, view, asked)
        way = self._rules.after(way, result) if self._rules else way
        return Guarded(safety, way), result.command.astype(nominal.dtype)


def make_filter(scenario: FlightScenario, mode: str) -> Filter:
    """The filter of that name in JAX.

    Raises:
        UserError: there is none.
    """
    if mode not in ("qp", "textbook", "upright"):
        raise UserError(f"filter = {mode!r} is not a filter; allowed: off, qp, textbook, upright.")
    return Filter(scenario, mode)


def make_engine(scenario: FlightScenario, sim: str) -> Integrate:
    """The integration function of a JAX engine.

    Raises:
        UserError: there is no JAX engine of that name.
    """
    if sim == "fast":
        return make_fast(scenario)
    if sim == "mjx":
        from robomarl.domains.flight.engines.mjx import make_mjx

        return make_mjx(scenario)
    raise UserError(f"Engine {sim!r} is not a JAX engine; allowed: fast, mjx.")
