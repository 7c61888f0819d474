"""Time of a training run by its parts: each part compiled and timed by itself, at the sizes of the recipe."""

import time
from collections.abc import Callable
from statistics import median

import jax
import jax.numpy as jnp

from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.engines.batch_last import vmap_last
from robomarl.lab.train.algorithm import learner
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.recipe_networks import networks_of
from robomarl.lab.train.rollout import collect_rollout, fresh_starts, restart
from robomarl.lab.train.state import PlayAndLearn, TrainState, Update
from robomarl.lab.trees import Tree

REPEATS = 5


def profile(config: TrainConfig, env: AgentsEnv) -> dict[str, float]:
    """Return the seconds of one update, whole (`whole`) and by part.

    Returns:
        `simulation` (physics, radio, sensing, wind), `observation` (with filter, reward and restarts),
        `policy` (actions and their records), `update` (time of the whole beyond the rollout: gradient
        steps, and for SHAC the way back through the rollout), `whole` (everything as one program) and
        `host` (cost of a call beyond the program: metrics to numpy). The first three are differences of
        programs of their own.
    """
    state = jax.jit(lambda key: learner(config).init_state(config, env, key))(jax.random.key(0))
    simulation = timed(lambda s: simulate(config, env, s), state)
    environment = timed(lambda s: step_environment(config, env, s), state)
    update = learner(config).make_update(config, env)
    rollout = timed(played(config, env, update), state)
    step = jax.jit(update)
    whole = timed(step, state)
    with_host = median(elapsed(lambda: jax.device_get(step(state)[1])) for _ in range(REPEATS))
    return {
        "simulation": simulation,
        "observation": max(environment - simulation, 0.0),
        "policy": max(rollout - environment, 0.0),
        "update": max(whole - rollout, 0.0),
        "host": max(with_host - whole, 0.0),
        "whole": whole,
    }


def played(config: TrainConfig, env: AgentsEnv, update: Update) -> Callable[[TrainState], Tree]:
    """The rollout of an update: its own, or of one that is a single program the ordinary one."""
    if isinstance(update, PlayAndLearn):
        return lambda state: update.play(state, update.starts(state))[1]
    networks = networks_of(config, env)
    return lambda state: collect_rollout(config, env, networks, state)[1]


def step_environment(config: TrainConfig, env: AgentsEnv, state: TrainState) -> Tree:
    """T steps of every environment with a constant action: simulation, observation, reward, restarts."""
    action, one_more = jnp.zeros((env.num_agents, env.action_size, config.num_envs)), vmap_last(env.step)
    fresh = fresh_starts(config, env, state)

    def step(now: Tree, _: None) -> tuple[Tree, tuple]:
        after = one_more(now, action)
        return restart(after, fresh), (after.obs, after.reward)

    return jax.lax.scan(step, state.env, None, length=config.unroll)


def simulate(config: TrainConfig, env: AgentsEnv, state: TrainState) -> Tree:
    """T decisions of every environment with no policy: only the world moves."""
    draws = jax.random.uniform(jax.random.key(1), (env.num_agents, env.num_draws, config.num_envs))
    step = vmap_last(env.advance)
    command = jnp.zeros((env.num_agents, env.action_size, config.num_envs))
    world = state.env.pipeline_state.world  # type: ignore[union-attr]
    return jax.lax.scan(lambda w, _: (step(w, command, draws), None), world, None, length=config.unroll)[0]


def timed(function: Callable[[TrainState], Tree], state: TrainState) -> float:
    """Median seconds of a compiled function."""
    call = jax.jit(function)
    for _ in range(2):
        jax.block_until_ready(call(state))
    return median(elapsed(lambda: jax.block_until_ready(call(state))) for _ in range(REPEATS))


def elapsed(call: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def table(parts: dict[str, float], config: TrainConfig, env: AgentsEnv) -> str:
    """Return the text that `train --profile` prints."""
    total = parts["whole"] + parts["host"]
    steps = config.num_envs * config.unroll * env.num_agents
    names = {
        "simulation": "simulation (physics, radio, sensing)",
        "observation": "observation (filter, reward, restarts)",
        "policy": "policy (actions of the rollout)",
        "update": "update (advantages, gradient steps)",
        "host": "host (metrics to Python)",
    }
    lines = [f"  {text:<40}{parts[k] * 1e3:>9.1f} ms{parts[k] / total:>8.0%}" for k, text in names.items()]
    lines.append(f"  {'all in one program':<40}{parts['whole'] * 1e3:>9.1f} ms")
    return "\n".join([*lines, f"  {steps / total / 1e3:.0f} thousand agent-steps/s, learning included"])
