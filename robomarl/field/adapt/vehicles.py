"""Adaptation of a team that carries nothing: its vehicles are identified, and its network trains on."""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from robomarl.core.bundle.provenance import UsedResidual
from robomarl.core.config import UserError
from robomarl.core.types import Figures
from robomarl.field.adapt.options import AdaptOptions, change_of, split
from robomarl.field.identify.believed import believing
from robomarl.field.identify.held_out import AFTER_S, Prediction, predict_held_out
from robomarl.field.identify.identify import figures_of, identify, text_of
from robomarl.field.identify.patch import write_patch
from robomarl.field.identify.residual import Judged, learn_residual, section_text, used
from robomarl.field.identify.robot_fit import RobotFit
from robomarl.field.identify.safety_figures import safety_figures
from robomarl.field.recorded_flights import RecordedFlights
from robomarl.field.track import RobotTrack
from robomarl.field.work import field_of
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.export import export_bundle
from robomarl.lab.sim.engines.compiler import keep_compiled
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.train.config import Lesson
from robomarl.lab.train.run.bundle_as_run import run_of
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.run_folder import Run
from robomarl.lab.train.run.runner import train_run

STEPS = 2_000_000
"""Agent-steps of a network's training."""
LESSONS_OVER = 0.6
"""Share of the steps after which the plant is the identified one; a team that begins there falls at once."""


def adapt_vehicles(options: AdaptOptions, flown: RecordedFlights, known: Run) -> Figures:
    """Adapt a team that carries nothing: its vehicles are identified, and the network `known` trains on."""
    keep_compiled()
    started_s = time.perf_counter()
    sets = split(options, flown)
    found, missing = identify(flown.scenario, sets.seen)
    print("\n".join([text_of(found), *(f"problem: {problem}" for problem in (*flown.problems, *missing))]))
    prediction = accept(found, sets.gate, flown.scenario.period_s)
    factor, flown = weigh(options, flown, found)
    if factor != 1:
        sets = split(options, flown)
        found, missing = identify(flown.scenario, sets.seen)
    residual = learn_residual(flown.scenario, found, sets if options.residual else None, options.seed)
    print(residual.said)
    beside, used = section_of(options.out, residual)
    plant = write_plant(options.out / "identified", flown, found, beside)
    judges = judges_of(
        options, flown, factor, options.judge or write_judge(options.out, flown, sets.gate, (plant, beside))
    )
    trained = train(options, (known, plant), flown.provenance.recordings, used)
    folder, before, after = judge_and_export(options, trained, judges)
    figures = {
        "success_before": before["success_rate"], "success_after": after["success_rate"],
        "seconds": time.perf_counter() - started_s, "judge": judges[1], "believed_mass_factor": factor,
        "before": before, "after": after, "prediction": prediction._asdict(), **figures_of(found),
        "residual": residual.figures,
        "parent": options.bundle, "bundle": str(folder) if folder else None, "ok": folder is not None,
        "action_change": change_of(options.bundle, folder),
        "provenance": flown.provenance._asdict(), "options": {k: str(v) for k, v in asdict(options).items()},
        "problems": [*flown.problems, *missing],
    }  # fmt: skip
    print(f"success {before['success_rate']:.3f} before, {after['success_rate']:.3f} after; {figures['seconds']:.0f} s")
    return figures


def weigh(options: AdaptOptions, flown: RecordedFlights, found: Sequence[RobotFit]) -> tuple[float, RecordedFlights]:
    """Return the factor on the controllers' mass, and the flights as if the controllers had known it; 1: it is
    right.
    """
    correction = field_of(flown.scenario).mass_correction(found, flown.tracks)
    if correction is None:
        return 1.0, flown
    of = flown.provenance
    file = believing(options.out / "weighed", of.scenario, correction.factor, of)
    mass_kg = load_scenario(file).vehicle_config.body.mass_kg
    print(f"the low-level controllers are to believe {correction.factor:.3f} times the mass, {mass_kg:.4g} kg: {file}")
    return correction.factor, RecordedFlights(
        load_scenario(file), correction.tracks, of._replace(scenario=file), flown.problems
    )


def judges_of(options: AdaptOptions, flown: RecordedFlights, factor: float, judge: str) -> tuple[str, str]:
    """Return one plant for the bundle and for the adapted policy, each with the mass that its controllers assume.

    `--judge` is as the bundle's controllers know it, the plant of the held-out flights as the adapted
    policy's do.
    """
    if factor == 1:
        return judge, judge
    of, folder = flown.provenance, options.out / "judge_believed"
    if options.judge:
        return judge, believing(folder, judge, factor, of)
    return believing(folder, judge, 1 / factor, of), judge


def accept(found: Sequence[RobotFit], held: list[RobotTrack], period_s: float) -> Prediction:
    """How well held-out flights are predicted.

    Raises:
        UserError: no better than by the vehicle's file.
    """
    seen = predict_held_out(found, held, period_s)
    if seen is None:
        raise UserError("the held-out flights have no whole window; record longer ones.")
    what = f"{1e3 * seen.before_m:.1f} mm by the file, {1e3 * seen.after_m:.1f} mm as identified"
    print(f"held-out flights, position {AFTER_S:g} s on, {seen.windows} windows: {what}")
    if not seen.is_better:
        raise UserError(
            f"the identified vehicles predict held-out flights no better ({what}); there is nothing to adapt to."
        )
    return seen


def section_of(out: Path, residual: Judged) -> tuple[str, UsedResidual | None]:
    """Return the residual's section for the scenarios to train and judge in, and its record for bundles;
    empty and None if none is used.
    """
    if residual.candidate is None or residual.prediction is None:
        return "", None
    out.mkdir(parents=True, exist_ok=True)
    file = out / "residual.npz"
    section = residual.candidate.save(file)
    # As seen from the folder of either scenario, so that `out` may be moved.
    return section_text({**section, "file": f"../{file.name}"}), used(residual.prediction, section)


def write_plant(folder: Path, flown: RecordedFlights, found: Sequence[RobotFit], beside: str = "") -> str:
    """The scenario to train in, with its vehicle's file; `beside` is a section more."""
    figures = safety_figures(flown.scenario.vehicle_config, found)
    file = write_patch(folder, flown.scenario, found, figures, flown.provenance)[0]
    file.write_text(file.read_text() + beside)
    return str(file)


def write_judge(out: Path, flown: RecordedFlights, held: list[RobotTrack], trained_in: tuple[str, str]) -> str:
    """The plant of the held-out flights alone; where these are too few the one of training, which is said.

    `trained_in` is that one and its section beside, the residual that these flights have let pass.
    """
    plant, beside = trained_in
    try:
        return write_plant(out / "judge", flown, identify(flown.scenario, held)[0], beside)
    except UserError as error:
        print(f"problem: judged in the scenario of training, since {error}")
        return plant


def train(
    options: AdaptOptions, way: tuple[Run, str], recordings: tuple[str, ...], used: UsedResidual | None = None
) -> Path:
    """Train on along `way`, from a run in an identified scenario, on `fast`; `used` is the residual that this has."""
    known, plant = way
    scenario = load_scenario(plant)
    rates = {"learning_rate": options.learning_rate / 3, "top_learning_rate": options.learning_rate}
    changes: Figures = {
        "total_steps": options.steps or STEPS,
        "stop_after": None,
        "stay_cost": options.stay_cost,
        **rates,
    }
    lessons = from_known_to(known.scenario, scenario)
    config = replace(known.config, scenario=plant, curriculum=lessons, **changes)
    told: Figures = {"recordings": recordings, "residual": used}
    how = RunOptions(
        options.out / "run", options.seed, minutes=options.minutes, init=(options.bundle,), evaluations=3, **told
    )
    if train_run(config, scenario, how)[0]["interrupted"]:
        raise KeyboardInterrupt
    return options.out / "run"


def from_known_to(known: Scenario, plant: Scenario) -> tuple[Lesson, ...]:
    """Lessons that lead from the ranges that the bundle was trained in to those of the plant."""
    names = [name for name in plant.randomized if name != "delay_s"]  # which decides what is compiled
    pairs = {name: (getattr(known.randomize, name), getattr(plant.randomize, name)) for name in names}
    return tuple(
        Lesson(f"randomize.{name}", begin, end, LESSONS_OVER) for name, (begin, end) in pairs.items() if begin != end
    )


def judge_and_export(
    options: AdaptOptions, trained: Path, judges: tuple[str, str]
) -> tuple[Path | None, Figures, Figures]:
    """Both on mujoco behind the filter; the bundle's folder, None where it was not good enough to be one."""
    config = EvalConfig("mujoco", options.episodes, options.seed)
    before, after = (
        evaluate(*resolve_policy(name, judge), config).figures
        for name, judge in zip((options.bundle, str(trained)), judges, strict=True)
    )
    if after["success_rate"] < before["success_rate"] + options.least_gain:
        print("the trained policy is not better than the bundle; no bundle was written.")
        return None, before, after
    folder = options.out / "bundle"
    bundle = export_bundle(run_of(str(trained)), folder, f"{Path(options.bundle).name}_adapted")
    print(f"{folder}: id {bundle.id}")
    return folder, before, after
