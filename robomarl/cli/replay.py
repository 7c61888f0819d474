"""Decide a recorded field test again, tick by tick, and report what it was like."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro


@dataclass(frozen=True)
class Args:
    """Options of `robomarl replay`."""

    bag: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="BAG")]
    """Folder of a recording (MCAP, rosbag2), or one of its files."""
    bundle: str = ""
    """Name or folder of the bundle that decides; by default the one that flew."""
    out: Path | None = None
    """The report page; by default replay.html in runs/replay/NAME."""


def run(args: Args) -> dict[str, Any]:
    """Replay, print what came of it, write the page."""
    from tqdm import tqdm

    from robomarl.report.replay_page import verdict_of, write_replay_page
    from robomarl.ros_nodes.replay.bag_replay import replay_bag
    from robomarl.ros_nodes.replay.figures import figures_of

    with tqdm(total=100, unit="%", disable=not sys.stderr.isatty(), leave=False) as bar:
        found = replay_bag(args.bag, args.bundle, lambda share: bar.update(int(100 * share) - bar.n))
    figures = figures_of(found)
    print(verdict_of(figures))
    for name, robot in figures["robots"].items():
        print(
            f"  {name}: {robot['ticks']} ticks, action {robot['action_diff_max']:.3g}, command "
            f"{robot['command_diff_max']:.3g}, observation {robot['observation_diff_max']:.3g}; outside of training "
            f"{robot['out_of_range_share']:.1%}; filter {robot['filtered_share']:.1%}"
        )
    for problem in found.problems:
        print(f"problem: {problem}")
    page = args.out or Path("runs/replay") / args.bag.resolve().name / "replay.html"
    write_replay_page(found, figures, page)
    print(f"{figures['recorded_s']:.1f} s in {figures['seconds']:.1f} s; report: {page}")
    return {**figures, "report": str(page)}
