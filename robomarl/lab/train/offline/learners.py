"""Three ways to learn a policy from transitions alone: cloning, TD3+BC, and IQL with
advantage-weighted regression.

All robots share the actor, and each is a learner of its own: critics see the observation of one
robot. The deployed action is the mean, so the actor's deviation stays where online training starts
it.

    bc      squared error of the action
    td3_bc  Fujimoto and Gu, NeurIPS 2021: -lambda Q(s, pi(s)) + (pi(s) - a)^2, lambda = alpha / mean |Q|
    iql     Kostrikov, Nair and Levine, ICLR 2022: V by expectile regression; the actor by weighted squared
            error, which is advantage-weighted regression (Peng et al., 2019) of a Gaussian of fixed deviation
"""

from collections.abc import Callable
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from brax.training.acme.running_statistics import RunningStatisticsState

from robomarl.core.types import Array
from robomarl.lab.train.config import OfflineConfig
from robomarl.lab.train.layers import MLP
from robomarl.lab.train.networks import Networks
from robomarl.lab.train.offline.transitions import Transitions
from robomarl.lab.trees import Moments, Params

DELAY = 2
"""td3_bc: number of critic steps for each step of the actor."""
SMOOTH, MOST = 0.2, 0.5
"""td3_bc: deviation of the noise on the actor's next action, and largest such noise, in half ranges."""
HEAVIEST = 100.0
"""iql: largest weight of an action."""
STILL = 1e-3
"""Cost of the actor's deviation, which nothing else holds."""


class Critics(NamedTuple):
    """Parameters of the critics; cloning does not train them."""

    q: Params
    """Parameters of two action values."""
    slow: Params
    """Slow copy of `q`."""
    v: Params
    """Parameters of the state's value; iql only."""


class Learned(NamedTuple):
    """All that changes from step to step."""

    actor: Params
    critics: Critics
    moments: Moments
    """Adam's, of (actor, critics)."""


class Tools(NamedTuple):
    """Constants of all steps."""

    networks: Networks
    obs_stats: RunningStatisticsState
    config: OfflineConfig
    gamma: float
    optimizer: optax.GradientTransformation
    hidden: tuple[int, ...]
    """Hidden widths of the critics."""


Step = Callable[[Tools, Learned, Transitions, jax.Array, jax.Array], tuple[Learned, jax.Array]]
"""(tools, state, batch, number of the step, key) -> (state, losses [2] of actor and critic)."""


class TwoValues(nn.Module):
    """Two action values, of which the lower is believed (van Hasselt, 2010; Fujimoto et al., 2018)."""

    hidden: tuple[int, ...]

    @nn.compact
    def __call__(self, obs: jax.Array, action: jax.Array) -> jax.Array:
        """(normalized obs [S, O], action [S, A] in [-1, 1]) -> [S, 2]."""
        both = jnp.concatenate([obs, action], -1)
        return jnp.concatenate([MLP((*self.hidden, 1), "relu", 1.0)(both) for _ in range(2)], -1)


def q_of(tools: Tools, params: Params, obs: Array, action: Array) -> jax.Array:
    """[S, 2] action values."""
    return TwoValues(tools.hidden).apply(params, obs, action)  # type: ignore[return-value]


def v_of(tools: Tools, params: Params, obs: Array) -> jax.Array:
    """Return the values [S] of the observations."""
    return MLP((*tools.hidden, 1), "relu", 1.0).apply(params, obs)[:, 0]  # type: ignore[index,return-value]


def first(tools: Tools, actor: Params, batch: Transitions, key: jax.Array) -> Learned:
    """The state before the first step, for inputs shaped as the batch's."""
    k_q, k_v = jax.random.split(key)
    q = TwoValues(tools.hidden).init(k_q, batch.obs[:1], batch.action[:1])
    v = MLP((*tools.hidden, 1), "relu", 1.0).init(k_v, batch.obs[:1])
    critics = Critics(q, q, v)
    return Learned(actor, critics, (tools.optimizer.init(actor), tools.optimizer.init((q, v))))


def acts(tools: Tools, actor: Params, seen: Array) -> tuple[jax.Array, jax.Array]:
    """(action without noise [S, A] in [-1, 1], cost of the deviation []) of normalized observations [S, O]."""
    _, output = tools.networks.act(actor, tools.networks.init_carry(seen.shape[:1]), seen)
    mean, deviation = jnp.split(output, 2, axis=-1)
    return jnp.tanh(mean), STILL * (deviation**2).mean()


def clone(
    tools: Tools, state: Learned, batch: Transitions, step: jax.Array, key: jax.Array
) -> tuple[Learned, jax.Array]:
    """One step of behaviour cloning."""
    return _improve(tools, state, batch.obs, lambda action: ((action - batch.action) ** 2).mean(), jnp.zeros(()))


def td3_bc(
    tools: Tools, state: Learned, batch: Transitions, step: jax.Array, key: jax.Array
) -> tuple[Learned, jax.Array]:
    """One step of TD3+BC."""
    blur = jnp.clip(SMOOTH * jax.random.normal(key, batch.action.shape), -MOST, MOST)
    following = jnp.clip(acts(tools, state.actor, batch.after)[0] + blur, -1, 1)
    target = _target(tools, batch, q_of(tools, state.critics.slow, batch.after, following).min(-1))

    def error(parts: Params) -> jax.Array:
        return ((q_of(tools, parts[0], batch.obs, batch.action) - target[:, None]) ** 2).mean()

    state, lost = _value_step(tools, state, error)

    def wanted(action: jax.Array) -> jax.Array:
        worth = q_of(tools, state.critics.q, batch.obs, action)[:, 0]
        scale = tools.config.alpha / (jnp.abs(jax.lax.stop_gradient(worth)).mean() + 1e-6)
        return -scale * worth.mean() + ((action - batch.action) ** 2).mean()

    better, losses = _improve(tools, state, batch.obs, wanted, lost)
    return jax.tree.map(lambda new, old: jnp.where(step % DELAY == 0, new, old), better, state), losses


def iql(tools: Tools, state: Learned, batch: Transitions, step: jax.Array, key: jax.Array) -> tuple[Learned, jax.Array]:
    """One step of IQL with advantage-weighted regression."""
    believed = q_of(tools, state.critics.slow, batch.obs, batch.action).min(-1)
    target = _target(tools, batch, v_of(tools, state.critics.v, batch.after))

    def error(parts: Params) -> jax.Array:
        q, values = parts
        above = believed - v_of(tools, values, batch.obs)
        asymmetric = jnp.where(above > 0, tools.config.expectile, 1 - tools.config.expectile)
        missed = (q_of(tools, q, batch.obs, batch.action) - target[:, None]) ** 2
        return missed.mean() + (asymmetric * above**2).mean()

    state, lost = _value_step(tools, state, error)
    advantage = believed - v_of(tools, state.critics.v, batch.obs)
    weight = jnp.minimum(jnp.exp(tools.config.temperature * advantage), HEAVIEST)

    def wanted(action: jax.Array) -> jax.Array:
        return (weight * ((action - batch.action) ** 2).mean(-1)).mean()

    return _improve(tools, state, batch.obs, wanted, lost)


STEPS: dict[str, Step] = {"bc": clone, "td3_bc": td3_bc, "iql": iql}
"""Gradient steps by the name of the algorithm in recipes."""


def _target(tools: Tools, batch: Transitions, next_value: Array) -> jax.Array:
    return jax.lax.stop_gradient(batch.reward + tools.gamma * (1 - batch.ended) * next_value)


def _value_step(tools: Tools, state: Learned, error: Callable[[Params], jax.Array]) -> tuple[Learned, jax.Array]:
    """A gradient step of the critics, and their slow copy a little nearer."""
    own = (state.critics.q, state.critics.v)
    lost, gradient = jax.value_and_grad(error)(own)
    moves, moments = tools.optimizer.update(gradient, state.moments[1], own)
    q, v = optax.apply_updates(own, moves)  # type: ignore[misc]
    slow = optax.incremental_update(q, state.critics.slow, tools.config.target_rate)
    return state._replace(critics=Critics(q, slow, v), moments=(state.moments[0], moments)), lost


def _improve(
    tools: Tools, state: Learned, seen: Array, wanted: Callable[[jax.Array], jax.Array], lost: jax.Array
) -> tuple[Learned, jax.Array]:
    """A gradient step of the actor."""

    def loss(actor: Params) -> tuple[jax.Array, jax.Array]:
        action, still = acts(tools, actor, seen)
        error = wanted(action)
        return error + still, error

    (_, error), gradient = jax.value_and_grad(loss, has_aux=True)(state.actor)
    moves, moments = tools.optimizer.update(gradient, state.moments[0], state.actor)
    actor = optax.apply_updates(state.actor, moves)
    return state._replace(actor=actor, moments=(moments, state.moments[1])), jnp.stack([error, lost])
