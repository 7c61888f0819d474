"""`check`: drive the engines from equal starts with equal commands, and measure how far apart they
drift.

The `Probe` of a domain defines how its kind of team is driven and compared. Masses, motors, delays
and wind are drawn as in the scenario, equal for all engines.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from robomarl.core.config import UsageError
from robomarl.core.geometry import norm, rotation_angle
from robomarl.core.types import Array, Figures
from robomarl.lab.probe import CheckTrial, Probe, Seen
from robomarl.lab.sim.batch import SIMS
from robomarl.lab.sim.env import check_specs
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of

ROUNDING = 1e-9
"""Rounding error of times that are counted in decisions."""


@dataclass(frozen=True)
class CheckConfig:
    """How the engines are compared."""

    sims: tuple[str, ...] = SIMS
    seconds: float = 2.0
    seed: int = 0
    teams: int | None = None
    """Side by side; None: as many as the `Probe` says."""

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            UserError: fewer than two engines, a duplicate engine, no time, or no teams.
        """
        if len(set(self.sims)) < 2 or len(set(self.sims)) < len(self.sims):
            raise UsageError(f"--sims {' '.join(self.sims)}: name two or more different engines of {', '.join(SIMS)}.")
        if self.seconds <= 0 or (self.teams is not None and self.teams < 1):
            raise UsageError(f"--seconds {self.seconds:g} and teams = {self.teams} must be above 0.")


def check_engines(scenario: Scenario, config: CheckConfig, errors: Mapping[str, object] | None = None) -> Figures:
    """Drive every engine alike; engines that the scenario's kind of team lacks are left out.

    Args:
        scenario: the compared scenario.
        config: engines, duration, seed.
        errors: engine -> an error that is planted in it, of the domain's kind, to test that the error
            is found.

    Returns:
        The worst of the figures of all pairs of engines, `passed`, the limits, and `pairs`.

    Raises:
        UserError: fewer than two engines are left, or no contract accepts the commands of its robots.
    """
    simulation = simulation_of(scenario)
    check_specs(scenario, None, simulation.action(scenario))
    probe: Probe = simulation.probe(scenario)
    sims = tuple(sim for sim in config.sims if sim in probe.engines)
    if len(sims) < 2:
        has = f"{scenario.name}.toml has {', '.join(probe.engines)}"
        raise UsageError(f"--sims {' '.join(config.sims)}: {has}; name two of its engines or more.")
    jobs = [(sim, trial) for sim in sims for trial in probe.trials]
    bar = tqdm(jobs, desc="check", unit="trial", leave=False, disable=None)
    found = [_driven(probe, scenario, config, job, (errors or {}).get(job[0])) for job in bar]
    count = len(probe.trials)
    runs = {sim: tuple(found[i * count : (i + 1) * count]) for i, sim in enumerate(sims)}
    pairs = [_compared(probe, scenario, pair, runs) for pair in itertools.combinations(sims, 2)]
    worst, left_out = _worst(probe, pairs), _left_out(probe, scenario, config, sims)
    passed = worst["passed"] and not left_out.get("undeclared")
    return {**_about(probe, scenario, config, sims), **worst, **left_out, "passed": passed, "pairs": pairs}


def held(random: np.random.Generator, ends: tuple[Array, Array], shape: tuple[int, ...], hold: int) -> np.ndarray:
    """Draw [T, ..., A] commands anywhere within the limits, each held for a number of decisions.

    Args:
        random: source of the draws.
        ends: [A] lowest and highest.
        shape: T, ...
        hold: decisions.
    """
    low, high = ends
    drawn = random.uniform(low, high, (-(-shape[0] // hold), *shape[1:], len(low))).astype(np.float32)
    return np.repeat(drawn, hold, 0)[: shape[0]]


def drift(scenario: Scenario, first: tuple[Seen, ...], second: tuple[Seen, ...]) -> Figures:
    """Return the largest difference of two engines in one trial, over time and robots.

    Args:
        scenario: the compared scenario.
        first: for one trial, positions [E, N, 3] and attitudes [E, N, 4] of the robots at each
            decision.
        second: positions and attitudes on another engine.
    """
    (pos, quat), (other_pos, other_quat) = (map(np.stack, zip(*run[0], strict=True)) for run in (first, second))
    return {
        "position_diff_m": float(norm(pos - other_pos).max()),
        "attitude_diff_rad": float(rotation_angle(quat, other_quat).max()),
    }


def _driven(probe: Probe, scenario: Scenario, config: CheckConfig, job: tuple[str, CheckTrial], error: object) -> Seen:
    """One trial on one engine."""
    name, trial = job
    place = trial.where(scenario, config.seconds)
    sim = simulation_of(scenario).batch(place, name, config.teams or probe.teams, config.seed)
    world, commands = trial.begin(place, sim.reset(), np.random.default_rng(config.seed), config.seconds)
    if error is not None:
        assert probe.mistaken is not None, "its domain says which errors there are"
        world = probe.mistaken(world, error)
    sim.set_world(world)
    return [probe.seen(sim.step(command)) for command in commands]


def _left_out(probe: Probe, scenario: Scenario, config: CheckConfig, sims: tuple[str, ...]) -> Figures:
    """Return the vehicle keys that no engine models, and those that the domain does not declare either."""
    if probe.felt is None:
        return {}
    jobs = [(sim, trial) for sim in sims for trial in probe.trials]

    def driven(chosen: Scenario) -> Seen:
        return [seen for job in jobs for seen in _driven(probe, chosen, config, job, None)]

    felt = probe.felt(scenario, driven)
    unfelt = [key for key, is_felt in felt.items() if not is_felt]
    undeclared = [key for key in unfelt if not {key, key.partition(".")[0]} & set(probe.not_modelled)]
    told = {"vehicle": scenario.vehicle_config.name, "same_plant": len(unfelt) == len(felt) > 0}
    return {"compared": probe.compared, **told, "not_modelled": unfelt, "undeclared": undeclared}


def _compared(probe: Probe, scenario: Scenario, pair: tuple[str, str], runs: Mapping[str, tuple[Seen, ...]]) -> Figures:
    figures = probe.compare(scenario, *(runs[sim] for sim in pair))
    return {"first": pair[0], "second": pair[1], **figures, "passed": _is_within(probe, figures)}


def _is_within(probe: Probe, figures: Figures) -> bool:
    """Return True if all limits are kept; a NaN keeps none."""
    kept = all(figures[name] <= most + ROUNDING for name, most in probe.limits.items())
    return bool(kept and all(figures[name] >= least for name, least in probe.least.items()))


def _worst(probe: Probe, pairs: list[Figures]) -> Figures:
    names = [name for name in pairs[0] if name not in ("first", "second", "passed")]
    worst = {name: min if name in probe.least else max for name in names}
    figures = {name: pick(pair[name] for pair in pairs) for name, pick in worst.items()}
    limits = {name.partition("_diff")[0]: most for name, most in probe.limits.items()}
    single = {name.replace("_diff", "_limit"): most for name, most in probe.limits.items()}
    return {**figures, **single, "limits": limits, "passed": all(pair["passed"] for pair in pairs)}


def _about(probe: Probe, scenario: Scenario, config: CheckConfig, sims: tuple[str, ...]) -> Figures:
    """Return the settings of the comparison."""
    seconds = {"seconds": config.seconds} if probe.is_timed else {}
    teams = {"teams": config.teams or probe.teams}
    return {"scenario": scenario.name, "sims": list(sims), **seconds, "seed": config.seed, **teams}


def table(figures: Figures) -> str:
    """One line for each figure with a limit, one column for each pair of engines, and the verdict."""
    pairs, width = figures["pairs"], 16
    heads = [f"{pair['first']} - {pair['second']}" for pair in pairs]
    lines = [f"{'difference':<14}" + "".join(f"{head:>{width}}" for head in [*heads, "limit"])]
    for name in (name for name in pairs[0] if "_diff" in name):
        quantity, _, unit = name.partition("_diff")
        scale, unit = (180 / math.pi, "deg") if unit == "_rad" else (1.0, unit.removeprefix("_"))
        cells = [scale * value for value in [*(pair[name] for pair in pairs), figures["limits"][quantity]]]
        lines.append(f"{f'{quantity} {unit}':<14}" + "".join(f"{cell:>{width}.2g}" for cell in cells))
    verdict = "the engines agree" if all(pair["passed"] for pair in pairs) else "the engines DISAGREE"
    if figures.get("same_plant"):
        verdict += f" on points that do what is commanded, and know nothing of a {figures['vehicle']}"
    others = [name for name, value in pairs[0].items() if "_diff" not in name and isinstance(value, int | float)]
    told = "".join(f"; {name} {figures[name]:.3g}" for name in others if name != "passed")
    told = f"{figures['scenario']}, {figures['teams']} teams{told}: {verdict}."
    return "\n".join([*lines, told, *_words(figures)])


def _words(figures: Figures) -> list[str]:
    """Return lines on the compared quantities, and on the parts of the vehicle that were not compared."""
    lines = [f"Compared: {figures['compared']}."] if figures.get("compared") else []
    if unfelt := figures.get("not_modelled"):
        lines.append(f"In no engine, so that they cannot differ by it: {', '.join(unfelt)} of {figures['vehicle']}.")
    if undeclared := figures.get("undeclared"):
        lines.append(
            f"NOT CHECKED: {', '.join(undeclared)}. Model them in `move` and `mujoco`, or say in "
            "Model(not_modelled=...) that the vehicle follows its commands whatever they are."
        )
    return lines
