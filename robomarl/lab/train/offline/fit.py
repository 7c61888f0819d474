"""`learn_offline`: a run folder out of a data set, which is evaluated, exported and trained on like any other."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

from robomarl.core.config import UserError
from robomarl.lab.dataset import Dataset, read_dataset
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.train.algorithm import training_env
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.imitation import blank_state
from robomarl.lab.train.offline.learners import STEPS, Learned, Step, Tools, first
from robomarl.lab.train.offline.transitions import Transitions, asked_for, check_fits, rewarded_transitions
from robomarl.lab.train.polyak import with_mean
from robomarl.lab.train.recipe_networks import networks_of
from robomarl.lab.train.run.logs import Logs
from robomarl.lab.train.run.run_folder import create_run
from robomarl.lab.train.run.storage import save_state
from robomarl.lab.train.state import TrainState, count_in

CHUNK = 500
"""Gradient steps of one compiled call."""


def learn_offline(
    config: TrainConfig, scenario: Scenario, file: Path, out: Path, seed: int = 0, quiet: bool = False
) -> dict:
    """Learn, and save the actor as a run folder.

    Args:
        config: `algorithm` is one of `robomarl.lab.train.config.OFFLINE`.
        scenario: scenario with the observation, command and rewards.
        file: file of `robomarl dataset`.
        out: run folder to make.
        seed: seed of first weights and of batches.
        quiet: no progress bar.

    Returns:
        `run`, `scenario`, `transitions`, `actor_loss`, `critic_loss`, `return_mean`, `seconds`.

    Raises:
        UserError: no such file, or not of this scenario's robots; no rewards; a network with memory;
            the folder exists.
    """
    if config.network.memory != "none":
        raise UserError('network.memory: rows of a data set have no memory to start from; make it "none".')
    started_s, env, data = time.perf_counter(), training_env(config, scenario), read_dataset(file)
    check_fits(data, env.observation, env.action)
    gamma = config.gamma_lambda(scenario.period_s)[0]
    rows = transitions_of(config, data, scenario, env, gamma)
    config = replace(config, offline=replace(config.offline, data=data.sha256))
    create_run(out, config, scenario, seed)
    state = with_seen(blank_state(config, env, seed), rows.obs)
    tools = tools_of(config, env, state, gamma)
    learned, losses = fit(tools, config, state, scaled_rewards(rows), (out, seed, quiet))
    state = state._replace(params={**state.params, "actor": learned.actor})
    save_state(out / "checkpoint.npz", jax.device_put(with_mean(config, state)))
    return {
        "run": str(out), "scenario": scenario.name, "transitions": len(rows.obs), "actor_loss": float(losses[0]),
        "critic_loss": float(losses[1]), "return_mean": float(rows.returned.mean()),
        "seconds": time.perf_counter() - started_s,
    }  # fmt: skip


def transitions_of(config: TrainConfig, data: Dataset, scenario: Scenario, env: AgentsEnv, gamma: float) -> Transitions:
    """Return the transitions, with rewards if the algorithm uses rewards."""
    if config.algorithm == "bc":
        return asked_for(data, env.action)
    return rewarded_transitions(data, scenario, env.action, config.weights, gamma)


def scaled_rewards(rows: Transitions) -> Transitions:
    """Scale rewards so that returns have a standard deviation of 1; a weight then has one meaning everywhere."""
    return rows._replace(reward=rows.reward / (rows.returned.std() + 1e-6))


def with_seen(state: TrainState, obs: np.ndarray) -> TrainState:
    """The state with the statistics and the range of these observations [S, O]."""
    return state._replace(obs_stats=count_in(state.obs_stats, jnp.asarray(obs)), obs_range=(obs.min(0), obs.max(0)))


def tools_of(config: TrainConfig, env: AgentsEnv, state: TrainState, gamma: float) -> Tools:
    """Return the constants of all steps."""
    optimizer = optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(config.learning_rate))
    hidden = config.network.critic_hidden
    return Tools(networks_of(config, env), state.obs_stats, config.offline, gamma, optimizer, hidden)


def fit(
    tools: Tools, config: TrainConfig, state: TrainState, rows: Transitions, where: tuple[Path, int, bool]
) -> tuple[Learned, np.ndarray]:
    """Run all gradient steps; return the state, and the mean losses [2] of the last compiled call."""
    out, seed, quiet = where
    normalize = jax.jit(partial(tools.networks.normalize, statistics=state.obs_stats))
    every = jax.tree.map(jnp.asarray, rows._replace(obs=normalize(rows.obs), after=normalize(rows.after)))
    key, start = jax.random.split(jax.random.key(seed))
    learned = first(tools, state.params["actor"], every, start)
    advance = jax.jit(partial(steps, tools, STEPS[config.algorithm]))
    losses, logs, total = np.zeros(2), Logs(out, 0), tools.config.steps
    chunks = [min(CHUNK, total - done) for done in range(0, total, CHUNK)]
    with tqdm(total=total, unit="step", desc=config.algorithm, disable=quiet or None) as bar:
        for number, size in enumerate(chunks):
            numbers = jnp.arange(size) + number * CHUNK
            learned, found = advance(learned, every, numbers, jax.random.fold_in(key, number))
            losses = np.asarray(found).mean(0)
            logs.write({
                "update": number + 1, "steps": number * CHUNK + size,
                "actor_loss": float(losses[0]), "critic_loss": float(losses[1]),
            })  # fmt: skip
            bar.update(size)
    logs.close()
    return learned, losses


def steps(
    tools: Tools, step: Step, learned: Learned, rows: Transitions, numbers: jax.Array, key: jax.Array
) -> tuple[Learned, jax.Array]:
    """Gradient steps of these numbers [K], each on a batch of its own; losses [K, 2]."""

    def one(learned: Learned, number: jax.Array) -> tuple[Learned, jax.Array]:
        pick, own = jax.random.split(jax.random.fold_in(key, number))
        chosen = jax.random.randint(pick, (tools.config.batch,), 0, rows.obs.shape[0])
        return step(tools, learned, jax.tree.map(lambda column: column[chosen], rows), number, own)

    return jax.lax.scan(one, learned, numbers)
