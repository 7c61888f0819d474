"""Fly episodes with runs, bundles or the scripted `baseline`, and count successes, collisions and errors."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from robomarl.config import UserError


@dataclass(frozen=True)
class Args:
    """Options of `robomarl eval`."""

    policies: Annotated[tuple[str, ...], tyro.conf.Positional]
    """Bundles by name or folder, run folders, or `baseline`."""
    sim: Literal["fast", "mujoco", "mjx"] = "mujoco"
    """Engine."""
    scenario: str | None = None
    """Name or file; by default the one that the policy was trained for. Another team size is fine."""
    episodes: int = 200
    """Episodes of each policy."""
    seed: int = 0
    """Starts, weather and noise."""
    filter: Literal["full", "qp", "textbook", "off"] = "full"
    """Safety filter between policy and robot."""
    perturb: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """NAME=VALUE pins a randomized parameter, as in mass_scale=1.1; may be given several times."""
    paired: bool = False
    """Compare the first policy with each other one, episode by episode."""
    video: Path | None = None
    """Film the first policy's first episode: .gif, .png or .mp4."""


def run(args: Args) -> dict[str, Any]:
    """Evaluate every policy; print a table."""
    from robomarl.train.evaluate import EvalConfig, evaluate, perturbed
    from robomarl.train.resolve import resolve_policy

    if not args.policies:
        raise UserError("Name at least one policy: a bundle, a run folder, or baseline.")
    record = 0 if args.video else None
    config = EvalConfig(args.sim, args.episodes, args.seed, args.filter, record)
    flown = []
    for name in args.policies:
        policy, scenario = resolve_policy(name, args.scenario)
        scenario = perturbed(scenario, args.perturb)
        flown.append(evaluate(policy, scenario, config))
        if args.video and len(flown) == 1:
            _film(flown[0].log, scenario, args.video)
    rows = [
        {**f.figures, "policy": name, "perturb": list(args.perturb)}
        for name, f in zip(args.policies, flown, strict=True)
    ]
    print(table(rows))
    return _figures(args, rows, [f.success for f in flown])


def _figures(args: Args, rows: list[dict[str, Any]], successes: list) -> dict[str, Any]:
    from robomarl.train.tally import paired_difference

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
