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
from robomarl.sim.agents import AgentsEnv, State, merge_weights
from robomarl.sim.random_bits import seed_words, uniform
from robomarl.spec import Memory
from robomarl.view import LocalView, Plan


class PipelineState(NamedTuple):
    """What `State.pipeline_state` holds."""

    world: World
    memory: Memory
    """Of the observation, [N, ...] each."""
    seed: jax.Array
    """[2] uint32: randomness of the steps to come."""
    succeeded: jax.Array
    """[] bool: the team has succeeded at some time of this episode."""
    safety: Any = ()
    """The safety filters' memory, [N, ...] each; empty without a filter."""


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
    def num_agents(self) -> int:
        """N, robots in the team."""
        return self.scenario.count

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
        views = local_views(self.scenario, world)
        memory, obs = self.observation.observe(self.observation.init(views), views)
        safety = self._filter.init((self.num_agents,))
        sim = PipelineState(world, memory, seed_words(key), jnp.zeros((), bool), safety)
        return self.first(sim, obs)

    def step(self, state: State, action: jax.Array) -> State:
        """One decision of the team."""
        sim: PipelineState = state.pipeline_state  # type: ignore[assignment]
        draws = uniform(sim.seed, sim.world.step, self.num_agents, num_step_draws(self.scenario))
        safety, command = self._filter(sim.safety, local_views(self.scenario, sim.world), action)
        world = advance(self.scenario, sim.world, command, draws, self.integrate, getattr(safety, "plan", None))
        views = local_views(self.scenario, world)
        memory, obs = self.observation.observe(sim.memory, views)
        terms = self.task.reward_terms(self.scenario, sim.world, world, command)
        weighted = {k: w * self.scenario.period_s * terms[k] for k, w in self.weights.items()}
        failed = self.task.failed(self.scenario, world)
        succeeded = sim.succeeded | self.task.succeeded(self.scenario, world)
        timeout = ~failed & (world.step >= self.scenario.max_steps)
        metrics = {f"reward/{k}": v.mean() for k, v in weighted.items()}
        metrics["success"] = (succeeded & timeout).astype(jnp.float32)
        metrics["contact"] = failed.astype(jnp.float32)
        return state.replace(  # type: ignore[attr-defined]
            pipeline_state=PipelineState(world, memory, sim.seed, succeeded, safety),
            obs=obs,
            reward=sum(weighted.values()),
            done=(failed | timeout).astype(jnp.float32),
            metrics={**state.metrics, **metrics},
            info={**state.info, "truncation": timeout.astype(jnp.float32), "steps": world.step.astype(jnp.float32)},
        )

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

        params = safety_params(scenario)
        self._filter = make_jax_filter(params, mode, gradients=False)  # type: ignore[arg-type]
        self._rules = domain_of_task(scenario.task).onboard.rules(params)
        self._decide = partial(filter_carrier, self._filter) if scenario.load else self._filter

    def init(self, batch: tuple[int, ...]) -> Guarded:
        """The memory before the first decision."""
        return Guarded(self._filter.init(batch), self._rules.init(jnp.zeros(batch)) if self._rules else ())

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
    if mode not in ("qp", "textbook"):
        raise UserError(f"filter = {mode!r} is not a filter; allowed: off, qp, textbook.")
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
