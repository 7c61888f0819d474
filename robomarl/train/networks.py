"""Actor and critic.

Every actor is (carry, obs [..., O]) -> (carry, output [..., 2 A]): the carry is the recurrent state, a tuple that
is empty for feed-forward networks, and passes explicitly from the rollout to the ONNX graph.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from brax.training.acme import running_statistics

from robomarl.config import UserError
from robomarl.features import FEATURES
from robomarl.sim.agents import AgentsEnv
from robomarl.sim.law import FirstLaw
from robomarl.spec import ActionSpec, ObservationSpec
from robomarl.train.config import NetworkConfig, TrainConfig
from robomarl.train.distribution import squash

ACTIVATIONS: dict[str, Callable] = {"tanh": nn.tanh, "elu": nn.elu, "relu": nn.relu}
Carry = tuple[jax.Array, ...]
CHUNK = 128
"""Rows that one block of a kernel's gradient sums over."""


@jax.custom_vjp
def product(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """[..., I] times [I, O]. Its gradient is written for a CPU, where it was most of the time of a gradient step.

    The gradient of the kernel is a sum over all rows of a minibatch; as one matrix product XLA ran it at a
    fifth of the speed of the forward pass, in blocks of `CHUNK` rows, which stay in the cache, nearly twice as fast.
    """
    return x @ kernel


def _product_forward(x: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return x @ kernel, (x, kernel)


def _product_backward(kept: tuple[jax.Array, jax.Array], error: jax.Array) -> tuple[jax.Array, jax.Array]:
    x, kernel = kept
    rows, errors = x.reshape(-1, x.shape[-1]), error.reshape(-1, error.shape[-1])
    chunk = CHUNK if rows.shape[0] % CHUNK == 0 and jax.default_backend() == "cpu" else rows.shape[0]
    blocks = (a.reshape(-1, chunk, a.shape[-1]) for a in (rows, errors))
    return error @ kernel.T, jnp.einsum("cmi,cmo->cio", *blocks).sum(0)


product.defvjp(_product_forward, _product_backward)


def dense(size: int, scale: float = 1.4) -> nn.Dense:
    """A dense layer with an orthogonal kernel."""
    kernel_init = nn.initializers.orthogonal(scale)
    return nn.Dense(size, kernel_init=kernel_init, dot_general=lambda x, kernel, *_, **__: product(x, kernel))


class MLP(nn.Module):
    """Dense layers; the last one has no activation and a kernel of its own scale."""

    sizes: tuple[int, ...]
    """Hidden widths and, last, the output's."""
    activation: str
    last_scale: float = 1.4

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """[..., in] -> [..., sizes[-1]]."""
        for size in self.sizes[:-1]:
            x = ACTIVATIONS[self.activation](dense(size)(x))
        return dense(self.sizes[-1], self.last_scale)(x)


class EntityAttention(nn.Module):
    """Attention of the robot over the entities that it sees; their order does not matter.

    Additive attention (Bahdanau et al., 2015): each entity is scored together with everything that is not an
    entity. A row without an entity is a constant, which the score learns to ignore.
    """

    slices: tuple[tuple[int, int, int], ...]
    """(start, count, width) of each set of entities in the observation."""
    width: int
    activation: str

    @nn.compact
    def __call__(self, obs: jax.Array) -> jax.Array:
        """[..., O] -> [..., features]: what is not an entity, and one summary for each set."""
        cuts = [0, *(i for start, count, width in self.slices for i in (start, start + count * width)), obs.shape[-1]]
        own = jnp.concatenate([obs[..., a:b] for a, b in zip(cuts[::2], cuts[1::2], strict=True) if a < b], -1)
        parts = [own]
        for start, count, width in self.slices:
            rows = obs[..., start : start + count * width].reshape(*obs.shape[:-1], count, width)
            parts.append(self._summary(own, rows))
        return jnp.concatenate(parts, -1)

    def _summary(self, own: jax.Array, rows: jax.Array) -> jax.Array:
        seen = jnp.broadcast_to(own[..., None, :], (*rows.shape[:-1], own.shape[-1]))
        hidden = ACTIVATIONS[self.activation](dense(self.width)(jnp.concatenate([rows, seen], -1)))
        score = dense(1)(hidden)[..., 0]
        share = jax.nn.softmax(score, axis=-1)
        return (hidden * share[..., None]).sum(-2)


class Gru(nn.Module):
    """A gated recurrent unit (Cho et al., 2014). What its input drives is worked out for all times at once."""

    size: int

    @nn.compact
    def __call__(self, hidden: jax.Array, x: jax.Array, done: jax.Array | None = None) -> tuple[jax.Array, jax.Array]:
        """(hidden [..., H], x [..., F]) -> (hidden, hidden); or along a rollout, see `Actor`."""
        drive, size = dense(3 * self.size, 1.0)(x), self.size
        kernel = self.param("kernel", nn.initializers.orthogonal(), (size, 3 * size))
        bias = self.param("bias", nn.initializers.zeros, (size,))

        def step(hidden: jax.Array, drive: jax.Array) -> jax.Array:
            recall = hidden @ kernel
            gates = nn.sigmoid(drive[..., : 2 * size] + recall[..., : 2 * size])
            reset, keep = gates[..., :size], gates[..., size:]
            fresh = nn.tanh(drive[..., 2 * size :] + reset * (recall[..., 2 * size :] + bias))
            return (1 - keep) * fresh + keep * hidden

        def along(hidden: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            after = step(hidden, row[0])
            return after * (1 - row[1]).reshape(-1, *[1] * (after.ndim - 1)), after

        if done is None:
            hidden = step(hidden, drive)
            return hidden, hidden
        return jax.lax.scan(along, hidden, (drive, done))


class Actor(nn.Module):
    """Encoder, optional memory, head."""

    config: NetworkConfig
    action_size: int
    entities: tuple[tuple[int, int, int], ...] = ()
    """(start, count, width) of each entity set in the observation, for the attention encoder."""

    @nn.compact
    def __call__(self, carry: Carry, obs: jax.Array, done: jax.Array | None = None) -> tuple[Carry, jax.Array]:
        """(carry, obs [..., O] normalized) -> (carry, mean and raw deviation before the squash [..., 2 A]).

        With `done` [T, B] all times of a rollout at once: obs [T, B, ..., O], the carry forgotten where episodes ended.
        """
        config, x = self.config, obs
        if config.encoder == "attention":
            x = EntityAttention(self.entities, config.actor_hidden[0], config.activation)(x)
        if config.memory == "gru":
            x = ACTIVATIONS[config.activation](dense(config.gru_size)(x))
            hidden, x = Gru(config.gru_size)(carry[0], x, done)
            carry = (hidden,)
        head = MLP((*config.actor_hidden, 2 * self.action_size), config.activation, last_scale=0.01)
        return carry, head(x)


class RoleActor(nn.Module):
    """An actor for each role, all of the same shape; which one decides says the one-hot role in the observation."""

    config: NetworkConfig
    action_size: int
    entities: tuple[tuple[int, int, int], ...]
    role_at: int
    """Where in the observation the role begins."""

    @nn.compact
    def __call__(self, carry: Carry, obs: jax.Array, done: jax.Array | None = None) -> tuple[Carry, jax.Array]:
        """As `Actor`; every parameter has a leading axis, the role, which stays the same along a rollout."""
        roles = self.config.roles
        own_each = {"variable_axes": {"params": 0}, "split_rngs": {"params": True}, "axis_size": roles}
        every = nn.vmap(Actor, in_axes=(None, None, None), out_axes=0, **own_each)  # type: ignore[arg-type]
        carries, output = every(self.config, self.action_size, self.entities)(carry, obs, done)
        role = jax.lax.slice_in_dim(obs, self.role_at, self.role_at + roles, axis=-1)
        return jax.tree.map(partial(pick, role if done is None else role[-1]), carries), pick(role, output)


def pick(role: jax.Array, parts: jax.Array) -> jax.Array:
    """One-hot roles [..., R] and what each role's actor says [R, ..., F] -> what the robot's own says [..., F]."""
    each = (jax.lax.index_in_dim(parts, i, 0, keepdims=False) for i in range(parts.shape[0]))
    return sum(jax.lax.slice_in_dim(role, i, i + 1, axis=-1) * part for i, part in enumerate(each))  # type: ignore[return-value]


class Networks(NamedTuple):
    """The two modules of a run."""

    actor: Actor | RoleActor
    critic: MLP
    """[..., P] normalized -> [..., 1] normalized value, or [..., N] of a critic of the team."""

    def normalize(self, obs: Any, statistics: running_statistics.RunningStatisticsState) -> jax.Array:
        """Zero mean and unit variance, within 10 deviations; one scale for all entities of a set."""
        for start, count, width in self.actor.entities:
            statistics = pool(statistics, start, count, width)
        if isinstance(self.actor, RoleActor):
            statistics = leave(statistics, self.actor.role_at, self.actor.config.roles)
        return running_statistics.normalize(obs, statistics, max_abs_value=10.0)

    def act(self, params: Any, carry: Carry, obs: jax.Array) -> tuple[Carry, jax.Array]:
        """(carry, normalized obs [..., O]) -> (carry, output [..., 2 A])."""
        return self.actor.apply(params, carry, obs)  # type: ignore[return-value]

    def unroll(self, params: Any, carry: Carry, obs: jax.Array, done: jax.Array) -> jax.Array:
        """Outputs [T, B, ..., 2 A] along a rollout: obs [T, B, ..., O], done [T, B], the carry before it [B, ...]."""
        return self.actor.apply(params, carry, obs, done)[1]  # type: ignore[return-value,index]

    def value(self, params: Any, seen: jax.Array) -> jax.Array:
        """Normalized values: [..., N, P] -> [..., N] robot by robot; [..., P] -> [..., N] of a critic of the team."""
        values: Any = self.critic.apply(params, seen)
        return values if self.actor.config.critic == "team" else values[..., 0]

    def init_carry(self, batch: tuple[int, ...]) -> Carry:
        """The actor's carry before the first decision."""
        config = self.actor.config
        return (jnp.zeros((*batch, config.gru_size)),) if config.memory == "gru" else ()


def pool(statistics: Any, start: int, count: int, width: int) -> Any:
    """The same statistics for every entity of a set, so that their order can't matter."""
    block = slice(start, start + count * width)
    mean, std = (x[block].reshape(count, width) for x in (statistics.mean, statistics.std))
    both = jnp.sqrt((std**2).mean(0) + mean.var(0))
    return statistics.replace(
        mean=jnp.asarray(statistics.mean).at[block].set(jnp.tile(mean.mean(0), count)),
        std=jnp.asarray(statistics.std).at[block].set(jnp.tile(both, count)),
    )


def leave(statistics: Any, start: int, count: int) -> Any:
    """Statistics that leave these elements as they are."""
    part = slice(start, start + count)
    mean, std = jnp.asarray(statistics.mean), jnp.asarray(statistics.std)
    return statistics.replace(mean=mean.at[part].set(0.0), std=std.at[part].set(1.0))


def role_slice(observation: ObservationSpec) -> tuple[int, int] | None:
    """(start, count) of the block of the observation that is the robot's role, one-hot; None where there is none."""
    start = 0
    for item in observation.fields:
        width = FEATURES[item.name].size(observation.neighbours) * item.history
        if FEATURES[item.name].reads == ("role",) and item.history == 1:
            return start, width
        start += width
    return None


def networks_of(config: TrainConfig, env: AgentsEnv) -> Networks:
    """The modules of a run; see `make_networks`, `choice_networks` of PQN and `q_networks` of REPPO."""
    if config.algorithm == "pqn":
        from robomarl.train.choice_networks import choice_networks

        return choice_networks(config, env)
    if config.algorithm == "reppo":
        from robomarl.train.reppo.critic import q_networks

        return q_networks(config, env)
    return make_networks(config.network, env.observation, env.action_size, env.scenario.count)


def make_networks(config: NetworkConfig, observation: ObservationSpec, action_size: int, robots: int = 1) -> Networks:
    """The modules that the configuration asks for; `robots` is what a critic of the team has outputs for.

    Raises:
        UserError: parameters by role, but the observation does not say the role.
    """
    entities = observation.entity_slices() if config.encoder == "attention" else ()
    critic = MLP((*config.critic_hidden, robots if config.critic == "team" else 1), config.activation, last_scale=1.0)
    if config.roles == 1:
        return Networks(Actor(config, action_size, entities), critic)
    role = role_slice(observation)
    if role is None or role[1] < config.roles:
        found = "no role" if role is None else f"{role[1]} roles"
        raise UserError(f"network.roles = {config.roles}, but the task's observation knows {found}; make it 1.")
    return Networks(RoleActor(config, action_size, entities, role[0]), critic)


def deterministic_policy(
    networks: Networks,
    params: Any,
    stats: running_statistics.RunningStatisticsState,
    spec: ActionSpec,
    law: FirstLaw | None = None,
) -> Callable[[Carry, jax.Array], tuple[Carry, jax.Array]]:
    """What is deployed: (carry, obs [..., O]) -> (carry, action [..., A]), the mean of the distribution.

    Where the environment has a law for the first elements, its command comes before what was learned.
    """

    def policy(carry: Carry, obs: jax.Array) -> tuple[Carry, jax.Array]:
        carry, output = networks.act(params, carry, networks.normalize(obs, stats))
        action = squash(jnp.split(output, 2, axis=-1)[0], spec)
        if law is None:
            return carry, action
        return carry, jnp.concatenate([law.act(obs[..., : law.observation.size]), action], -1)

    return policy
