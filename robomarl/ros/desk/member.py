"""`TeamMember`: a robot, the monitor or the recorder of a team, as the operator sees it. No ROS here."""

import math
from dataclasses import dataclass
from typing import Literal

from robomarl.ros.robot.health import OK

Kind = Literal["robot", "monitor", "recorder"]


@dataclass(frozen=True)
class TeamMember:
    """One of a team that has to work for a flight. NaN: it is not reported."""

    name: str
    kind: Kind
    word: str
    """Its state in one word, as READY, silent or recording."""
    level: int = OK
    """As in `/diagnostics`: 0 good, 1 warning, 2 error."""
    cause: str = ""
    """Reason for the state, or the problem that it reports; "" if there is none."""
    age_s: float = math.nan
    """Time since its last message [s]; infinite if none was received."""
    input_age_s: float = math.nan
    """Age of the robot's own estimate when it decided [s]."""
    teammates_age_s: float = math.nan
    """Age of the oldest teammate message when it decided [s]."""
    margin_m: float = math.nan
    """Smallest separation beyond the safety distance [m]."""
    filtered: bool = False
    """True if the safety filter changes the command."""
    battery_v: float = math.nan
    battery_low: bool = False
    link_age_s: float = math.nan
    """Time since the adapter received its vehicle [s]."""
    lost: float = math.nan
    """Fraction of the teammates' messages that was lost in the last report, 0 to 1."""
    bundle: str = ""
    """Id of its bundle."""
    bundle_differs: bool = False
    """True if another robot has another bundle."""
    note: str = ""
    """More about it, as the folder of a recording."""


@dataclass(frozen=True)
class TeamReport:
    """The whole team at one time."""

    members: tuple[TeamMember, ...]
    """Robots in their order, then monitor and recorder."""
    pressed: bool
    """True if the E-stop is pressed, or a robot is in ESTOP."""
    heartbeat: bool
    """True if the monitor's E-stop topic is received."""
    at_s: float
    """Time since the epoch [s]."""

    @property
    def robots(self) -> tuple[TeamMember, ...]:
        """The robots."""
        return tuple(member for member in self.members if member.kind == "robot")
