"""Imitation of the task's own law, by dataset aggregation (Ross, Gordon and Bagnell, AISTATS 2011).

The team flies with the law at first and then more and more with the policy. In every state the law
gives its own action, and the actor is fitted to these actions. A recipe that trains behind the
safety filter imitates behind it too: if teammates hold each other up, robots that drive through
each other teach nothing. The result is a run that `train --init` goes on from.
"""

import dataclasses
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from brax.training.acme import running_statistics as stats
from brax.training.acme import specs
from brax.training.acme.running_statistics import RunningStatisticsState
from tqdm import tqdm

from robomarl.core.bundle.pilot import Leading
from robomarl.core.config import UserError
from robomarl.core.domain.registry import filter_for
from robomarl.core.types import Array
from robomarl.lab.certified import certified_team
from robomarl.lab.evaluate.pilots import Guard, NoFilter
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.batch import BatchSim
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.law import Law
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.algorithm import learner, training_env
from robomarl.lab.train.config import ImitationConfig, TrainConfig
from robomarl.lab.train.networks import Carry, Networks, make_networks
from robomarl.lab.train.polyak import with_mean
from robomarl.lab.train.run.run_folder import create_run
from robomarl.lab.train.run.storage import save_state
from robomarl.lab.train.sequences.play import SequenceConfig, playing
from robomarl.lab.train.state import TrainState, count_in
from robomarl.lab.trees import Moments, Params

NUM_TEAMS, NUM_THROWN = 48, 96
"""Numbers of teams of each size that fly side by side; the second one if they are thrown, because every throw
differs.
"""
STRIDE = 4
"""Number of actions of which one is kept, together with all actions of its decision: neighbours in time are alike."""
HARSH_S = 1.5
"""Time [s] after a throw during which all actions are kept, because teammates touch then."""
NOISE = 0.1
"""Standard deviation of the noise on flown actions, in half ranges: it shows the law states that it would not meet."""
APART = 10_000
"""Summand of the seed of the flights, so that evaluations with an equal seed meet other episodes."""
BATCH = 2048
FITS = 1200
"""Gradient steps after each round."""
LEARNING_RATE, LAST_RATE = 1e-3, 2e-4


class Demonstrations(NamedTuple):
    """Observations, and the law's actions for these; [S, O] and [S, A] in [-1, 1]."""

    obs: np.ndarray
    wanted: np.ndarray


def imitate_run(config: TrainConfig, scenario: Scenario, out: Path, seed: int = 0, quiet: bool = False) -> dict:
    """Fit a policy to the task's law and save it as a run folder.

    Raises:
        UserError: the task has no law, or the folder exists.
    """
    imitated = simulation_of(scenario).imitated
    law = imitated and imitated.law(scenario)
    if law is None:
        raise UserError(f"{scenario.name}.toml: task = {scenario.task!r} has no law that a policy could imitate.")
    env = training_env(config, scenario)  # what is wrong with a recipe is said before there is a folder
    create_run(out, config, scenario, seed)
    state = blank_state(config, env, seed)
    teacher = Teacher(config, env, law(scenario), seed)
    rounds, steps = config.imitation.rounds, scenario.max_steps
    total = rounds * len(teacher.teams) * steps
    every_s = 0.1 if sys.stderr.isatty() else 10.0  # in a log file a line now and then is enough
    bar = tqdm(total=total, unit="step", desc=f"imitate {scenario.name}", disable=quiet, mininterval=every_s)
    error = 0.0
    with bar:
        for round_index in range(rounds):
            state, error = teacher.round(state, round_index / max(rounds - 1, 1), bar)
    save_state(out / "checkpoint.npz", jax.device_put(with_mean(config, state)))
    actions = rounds * steps * sum(team.num_envs * team.scenario.count for team in teacher.teams)
    decisions = actions // config.sequence.actions
    return {"run": str(out), "scenario": scenario.name, "steps": decisions, "imitation_error": error}


def blank_state(config: TrainConfig, env: AgentsEnv, seed: int) -> TrainState:
    """Return the state before training, with empty environments: `--init` takes only the learned parts.

    To start the environments would mean to compile them, which takes longer than the imitation.
    """
    shapes = jax.eval_shape(partial(learner(config).init_state, config, env), jax.random.key(seed))
    state: TrainState = jax.tree.map(zeros_of, shapes)
    seen = jnp.shape(state.critic_stats.mean)  # type: ignore[arg-type]
    k_actor, k_critic = jax.random.split(jax.random.key(seed))
    one = jnp.ones(env.observation_size)
    return state._replace(
        params=learner(config).init_params(config, env, seen[0], (k_actor, k_critic)),
        key=jax.random.key(seed),
        learning_rate=jnp.asarray(config.learning_rate),
        obs_stats=stats.init_state(specs.Array((env.observation_size,), jnp.dtype("float32"))),
        obs_range=(jnp.inf * one, -jnp.inf * one),
        critic_stats=stats.init_state(specs.Array(seen, jnp.dtype("float32"))),
        value_stats=stats.init_state(specs.Array((), jnp.dtype("float32"))),
    )


def zeros_of(leaf: Array) -> Array:
    """Return zeros of the shape of a leaf; random keys are all of seed 0."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.key(0)
    return jnp.zeros(leaf.shape, leaf.dtype)


class Teacher:
    """Flies, collects and fits."""

    def __init__(self, config: TrainConfig, env: AgentsEnv, law: Law, seed: int) -> None:
        """Prepare the team on `fast` and the fit."""
        self._env, self._law = env, law
        self._networks = make_networks(config.network, env.observation, env.action_size)
        simulation = simulation_of(env.scenario)
        assert simulation.imitated is not None, "there is a law"
        self._imitated = simulation.imitated
        self._thrown = self._imitated.is_harsh(env.scenario)
        self.teams = self._made_teams(config.imitation, seed)
        self._filters = [self._made_filter(config, team.scenario) for team in self.teams]
        self._random = np.random.default_rng(seed)
        self._seen: list[Demonstrations] = []
        steps = config.imitation.rounds * FITS
        self._optimizer = optax.adam(optax.exponential_decay(LEARNING_RATE, steps, LAST_RATE / LEARNING_RATE))
        self._moments: Moments = None
        self._sequence = config.sequence
        self._act = jax.jit(partial(_played, self._networks, self._sequence))
        self._fit = jax.jit(partial(fit_step, (self._networks, self._optimizer)))

    def _made_teams(self, how: ImitationConfig, seed: int) -> list[BatchSim]:
        """A batch of teams of each size."""
        simulation, scenario = simulation_of(self._env.scenario), self._imitated.harder(self._env.scenario)
        num = NUM_THROWN if self._thrown else NUM_TEAMS
        teams = [dataclasses.replace(scenario, count=n) for n in how.sizes or (scenario.count,)]
        for team in teams:
            simulation.check_scenario(team, f"imitation.sizes: {scenario.name} with count = {team.count}")
        return [simulation.batch(team, "fast", num, APART + seed) for team in teams]

    def _made_filter(self, config: TrainConfig, scenario: Scenario) -> Guard:
        """Return the filter between the team and its vehicles, as in training; thrown vehicles fly without it.

        Policies that see plans need a filter that makes plans, even if it lets everything through.
        """
        sees_plans = any(field.startswith("heard.plan") for field in self._env.observation.reads)
        if config.filter == "certificate":
            return certified_team(scenario, safety_params(scenario))
        mode = "qp" if config.filter == "qp" else "off"
        if mode == "off" and not sees_plans:
            return NoFilter()
        return filter_for(simulation_of(scenario).action(scenario), safety_params(scenario), mode)

    def round(self, state: TrainState, share: float, bar: tqdm) -> tuple[TrainState, float]:
        """One episode of every team, `share` of which the policy flies, and a fit to all samples so far."""
        pairs = zip(self.teams, self._filters, strict=True)
        flown = [self._fly(team, safety, state, share, bar) for team, safety in pairs]
        samples = Demonstrations(*(np.concatenate(column) for column in zip(*flown, strict=True)))
        self._seen.append(samples)
        low, high = state.obs_range
        state = state._replace(
            obs_stats=count_in(state.obs_stats, jnp.asarray(samples.obs)),
            obs_range=(jnp.minimum(low, samples.obs.min(0)), jnp.maximum(high, samples.obs.max(0))),
        )
        return self._learn(state)

    def _fly(self, team: BatchSim, safety: Guard, state: TrainState, share: float, bar: tqdm) -> Demonstrations:
        spec, action = self._env.observation, self._env.unwrapped.action  # type: ignore[attr-defined]
        middle, half = (action.high + action.low) / 2, (action.high - action.low) / 2
        scenario = team.scenario
        team.reset()
        memory, flying = spec.init(team.views()), np.ones(team.num_envs, bool)
        seen_by_law = self._law.observation.init(team.views())
        by_policy = (np.arange(team.num_envs) < share * team.num_envs)[:, None, None]
        kept: list[Demonstrations] = []
        batch = team.num_envs, scenario.count
        carry = (*self._sequence.init_memory(action.size, batch), *self._networks.init_carry(batch))
        guard = safety.init(batch)
        decided, said = np.zeros(0), list[np.ndarray]()
        for step in range(scenario.max_steps):
            views = team.views()
            seen = safety.seen(guard, views) if isinstance(safety, Leading) else views
            memory, obs = spec.observe(memory, seen)
            seen_by_law, read = self._law.observation.observe(seen_by_law, seen)
            wanted = (self._law.act(read) - middle) / half
            carry, ours = self._act(state.params["actor"], state.obs_stats, carry, obs)
            flown = np.where(by_policy, ours, wanted) + NOISE * self._random.standard_normal(wanted.shape)
            decided, said = (decided, [*said, wanted]) if step % self._sequence.actions else (obs, [wanted])
            if len(said) == self._sequence.actions and self._is_kept(step + 1 - len(said)):
                rows = self._sequence.said(np.stack(said, -2))
                kept.append(Demonstrations(*(a[flying].reshape(-1, a.shape[-1]) for a in (decided, rows))))
            guard, result = safety(guard, views, middle + half * np.clip(flown, -1, 1))
            world = team.step(result.command, getattr(guard, "plan", None))
            flying &= ~np.asarray(self._imitated.failed(scenario, world))
            bar.update()
        return Demonstrations(*(np.concatenate(column).astype(np.float32) for column in zip(*kept, strict=True)))

    def _is_kept(self, step: int) -> bool:
        """Return True if the decision of this step is a sample."""
        is_harsh = self._thrown and step * self._env.scenario.period_s < HARSH_S
        return is_harsh or -step % STRIDE < self._sequence.actions

    def _learn(self, state: TrainState) -> tuple[TrainState, float]:
        every = Demonstrations(*(np.concatenate(column) for column in zip(*self._seen, strict=True)))
        actor = state.params["actor"]
        self._moments = self._moments or self._optimizer.init(actor)
        errors = []
        for _ in range(FITS):
            rows = self._random.integers(0, len(every.obs), BATCH)
            batch = Demonstrations(every.obs[rows], every.wanted[rows])
            actor, self._moments, error = self._fit(actor, self._moments, state.obs_stats, batch)
            errors.append(float(error))
        return state._replace(params={**state.params, "actor": actor}), float(np.mean(errors[-50:]))


def mean_action(
    networks: Networks, params: Params, obs_stats: RunningStatisticsState, carry: Carry, obs: jax.Array
) -> tuple[Carry, jax.Array]:
    """Return (carry, action of the policy without noise [..., A], in [-1, 1])."""
    carry, output = networks.act(params, carry, networks.normalize(obs, obs_stats))
    return carry, jnp.tanh(jnp.split(output, 2, axis=-1)[0])


def _played(
    networks: Networks,
    sequence: SequenceConfig,
    params: Params,
    obs_stats: RunningStatisticsState,
    carry: Carry,
    obs: jax.Array,
) -> tuple[Carry, jax.Array]:
    """Return the actions of `mean_action` as they are played: (carry, obs) -> (carry, [..., A] in [-1, 1])."""
    return playing(sequence, partial(mean_action, networks, params, obs_stats))(carry, obs)


def fit_step(
    tools: tuple[Networks, optax.GradientTransformation],
    params: Params,
    moments: Moments,
    obs_stats: RunningStatisticsState,
    batch: Demonstrations,
) -> tuple[Params, Moments, jax.Array]:
    """One gradient step on the squared error of the mean; the deviation stays where training starts it."""
    networks, optimizer = tools

    def loss(params: Params) -> jax.Array:
        obs = networks.normalize(batch.obs, obs_stats)
        _, output = networks.act(params, networks.init_carry(obs.shape[:1]), obs)
        mean, deviation = jnp.split(output, 2, axis=-1)
        return ((jnp.tanh(mean) - batch.wanted) ** 2).mean() + 1e-3 * (deviation**2).mean()

    error, gradient = jax.value_and_grad(loss)(params)
    updates, moments = optimizer.update(gradient, moments)
    return optax.apply_updates(params, updates), moments, error
