"""Decide a recorded field test again, tick by tick, and report on its flights."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from robomarl.core.config import UserError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFile, check_file

if TYPE_CHECKING:
    from robomarl.field.replay.replayed import Replayed
    from robomarl.front.report.page import Section


@dataclass(frozen=True)
class Args:
    """Options of `robomarl replay`."""

    bag: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="BAG")]
    """Folder of a recording (MCAP, rosbag2), or one of its files."""
    bundle: str = ""
    """Name or folder of the bundle that decides; by default the one that flew."""
    team: str = ""
    """Of a recording of a game: a robot of the team that decides again."""
    out: OutFile | None = None
    """The report page; by default replay.html in runs/replay/NAME."""
    gap: bool = True
    """Fly the recording's legs again in MuJoCo, and compare."""


def run(args: Args) -> Figures:
    """Replay, print the results, write the page; `passed` says that the bundle decided here as it did there."""
    from tqdm import tqdm

    from robomarl.field.replay.figures import figures_of
    from robomarl.field.replay.replayed import replay_bag
    from robomarl.front.report.replay_page import write_replay_page

    page = args.out or Path("runs/replay") / args.bag.resolve().name / "replay.html"
    check_file("--out", page)
    with tqdm(total=100, unit="%", disable=not sys.stderr.isatty(), leave=False) as bar:
        move = lambda share: bar.update(int(100 * share) - bar.n)  # noqa: E731
        found = replay_bag(args.bag, args.bundle, move, args.gap, args.team)
    figures = figures_of(found)
    print(figures["verdict"])
    for name, robot in figures["robots"].items():
        print(
            f"  {name}: {robot['ticks']} ticks, action {robot['action_diff_max']:.3g}, command "
            f"{robot['command_diff_max']:.3g}, observation {robot['observation_diff_max']:.3g}; outside of training "
            f"{robot['out_of_range_share']:.1%}; filter {robot['filtered_share']:.1%}"
        )
    for problem in found.problems:
        print(f"problem: {problem}")
    gap, sections = compare(found) if args.gap else ({}, [])
    figures = {**figures, "gap": gap}
    write_replay_page(found, figures, page, sections)
    print(f"{figures['recorded_s']:.1f} s in {figures['seconds']:.1f} s; report: {page}")
    return {**figures, "report": str(page)}


def compare(found: "Replayed") -> tuple[Figures, "list[Section]"]:
    """Figures and section of the gap to the simulator; a sentence where there is none."""
    from robomarl.field.identify.gap import gap_figures, measure_gap
    from robomarl.front.report.gap_section import gap_section, verdict
    from robomarl.lab.sim.scenario import load_scenario

    recording = found.recording
    try:
        if not recording.scenario:
            raise UserError("the recording names no scenario")
        gap = measure_gap(load_scenario(recording.scenario), found.tracks)
    except UserError as error:
        print(f"no gap report: {error}")
        return {"missing": str(error)}, []
    if gap is None:
        print("no gap report: no robot follows its policy for two seconds without a gap in its estimates.")
        return {"missing": "no track is as long as a leg"}, []
    figures = gap_figures(gap)
    print(f"gap: {verdict(figures)}")
    return figures, [gap_section(gap, figures, recording.team)]
