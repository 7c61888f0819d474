"""The mean of the actor's weights along a run: deployed if the recipe has `average_over`.

A policy gradient is noisy, and with a constant step the weights wander about their limit; their
mean is nearer to this limit (Polyak and Juditsky, SIAM J. Control Optim. 30, 1992). The learner
itself goes on from its own weights.
"""

from collections.abc import Callable
from dataclasses import replace

import jax

from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.state import Metrics, PlayAndLearn, TrainState, Update
from robomarl.lab.trees import Params, Tree


def with_mean(config: TrainConfig, state: TrainState) -> TrainState:
    """Return a state before the first update, with the mean at its start weights."""
    return state._replace(averaged=state.params["actor"]) if config.average_over else state


def averaging(config: TrainConfig, update: Update) -> Update:
    """The update, which moves the mean as well: mean += (weights - mean) / `average_over`."""
    if not config.average_over:
        return update
    share = 1 / max(config.average_over, 1.0)

    def with_step(learn: Callable) -> Callable:
        def both(state: TrainState, *played: Tree) -> tuple[TrainState, Metrics]:
            after, metrics = learn(state, *played)
            mean = jax.tree.map(lambda m, new: m + share * (new - m), state.averaged, after.params["actor"])
            return after._replace(averaged=mean), metrics

        return both

    return replace(update, learn=with_step(update.learn)) if isinstance(update, PlayAndLearn) else with_step(update)


def deployed(state: TrainState) -> Params:
    """The actor's parameters that are evaluated, exported and taken by `--init`."""
    return state.averaged or state.params["actor"]
