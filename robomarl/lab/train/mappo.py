"""MAPPO (Yu et al., NeurIPS 2022): one shared actor, one central critic, PPO's clipped objective.

Letters in shapes are those of `state.py`. `make_train(config, env)(key)` is a whole run; `make_update` is
one rollout with its gradient steps, which the command line calls in a loop to show progress and to save.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax
from brax.training.acme import running_statistics as stats
from brax.training.acme import specs

from robomarl.lab.sim.agents import MISSED, AgentsEnv
from robomarl.lab.sim.engines.batch_last import to_last
from robomarl.lab.train.config import NoiseConfig, TrainConfig
from robomarl.lab.train.devices.across import ALONE, Devices
from robomarl.lab.train.distribution import Normal, check_noise, distribution, log_prob
from robomarl.lab.train.initial.anchor import stay_loss
from robomarl.lab.train.networks import Carry, Networks
from robomarl.lab.train.optimizer import adapt_learning_rate, init_optimizer, norm, optimizer_step, take_step
from robomarl.lab.train.recipe_networks import networks_of
from robomarl.lab.train.rollout import critic_input, fall, noise_floor, parts_of_update
from robomarl.lab.train.stages.curriculum import lesson_metrics, next_level, reset_at
from robomarl.lab.train.state import Batch, ChoiceRollout, Metrics, PlayAndLearn, Rollout, TrainState, count_in
from robomarl.lab.trees import Params, Parts


def make_train(config: TrainConfig, env: AgentsEnv) -> Callable[[jax.Array], tuple[TrainState, Metrics]]:
    """Return a whole run as one pure function of the key; mapped by `jax.vmap`, it trains many seeds at once."""
    update, count = make_update(config, env), num_updates(config, env)

    def train(key: jax.Array) -> tuple[TrainState, Metrics]:
        return jax.lax.scan(lambda s, _: update(s), init_state(config, env, key), None, length=count)

    return train


def num_updates(config: TrainConfig, env: AgentsEnv) -> int:
    """Updates of the whole run."""
    return max(1, config.last_step // (config.num_envs * config.unroll * env.num_agents))


def make_update(config: TrainConfig, env: AgentsEnv, devices: Devices = ALONE) -> PlayAndLearn:
    """Make the update: one rollout and its gradient steps, state -> (state, metrics), as one device computes it."""
    networks = networks_of(config, env)

    def learn(state: TrainState, rollout: Rollout) -> tuple[TrainState, Metrics]:
        state = update_statistics(state, rollout, devices)
        batch, state, value_metrics = prepare_batch(config, networks, state, rollout, env.decision_s, devices)
        batch = devices.gathered(batch)
        state, loss_metrics = jax.lax.scan(
            lambda s, _: update_epoch(config, networks, s, batch, devices), state, None, length=config.epochs
        )
        state = update_observed(config, state, rollout, devices)
        metrics = {
            **episode_metrics(rollout, devices),
            **value_metrics,
            **{k: v.mean() for k, v in loss_metrics.items()},
        }
        metrics |= {"learning_rate": state.learning_rate, "noise_floor": noise_floor(config, state.steps)}
        metrics |= {"parameter_norm": norm(state.params), **lesson_metrics(config, state.level)}
        state = state._replace(level=next_level(config, state, metrics))
        return state, metrics

    return parts_of_update(config, env, networks, learn, devices=devices)


def init_params(config: TrainConfig, env: AgentsEnv, seen: int, keys: tuple[jax.Array, jax.Array]) -> Parts:
    """Return parameters of the actor and of a critic with input length `seen`, from a key each."""
    networks = networks_of(config, env)
    actor = networks.actor.init(keys[0], networks.init_carry(()), jnp.zeros(env.observation_size))
    return {"actor": actor, "critic": networks.critic.init(keys[1], jnp.zeros(seen))}


def init_state(config: TrainConfig, env: AgentsEnv, key: jax.Array, params_of: Callable = init_params) -> TrainState:
    """The state before the first update. Episodes start at all ages, so that time-outs do not come in waves.

    `params_of` makes the parameters, as `init_params` does.
    """
    check_noise(config.noise, env.action)
    key, k_actor, k_critic, k_env, k_age = jax.random.split(key, 5)
    level = jnp.zeros(len(config.curriculum))
    first = jax.vmap(reset_at(config, env, level))(jax.random.split(k_env, config.num_envs))
    age = jax.random.randint(k_age, (config.num_envs,), 0, env.scenario.max_steps)
    sim = first.pipeline_state
    first = first.replace(pipeline_state=sim._replace(world=sim.world._replace(step=age)))  # type: ignore[union-attr]
    networks, first = networks_of(config, env), to_last(first)
    seen = critic_input(config, env, first)
    params = params_of(config, env, seen.shape[-1], (k_actor, k_critic))
    return TrainState(
        params=params,
        optimizer=init_optimizer(params),
        learning_rate=jnp.asarray(config.learning_rate),
        obs_stats=stats.init_state(specs.Array((env.observation_size,), jnp.dtype("float32"))),
        obs_range=untouched_range(env.observation_size),
        critic_stats=stats.init_state(specs.Array((seen.shape[-1],), jnp.dtype("float32"))),
        value_stats=stats.init_state(specs.Array((), jnp.dtype("float32"))),
        env=first,
        carry=networks.init_carry((config.num_envs, env.num_agents)),
        key=key,
        steps=jnp.zeros((), jnp.float32),
        level=level,
        goes_on=jnp.zeros((), bool),
    )


def untouched_range(size: int) -> tuple[jax.Array, jax.Array]:
    """Lowest and highest value of each element before any was seen; typed, or the second update compiles anew."""
    return jnp.full(size, jnp.inf, jnp.float32), jnp.full(size, -jnp.inf, jnp.float32)


def unroll(networks: Networks, params: Params, carry: Carry, obs: jax.Array, done: jax.Array) -> jax.Array:
    """Actor outputs [B, T, N, 2 A] along a rollout: obs [B, T, N, O] normalized, done [B, T], and the recurrent state
    before it [B, N, ...], which is forgotten where episodes ended."""
    if not carry:
        return networks.act(params, (), obs)[1]
    output = networks.unroll(params, carry, jnp.swapaxes(obs, 0, 1), done.T)
    return jnp.swapaxes(output, 0, 1)


def normalize(x: jax.Array, statistics: stats.RunningStatisticsState) -> jax.Array:
    """Zero mean and unit variance, within 10 standard deviations."""
    return stats.normalize(x, statistics, max_abs_value=10.0)


def actor_moves(config: TrainConfig, state: TrainState) -> jax.Array:
    """[] bool: the actor learns now, and not the critic alone."""
    return state.steps > config.critic_first


def update_statistics(state: TrainState, rollout: Rollout, devices: Devices = ALONE) -> TrainState:
    """Update the range of the actor's input, and the running statistics of the critic's input, by this rollout."""
    low, high = state.obs_range
    return state._replace(
        obs_range=(
            jnp.minimum(low, devices.least(rollout.obs.min((0, 1, 2)))),
            jnp.maximum(high, devices.greatest(rollout.obs.max((0, 1, 2)))),
        ),
        critic_stats=count_in(state.critic_stats, rollout.seen[:-1], devices),
    )


def update_observed(
    config: TrainConfig, state: TrainState, rollout: Rollout | ChoiceRollout, devices: Devices = ALONE
) -> TrainState:
    """Update the running statistics of the actor's input, after the gradient steps: those are on the
    policy that played.

    They are part of the policy. They stay fixed while the actor waits, and in a run that goes on from a
    policy: there the observations have another distribution, and new scales would change the policy's
    gains without a gradient.
    """
    follows = actor_moves(config, state) & ~state.goes_on
    seen = count_in(state.obs_stats, rollout.obs, devices)
    return state._replace(obs_stats=jax.tree.map(lambda new, old: jnp.where(follows, new, old), seen, state.obs_stats))


def compute_gae(
    reward: jax.Array, value: jax.Array, done: jax.Array, discount: float, lam: float, cut: jax.Array | float = 0.0
) -> jax.Array:
    """Return generalized advantage estimates (Schulman et al., 2016, equation 16).

    Args:
        reward: [T, ...].
        value: [T+1, ...]; the last row is the value of the state at the rollout's end.
        done: [T, ...] 1 where the episode ended with this reward. Time-outs count as ends: the critic
            sees the time that is left, so that its values are those of the finite episode.
        discount: gamma.
        lam: lambda.
        cut: [T, ...] 1 where only the observation of the episode stopped: then the future is worth the
            value of one decision before (Pardo et al., ICML 2018).

    Returns:
        [T, ...] advantages.
    """
    delta = reward + discount * ((1 - done) * value[1:] + cut * value[:-1]) - value[:-1]

    def backwards(carry: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        error, keep = row
        carry = error + discount * lam * keep * carry
        return carry, carry

    return jax.lax.scan(backwards, jnp.zeros_like(delta[0]), (delta, 1 - done), reverse=True)[1]


def prepare_batch(
    config: TrainConfig,
    networks: Networks,
    state: TrainState,
    rollout: Rollout,
    period_s: float,
    devices: Devices = ALONE,
) -> tuple[Batch, TrainState, Metrics]:
    """Advantages and returns of a rollout, environments first so that a minibatch is whole rows."""
    output = networks.value(state.params["critic"], normalize(rollout.seen, state.critic_stats))
    value = stats.denormalize(output, state.value_stats)
    cut = rollout.cut[..., None] if config.self_play.goes_on else 0.0
    done = jnp.broadcast_to(rollout.done[..., None], rollout.reward.shape)
    advantage = compute_gae(rollout.reward, value, done, *config.gamma_lambda(period_s), cut)
    target = advantage + value[:-1]
    state = state._replace(value_stats=count_in(state.value_stats, target, devices))
    unexplained = devices.variance(target - value[:-1]) / (devices.variance(target) + 1e-8)
    mean, deviation = devices.mean(advantage.mean()), jnp.sqrt(devices.variance(advantage))

    def rows(x: jax.Array) -> jax.Array:
        return jnp.swapaxes(x, 0, 1)

    batch = Batch(
        carry=rollout.carry,
        done=rows(rollout.done),
        obs=rows(networks.normalize(rollout.obs, state.obs_stats)),
        seen=rows(normalize(rollout.seen[:-1], state.critic_stats)),
        raw_action=rows(rollout.raw_action),
        log_prob=rows(rollout.log_prob),
        advantage=rows((advantage - mean) / (deviation + 1e-8)),
        target=rows(stats.normalize(target, state.value_stats)),
    )
    if state.anchor:
        batch = batch._replace(begun=unroll(networks, state.anchor, batch.carry, batch.obs, batch.done))
    return batch, state, {"explained_variance": 1 - unexplained}


def mappo_loss(
    params: dict, config: TrainConfig, networks: Networks, batch: Batch, floor: jax.Array
) -> tuple[jax.Array, Metrics]:
    """PPO's clipped objective with a value loss and an entropy bonus, on any leading axes of samples.

    Schulman et al., 2017, equations 7 and 9; the KL divergence is the low-variance estimate of Schulman (2020).
    """
    dist = distribution(unroll(networks, params["actor"], batch.carry, batch.obs, batch.done), config.noise, floor)
    log_ratio = log_prob(dist, batch.raw_action) - batch.log_prob
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1 - config.clip, 1 + config.clip)
    policy = -jnp.minimum(ratio * batch.advantage, clipped * batch.advantage).mean()
    if not isinstance(batch.wanted, tuple):
        taught = batch.taught.mean()
        policy = (1 - taught) * policy + taught * imitation_loss(dist, batch.wanted, config.noise)
    error = networks.value(params["critic"], batch.seen) - batch.target
    value = optax.losses.huber_loss(error, delta=5.0).mean()
    entropy = dist.entropy().sum(-1).mean()
    total = policy + config.value_cost * value - config.entropy_cost * entropy
    terms = {"policy": policy, "value": value, "entropy": entropy, "kl": (ratio - 1 - log_ratio).mean()}
    if config.change_cost:
        terms["change"] = change_loss(dist, batch.done, config.sequence.outputs)
        total += config.change_cost * terms["change"]
    if config.stay_cost:
        terms["stay"] = stay_loss(dist, distribution(batch.begun, config.noise, floor))
        total += config.stay_cost * terms["stay"]
    return total, {f"loss/{name}": term for name, term in terms.items()}


def change_loss(dist: Normal, done: jax.Array, outputs: int = 1) -> jax.Array:
    """Squared change of the squashed mean from one action of a robot to its next, summed over the command.

    The temporal term of CAPS (Mysore et al., ICRA 2021, equation 3): the noise that explores is not in it, other than
    in a reward for smooth commands, which would teach to explore less. `done` [B, T] cuts episodes apart; of the
    `outputs` actions that a decision says, none is cut from the next.
    """
    mean = jnp.tanh(dist.loc)
    rows = mean.reshape(*mean.shape[:-1], outputs, -1)
    between = ((rows[:, 1:, ..., 0, :] - rows[:, :-1, ..., -1, :]) ** 2).sum(-1)
    change = (between * (1 - done[:, :-1, None])).mean()
    within = ((rows[..., 1:, :] - rows[..., :-1, :]) ** 2).sum((-2, -1)).mean()
    return (change + within) / outputs


def imitation_loss(dist: Normal, wanted: jax.Array, noise: NoiseConfig) -> jax.Array:
    """Squared error of the squashed mean; the deviation stays where training starts it."""
    start = noise.start_std * jnp.asarray(noise.scale or 1.0)
    return 4 * ((jnp.tanh(dist.loc) - wanted) ** 2).mean() + 1e-2 * (jnp.log(dist.scale / start) ** 2).mean()


def update_epoch(
    config: TrainConfig, networks: Networks, state: TrainState, batch: Batch, devices: Devices = ALONE
) -> tuple[TrainState, Metrics]:
    """One pass over the batch in shuffled minibatches, of each of which a device has an equal part; then the learning
    rate follows the KL divergence."""
    key, shuffle = jax.random.split(state.key)
    order = jax.random.permutation(shuffle, config.num_envs).reshape(config.minibatches, -1)
    order = devices.own(order, 1)
    floor, moves = noise_floor(config, state.steps), actor_moves(config, state)
    gradient = jax.grad(mappo_loss, has_aux=True)

    def step(carry: tuple, rows: jax.Array) -> tuple[tuple, Metrics]:
        params, moments = carry
        local = gradient(params, config, networks, jax.tree.map(lambda x: x[rows], batch), floor)
        grads, metrics = devices.mean(local)
        updates, moments = optimizer_step(config, grads, moments, moves)
        return (take_step(config, params, updates, state.learning_rate), moments), metrics

    (params, moments), metrics = jax.lax.scan(step, (state.params, state.optimizer), order)
    target = fall(config, state.steps, config.target_kl, config.final_target_kl)
    rate = adapt_learning_rate(state.learning_rate, metrics["loss/kl"].mean(), target, config.fastest)
    rate = jnp.where(moves, rate, state.learning_rate)
    return state._replace(params=params, optimizer=moments, learning_rate=rate, key=key), metrics


def episode_metrics(rollout: Rollout | ChoiceRollout, devices: Devices = ALONE) -> Metrics:
    """Means over the rollout: per second for rewards, per ended episode for success and contact."""
    episodes = devices.sum(rollout.done.sum())
    ended = jnp.maximum(episodes, 1.0)
    sums = devices.sum(jnp.stack(list(rollout.metrics.values())).sum((1, 2)))  # a loop each would have to be compiled
    total = dict(zip(rollout.metrics, sums, strict=True))
    return {
        "reward": devices.mean(rollout.reward.mean()),
        "success": total["success"] / ended,
        "contact": total["contact"] / ended,
        "episodes": episodes,
        **{
            name: total[name] / (rollout.done.size * devices.count)
            for name in total
            if name.startswith("reward/") or name == MISSED
        },
    }
