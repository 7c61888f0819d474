"""Rollouts: decisions of the current policy in all environments; ended episodes start anew."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from brax.envs.base import State

from robomarl.core.types import Array
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.engines.batch_last import to_first, to_last, vmap_last
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.devices.across import ALONE, Devices
from robomarl.lab.train.distribution import distribution, log_prob, noise_along, squash
from robomarl.lab.train.networks import Carry, Networks, role_slice
from robomarl.lab.train.stages.curriculum import reset_at
from robomarl.lab.train.state import PlayAndLearn, Rollout, TrainState


def critic_input(config: TrainConfig, env: AgentsEnv, teams: State) -> jax.Array:
    """Return the critic's input of environments [..., B], [B, N, P]: the privileged state, with the role if roles
    differ; for IPPO the own observation. For a critic of the team [B, P]: its state once.
    """
    if config.network.critic == "team":
        return to_first(vmap_last(env.team_privileged)(teams))
    obs: Array = to_first(teams.obs)
    if config.algorithm == "ippo":
        return obs
    seen, role = to_first(vmap_last(env.privileged)(teams)), role_slice(env.observation)
    if config.network.roles == 1 or role is None:
        return seen
    return jnp.concatenate([seen, obs[..., role[0] : sum(role)]], -1)


def fall(config: TrainConfig, steps: jax.Array, start: float, end: float) -> jax.Array:
    """A value that goes linearly from `start` to `end` over the run."""
    return start + jnp.clip(steps / config.total_steps, 0.0, 1.0) * (end - start)


def noise_floor(config: TrainConfig, steps: jax.Array) -> jax.Array:
    """Least standard deviation now."""
    return fall(config, steps, config.noise.floor_std, config.noise.final_floor_std)


def parts_of_update(
    config: TrainConfig,
    env: AgentsEnv,
    networks: Networks,
    learn: Callable,
    collect: Callable | None = None,
    devices: Devices = ALONE,
) -> PlayAndLearn:
    """Return an update of a rollout and then `learn`; `collect` is `collect_rollout`, or its counterpart for other
    networks.
    """
    play = partial(collect or collect_rollout, config, env, networks)
    return PlayAndLearn(partial(fresh_starts, config, env, devices=devices), play, learn)


def rollout_keys(state: TrainState) -> tuple[jax.Array, ...]:
    """Return keys for the time after the rollout, for the starts within it, and for its own draws."""
    return tuple(jax.random.split(state.key, 3))


def fresh_starts(config: TrainConfig, env: AgentsEnv, state: TrainState, devices: Devices = ALONE) -> State:
    """[..., B] where an environment goes on once its episode ends within the rollout; on several devices, its own."""
    keys = devices.own(jax.random.split(rollout_keys(state)[1], config.num_envs))
    return to_last(jax.vmap(reset_at(config, env, state.level))(keys))


def rollout_noise(config: TrainConfig, env: AgentsEnv, state: TrainState) -> jax.Array:
    """[T, B, N, A] standard normal noise of the next rollout, the draws of `collect_rollout`."""
    k_noise, shape = rollout_keys(state)[2], (config.num_envs, env.num_agents, env.action_size)
    if config.noise.correlation > 0:
        return noise_along(config, k_noise, shape)
    return jax.vmap(lambda key: jax.random.normal(key, shape))(jax.random.split(k_noise, config.unroll))


def collect_rollout(
    config: TrainConfig,
    env: AgentsEnv,
    networks: Networks,
    state: TrainState,
    fresh: State | None = None,
    drawn: jax.Array | None = None,
) -> tuple[TrainState, Rollout]:
    """T decisions in every environment with the current policy; ended episodes go on from `fresh`, by default from
    `fresh_starts`. `drawn` is the noise of these environments; by default each decision draws its own."""
    key, _, k_noise = rollout_keys(state)
    fresh = fresh_starts(config, env, state) if fresh is None else fresh
    floor, given = noise_floor(config, state.steps), drawn is not None or config.noise.correlation > 0
    # Without correlation the draws stay those with which the shipped teams were trained.
    noise = jax.random.split(k_noise, config.unroll) if drawn is None else drawn
    if drawn is None and given:
        noise = rollout_noise(config, env, state)
    step = vmap_last(env.step)

    def decide(now: tuple[State, Carry], noise: jax.Array) -> tuple[tuple[State, Carry], tuple]:
        teams, carry = now  # [..., B], networks have their samples first
        obs = to_first(teams.obs)
        carry, output = networks.act(state.params["actor"], carry, networks.normalize(obs, state.obs_stats))
        dist = distribution(output, config.noise, floor)
        raw = dist.loc + dist.scale * noise if given else dist.sample(noise)
        after = step(teams, to_last(squash(raw, env.action)))
        kept = (obs, critic_input(config, env, teams), raw, log_prob(dist, raw))
        ends = (to_first(after.reward), after.done, after.info["truncation"], after.metrics)
        return (restart(after, fresh), forget(carry, after.done)), (*kept, *ends)

    (last, carry), (obs, seen, *others) = jax.lax.scan(decide, (state.env, state.carry), noise)
    seen = jnp.concatenate([seen, critic_input(config, env, last)[None]])
    rollout = Rollout(state.carry, obs, seen, *others)
    steps = state.steps + config.unroll * config.num_envs * env.num_agents
    return state._replace(env=last, carry=carry, key=key, steps=steps), rollout


def restart(state: State, fresh: State) -> State:
    """Continue an environment from `fresh` if its episode ended; for many environments, arrays are [..., B]."""
    ended = state.done.astype(bool)
    going = jax.tree.map(lambda new, old: jnp.where(ended, new, old), fresh, state)
    return going.replace(done=jnp.zeros_like(state.done))


def forget(carry: Carry, done: jax.Array) -> Carry:
    """The recurrent state, zero again where the episode ended; carry [B, N, ...], done [B]."""
    return jax.tree.map(lambda c: c * (1 - done).reshape(-1, *[1] * (c.ndim - 1)), carry)
