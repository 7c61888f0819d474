"""The main job on this machine: train a small team, export, verify, flash to local robots, fly ROS 2, report."""

import os
from dataclasses import dataclass
from pathlib import Path

from robomarl.core.config import Seed
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder


@dataclass(frozen=True)
class Args:
    """Options of `robomarl demo`."""

    quick: bool = False
    """Fly the bundle that ships instead of training one (at most 90 s)."""
    out: OutFolder = Path("runs/demo")
    """Folder for the run, the bundle, the robots, the bag and the report."""
    seed: Seed = 0
    """Seed of training, evaluation and flights."""


def run(args: Args) -> Figures:
    """Run the demo; `ok` says that a flight through ROS 2 arrived and that none had a collision."""
    from robomarl.ros.environment_check.check import check_environment
    from robomarl.ros.io.environment import environment

    check_environment({**os.environ, **environment(True, 0)})
    import rclpy  # noqa: F401  (said at once when it is missing, not after the training)

    from robomarl.front.cli.demo_stages import DemoOptions, run_demo

    return run_demo(DemoOptions(args.out, args.quick, seed=args.seed))
