"""Compare the engines: same start, same commands, how far apart they drift. Exit status 1 if too far."""

from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from robomarl.core.config import Positive, Seed
from robomarl.core.types import Figures


@dataclass(frozen=True)
class Args:
    """Options of `robomarl check`."""

    scenario: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENARIO")]
    """Name or file."""
    sims: tuple[Literal["fast", "mujoco", "mjx"], ...] = ("fast", "mujoco", "mjx")
    """Engines."""
    seconds: Positive = 2.0
    """How long they fly."""
    seed: Seed = 0
    """Starts, randomization, wind and commands."""


def run(args: Args) -> Figures:
    """Compare the engines; print a table."""
    from robomarl.lab.sim.check import CheckConfig, check_engines, table
    from robomarl.lab.sim.scenario import load_scenario

    figures = check_engines(load_scenario(args.scenario), CheckConfig(args.sims, args.seconds, args.seed))
    print(table(figures))
    return figures
