"""PQN, parallelised Q-learning (Gallici et al., ICLR 2025, arXiv 2407.04811), of robots that choose
among aims.

Every robot picks from the choices of its domain (`robomarl.core.domain.simulation.Choices`),
sometimes at random, and a controller pursues the picked aim until the next choice. Targets are
Q(lambda) along the rollout; there is neither a replay memory nor a target network, but many teams
and normalized layers. All robots share one network and each learns from its own reward. Recipe:
`unroll` counts decisions of the controller (a multiple of those of one choice), `actor_hidden` is
the network; `clip`, `entropy_cost`, `noise` and the critic's keys are not used.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from brax.envs.base import State

from robomarl.core.config import UserError
from robomarl.core.types import Array
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.engines.batch_last import to_first, to_last, vmap_last
from robomarl.lab.train import mappo
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.networks import Carry
from robomarl.lab.train.optimizer import move, norm
from robomarl.lab.train.pqn.choice_networks import ChoiceNetworks, choice_networks
from robomarl.lab.train.rollout import fall, forget, parts_of_update, restart, rollout_keys
from robomarl.lab.train.stages.curriculum import lesson_metrics, next_level
from robomarl.lab.train.state import ChoiceRollout, Metrics, TrainState, Update
from robomarl.lab.trees import Params

RANDOM_SHARE, RANDOM_UNTIL = (1.0, 0.05), 0.5
"""Share of choices at random: at first, and at last from this share of the run on."""
LAST_RATE = 0.1
"""Last learning rate over the first; it falls linearly with the steps."""

init_params, init_state = mappo.init_params, mappo.init_state


class ChoiceSamples(NamedTuple):
    """For gradient steps, environments first."""

    obs: jax.Array
    """[B, K, N, O] normalized"""
    choice: jax.Array
    """[B, K, N]"""
    target: jax.Array
    """[B, K, N]"""
    ended: jax.Array
    """[B, K]"""
    memory: tuple[jax.Array, ...]
    """[B, N, ...] where the rollout began"""


def make_update(config: TrainConfig, env: AgentsEnv) -> Update:
    """One rollout and the gradient steps on it, state -> (state, metrics)."""
    networks = choice_networks(config, env)
    every = networks.actor.choices.every
    if config.unroll % every:
        raise UserError(f"unroll = {config.unroll} must be a multiple of {every}, the decisions that a choice stays.")
    rates = config.gamma_lambda(env.scenario.period_s)

    def learn(state: TrainState, rollout: ChoiceRollout) -> tuple[TrainState, Metrics]:
        low, high = state.obs_range
        seen = rollout.obs.min((0, 1, 2)), rollout.obs.max((0, 1, 2))
        state = state._replace(obs_range=(jnp.minimum(low, seen[0]), jnp.maximum(high, seen[1])))
        samples = prepare(networks, state, rollout, (rates[0] ** every, rates[1] ** every))
        state, errors = jax.lax.scan(
            lambda s, _: update_epoch(config, networks, s, samples), state, None, length=config.epochs
        )
        state = mappo.update_observed(config, state, rollout)
        metrics = {**mappo.episode_metrics(rollout), **lesson_metrics(config, state.level)}
        metrics |= {"loss/value": errors.mean(), "random_share": random_share(config, state.steps)}
        metrics |= {"learning_rate": state.learning_rate, "parameter_norm": norm(state.params)}
        return state._replace(level=next_level(config, state, metrics)), metrics

    return parts_of_update(config, env, networks, learn, collect_choices)


def random_share(config: TrainConfig, steps: jax.Array) -> jax.Array:
    """Share of choices at random now."""
    return fall(config, steps / RANDOM_UNTIL, *RANDOM_SHARE)


def values_of(networks: ChoiceNetworks, params: Params, memory: Carry, obs: jax.Array) -> tuple[Carry, jax.Array]:
    """(memory, normalized obs [..., O]) -> (memory at the next choice, values [..., K])."""
    return networks.actor.apply(params, memory, obs, method="values")  # type: ignore[return-value]


def values_along(
    networks: ChoiceNetworks, params: Params, memory: Carry, obs: jax.Array, ended: jax.Array
) -> jax.Array:
    """Values [K, B, N, ...] along a rollout: obs [K, B, N, O] normalized, ended [K, B], the memory before it."""
    done = ended if memory else None
    return networks.actor.apply(params, memory, obs, done, method="values")[1]  # type: ignore[return-value,index]


def collect_choices(
    config: TrainConfig, env: AgentsEnv, networks: ChoiceNetworks, state: TrainState, fresh: State
) -> tuple[TrainState, ChoiceRollout]:
    """Choices in every environment, each pursued for its time; ended episodes go on from `fresh`, with the aim they
    had, and remember nothing at their first choice."""
    choices, actor = networks.actor.choices, networks.actor
    key, _, k_choose = rollout_keys(state)
    step = vmap_last(env.step)
    gamma, _ = config.gamma_lambda(env.scenario.period_s)
    share, aims = random_share(config, state.steps), jnp.asarray(choices.aims)

    def decide(now: tuple, weight: jax.Array) -> tuple[tuple, tuple]:
        teams, aim, gain, ended = now  # teams are [..., B], networks have their samples first
        aim, command = actor.pursue(to_first(teams.obs), aim)
        after = step(teams, to_last(command))
        reward = to_first(after.reward)
        gain = gain + weight * (1 - ended)[:, None] * reward
        ended = jnp.maximum(ended, after.done)
        return (restart(after, fresh), aim, gain, ended), (reward, after.done, after.metrics)

    def choose(now: tuple[State, Carry], key: jax.Array) -> tuple[tuple[State, Carry], tuple]:
        teams, memory = now
        obs: Array = to_first(teams.obs)
        k_which, k_whether = jax.random.split(key)
        normalized = networks.normalize(obs, state.obs_stats)
        memory, values = values_of(networks, state.params["actor"], memory, normalized)
        best = values.argmax(-1)
        other = jax.random.randint(k_which, best.shape, 0, len(aims))
        choice = jnp.where(jax.random.uniform(k_whether, best.shape) < share, other, best)
        begun = teams, aims[choice], jnp.zeros(best.shape), jnp.zeros(best.shape[0])
        (teams, _, gain, ended), seen = jax.lax.scan(decide, begun, gamma ** jnp.arange(choices.every))
        return (teams, forget(memory, ended)), ((obs, choice, gain, ended), seen)

    keys = jax.random.split(k_choose, config.unroll // choices.every)
    before = state.carry[2:]
    (last, memory), (made, seen) = jax.lax.scan(choose, (state.env, before), keys)
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), seen)
    steps = state.steps + config.unroll * config.num_envs * env.num_agents
    state = state._replace(env=last, carry=(*state.carry[:2], *memory), key=key, steps=steps)
    return state, ChoiceRollout(before, *made, to_first(last.obs), *flat)  # type: ignore[arg-type]


def q_lambda(gain: jax.Array, best: jax.Array, ended: jax.Array, gamma: float, lam: float) -> jax.Array:
    """Return targets Q(lambda) along a rollout (Gallici et al., 2025, equation 6; Peng and Williams,
    1996).

    Args:
        gain: [K, ...] rewards from one choice to the next.
        best: [K, ...] largest value at the state of the choice after each.
        ended: [K, ...] 1 where the episode ended before it.
        gamma: discount from one choice to the next.
        lam: lambda, per choice.

    Returns:
        [K, ...] gain + gamma ((1 - lambda) best + lambda the target after it), without terms from after
        an end.
    """

    def backwards(after: jax.Array, row: tuple) -> tuple[jax.Array, jax.Array]:
        gain, best, keep = row
        target = gain + gamma * keep * ((1 - lam) * best + lam * after)
        return target, target

    return jax.lax.scan(backwards, best[-1], (gain, best, 1 - ended), reverse=True)[1]


def prepare(
    networks: ChoiceNetworks, state: TrainState, rollout: ChoiceRollout, rates: tuple[float, float]
) -> ChoiceSamples:
    """Targets of a rollout, environments first so that a minibatch is whole rows."""
    obs = networks.normalize(jnp.concatenate([rollout.obs, rollout.last[None]]), state.obs_stats)
    ended = jnp.concatenate([rollout.ended, jnp.zeros_like(rollout.ended[:1])])
    best = values_along(networks, state.params["actor"], rollout.memory, obs, ended)[1:].max(-1)
    target = q_lambda(rollout.gain, best, jnp.broadcast_to(rollout.ended[..., None], best.shape), *rates)
    rows = (jnp.swapaxes(x, 0, 1) for x in (obs[:-1], rollout.choice, target, rollout.ended))
    return ChoiceSamples(*rows, memory=rollout.memory)


def update_epoch(
    config: TrainConfig, networks: ChoiceNetworks, state: TrainState, samples: ChoiceSamples
) -> tuple[TrainState, jax.Array]:
    """One pass over the samples in shuffled minibatches; gives the mean squared errors."""
    key, shuffle = jax.random.split(state.key)
    order = jax.random.permutation(shuffle, config.num_envs).reshape(config.minibatches, -1)
    rate = fall(config, state.steps, config.learning_rate, LAST_RATE * config.learning_rate)

    def error(actor: Params, rows: ChoiceSamples) -> jax.Array:
        along = [jnp.swapaxes(x, 0, 1) for x in (rows.obs, rows.ended, rows.choice, rows.target)]
        obs, ended, choice, target = along
        values = values_along(networks, actor, rows.memory, obs, ended)
        made = (values * jax.nn.one_hot(choice, values.shape[-1])).sum(-1)
        return ((made - target) ** 2).mean()

    def step(carry: tuple, rows: jax.Array) -> tuple[tuple, jax.Array]:
        actor, moments = carry
        loss, grads = jax.value_and_grad(error)(actor, jax.tree.map(lambda x: x[rows], samples))
        return move(config, actor, grads, moments, rate), loss

    begun = state.params["actor"], state.optimizer["actor"]
    (actor, moments), losses = jax.lax.scan(step, begun, order)
    params, optimizer = state.params | {"actor": actor}, state.optimizer | {"actor": moments}
    return state._replace(params=params, optimizer=optimizer, learning_rate=rate, key=key), losses
