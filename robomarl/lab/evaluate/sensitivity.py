"""Sensitivity of success to randomization: one parameter at a time is pinned to values within and
beyond its range.

Everything else stays as in training, and all points meet identical starts, goals and noise.
Differences between two points of a parameter therefore come from that parameter.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np
from tqdm import tqdm

from robomarl.core.config import UserError
from robomarl.core.types import Figures
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig, FlownPolicy
from robomarl.lab.evaluate.variations import perturbed
from robomarl.lab.sim.scenario import Scenario

PLACES = (-0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
"""Positions of the points: 0 is the low end of the range in training, 1 the high end."""


def sensitivity(policy: FlownPolicy, scenario: Scenario, config: EvalConfig) -> dict[str, list[Figures]]:
    """Return the success at every point, by parameter.

    Args:
        policy: the flown policy.
        scenario: its ranges in `randomize` are those of training.
        config: engine, filter, seed and number of episodes of each point.

    Returns:
        Parameter -> points in ascending order: `value`, `in_training`, `success_rate`, `success_ci95`,
        `collision_episodes`, `episodes`.

    Raises:
        UserError: the scenario randomizes nothing.
    """
    points = [(name, value, inside) for name in varied(scenario) for value, inside in values(scenario, name)]
    if not points:
        raise UserError(f"--sensitivity: scenario {scenario.name} randomizes nothing; give it a section [randomize].")
    quiet = dataclasses.replace(config, record=None, progress=False)
    found: dict[str, list[Figures]] = {}
    bar = tqdm(points, desc="sensitivity", unit="point", leave=False, disable=None if config.progress else True)
    for name, value, inside in bar:
        figures = evaluate(policy, perturbed(scenario, [f"{name}={value!r}"]), quiet).figures
        keys = ("success_rate", "success_ci95", "collision_episodes", "episodes")
        found.setdefault(name, []).append({"value": value, "in_training": inside, **{k: figures[k] for k in keys}})
    return found


def varied(scenario: Scenario) -> list[str]:
    """Return the parameters with a range that is wider than a point."""
    ranges = {name: getattr(scenario.randomize, name) for name in scenario.randomized}
    return [name for name, (low, high) in ranges.items() if high > low]


def values(scenario: Scenario, name: str) -> Iterator[tuple[float, bool]]:
    """Values of a parameter that the scenario allows, and whether training has seen them."""
    low, high = getattr(scenario.randomize, name)
    for place in PLACES:
        value = float(np.round(low + place * (high - low), 9))
        try:
            perturbed(scenario, [f"{name}={value!r}"])
        except UserError:
            continue
        yield value, 0.0 <= place <= 1.0
