"""The policy from which a run began, and the cost of leaving it: for bundles that are adapted to
flights.

Recordings describe states near those that the deployed policy visits; far from these the plant was
never observed.
"""

import jax

from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.distribution import Normal, divergence
from robomarl.lab.train.state import TrainState


def anchored(config: TrainConfig, state: TrainState) -> TrainState:
    """A state before the first update, which remembers its actor where that has a cost."""
    return state._replace(anchor=state.params["actor"]) if config.stay_cost else state


def stay_loss(dist: Normal, begun: Normal) -> jax.Array:
    """Mean KL divergence of the policy that the run began from, from the present one, per decision.

    With a recurrent network the former policy decides with the present one's memory.
    """
    return divergence(dist, begun).mean()
