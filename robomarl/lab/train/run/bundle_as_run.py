"""A bundle read as the run that it was made from, so that an export can add to it where the run folder is gone."""

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import numpy as np

from robomarl.core.bundle.bundle import Bundle, is_bundle, load_bundle
from robomarl.core.bundle.provenance import Training
from robomarl.lab.evaluate.resolve import is_run
from robomarl.lab.evaluate.sealed_scenario import opened_from_bundle
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.train.algorithm import init_state, training_env
from robomarl.lab.train.policy_search.structured import LawRun, gained_law, is_law, load_law
from robomarl.lab.train.run.mixture import weights_for
from robomarl.lab.train.run.run_folder import ObservationStats, Run, gains_of, load_run, recipe_of, sealed_weights
from robomarl.lab.train.run.weights import learned


def run_of(source: str) -> Run:
    """A run folder, or a bundle by name or path as the runs of its actors, without games and optimizer.

    Raises:
        UserError: neither of both, or a bundle without weights.
    """
    if is_law(source):
        return load_law(source)  # type: ignore[return-value]
    if is_run(Path(source)) or not is_bundle(source):
        return load_run(source)
    bundle = load_bundle(source)
    contract, weights = bundle.contract, sealed_weights(bundle, source)
    if gains := gains_of(weights):
        return _law(source, bundle, gains)  # type: ignore[return-value]
    parts = [(contract.scenario, contract.training), *((e.scenario, e.training) for e in contract.experts)]
    first, *others = (
        _actor(source, opened_from_bundle(bundle, scenario.content), training, weights) for scenario, training in parts
    )
    return replace(first, experts=tuple(others))


def teams_of(source: str) -> tuple[int, int] | None:
    """Least and largest team of a bundle; None of a run, which says nothing about other teams than its own."""
    if is_law(source) or is_run(Path(source)) or not is_bundle(source):
        return None
    return load_bundle(source).contract.team_size


def _law(source: str, bundle: Bundle, numbers: dict[str, float | np.ndarray]) -> LawRun:
    """A bundle of a law with gains."""
    training, elements = bundle.contract.training, bundle.contract.observation.elements
    scenario = opened_from_bundle(bundle)
    config = recipe_of(training.recipe, scenario, f"{source}/bundle.json")
    seen = ObservationStats(*(np.array([getattr(e, f.name) for e in elements]) for f in fields(ObservationStats)))
    gains = type(gained_law(scenario).gains)(**numbers)
    told = (training.seed, training.commit, training.versions)
    return LawRun(Path(source), scenario, config, *told, gains, seen, ancestry=training.ancestry)


def _actor(source: str, scenario: Scenario, training: Training, weights: Mapping[str, np.ndarray]) -> Run:
    """One actor of a bundle."""
    config = recipe_of(training.recipe, scenario, f"{source}/bundle.json")
    start = partial(init_state, config, training_env(config, scenario))
    state = learned(start, weights_for(weights, scenario.name), source)
    told = (training.seed, training.commit, training.versions)
    return Run(Path(source), scenario, config, *told, state, training.averaged, ancestry=training.ancestry)
