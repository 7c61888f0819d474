"""Check that all stages can begin, and the bundle be made: errors that would end a training after hours come before
it.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import jax
import numpy as np

from robomarl.core.config import UserError
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.algorithm import init_state, make_update
from robomarl.lab.train.initial.new_inputs import fitted, read_fitting
from robomarl.lab.train.run.mixture import with_experts
from robomarl.lab.train.run.run_folder import Run
from robomarl.lab.train.run.weights import weights_of, with_weights
from robomarl.lab.train.self_play.teachers import trained_teams
from robomarl.lab.train.sequences.holding import repeated
from robomarl.lab.train.stages.curriculum import check_curriculum
from robomarl.lab.train.stages.plan import BundlePlan, Stage, StagedTraining, listed

Runs = dict[str, Run]
"""Runs that have not trained, by the names of their stages; all arrays of a state are shapes."""


def check_plan(plan: StagedTraining) -> None:
    """Raises `UserError`, which names the stage, where one can't begin, or the bundle; nothing is compiled for it."""
    runs: Runs = {}
    for stage in plan.stages:
        try:
            runs[stage.name] = blank_run(stage)
            for source in stage.start:
                check_fit(runs[stage.name], source, runs)
        except UserError as error:
            raise UserError(f"stage {stage.name}: {error}") from None
    if plan.bundle is not None:
        check_bundle(plan.bundle, runs)


def blank_run(stage: Stage) -> Run:
    """The run of a stage before its first update; raises `UserError` where its recipe is wrong."""
    scenario, config = load_scenario(stage.config.scenario), stage.config
    run = Run(Path(stage.name), scenario, config, 0, "", {}, state=())  # type: ignore[arg-type]
    check_curriculum(config, run.env)
    make_update(config, run.env, trained_teams)
    state = jax.eval_shape(partial(init_state, config, run.env), jax.random.key(0))
    return replace(run, state=state)


def check_fit(run: Run, source: str, runs: Runs) -> None:
    """Raises `UserError` where the run can't start from the weights of a stage before it, a bundle or a run."""
    said = f"start = {source!r}"
    if source in runs:
        weights = fitted(blank_weights(runs[source]), runs[source].env.observation, run.config, run.env, said)
    else:
        weights = read_fitting(source, run.config, run.env, said)
    with_weights(run.state, repeated(weights, run.config, run.env), said)


def blank_weights(run: Run) -> dict[str, np.ndarray]:
    """Return zeros in the shapes of the run's learned arrays, by name."""
    return weights_of(jax.tree.map(lambda leaf: np.zeros(leaf.shape), run.state))


def check_bundle(bundle: BundlePlan, runs: Runs) -> None:
    """Raises `UserError` where the actors can't be in one bundle, or are of a team that sees everything."""
    first = []
    for name, *others in (listed(names) for names in (bundle.actor, *bundle.experts)):
        for other in others:
            with_weights(runs[name].state, blank_weights(runs[other]), f"[bundle] the mean of {name} and {other}")
        if key := simulation_of(runs[name].scenario).all_seeing(runs[name].scenario):
            raise UserError(f"[bundle] stage {name} has {key}, and no robot sees everything; train a --stage.")
        first.append(runs[name])
    with_experts(first[0], first[1:])
