"""SHAC, the short-horizon actor-critic (Xu et al., ICLR 2022): the gradient of the engine itself.

The return of a rollout is a function of the actor's parameters through actions, physics,
observations and rewards, and `jax.grad` goes through this whole chain; the time after the rollout
is the critic's value of its last state. The rollout is that of `mappo.py`, and so are the critic's
targets, statistics and the state of a run. Ends of episodes are jumps that no gradient sees: a term
that grows before them (as nearness does before a contact) has to represent them. The learning rate
falls linearly; of the recipe's keys `clip`, `entropy_cost`, `value_cost`, `target_kl` and
`top_learning_rate` are not used. The paper's delayed copy of the critic is left out: targets are
made once, before the critic's steps.
"""

import jax
import jax.numpy as jnp
import optax
from brax.training.acme import running_statistics as stats

from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train import mappo
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.distribution import distribution
from robomarl.lab.train.networks import Networks
from robomarl.lab.train.optimizer import move, norm
from robomarl.lab.train.recipe_networks import networks_of
from robomarl.lab.train.rollout import collect_rollout, fall, noise_floor
from robomarl.lab.train.stages.curriculum import lesson_metrics, next_level
from robomarl.lab.train.state import Batch, Metrics, Rollout, TrainState, Update
from robomarl.lab.trees import Params

LAST_RATE = 0.1
"""Last learning rate over the first; it falls linearly with the steps."""

init_params, init_state = mappo.init_params, mappo.init_state


def make_update(config: TrainConfig, env: AgentsEnv) -> Update:
    """One rollout, one step of the actor along its gradient, and the critic's steps, state -> (state, metrics)."""
    networks = networks_of(config, env)
    gamma, _ = config.gamma_lambda(env.scenario.period_s)

    def play(actor: Params, state: TrainState) -> tuple[jax.Array, tuple[TrainState, Rollout]]:
        own = state._replace(params=state.params | {"actor": actor})
        after, rollout = collect_rollout(config, env, networks, own)
        loss = horizon_loss(networks, state, rollout, gamma)
        return loss + calm_loss(config, networks, own, rollout), (after, rollout)

    def update(state: TrainState) -> tuple[TrainState, Metrics]:
        (loss, (after, rollout)), slope = jax.value_and_grad(play, has_aux=True)(state.params["actor"], state)
        state = mappo.update_statistics(after._replace(params=state.params), rollout)
        state = move_actor(config, state, slope)
        batch, state, metrics = mappo.prepare_batch(config, networks, state, rollout, env.scenario.period_s)
        state, errors = jax.lax.scan(
            lambda s, _: fit_critic(config, networks, s, batch), state, None, length=config.epochs
        )
        state = mappo.update_observed(config, state, rollout)
        metrics |= {**mappo.episode_metrics(rollout), **lesson_metrics(config, state.level)}
        metrics |= {"loss/policy": loss, "loss/value": errors.mean(), "gradient_norm": optax.global_norm(slope)}
        metrics |= {"learning_rate": state.learning_rate, "noise_floor": noise_floor(config, state.steps)}
        metrics |= {"parameter_norm": norm(state.params)}
        return state._replace(level=next_level(config, state, metrics)), metrics

    return update


def horizon_loss(networks: Networks, state: TrainState, rollout: Rollout, gamma: float) -> jax.Array:
    """Minus the mean return of a rollout and of the value of its end, for one decision (Xu et al., equation 5).

    Episodes that end within it have no value after them, as everywhere here, and those that begin count anew.
    """

    def add(weight: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        reward, done = row
        return jnp.where(done > 0, 1.0, weight * gamma), weight[:, None] * reward

    weight, rewards = jax.lax.scan(add, jnp.ones(rollout.done.shape[1]), (rollout.reward, rollout.done))
    seen = mappo.normalize(rollout.seen[-1], state.critic_stats)
    value = stats.denormalize(networks.value(state.params["critic"], seen), state.value_stats)
    return -(rewards.sum(0) + weight[:, None] * value).mean() / len(rewards)


def calm_loss(config: TrainConfig, networks: Networks, state: TrainState, rollout: Rollout) -> jax.Array | float:
    """Return the cost of changes of the mean command; see `robomarl.lab.train.mappo.change_loss`."""
    if not config.change_cost:
        return 0.0
    obs = jnp.swapaxes(networks.normalize(rollout.obs, state.obs_stats), 0, 1)
    output = mappo.unroll(networks, state.params["actor"], rollout.carry, obs, rollout.done.T)
    dist = distribution(output, config.noise, noise_floor(config, state.steps))
    return config.change_cost * mappo.change_loss(dist, rollout.done.T)


def move_actor(config: TrainConfig, state: TrainState, slope: Params) -> TrainState:
    """Take one step of the actor and set the present learning rate; the actor waits while the critic learns alone."""
    rate = jnp.asarray(fall(config, state.steps, config.learning_rate, LAST_RATE * config.learning_rate))
    after = move(config, state.params["actor"], slope, state.optimizer["actor"], rate)
    moves, before = mappo.actor_moves(config, state), (state.params["actor"], state.optimizer["actor"])
    params, moments = jax.tree.map(lambda new, old: jnp.where(moves, new, old), after, before)
    return state._replace(
        params=state.params | {"actor": params}, optimizer=state.optimizer | {"actor": moments}, learning_rate=rate
    )


def fit_critic(
    config: TrainConfig, networks: Networks, state: TrainState, batch: Batch
) -> tuple[TrainState, jax.Array]:
    """One pass of the critic over the rollout: the error against TD(lambda) returns (Xu et al., equations 7 and 8)."""
    key, shuffle = jax.random.split(state.key)
    order = jax.random.permutation(shuffle, config.num_envs).reshape(config.minibatches, -1)

    def error(critic: Params, rows: jax.Array) -> jax.Array:
        return optax.losses.huber_loss(networks.value(critic, batch.seen[rows]) - batch.target[rows], delta=5.0).mean()

    def step(carry: tuple, rows: jax.Array) -> tuple[tuple, jax.Array]:
        loss, slope = jax.value_and_grad(error)(carry[0], rows)
        return move(config, carry[0], slope, carry[1], state.learning_rate), loss

    (critic, moments), losses = jax.lax.scan(step, (state.params["critic"], state.optimizer["critic"]), order)
    after = state._replace(
        params=state.params | {"critic": critic}, optimizer=state.optimizer | {"critic": moments}, key=key
    )
    return after, losses.mean()
