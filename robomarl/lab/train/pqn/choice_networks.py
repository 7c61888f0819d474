"""The actor of discrete actions: it picks the choice of the largest value, and contains the controller
that pursues it.

Its memory, the aim and its remaining time, goes through the ONNX graph as that of a recurrent
network: contract, export, filter and pilot know nothing of choices.
"""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from brax.training.acme import running_statistics

from robomarl.core.config import UserError
from robomarl.core.domain.scenario import needed
from robomarl.core.spec import ActionSpec
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.simulation import Choices, simulation_of
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.layers import MLP, normalized_layers
from robomarl.lab.train.networks import Carry, Networks, leave, of_sets, sets_of, trunk

EDGE = 1e-5
"""Distance to the end of a range of commands, in half ranges, within which the squash is not inverted."""


class ValueNet(nn.Module):
    """Encoder, optional memory, and dense layers, each normalized, as PQN has them: that stands for the target network
    of other methods."""

    config: NetworkConfig
    count: int
    """K: choices."""
    sets: tuple
    """Sets of the encoder; see `robomarl.lab.train.networks.Actor`."""

    @nn.compact
    def __call__(self, memory: Carry, obs: jax.Array, done: jax.Array | None = None) -> tuple[Carry, jax.Array]:
        """(memory, obs [..., O] normalized) -> (memory, values [..., K]); or along a rollout, see `Actor`."""
        memory, x = trunk(self.config, self.sets, memory, obs, done)
        return memory, normalized_layers(x, self.config.actor_hidden, self.count, self.config.activation)


class ChoiceActor(nn.Module):
    """Values, choice, controller; the interface of `robomarl.lab.train.networks.Actor`."""

    config: NetworkConfig
    choices: Choices
    action: ActionSpec
    read_at: tuple[int, ...]
    """Places in the observation of the elements that the controller reads; they are not normalized."""
    sets: tuple = ()
    """Sets of the encoder; see `robomarl.lab.train.networks.Actor`."""

    def setup(self) -> None:
        """The one part that learns."""
        self.net = ValueNet(self.config, len(self.choices.aims), self.sets)

    def values(self, memory: Carry, obs: jax.Array, done: jax.Array | None = None) -> tuple[Carry, jax.Array]:
        """Compute as `ValueNet` does; its memory goes on with every choice, and not with every decision."""
        return self.net(memory, obs, done)

    def pursue(self, obs: jax.Array, aim: jax.Array) -> tuple[jax.Array, jax.Array]:
        """(obs [..., O], aim [..., D]) -> the aim at the next decision, and the command [..., A]."""
        reads = jnp.concatenate([obs[..., i : i + 1] for i in self.read_at], -1)
        return self.choices.pursue(reads, aim)

    def __call__(self, carry: Carry, obs: jax.Array) -> tuple[Carry, jax.Array]:
        """Decide: (aim [..., D], its remaining decisions [..., 1], and memory; obs [..., O]) -> (these later, output
        [..., 2 A]).
        """
        aim, left, *memory = carry
        after, values = self.values(tuple(memory), obs)
        best = (values >= values.max(-1, keepdims=True)).astype(obs.dtype)
        picked = best @ jnp.asarray(self.choices.aims, obs.dtype) / best.sum(-1, keepdims=True)
        due = left < 0.5
        aim, command = self.pursue(obs, jnp.where(due, picked, aim))
        left = jnp.where(due, float(self.choices.every), left) - 1
        memory = [jnp.where(due, new, old) for new, old in zip(after, memory, strict=True)]
        return (aim, left, *memory), jnp.concatenate([unsquash(command, self.action), command * 0], -1)


def unsquash(command: jax.Array, spec: ActionSpec) -> jax.Array:
    """The inverse of `robomarl.lab.train.distribution.squash`, within the ranges."""
    middle, half = (spec.high + spec.low) / 2, (spec.high - spec.low) / 2
    part = jnp.clip((command - middle) / half, EDGE - 1, 1 - EDGE)
    return 0.5 * (jnp.log(1 + part) - jnp.log(1 - part))


class ChoiceNetworks(Networks):
    """The actor of discrete actions; the critic is not used."""

    actor: ChoiceActor  # type: ignore[misc]

    def normalize(self, obs: jax.Array, statistics: running_statistics.RunningStatisticsState) -> jax.Array:
        """Return zero mean and unit variance, except for elements that the controller reads; see
        `Networks.normalize`.
        """
        statistics = of_sets(statistics, self.actor.sets)
        for i in self.actor.read_at:
            statistics = leave(statistics, i, 1)
        return running_statistics.normalize(obs, statistics, max_abs_value=10.0)

    def init_carry(self, batch: tuple[int, ...]) -> Carry:
        """No aim, and none that stays: the first decision picks one."""
        aim = jnp.zeros((*batch, np.shape(self.actor.choices.aims)[-1]))
        return aim, jnp.zeros((*batch, 1)), *super().init_carry(batch)


def choice_networks(config: TrainConfig, env: AgentsEnv) -> ChoiceNetworks:
    """The modules of a run of PQN.

    Raises:
        UserError: the task has no discrete actions, parameters by role, or see `sets_of`.
    """
    if config.network.roles > 1:
        raise UserError(f'network.roles = {config.network.roles}: algorithm = "pqn" learns one set for all; make it 1.')
    mend = 'make algorithm "mappo"'
    choices = needed(simulation_of(env.scenario).choices, env.scenario, "discrete actions", mend)(env.scenario)
    names = env.observation.element_names()
    read_at = tuple(names.index(name) for name in choices.reads)
    critic = MLP((*config.network.critic_hidden, 1), config.network.activation, last_scale=1.0)
    sets = sets_of(config.network, env.observation)
    return ChoiceNetworks(ChoiceActor(config.network, choices, env.action, read_at, sets), critic)  # type: ignore[arg-type]
