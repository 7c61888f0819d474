"""Actor and critic.

Every actor is (carry, obs [..., O]) -> (carry, output [..., 2 A]): the carry is the recurrent state, a tuple that
is empty for feed-forward networks, and passes explicitly from the rollout to the ONNX graph.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from brax.training.acme import running_statistics
from brax.training.acme.running_statistics import RunningStatisticsState

from robomarl.core.config import UserError
from robomarl.core.features import FEATURES
from robomarl.core.spec import ActionSpec, ObservationSpec, rows_kept
from robomarl.core.types import Array
from robomarl.lab.sim.law import FirstLaw
from robomarl.lab.train.config import NetworkConfig
from robomarl.lab.train.distribution import squash
from robomarl.lab.train.layers import ACTIVATIONS, MLP, EntityAttention, GraphAttention, Gru, MateSet, dense
from robomarl.lab.trees import Params

Carry = tuple[jax.Array, ...]
PRESENCE = ("heard", "seen")
"""Parts of a feature that are 1 in an occupied row."""


def trunk(
    config: NetworkConfig, sets: tuple, carry: Carry, obs: jax.Array, done: jax.Array | None
) -> tuple[Carry, jax.Array]:
    """Encoder and memory, as part of the module that calls it: (memory, obs [..., O]) -> (memory, features [..., F]).

    Args:
        config: says which.
        sets: entities of the attention encoder, or mates of the graph's.
        carry: the recurrent state; () without.
        obs: normalized.
        done: along a rollout, see `Actor`.
    """
    x, width = obs, config.actor_hidden[0]
    if config.encoder == "attention":
        x = EntityAttention(sets, width, config.activation)(x)
    if config.encoder == "graph":
        x = GraphAttention(sets, width, config.heads, config.activation)(x)
    if config.memory == "gru":
        x = ACTIVATIONS[config.activation](dense(config.gru_size)(x))
        hidden, x = Gru(config.gru_size)(carry[0], x, done)
        carry = (hidden,)
    return carry, x


class Actor(nn.Module):
    """Encoder, optional memory, head."""

    config: NetworkConfig
    action_size: int
    sets: tuple = ()
    """Sets in the encoder's input: (start, count, width) of each for attention, `MateSet`s for the graph."""

    @nn.compact
    def __call__(self, carry: Carry, obs: jax.Array, done: jax.Array | None = None) -> tuple[Carry, jax.Array]:
        """(carry, obs [..., O] normalized) -> (carry, mean and raw deviation before the squash [..., 2 A]).

        With `done` [T, B] all times of a rollout at once: obs [T, B, ..., O], the carry forgotten where episodes ended.
        """
        carry, x = trunk(self.config, self.sets, carry, obs, done)
        return carry, MLP((*self.config.actor_hidden, 2 * self.action_size), self.config.activation, last_scale=0.01)(x)


class RoleActor(nn.Module):
    """Actors of equal shape, one for each role; the one-hot role in the observation selects the actor that decides."""

    config: NetworkConfig
    action_size: int
    sets: tuple
    role_at: int
    """Place in the observation at which the role begins."""

    @nn.compact
    def __call__(self, carry: Carry, obs: jax.Array, done: jax.Array | None = None) -> tuple[Carry, jax.Array]:
        """Compute as `Actor` does; every parameter has a leading axis, the role, which is constant along a rollout."""
        roles = self.config.roles
        own_each = {"variable_axes": {"params": 0}, "split_rngs": {"params": True}, "axis_size": roles}
        every = nn.vmap(Actor, in_axes=(None, None, None), out_axes=0, **own_each)  # type: ignore[arg-type]
        carries, output = every(self.config, self.action_size, self.sets)(carry, obs, done)
        role = jax.lax.slice_in_dim(obs, self.role_at, self.role_at + roles, axis=-1)
        return jax.tree.map(partial(pick, role if done is None else role[-1]), carries), pick(role, output)


def pick(role: jax.Array, parts: jax.Array) -> jax.Array:
    """Select the own output [..., F] from the outputs of all roles' actors [R, ..., F] by one-hot roles [..., R]."""
    each = (jax.lax.index_in_dim(parts, i, 0, keepdims=False) for i in range(parts.shape[0]))
    return sum(jax.lax.slice_in_dim(role, i, i + 1, axis=-1) * part for i, part in enumerate(each))  # type: ignore[return-value]


class Networks(NamedTuple):
    """The two modules of a run."""

    actor: Actor | RoleActor
    critic: MLP
    """[..., P] normalized -> [..., 1] normalized value, or [..., N] of a critic of the team."""

    def normalize(self, obs: Array, statistics: RunningStatisticsState) -> jax.Array:
        """Zero mean and unit variance, within 10 deviations; one scale for all entities of a set."""
        statistics = of_sets(statistics, self.actor.sets)
        if isinstance(self.actor, RoleActor):
            statistics = leave(statistics, self.actor.role_at, self.actor.config.roles)
        return running_statistics.normalize(obs, statistics, max_abs_value=10.0)

    def act(self, params: Params, carry: Carry, obs: jax.Array) -> tuple[Carry, jax.Array]:
        """(carry, normalized obs [..., O]) -> (carry, output [..., 2 A])."""
        return self.actor.apply(params, carry, obs)  # type: ignore[return-value]

    def unroll(self, params: Params, carry: Carry, obs: jax.Array, done: jax.Array) -> jax.Array:
        """Outputs [T, B, ..., 2 A] along a rollout: obs [T, B, ..., O], done [T, B], the carry before it [B, ...]."""
        return self.actor.apply(params, carry, obs, done)[1]  # type: ignore[return-value,index]

    def value(self, params: Params, seen: jax.Array) -> jax.Array:
        """Normalized values: [..., N, P] -> [..., N] robot by robot; [..., P] -> [..., N] of a critic of the team."""
        values: Array = self.critic.apply(params, seen)
        return values if self.actor.config.critic == "team" else values[..., 0]

    def init_carry(self, batch: tuple[int, ...]) -> Carry:
        """The actor's carry before the first decision."""
        config = self.actor.config
        return (jnp.zeros((*batch, config.gru_size)),) if config.memory == "gru" else ()


def of_sets(statistics: RunningStatisticsState, sets: tuple) -> RunningStatisticsState:
    """Return statistics with one scale for all entities of a set; elements that show occupied rows stay 1 or 0."""
    for group in sets:
        for block in group.blocks if isinstance(group, MateSet) else (group,):
            statistics = pool(statistics, *block)
        for i in group.presence() if isinstance(group, MateSet) else ():
            statistics = leave(statistics, i, 1)
    return statistics


def pool(statistics: RunningStatisticsState, start: int, count: int, width: int) -> RunningStatisticsState:
    """Return statistics that are equal for every entity of a set, so that their order can't matter."""
    block = slice(start, start + count * width)
    whole: tuple[Array, Array] = (statistics.mean, statistics.std)
    mean, std = (x[block].reshape(count, width) for x in whole)
    both = jnp.sqrt((std**2).mean(0) + mean.var(0))
    return replace(
        statistics,
        mean=jnp.asarray(statistics.mean).at[block].set(jnp.tile(mean.mean(0), count)),
        std=jnp.asarray(statistics.std).at[block].set(jnp.tile(both, count)),
    )


def leave(statistics: RunningStatisticsState, start: int, count: int) -> RunningStatisticsState:
    """Statistics that leave these elements as they are."""
    part = slice(start, start + count)
    mean, std = jnp.asarray(statistics.mean), jnp.asarray(statistics.std)
    return replace(statistics, mean=mean.at[part].set(0.0), std=std.at[part].set(1.0))


def role_slice(observation: ObservationSpec) -> tuple[int, int] | None:
    """(start, count) of the block of the observation that is the robot's role, one-hot; None where there is none."""
    start = 0
    for item in observation.fields:
        width = FEATURES[item.name].size(observation.neighbours) * item.history
        if FEATURES[item.name].reads == ("role",) and item.history == 1:
            return start, width
        start += width
    return None


def sets_of(config: NetworkConfig, observation: ObservationSpec) -> tuple:
    """Return the sets in the encoder's input.

    Raises:
        UserError: a graph, but the observation does not show which rows are occupied.
    """
    if config.encoder == "flat":
        return ()
    return entity_slices(observation) if config.encoder == "attention" else mate_sets(observation)


def entity_slices(observation: ObservationSpec) -> tuple[tuple[int, int, int], ...]:
    """(start, count, width) of every block of the vector that is a set of neighbours, one row each."""
    slices, start = list[tuple[int, int, int]](), 0
    for item in observation.fields:
        width = FEATURES[item.name].size(observation.neighbours)
        if FEATURES[item.name].per_neighbour and not rows_kept(item):
            slices.append((start, observation.neighbours.count, len(FEATURES[item.name].parts)))
        start += width * item.history
    return tuple(slices)


def mate_sets(observation: ObservationSpec) -> tuple[MateSet, ...]:
    """Return the blocks of rows with an element that shows if a row is occupied; a block without one is more data on
    these teammates, as `mates_plan` is.
    """
    found: list[MateSet] = []
    features = [FEATURES[f.name] for f in observation.fields if FEATURES[f.name].per_neighbour and not rows_kept(f)]
    for feature, block in zip(features, entity_slices(observation), strict=True):
        present = [i for i, part in enumerate(feature.parts) if part in PRESENCE]
        if present:
            found.append(MateSet((block,), present[0]))
        elif found:
            found[-1] = found[-1]._replace(blocks=(*found[-1].blocks, block))
    if not found:
        raise UserError('network.encoder = "graph": no input says which mates are heard; make it "flat".')
    return tuple(found)


def make_networks(config: NetworkConfig, observation: ObservationSpec, action_size: int, robots: int = 1) -> Networks:
    """Return the modules of the configuration; a critic of the team has an output for each of `robots`.

    Raises:
        UserError: parameters by role, but the observation does not contain the role; or see `sets_of`.
    """
    sets = sets_of(config, observation)
    outputs = robots if config.critic == "team" else 1
    critic = MLP((*config.critic_hidden, outputs), config.activation, last_scale=1.0)
    if config.roles == 1:
        return Networks(Actor(config, action_size, sets), critic)
    role = role_slice(observation)
    if role is None or role[1] < config.roles:
        found = "no role" if role is None else f"{role[1]} roles"
        raise UserError(f"network.roles = {config.roles}, but the task's observation knows {found}; make it 1.")
    return Networks(RoleActor(config, action_size, sets, role[0]), critic)


def deterministic_policy(
    networks: Networks,
    params: Params,
    stats: running_statistics.RunningStatisticsState,
    spec: ActionSpec,
    law: FirstLaw | None = None,
) -> Callable[[Carry, jax.Array], tuple[Carry, jax.Array]]:
    """Return the deployed policy: (carry, obs [..., O]) -> (carry, action [..., A]), the mean of the
    distribution.

    If the environment has a law for the first elements, its command precedes the learned one.
    """

    def policy(carry: Carry, obs: jax.Array) -> tuple[Carry, jax.Array]:
        carry, output = networks.act(params, carry, networks.normalize(obs, stats))
        action = squash(jnp.split(output, 2, axis=-1)[0], spec)
        if law is None:
            return carry, action
        return carry, jnp.concatenate([law.act(obs[..., : law.observation.size]), action], -1)

    return policy
