"""A bundle read as the run that it was made from, so that an export can add to it where the run folder is gone."""

from functools import partial
from pathlib import Path
from typing import Any

import jax

from robomarl.config import build
from robomarl.policies.bundle import is_bundle, load_bundle
from robomarl.sim.anyscenario import build_any_scenario
from robomarl.train.checkpoint import Run, load_run, read_weights
from robomarl.train.config import TrainConfig
from robomarl.train.programs import init_state, training_env
from robomarl.train.state import TrainState
from robomarl.train.weights import with_weights


def run_of(source: str) -> Run:
    """A run folder, or a bundle by name or path as the run of its first actor, without games and optimizer.

    Raises:
        UserError: neither of both, or a bundle without weights.
    """
    if not is_bundle(source):
        return load_run(source)
    contract = load_bundle(source).contract
    scenario: Any = build_any_scenario(contract.scenario.content, f"{source}/bundle.json")
    training = contract.training
    config = build(TrainConfig, training.recipe, f"{source}/bundle.json")
    state = learned(config, training_env(config, scenario), source)
    return Run(
        Path(source), scenario, config, training.seed, training.commit, training.versions, state, training.averaged
    )


def learned(config: TrainConfig, env: Any, source: str, option: str = "") -> TrainState:
    """A state with what was learned in a run or bundle; all else in it are shapes, and nothing is compiled for it.

    Errors begin with `option`, as in `--init `, and the source.

    Raises:
        UserError: neither of both, or its network or observation is another.
    """
    blank = jax.eval_shape(partial(init_state, config, env), jax.random.key(0))
    return with_weights(blank, read_weights(source, env.scenario.name), f"{option}{source}")
