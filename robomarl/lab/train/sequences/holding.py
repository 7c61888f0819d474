"""A policy of one action that goes on as one of sequences: at first it holds its action for the whole
sequence.

The weights of the last layer are those of the one action, once for each action of a decision (as
Net2Net, Chen et al., ICLR 2016, widens a network without changing its function).
"""

from collections.abc import Mapping

import numpy as np

from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.initial.first_layers import ACTOR


def repeated(weights: Mapping[str, np.ndarray], config: TrainConfig, env: AgentsEnv) -> Mapping[str, np.ndarray]:
    """Weights for the outputs of a run; others than those of one action stay as they are, and have to fit.

    Args:
        weights: by name.
        config: the run's recipe.
        env: its environment.
    """
    times, root = config.sequence.outputs, ACTOR if config.network.roles == 1 else f"{ACTOR}['VmapActor_0']"
    last = f"{root}['MLP_0']['Dense_{len(config.network.actor_hidden)}']"
    found = {name: weights[name] for name in (f"{last}['kernel']", f"{last}['bias']") if name in weights}
    one = {name: a for name, a in found.items() if a.shape[-1] * times == 2 * env.action_size}
    return {**weights, **{name: _each(array, times) for name, array in one.items()}}


def _each(array: np.ndarray, times: int) -> np.ndarray:
    """Columns of the means so often, and then those of the deviations."""
    return np.concatenate([np.tile(half, times) for half in np.split(array, 2, axis=-1)], -1)
