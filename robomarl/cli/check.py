"""Compare the engines: same start, same commands, how far apart they drift. Exit status 1 if too far."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro

from robomarl.config import Natural, Positive


@dataclass(frozen=True)
class Args:
    """Options of `robomarl check`."""

    scenario: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENARIO")]
    """Name or file."""
    sims: tuple[Literal["fast", "mujoco", "mjx"], ...] = ("fast", "mujoco", "mjx")
    """Engines."""
    seconds: Positive = 2.0
    """How long they fly."""
    seed: Natural = 0
    """Starts, randomization, wind and commands."""


def run(args: Args) -> dict[str, Any]:
    """Compare every pair of engines; print a table."""
    from robomarl.domains.soccer.scenario import is_soccer

    if is_soccer(args.scenario):
        return run_game(args)
    from robomarl.domains.flight.check import CheckConfig, check_engines
    from robomarl.sim.scenario import load_scenario

    config = CheckConfig(args.sims, args.seconds, args.seed)
    figures = check_engines(load_scenario(args.scenario), config)
    print(table(figures))
    return figures


def run_game(args: Args) -> dict[str, Any]:
    """Compare the engines of a game; print a table."""
    from robomarl.domains.soccer import check
    from robomarl.domains.soccer.scenario import load_soccer

    figures = check.check_soccer(load_soccer(args.scenario), args.seed)
    print(check.table(figures))
    return figures


def table(figures: dict[str, Any]) -> str:
    """One line for each pair of engines, and the verdict."""
    lines = [f"{'engines':<18}{'position m':>12}{'attitude deg':>14}"]
    for pair in figures["pairs"]:
        name = f"{pair['first']} - {pair['second']}"
        degrees = math.degrees(pair["attitude_diff_rad"])
        lines.append(f"{name:<18}{pair['position_diff_m']:>12.2g}{degrees:>14.2g}")
    limit = math.degrees(figures["attitude_limit_rad"])
    lines.append(f"{'limit':<18}{figures['position_limit_m']:>12.2g}{limit:>14.2g}")
    verdict = "the engines agree" if figures["passed"] else "the engines DISAGREE"
    return "\n".join([*lines, f"{figures['scenario']}, {figures['seconds']:g} s of harsh commands: {verdict}."])
