"""Adaptation of a team that carries: its payload is identified, and its law's gains are searched again.

Three teams fly equal episodes on the plant of the held-out flights: the bundle, which assumes the
values of its scenario; its law with unchanged gains, given the identified values; and the law with
gains that were searched from there on.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.types import Figures
from robomarl.field.adapt.options import AdaptOptions, change_of, split
from robomarl.field.identify.carried import CarriedFigures, write_carried
from robomarl.field.identify.held_out import Prediction, paired
from robomarl.field.recorded_flights import RecordedFlights
from robomarl.field.track import RobotTrack
from robomarl.field.work import field_of
from robomarl.lab.evaluate.episodes import batch_size
from robomarl.lab.evaluate.evaluate import evaluate_on
from robomarl.lab.evaluate.evaluation import EvalConfig, Evaluation
from robomarl.lab.evaluate.intervals import bootstrap
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.export import export_bundle
from robomarl.lab.sim.engines.compiler import keep_compiled
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.policy_search.search import SearchOptions, keep_gains, search_run
from robomarl.lab.train.policy_search.structured import LawRun
from robomarl.lab.train.run.ancestry import ancestors_of
from robomarl.lab.train.run.bundle_as_run import run_of
from robomarl.lab.train.run.run_folder import Run

S = TypeVar("S", bound=Scenario)
NEAR = 0.05
"""First spread of the search, at most, in steps of the gains: it goes on from gains that were searched already."""
SHOWN = ("success_rate", "success_ci95", "position_error_m", "position_error_ci95", "attitude_error_rad", "collisions")


def adapt_carried(options: AdaptOptions, flown: RecordedFlights, run: Run) -> Figures:
    """Identify, accept, search on from the law `run`, judge, export; the figures of `adapt.json`."""
    started_s = time.perf_counter()
    law, sets, find = as_law(options.bundle, run), split(options, flown), field_of(flown.scenario).identify_payload
    assert find is not None, "the caller has looked"
    check_team(options.bundle, law.scenario, flown.scenario)
    found = find(flown.scenario, sets.seen)
    missing = [*flown.problems, *found.missing]
    print("\n".join([found.text, *(f"problem: {problem}" for problem in missing)]))
    file = write(options.out / "identified", flown, found)
    told = load_scenario(file)
    prediction = accept(find, (flown.scenario, told), sets.gate)
    plant = load_scenario(options.judge or write_judge(options.out, flown, find(flown.scenario, sets.gate), file))
    check_team(f"--judge {options.judge}", plant, flown.scenario)
    runs = candidates(options, law, (file, told), flown.provenance.recordings)
    teams = {"deployed": (options.bundle, law.scenario), **{name: (str(run), told) for name, run in runs.items()}}
    seen = {name: fly(team, known, plant, options) for name, (team, known) in teams.items()}
    chosen = choose(seen, options.least_gain)
    folder = export(options, runs[chosen]) if chosen in runs else None
    figures = {
        **judged(seen, chosen), "seconds": time.perf_counter() - started_s, "judge": plant.name,
        "prediction": prediction._asdict(), "parameters": [row._asdict() for row in found.parameters],
        "parent": options.bundle, "bundle": str(folder) if folder else None, "ok": folder is not None,
        "action_change": change_of(options.bundle, folder), "provenance": flown.provenance._asdict(),
        "options": {k: str(v) for k, v in asdict(options).items()}, "problems": missing,
    }  # fmt: skip
    print(chosen if folder else "no bundle was written: neither is better than the deployed one.")
    return figures


def judged(seen: Mapping[str, Evaluation], chosen: str) -> Figures:
    """Return figures for JSON: results of each team, and by how much its errors [m] are below the bundle's
    in equal episodes.
    """
    before = seen["deployed"]
    return {
        "success_before": before.figures["success_rate"],
        "success_after": seen[chosen].figures["success_rate"],
        "chosen": chosen,
        "teams": {
            name: {**{key: one.figures[key] for key in SHOWN}, "gain_m": gained(one.error_m, before.error_m)}
            for name, one in seen.items()
        },
    }


def as_law(bundle: str, run: Run) -> LawRun:
    """The bundle's run as a law with gains; raises `UserError` where it is a network."""
    if not isinstance(run, LawRun):
        raise UserError(
            f"{bundle}: is a network that carries, and only laws with gains are adapted to a payload; name a bundle "
            'of algorithm = "search", as lift_3 is.'
        )
    return run


def check_team(name: str, scenario: Scenario, flown: Scenario) -> None:
    """Raises `UserError` where a scenario is of another team than the recordings."""
    if (scenario.task, scenario.count) != (flown.task, flown.count):
        raise UserError(
            f"{name}: is of {scenario.count} robots of task = {scenario.task!r}, the recordings are of {flown.count} "
            f"of task = {flown.task!r}; name another one."
        )


def write(folder: Path, flown: RecordedFlights, found: CarriedFigures) -> str:
    """Write the scenario with the identified values; raises `UserError` if there are none."""
    if (file := write_carried(folder, flown.scenario, found, flown.provenance)) is None:
        raise UserError(f"nothing was found to adapt to: {' '.join(found.missing)}")
    return str(file)


def write_judge(out: Path, flown: RecordedFlights, found: CarriedFigures, trained_in: str) -> str:
    """The plant of the held-out flights alone; where these are too few the one of the search, which is said."""
    if found.changes:
        return write(out / "judge", flown, found)
    print(f"problem: judged in the scenario of the search, since {found.missing[-1]}")
    return trained_in


def accept(
    find: Callable[[S, Sequence[RobotTrack]], CarriedFigures],
    scenarios: tuple[S, S],
    held: list[RobotTrack],
) -> Prediction:
    """Return the errors of the file and of the identified values in held-out flights.

    Raises:
        UserError: the payload never hung still in them, or they are not nearer to the identified
            values.
    """
    before, after = (find(scenario, held) for scenario in scenarios)
    if not len(before.off_m):
        raise UserError(f"held-out flights say nothing of the payload: {before.missing[-1]}")
    seen = paired(before.off_m, after.off_m, before.place, 1)
    what = f"{1e3 * seen.before_m:.1f} mm by the file, {1e3 * seen.after_m:.1f} mm as identified"
    print(f"held-out flights, centre of mass and cables are off by {what}, {seen.windows} observations")
    if not seen.is_better:
        raise UserError(f"what was identified is no nearer to held-out flights ({what}); there is nothing to adapt to.")
    return seen


def candidates(
    options: AdaptOptions, law: LawRun, plant: tuple[str, Scenario], recordings: tuple[str, ...]
) -> dict[str, Path]:
    """Return run folders of the law that is given the identified values: with the bundle's gains, and with
    gains searched on.
    """
    keep_compiled()
    file, told = plant
    near = min(law.config.search.first_std, NEAR)
    search = replace(law.config.search, start=law.gains._asdict(), first_std=near)
    changes: Figures = {"scenario": file, "search": search, "stop_after": None}
    config = replace(law.config, **changes, total_steps=options.steps or law.config.total_steps)
    ancestry = ancestors_of((options.bundle,), recordings)
    same, searched = (
        SearchOptions(options.out / name, options.seed, minutes=options.minutes, ancestry=ancestry)
        for name in ("told", "run")
    )
    keep_gains(config, told, law.gains, same)
    search_run(config, told, searched)
    return {"told": same.out, "searched": searched.out}


def fly(name: str, known: Scenario, plant: Scenario, options: AdaptOptions) -> Evaluation:
    """Return the `Evaluation` of a team on mujoco, behind the filter, on a plant that it assumes to be as in
    `known`.
    """
    sim = simulation_of(plant).batch(plant, "mujoco", batch_size(options.episodes), options.seed)
    sim.known = known
    seen = evaluate_on(sim, resolve_policy(name)[0], EvalConfig("mujoco", options.episodes, options.seed))
    success, error_m, turned = (seen.figures[k] for k in ("success_rate", "position_error_m", "attitude_error_rad"))
    print(
        f"{name}: success {success:.3f}, {100 * (error_m or np.nan):.2f} cm, {np.degrees(turned or np.nan):.2f} degrees"
    )
    return seen


def gained(error_m: np.ndarray, before_m: np.ndarray) -> tuple[float, float, float]:
    """Return by how much errors [episodes] are smaller if both teams end an episode: mean, ends of its 95 %
    interval.
    """
    gain = (before_m - error_m)[np.isfinite(before_m) & np.isfinite(error_m)]
    ends = bootstrap(gain)
    return (float(gain.mean()), *ends) if ends else (0.0, 0.0, 0.0)  # type: ignore[return-value]


def choose(seen: Mapping[str, Evaluation], least_gain: float) -> str:
    """Each team in turn replaces the one before where it succeeds as often, and errs less beyond chance."""
    chosen = "deployed"
    for name, one in seen.items():
        best = seen[chosen]
        as_often = one.figures["success_rate"] >= best.figures["success_rate"] + least_gain
        if as_often and gained(one.error_m, best.error_m)[1] > 0:
            chosen = name
    return chosen


def export(options: AdaptOptions, run: Path) -> Path:
    """The new bundle's folder."""
    folder = options.out / "bundle"
    bundle = export_bundle(run_of(str(run)), folder, f"{Path(options.bundle).name}_adapted")
    print(f"{folder}: id {bundle.id}")
    return folder
