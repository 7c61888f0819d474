"""The main job on one machine: train, export, verify, evaluate, flash, fly through ROS 2, report.

Every stage prints a line when it begins and how long it took; a table and a report page come at the end.
"""

import platform
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from robomarl.core.types import Figures

FLIGHTS, QUICK_FLIGHTS = 10, 3
EPISODES, QUICK_EPISODES = 200, 50

if TYPE_CHECKING:
    import numpy as np

    from robomarl.front.report.report import RecordedFlight, TeamMeasurements
    from robomarl.ros.operator.flight_outcome import FlightFigures
    from robomarl.ros.operator.flights import FlightsResult

    Outcomes = list[TeamMeasurements]

TRAIN_MINUTES = 5.0
SIMULATORS = {"fast": "training engine", "mujoco": "MuJoCo"}
"""Engines as the table and the page name them."""


@dataclass(frozen=True)
class DemoOptions:
    """How the demo runs."""

    out: Path
    """Folder for everything that it makes."""
    quick: bool = False
    """Fly the bundle that ships instead of training one; fewer flights."""
    fleet: str = "local_4"
    """Fleet file; its robots are folders on this machine."""
    seed: int = 0


@dataclass
class StageLog:
    """Progress so far: stages for the report, figures for the table."""

    total: int
    stages: list[tuple[str, float, str]] = field(default_factory=list)
    figures: Figures = field(default_factory=lambda: {"train_seconds": 0.0})

    @contextmanager
    def stage(self, name: str) -> Iterator[list[str]]:
        """Print a line, time the stage; words put into the list are its note."""
        print(f"[{len(self.stages) + 1}/{self.total}] {name} ...", flush=True)
        note: list[str] = []
        started = time.monotonic()
        yield note
        took = time.monotonic() - started
        self.stages.append((name, took, "; ".join(note)))
        print(f"      {took:6.1f} s  {'; '.join(note)}", flush=True)


def run_demo(options: DemoOptions) -> Figures:
    """The whole job; returns the figures of `--json`.

    Raises:
        UserError: a stage could not do its work; the message is that stage's.
    """
    started = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    for old in ("run", "bag", "flights"):  # of an earlier demo
        shutil.rmtree(options.out / old, ignore_errors=True)
    journal = StageLog(7 if options.quick else 9)
    run_dir = None if options.quick else train(options, journal)
    bundle = "swap_4" if run_dir is None else str(export(run_dir, options, journal))
    verify(bundle, journal)
    outcomes = [evaluate_on(sim, bundle, options, journal) for sim in ("fast", "mujoco")]
    flash(bundle, options, journal)
    result = fly(options, journal)
    outcomes.append(ros_outcome(journal, result))
    video = draw(options, journal, result)
    journal.figures["wall_seconds"] = time.monotonic() - started
    report(options, journal, run_dir, outcomes, result, video)
    journal.figures["ok"] = journal.figures["success_ros"] > 0 and journal.figures["collisions"] == 0
    print_table(journal.figures, outcomes, options.out / "report.html")
    return journal.figures


def train(options: DemoOptions, journal: StageLog) -> Path:
    """Train the fleet's scenario with its recipe."""
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.config import load_recipe
    from robomarl.lab.train.run.options import RunOptions
    from robomarl.lab.train.run.runner import train_run

    out, scenario = options.out / "run", load_fleet(options.fleet).scenario
    with journal.stage(f"train {scenario}") as note:
        config, _ = load_recipe(scenario)
        row = train_run(config, load_scenario(scenario), RunOptions(out, options.seed, minutes=TRAIN_MINUTES))[0]
        if row["interrupted"]:
            raise KeyboardInterrupt
        note.append(f"{row['steps'] / 1e6:.1f} million agent-steps, success {row['success']:.0%} in training")
        journal.figures["train_seconds"] = row["seconds"]
    return out


def export(run_dir: Path, options: DemoOptions, journal: StageLog) -> Path:
    """Seal the run's best policy into a bundle."""
    from robomarl.lab.export import export_bundle
    from robomarl.lab.train.run.run_folder import load_run

    with journal.stage("export the bundle") as note:
        bundle = export_bundle(load_run(run_dir), options.out / "bundle", "demo")
        note.append(f"id {bundle.id[:12]}")
    return options.out / "bundle"


def verify(bundle: str, journal: StageLog) -> None:
    """Hashes, contract, golden values, latency on this machine."""
    from robomarl.core.config import UserError
    from robomarl.fleet.checks.isolated_check import verify_bundle

    with journal.stage("verify the bundle") as note:
        found = verify_bundle(bundle)
        if not found.ok:
            raise UserError(f"{bundle}: {found.problems[0]}")
        journal.figures["bundle_id"] = found.id
        note.append(f"differs from training by {found.parity_max:.1e} at most")


def evaluate_on(sim: str, bundle: str, options: DemoOptions, journal: StageLog) -> "TeamMeasurements":
    """Episodes on one engine, behind the filter."""
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.front.report.report import TeamMeasurements
    from robomarl.front.report.units import collision_words, share_of
    from robomarl.lab.evaluate.evaluate import evaluate
    from robomarl.lab.evaluate.evaluation import HOVER_FIGURES, HOVER_S, EvalConfig
    from robomarl.lab.evaluate.resolve import resolve_policy
    from robomarl.lab.sim.scenario import load_scenario

    episodes = QUICK_EPISODES if options.quick else EPISODES
    with journal.stage(f"fly {episodes} episodes in {sim}") as note:
        policy, _ = resolve_policy(bundle)
        scenario = load_scenario(load_fleet(options.fleet).scenario)
        hover_s = HOVER_S if sim == "mujoco" else 0.0
        found = evaluate(policy, scenario, EvalConfig(sim, episodes, options.seed, hover_s=hover_s)).figures
        journal.figures[f"success_{sim}"] = found["success_rate"]
        journal.figures |= {k: v for k, v in found.items() if k in HOVER_FIGURES}
        won, collisions = round(found["success_rate"] * episodes), found["collisions"]
        note.append(f"{share_of(won, episodes)} succeeded, {collision_words(collisions)}")
    return TeamMeasurements(SIMULATORS[sim], episodes, won, collisions, found["min_distance_m"])


def flash(bundle: str, options: DemoOptions, journal: StageLog) -> None:
    """Put the bundle on all robots, or on none."""
    from robomarl.core.bundle.bundle import load_bundle
    from robomarl.core.config import UserError
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.fleet.flash import flash as flash_all
    from robomarl.fleet.robot import connect_all

    with journal.stage("flash the fleet") as note:
        reports = flash_all(load_bundle(bundle), connect_all(load_fleet(options.fleet), options.out))
        bad = [r for r in reports if not r.ok]
        if bad:
            raise UserError(f"{bad[0].name}: {bad[0].reason}")
        note.append(f"{len(reports)} robots")


def fly(options: DemoOptions, journal: StageLog) -> "FlightsResult":
    """Flights through the real ROS 2 nodes against MuJoCo, judged by the true poses."""
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.front.report.units import share_of
    from robomarl.ros.operator.flights import fly as fly_fleet
    from robomarl.ros.operator.plan_options import PlanOptions

    flights = QUICK_FLIGHTS if options.quick else FLIGHTS
    out = options.out.absolute()
    plan = PlanOptions(seed=options.seed, root=str(out), log_dir=str(out / "flights"), record=str(out / "bag"))
    with journal.stage(f"fly {flights} times through ROS 2") as note:
        result = fly_fleet(load_fleet(options.fleet), plan, flights, landed=lambda f: print(_landed(f), flush=True))
        note.append(f"{share_of(sum(f.success for f in result.flights), flights)} succeeded")
    return result


def _landed(flight: "FlightFigures") -> str:
    words = "arrived" if flight.success else flight.reason
    return (
        f"      flight {flight.seed}: {words} after {flight.flight_s:.1f} s, {flight.min_distance_m:.2f} m at closest"
    )


def ros_outcome(journal: StageLog, result: "FlightsResult") -> "TeamMeasurements":
    """The flights' figures, into the journal and as a row of the report."""
    from robomarl.front.report.report import TeamMeasurements

    flights = result.flights
    won = sum(f.success for f in flights)
    worst = {f"tick_p{q}_us": slowest_tick_us(result, q) for q in (50, 99)}
    least, collisions = min(f.min_distance_m for f in flights), sum(f.collisions for f in flights)
    expected, received = (counts.sum() for counts in messages(result, tuple(flights[0].ticks_us)))
    journal.figures |= {
        "success_ros": won / len(flights),
        "flights": len(flights),
        "min_distance_m": least,
        "collisions": collisions,
        **worst,
        "messages_lost": int(expected - received),
        "messages_expected": int(expected),
    }
    return TeamMeasurements("ROS 2", len(flights), won, collisions, least, worst["tick_p50_us"], worst["tick_p99_us"])


def slowest_tick_us(result: "FlightsResult", percentile: float) -> float:
    """Return a percentile of the times of the ticks of the slowest robot, over all flights [us]."""
    import numpy as np

    robots = result.flights[0].ticks_us
    times_us = [np.concatenate([flight.ticks_us[name] for flight in result.flights]) for name in robots]
    return max((float(np.percentile(times, percentile)) for times in times_us if len(times)), default=float("nan"))


def draw(options: DemoOptions, journal: StageLog, result: "FlightsResult") -> Path | None:
    """Film the first flight that was logged; None if there is none."""
    from robomarl.core.domain.scenario import needed
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.core.log import load_flight
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.simulation import simulation_of

    logs = [flight.log for flight in result.flights if flight.log]
    if not logs:
        return None
    with journal.stage("film a flight") as note:
        scenario = load_scenario(load_fleet(options.fleet).scenario)
        video = options.out / "flight.gif"
        needed(simulation_of(scenario).evaluation.film, scenario, "film")(load_flight(Path(logs[0])), scenario, video)
        note.append(str(video))
    return video


def report(
    options: DemoOptions,
    journal: StageLog,
    run_dir: Path | None,
    outcomes: "Outcomes",
    result: "FlightsResult",
    video: Path | None,
) -> None:
    """Write the page."""
    import numpy as np

    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.front.report.report import DemoReport, DemoStage, write_demo_report
    from robomarl.lab.sim.scenario import load_scenario

    with journal.stage("write the report"):
        fleet = load_fleet(options.fleet)
        scenario = load_scenario(fleet.scenario)
        robots = tuple(r.name for r in sorted(fleet.robots, key=lambda r: r.index))
        expected, received = messages(result, robots)
        data = DemoReport(
            subtitle=f"{fleet.scenario} with {len(robots)} robots on {platform.machine()}",
            stages=tuple(DemoStage(*stage) for stage in journal.stages),
            wall_s=journal.figures["wall_seconds"],
            outcomes=tuple(outcomes),
            hover=journal.figures,
            run_dir=run_dir,
            flights=recorded(result),
            robots=robots,
            tolerance_m=scenario.success.position_m,
            ticks_us={name: np.concatenate([f.ticks_us[name] for f in result.flights]) for name in robots},
            period_us=scenario.period_s * 1e6,
            expected=expected,
            received=received,
            video=video,
            facts={"bundle": journal.figures.get("bundle_id", ""), "fleet": fleet.name, "recording": result.recording},
        )
        write_demo_report(data, options.out / "report.html")


def recorded(result: "FlightsResult") -> "tuple[RecordedFlight, ...]":
    """Return the logs of the flights with the values of their judge."""
    from robomarl.core.log import load_flight
    from robomarl.front.report.report import RecordedFlight

    logged = [flight for flight in result.flights if flight.log]
    return tuple(RecordedFlight(f"flight {f.seed}", load_flight(Path(f.log)), judged(f)) for f in logged)


def judged(flight: "FlightFigures") -> Figures:
    """Return the judge's values of a `FlightFigures`, by the heads of the report's table; the remaining
    ones are from the log.
    """
    from robomarl.front.report.units import metres

    return {
        "succeeded": "yes" if flight.success else "no",
        "arrived after": None if flight.arrived_s is None else f"{flight.arrived_s:.2f} s",
        "collisions": flight.collisions,
        "least distance at any physics step": metres(flight.min_distance_m),
    }


def messages(result: "FlightsResult", robots: tuple[str, ...]) -> "tuple[np.ndarray, np.ndarray]":
    """[N, N] messages that each robot (row) should have heard from each other (column), and that it did hear."""
    import numpy as np

    expected, received = np.zeros((2, len(robots), len(robots)), int)
    for flight in result.flights:
        for link in flight.links:
            if link.sender in robots and link.receiver in robots:
                place = robots.index(link.receiver), robots.index(link.sender)
                expected[place] += link.expected
                received[place] += link.received
    return expected, received


def print_table(figures: Figures, outcomes: "Outcomes", page: Path) -> None:
    """Print the figures that the page shows, in its words."""
    from robomarl.front.report.units import duration, metres, microseconds, share_of

    lost, expected = figures["messages_lost"], figures["messages_expected"]
    rows = [(f"flights that succeed, {o.where}", share_of(o.successes, o.episodes)) for o in outcomes]
    rows += [
        ("collisions, ROS 2", f"{figures['collisions']}"),
        ("least distance, ROS 2", metres(figures["min_distance_m"])),
        ("tick of the slowest robot, median", microseconds(figures["tick_p50_us"])),
        ("tick of the slowest robot, 99 % within", microseconds(figures["tick_p99_us"])),
        ("messages lost between robots", f"{lost:,} of {expected:,}"),
        ("whole demo", duration(figures["wall_seconds"])),
    ]
    print("\n" + "\n".join(f"  {name:<40}{value:>22}" for name, value in rows))
    print(f"\n  report: {page}   (all reports: robomarl reports)")
