"""The nodes' parameters as frozen dataclasses: names, defaults, ranges and what they mean. No ROS here.

Types are those that ROS parameters have.
"""

import math
from dataclasses import dataclass, field
from typing import Any

NOWHERE = (-math.inf,) * 3
ANYWHERE = (math.inf,) * 3


def setting(default: Any, text: str, low: float | None = None, high: float | None = None) -> Any:
    """A field with what `ros2 param describe` is to say of it."""
    return field(default=default, metadata={"text": text, "low": low, "high": high})


@dataclass(frozen=True)
class PolicySettings:
    """Parameters of `policy_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    index: int = setting(0, "which of the team this robot is", 0, 1000)
    robot_root: str = setting("", "this robot's folder, where bundles are flashed to")
    bundle: str = setting("", "name or folder of a bundle, instead of the robot's current one")
    vehicle: str = setting("", "vehicle file that bounds the bundle; by default the one that it was made for")
    arena_low_m: tuple[float, float, float] = setting(NOWHERE, "lower corner of the box to stay in, map frame")
    arena_high_m: tuple[float, float, float] = setting(ANYWHERE, "upper corner of the box to stay in, map frame")
    autostart: bool = setting(False, "activate once, as soon as every input is fresh and there is a goal")
    frozen_after_s: float = setting(0.5, "an estimate that has not changed in any bit for so long is stale", 0.05, 10.0)
    silent_after_s: float = setting(1.0, "blind braking lasts so long at most, then nothing is sent", 0.0, 10.0)

    @property
    def name(self) -> str:
        """This robot."""
        return self.team[self.index]


@dataclass(frozen=True)
class SimSettings:
    """Parameters of `sim_node`."""

    scenario: str = setting("swap_4", "name or file of the scenario")
    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    seed: int = setting(0, "of the next reset; each reset adds one", 0, 2**31 - 1)
    log_dir: str = setting("", "folder for the flights' true logs; none are written without it")


@dataclass(frozen=True)
class RecorderSettings:
    """Parameters of `recorder_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots")
    base: str = setting("", "namespace of the team")
    sim: bool = setting(False, "record the simulator's truth as well")
    folder: str = setting("recording", "the bag's folder; it must not exist yet")
    flush_s: float = setting(0.5, "what was received so long ago can be read whatever happens", 0.05, 1.0)
    about: tuple[str, ...] = setting(("robomarl",), "KEY=VALUE for the bag's metadata (bundle id, fleet, ...)")
