"""REPPO, relative entropy pathwise policy optimization (Voelcker et al., ICLR 2026, arXiv 2507.11019).

The critic values a robot's action, Q(s, a), from the rollout alone, and the actor goes up the slope
of Q at actions of its own, through the squash. Two multipliers are learned: the temperature keeps
the entropy near a target, and if the policy of a robot has moved farther than a bound from the one
that played, only the way back counts. The rollout is that of `mappo.py`, and so are the statistics
and the state of a run. The learning rate falls linearly; of the recipe's keys `clip`,
`entropy_cost`, `value_cost`, `target_kl` and `top_learning_rate` are not used.

Other than in the paper, entropy counts from its target on, as the bound's Lagrangian has it:
otherwise a policy of little noise would pay for every decision, which is a reason to end the
episode. Histograms are of normalized returns, so that no range has to be known for a task; KL
divergences are closed forms; and the critic's second loss, which predicts the robot's next
observation, is left out.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from brax.training.acme import running_statistics as stats

from robomarl.core.types import Array
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.engines.batch_last import to_first
from robomarl.lab.train import mappo
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.distribution import distribution, divergence, log_prob
from robomarl.lab.train.optimizer import move, norm
from robomarl.lab.train.reppo.critic import QNetworks, q_networks
from robomarl.lab.train.reppo.histogram import cross_entropy, encode
from robomarl.lab.train.reppo.targets import soft_returns
from robomarl.lab.train.rollout import fall, noise_floor, parts_of_update
from robomarl.lab.train.stages.curriculum import lesson_metrics, next_level
from robomarl.lab.train.state import Metrics, Rollout, TrainState, Update, count_in
from robomarl.lab.trees import Params, Parts

LAST_RATE = 0.1
"""Last learning rate over the first; it falls linearly with the steps."""


class Played(NamedTuple):
    """For gradient steps, environments first."""

    carry: tuple[jax.Array, ...]
    """[B, N, ...] the actor's recurrent state where the rollout began."""
    done: jax.Array
    """[B, T]"""
    obs: jax.Array
    """[B, T, N, O] normalized"""
    seen: jax.Array
    """[B, T, N, P] normalized"""
    action: jax.Array
    """[B, T, N, A] action taken, in [-1, 1]"""
    played: jax.Array
    """[B, T, N, 2 A] output of the actor that played"""
    target: jax.Array
    """[B, T, N, bins] normalized return, encoded"""


class Weighing(NamedTuple):
    """Constants of the actor's loss."""

    critic: Params
    """Parameters."""
    temperature: jax.Array
    """[] of a nat of entropy, in standard deviations of the returns."""
    multiplier: jax.Array
    """[] of a nat of KL divergence."""
    floor: jax.Array
    """[] least deviation of the policy."""


def init_params(config: TrainConfig, env: AgentsEnv, seen: int, keys: tuple[jax.Array, jax.Array]) -> Parts:
    """Parameters of actor and critic from a key each, and logarithms of the two multipliers."""
    networks, reppo = q_networks(config, env), config.reppo
    actor = networks.actor.init(keys[0], networks.init_carry(()), jnp.zeros(env.observation_size))
    critic = networks.critic.init(keys[1], jnp.zeros(seen), jnp.zeros(env.action_size))
    first = {"temperature": reppo.first_temperature, "multiplier": reppo.first_multiplier}
    return {"actor": actor, "critic": critic, "duals": {k: jnp.log(jnp.float32(v)) for k, v in first.items()}}


def init_state(config: TrainConfig, env: AgentsEnv, key: jax.Array) -> TrainState:
    """The state before the first update; see `robomarl.lab.train.mappo.init_state`."""
    return mappo.init_state(config, env, key, init_params)


def make_update(config: TrainConfig, env: AgentsEnv) -> Update:
    """One rollout and the gradient steps on it, state -> (state, metrics)."""
    networks = q_networks(config, env)
    rates = config.gamma_lambda(env.decision_s)

    def learn(state: TrainState, rollout: Rollout) -> tuple[TrainState, Metrics]:
        state = mappo.update_statistics(state, rollout)
        samples, state, metrics = prepare(config, networks, state, rollout, rates)
        state, losses = jax.lax.scan(
            lambda s, _: update_epoch(config, networks, s, samples), state, None, length=config.epochs
        )
        state = mappo.update_observed(config, state, rollout)
        metrics |= {**mappo.episode_metrics(rollout), **lesson_metrics(config, state.level)}
        metrics |= {name: loss.mean() for name, loss in losses.items()}
        metrics |= {name: jnp.exp(value) for name, value in state.params["duals"].items()}
        metrics |= {"learning_rate": state.learning_rate, "noise_floor": noise_floor(config, state.steps)}
        metrics |= {"parameter_norm": norm(state.params)}
        return state._replace(level=next_level(config, state, metrics)), metrics

    return parts_of_update(config, env, networks, learn)


def prepare(
    config: TrainConfig, networks: QNetworks, state: TrainState, rollout: Rollout, rates: tuple[float, float]
) -> tuple[Played, TrainState, Metrics]:
    """Encoded targets of a rollout and the policy that played it, environments first."""
    key, k_last = jax.random.split(state.key)
    seen = mappo.normalize(rollout.seen, state.critic_stats)
    raw, probability = with_last(config, networks, state, rollout, k_last)
    output = networks.action_value(state.params["critic"], seen, jnp.tanh(raw), config.reppo)
    value = stats.denormalize(output, state.value_stats)
    done, cut = (jnp.broadcast_to(x[..., None], rollout.reward.shape) for x in (rollout.done, rollout.cut))
    aim = entropy_aim(config, state.steps, raw.shape[-1])
    bonus = -jnp.exp(state.params["duals"]["temperature"]) * (probability + aim)
    target = soft_returns(rollout.reward, value, bonus, done, rates, cut if config.self_play.goes_on else 0.0)
    state = state._replace(value_stats=count_in(state.value_stats, target), key=key)
    normalized = stats.normalize(target, state.value_stats)

    def rows(x: jax.Array) -> jax.Array:
        return jnp.swapaxes(x, 0, 1)

    obs, ended = rows(networks.normalize(rollout.obs, state.obs_stats)), rows(rollout.done)
    played = mappo.unroll(networks, state.params["actor"], rollout.carry, obs, ended)
    shares = encode(rows(normalized), config.reppo.support, config.reppo.bins)
    samples = Played(rollout.carry, ended, obs, rows(seen[:-1]), rows(jnp.tanh(raw[:-1])), played, shares)
    unexplained = jnp.var(target - value[:-1]) / (jnp.var(target) + 1e-8)
    outside = (jnp.abs(normalized) > config.reppo.support).mean()
    return samples, state, {"explained_variance": 1 - unexplained, "outside_support": outside}


def entropy_aim(config: TrainConfig, steps: jax.Array, size: int) -> jax.Array:
    """Return the entropy [] of a command of `size` components at which the temperature aims now, in nats."""
    return size * fall(config, steps, config.reppo.entropy, config.reppo.final_entropy)


def with_last(
    config: TrainConfig, networks: QNetworks, state: TrainState, rollout: Rollout, key: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Actions before the squash [T+1, B, N, A] and their log probabilities [T+1, B, N]: those of the rollout, and one
    where it ended, by the policy that played."""
    here: Array = to_first(state.env.obs)
    output = networks.act(state.params["actor"], state.carry, networks.normalize(here, state.obs_stats))[1]
    dist = distribution(output, config.noise, noise_floor(config, state.steps))
    last = dist.sample(key)
    pairs = ((rollout.raw_action, last), (rollout.log_prob, log_prob(dist, last)))
    raw, probability = (jnp.concatenate([x, y[None]]) for x, y in pairs)
    return raw, probability


def update_epoch(
    config: TrainConfig, networks: QNetworks, state: TrainState, samples: Played
) -> tuple[TrainState, Metrics]:
    """One pass over the samples in shuffled minibatches: a step of critic, actor and multipliers on each."""
    key, shuffle, k_noise = jax.random.split(state.key, 3)
    order = jax.random.permutation(shuffle, config.num_envs).reshape(config.minibatches, -1)
    rate = fall(config, state.steps, config.learning_rate, LAST_RATE * config.learning_rate)
    state = state._replace(learning_rate=jnp.asarray(rate), key=key)

    def step(state: TrainState, row: tuple[jax.Array, jax.Array]) -> tuple[TrainState, Metrics]:
        batch = jax.tree.map(lambda x: x[row[0]], samples)
        noise = jax.random.normal(row[1], batch.action.shape)
        state, error = move_critic(config, networks, state, batch)
        state, terms = move_actor(config, networks, state, batch, noise)
        return state, terms | {"loss/value": error}

    return jax.lax.scan(step, state, (order, jax.random.split(k_noise, config.minibatches)))


def move_critic(
    config: TrainConfig, networks: QNetworks, state: TrainState, batch: Played
) -> tuple[TrainState, jax.Array]:
    """One step of the critic: the cross-entropy of its histograms to the encoded targets."""

    def error(critic: Params) -> jax.Array:
        return cross_entropy(networks.logits(critic, batch.seen, batch.action), batch.target).mean()

    loss, slope = jax.value_and_grad(error)(state.params["critic"])
    return moved(config, state, "critic", slope, state.learning_rate), loss


def move_actor(
    config: TrainConfig, networks: QNetworks, state: TrainState, batch: Played, noise: jax.Array
) -> tuple[TrainState, Metrics]:
    """One step of the actor and of the two multipliers; all three wait while the critic learns alone."""
    duals = jax.tree.map(jnp.exp, state.params["duals"])
    scale = jnp.asarray(state.value_stats.std)
    weighing = Weighing(
        state.params["critic"], duals["temperature"] / scale, duals["multiplier"], noise_floor(config, state.steps)
    )
    slope, terms = jax.grad(actor_loss, has_aux=True)(state.params["actor"], config, networks, batch, noise, weighing)
    after = moved(config, state, "actor", slope, state.learning_rate)
    aim = entropy_aim(config, state.steps, noise.shape[-1])
    errors = (terms["loss/entropy"] - aim, config.reppo.kl_bound - terms["loss/kl"])
    slopes = {"temperature": duals["temperature"] * errors[0], "multiplier": duals["multiplier"] * errors[1]}
    after = moved(config, after, "duals", slopes, config.reppo.dual_rate)
    moves = mappo.actor_moves(config, state)
    return jax.tree.map(lambda new, old: jnp.where(moves, new, old), after, state), terms


def actor_loss(
    actor: Params, config: TrainConfig, networks: QNetworks, batch: Played, noise: jax.Array, weighing: Weighing
) -> tuple[jax.Array, Metrics]:
    """Return minus value and entropy of the policy's own actions if it is near the one that played, else
    the way back (Voelcker et al., ICLR 2026, section 4).

    The value is differentiated through the action, tanh(mean + deviation x noise): if the action is
    nearly 1, little of the slope is left, and the entropy, which has the squash in it, pulls back. KL
    divergences are those of the Gaussians before the squash, which does not change them.

    Args:
        actor: parameters.
        config: the recipe.
        networks: the run's.
        batch: samples.
        noise: [B, T, N, A] standard normal.
        weighing: constants of the loss.
    """
    said = mappo.unroll(networks, actor, batch.carry, batch.obs, batch.done)
    dist, played = (distribution(x, config.noise, weighing.floor) for x in (said, batch.played))
    raw = dist.loc + dist.scale * noise
    value = networks.action_value(weighing.critic, batch.seen, jnp.tanh(raw), config.reppo)
    probability = log_prob(dist, raw)
    kl = divergence(played, dist)
    near = kl <= config.reppo.kl_bound
    loss = jnp.where(near, weighing.temperature * probability - value, weighing.multiplier * kl).mean()
    terms = {"policy": loss, "entropy": -probability.mean(), "kl": kl.mean(), "over_bound": (~near).mean()}
    if config.change_cost:
        terms["change"] = mappo.change_loss(dist, batch.done)
        loss += config.change_cost * terms["change"]
    return loss, {f"loss/{name}": term for name, term in terms.items()}


def moved(config: TrainConfig, state: TrainState, part: str, slope: Params, rate: jax.Array | float) -> TrainState:
    """The state after a step of Adam of one part."""
    params, moments = move(config, state.params[part], slope, state.optimizer[part], rate)
    return state._replace(params=state.params | {part: params}, optimizer=state.optimizer | {part: moments})
