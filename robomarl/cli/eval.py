"""Fly episodes with runs, bundles or the scripted `baseline`, and count successes, collisions and errors."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from robomarl.config import Count, Natural, UserError


@dataclass(frozen=True)
class Args:
    """Options of `robomarl eval`."""

    policies: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="POLICY ...")]
    """Bundles by name or folder, run folders, or `baseline`."""
    sim: Literal["fast", "mujoco", "mjx"] = "mujoco"
    """Engine."""
    scenario: str | None = None
    """Name or file; by default the one that the policy was trained for. Another team size is fine."""
    episodes: Count = 200
    """Episodes of each policy."""
    seed: Natural = 0
    """Starts, weather and noise."""
    filter: Literal["full", "qp", "textbook", "upright", "off"] = "full"
    """Safety filter between policy and robot; upright: off until a vehicle that was thrown is upright."""
    perturb: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """NAME=VALUE pins a randomized parameter, as in mass_scale=1.1, NAME a variation that the scenario holds out;
    may be given several times."""
    held_out: bool = False
    """Fly every variation that the scenario holds out from training as well."""
    sensitivity: Path | None = None
    """Plot the first policy's success against every randomized parameter, within and beyond training: .png or .svg."""
    sensitivity_episodes: Count = 40
    """Episodes of each point of that plot."""
    paired: bool = False
    """Compare the first policy with each other one, episode by episode."""
    video: Path | None = None
    """Film the first policy's first episode: .gif, .png or .mp4; of a game .gif or .png."""
    against: str = ""
    """Games: the other team; by default the scenario's opponent."""


def run(args: Args) -> dict[str, Any]:
    """Evaluate every policy; print a table."""
    from robomarl.domains.soccer.scenario import is_soccer

    if args.against or (args.scenario and is_soccer(args.scenario)) or plays(args.policies, args.scenario):
        return run_games(args, args.scenario)
    return run_flights(args)


def plays(policies: tuple[str, ...], scenario: str | None) -> bool:
    """Whether the first policy was trained for a game, where no scenario is named."""
    from robomarl.domains.soccer.controllers import SCRIPTS
    from robomarl.evaluate.resolve import BASELINE, LAW, resolve_policy

    if scenario or not policies or policies[0] in (BASELINE, LAW):
        return False
    return policies[0] in SCRIPTS or resolve_policy(policies[0])[1].task == "soccer"


def run_flights(args: Args) -> dict[str, Any]:
    """Fly the episodes of every policy."""
    from robomarl.evaluate.evaluate import EvalConfig, evaluate, perturbed
    from robomarl.evaluate.hover import HOVER_S
    from robomarl.evaluate.resolve import resolve_policy
    from robomarl.report.plots.sensitivity import check_file

    if not args.policies:
        raise UserError("Name at least one policy: a bundle, a run folder, or baseline.")
    if args.sensitivity:
        check_file(args.sensitivity)
    record = 0 if args.video else None
    config = EvalConfig(args.sim, args.episodes, args.seed, args.filter, record, hover_s=HOVER_S)
    flown, rows = [], []
    for name in args.policies:
        policy, scenario = resolve_policy(name, args.scenario)
        scenario = perturbed(scenario, args.perturb)
        flown.append(evaluate(policy, scenario, config))
        row = {**flown[-1].figures, "policy": name, "perturb": list(args.perturb)}
        if args.held_out:
            row["held_out"] = fly_held_out(policy, scenario, config)
        if args.sensitivity and len(flown) == 1:
            row["sensitivity"] = plot_sensitivity(args, policy, scenario)
        if args.video and len(flown) == 1:
            _film(flown[0].log, scenario, args.video)
        rows.append(row)
    print(table(rows))
    for row in rows:
        print_held_out(row)
    return _figures(args, rows, [f.success for f in flown])


def fly_held_out(policy: Any, scenario: Any, config: Any) -> dict[str, dict[str, Any]]:
    """Figures of every variation that training never sees, by name.

    Raises:
        UserError: the scenario holds out nothing.
    """
    from robomarl.evaluate.evaluate import evaluate, perturbed

    if not scenario.held_out:
        raise UserError(f"--held-out: scenario {scenario.name} has no section [held_out]; name some variations there.")
    quiet = replace(config, record=None)
    return {name: evaluate(policy, perturbed(scenario, [name]), quiet).figures for name in scenario.held_out}


def print_held_out(row: dict[str, Any]) -> None:
    """One line for each held-out variation."""
    for name, found in row.get("held_out", {}).items():
        low, high = found["success_ci95"]
        print(
            f"{row['policy']}, held out {name:<16} success {found['success_rate']:.3f} [{low:.3f}, {high:.3f}], "
            f"{found['collision_episodes']} of {found['episodes']} with a collision"
        )


def plot_sensitivity(args: Args, policy: Any, scenario: Any) -> dict[str, list[dict[str, Any]]]:
    """Fly and draw the sensitivity to every randomized parameter."""
    from robomarl.evaluate.evaluate import EvalConfig
    from robomarl.evaluate.sensitivity import sensitivity
    from robomarl.report.plots.sensitivity import write_sensitivity

    assert args.sensitivity is not None, "only called with a file"
    config = EvalConfig(args.sim, args.sensitivity_episodes, args.seed, args.filter)
    points = sensitivity(policy, scenario, config)
    title = (
        f"{policy.name} in {scenario.name} on {args.sim}, filter {args.filter}: {args.sensitivity_episodes} episodes "
        "a point, 95 % intervals; shaded: training; x: collisions"
    )
    write_sensitivity(points, title, args.sensitivity)
    print(f"sensitivity: {args.sensitivity}")
    return points


def run_games(args: Args, scenario: str | None) -> dict[str, Any]:
    """Matches and set pieces of every team; print a table."""
    from robomarl.domains.soccer.evaluation.evaluate import GameConfig, evaluate_game, table

    if not args.policies:
        raise UserError("Name at least one team: a bundle, a run folder, or a script, chaser or keeper.")
    rows = []
    for i, name in enumerate(args.policies):
        video = args.video if i == 0 else None
        config = GameConfig(args.sim, args.episodes, args.seed, args.against, tuple(args.perturb), video, args.filter)
        rows.append(evaluate_game(name, scenario, config))
    print(table(rows))
    return rows[0] if len(rows) == 1 else {"policies": rows}


def _figures(args: Args, rows: list[dict[str, Any]], successes: list) -> dict[str, Any]:
    from robomarl.domains.flight.score import paired_difference

    if len(rows) == 1:
        return rows[0]
    figures: dict[str, Any] = {"policies": rows}
    if args.paired:
        if len({row["scenario"] for row in rows}) > 1:
            raise UserError("--paired needs the same episodes for all policies; add --scenario NAME.")
        pairs = zip(args.policies[1:], successes[1:], strict=True)
        figures["paired"] = [
            {"first": args.policies[0], "second": name, **paired_difference(successes[0], other)}
            for name, other in pairs
        ]
        for pair in figures["paired"]:
            low, high = pair["difference_ci95"]
            print(
                f"{pair['first']} - {pair['second']}: success {pair['success_difference']:+.3f} "
                f"[{low:+.3f}, {high:+.3f}] over the same episodes"
            )
    return figures


def _film(log: Any, scenario: Any, file: Path) -> None:
    from robomarl.sim.render import render_video

    render_video(log, scenario, file)
    print(f"film: {file}")


COLUMNS = {
    "policy": "policy",
    "scenario": "scenario",
    "sim": "sim",
    "filter": "filter",
    "success": "success_rate",
    "95 %": "success_ci95",
    "coll.": "collisions",
    "min m": "min_distance_m",
    "arrive s": "arrival_time_s",
    "err m": "position_error_m",
    "hover m/s^2": "hover_accel_std_m_s2",
    "rad": "hover_tilt_rad",
    "m": "hover_error_m",
    "active": "active_share",
    "x real time": "realtime_factor",
}


def table(rows: list[dict[str, Any]]) -> str:
    """The figures that people look at first, aligned."""
    lines = [list(COLUMNS), *([_cell(row[key]) for key in COLUMNS.values()] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    return "\n".join("  ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) for line in lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return f"{value[0]:.3f}-{value[1]:.3f}"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
