"""`RobotProfile`: profile of a robot, in its `robot.json`, which `robomarl fleet setup` writes.

A robot without the file has the properties in the fleet file. A damaged file differs from a missing
one.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from robomarl.core.config import Natural
from robomarl.fleet.disk import replace_durably, written
from robomarl.fleet.trust.strict_file import complete, read_own

PROFILE_FILE = "robot.json"


@dataclass(frozen=True)
class RobotProfile:
    """Empty texts where nothing was said."""

    name: str = ""
    """Namespace of its nodes."""
    index: Natural | None = None
    """Its place in the team, from 0."""
    fleet: str = ""
    """Name of its fleet."""
    vehicle: str = ""
    """Type of vehicle: bundles for another type are refused."""


def read_profile(root: Path) -> RobotProfile:
    """Return the profile of the robot with this folder.

    Raises:
        UserError: the file is damaged, or can't be read.
    """
    file = root / PROFILE_FILE
    if (content := read_own(file)) is None:
        return RobotProfile()
    return complete(RobotProfile, content, str(file), "run `robomarl fleet setup` again")


def write_profile(root: Path, profile: RobotProfile) -> None:
    """Write it down, durably.

    Raises:
        UserError: the folder can't be written.
    """
    text = json.dumps(asdict(profile), indent=1) + "\n"
    with written(root):
        replace_durably(root / PROFILE_FILE, text.encode(), root / f"{PROFILE_FILE}.new")
