"""Put observations and actions of robots into one Parquet file: from recordings, or from flights of the simulator."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from robomarl.core.config import Count, Seed, UsageError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFile


@dataclass(frozen=True)
class Args:
    """Options of `robomarl dataset`."""

    bags: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[BAG ...]")] = ()
    """Folders of recordings of one bundle."""
    out: OutFile = Path("dataset.parquet")
    """File to write."""
    bundle: str = ""
    """Name or folder of the bundle; by default the one that flew."""
    layout: Path | None = None
    """File that names the robots and topics in recordings of other software (PX4, MAVROS, Crazyswarm2);
    needs --bundle.
    """
    fly: str = ""
    """Instead of recordings: flights of this bundle, behind its filter and without exploration noise."""
    scenario: str = ""
    """Scenario of --fly, by name or path; by default the one that the bundle was trained for."""
    perturb: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """NAME=VALUE pins a randomized parameter of --fly, as in delay_s=0.12; may be given several times."""
    episodes: Count = 150
    """Number of episodes to fly (with --fly)."""
    seed: Seed = 0
    """Seed of starts, weather and noise (with --fly)."""
    sim: Literal["fast", "mujoco", "mjx"] = "mujoco"
    """Engine (with --fly)."""


def run(args: Args) -> Figures:
    """Write the file."""
    from tqdm import tqdm

    from robomarl.field.recorded_flights import digests

    if bool(args.bags) == bool(args.fly):
        raise UsageError("name recordings, or a bundle with --fly, and not both.")
    digests(args.bags)
    with tqdm(total=100, unit="%", disable=not sys.stderr.isatty(), leave=False) as bar:

        def show(share: float) -> None:
            bar.update(int(100 * share) - bar.n)

        rows = write(args, show)
    print(f"{args.out}: {rows:,} rows, {args.out.stat().st_size / 1e6:.1f} MB")
    return {"rows": rows, "file": str(args.out), "recordings": [str(bag) for bag in args.bags]}


def write(args: Args, progress: Callable[[float], None]) -> int:
    """Write the file from recordings or the simulator, and return the number of rows."""
    if args.layout:
        return write_foreign(args)
    if args.bags:
        from robomarl.field.replay.dataset import write_dataset

        return write_dataset(args.bags, args.out, args.bundle, progress)
    from robomarl.lab.evaluate.simulated_dataset import FlightPlan, write_flights

    plan = FlightPlan(args.fly, args.scenario, args.perturb, args.episodes, args.seed, args.sim)
    return write_flights(plan, args.out, progress)


def write_foreign(args: Args) -> int:
    """Write the file from recordings of other software, and return the number of rows.

    Raises:
        UserError: no bundle is named that gives the rows their observation.
    """
    from robomarl.field.foreign_bags.dataset import write_foreign_dataset
    from robomarl.field.foreign_bags.layout import load_layout

    assert args.layout is not None, "only called with a layout"
    if not (args.bundle and args.bags):
        raise UsageError(
            "--layout: name recordings, and with --bundle the bundle whose observation the rows shall have."
        )
    rows, problems = write_foreign_dataset(args.bags, args.out, load_layout(args.layout), args.bundle)
    for problem in problems:
        print(f"problem: {problem}")
    return rows
