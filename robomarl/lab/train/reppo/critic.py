"""The critic of an action: the value of a robot's command, as a histogram of the return."""

import flax.linen as nn
import jax
import jax.numpy as jnp

from robomarl.core.config import UserError
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.layers import normalized_layers
from robomarl.lab.train.networks import Networks, make_networks
from robomarl.lab.train.reppo.config import ReppoConfig
from robomarl.lab.train.reppo.histogram import MARGIN, mean_of
from robomarl.lab.trees import Params


class QNetwork(nn.Module):
    """Dense layers, each normalized: otherwise the values of actions that were never taken diverge."""

    hidden: tuple[int, ...]
    bins: int
    activation: str

    @nn.compact
    def __call__(self, seen: jax.Array, action: jax.Array) -> jax.Array:
        """(seen [..., P] normalized, action [..., A] in [-1, 1]) -> [..., bins] logits."""
        x = jnp.concatenate([seen, action], -1)
        return normalized_layers(x, self.hidden, self.bins, self.activation)


class QNetworks(Networks):
    """The actor of all learners, and a critic that sees the robot's action too."""

    critic: QNetwork  # type: ignore[misc]

    def logits(self, params: Params, seen: jax.Array, action: jax.Array) -> jax.Array:
        """Return the logits of `QNetwork`."""
        return self.critic.apply(params, seen, action)  # type: ignore[return-value]

    def action_value(self, params: Params, seen: jax.Array, action: jax.Array, config: ReppoConfig) -> jax.Array:
        """(seen [..., P] normalized, action [..., A] in [-1, 1]) -> [...] normalized value of the robot's action."""
        return mean_of(self.logits(params, seen, action), config.support, config.bins)


def q_networks(config: TrainConfig, env: AgentsEnv) -> QNetworks:
    """The modules of a run of REPPO.

    Raises:
        UserError: a critic of the whole team, or a histogram with no bin within its support.
    """
    if config.network.critic == "team":
        raise UserError('algorithm = "reppo" values the action of one robot; make network.critic "robot".')
    if config.reppo.bins <= 2 * MARGIN:
        raise UserError(f"reppo.bins = {config.reppo.bins} must be more than {2 * MARGIN}, which are margins.")
    actor = make_networks(config.network, env.observation, env.action_size, env.scenario.count).actor
    return QNetworks(actor, QNetwork(config.network.critic_hidden, config.reppo.bins, config.network.activation))  # type: ignore[arg-type]
