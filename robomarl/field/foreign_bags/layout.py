"""`ForeignLayout`: which topics of a foreign recording are which robot's, from a small TOML file."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from robomarl.core.config import UserError, build
from robomarl.core.tables import read_toml
from robomarl.ros.vehicle_topics import crazyswarm as crazyswarm
from robomarl.ros.vehicle_topics import mavros as mavros
from robomarl.ros.vehicle_topics import px4_dds as px4


class Topics(NamedTuple):
    """Names below a vehicle's namespace."""

    estimate: str
    command: str


STACKS = {
    "px4": Topics(px4.ODOMETRY.name, px4.SETPOINT.name),
    "mavros": Topics(mavros.ODOMETRY.name, mavros.TARGET.name),
    "crazyswarm": Topics(crazyswarm.ODOMETRY.name, crazyswarm.FULL_STATE.name),
}
"""Topics of the state estimate and of the tracked command in each stack."""


@dataclass(frozen=True)
class ForeignLayout:
    """Content of the file of `--layout`: the robots and topics of a recording by other software."""

    scenario: str
    """Name or file of the scenario that was flown: vehicle, arena, rates, commands."""
    stack: Literal["px4", "mavros", "crazyswarm"]
    """Software that recorded the topics. px4: px4_msgs over uXRCE-DDS; crazyswarm: the server of Crazyswarm2."""
    robots: dict[str, str]
    """Namespace of each robot, by the robot's name, in the order of the team."""
    version: Literal[1] = 1
    """Version of the file's layout."""
    estimate: str = ""
    """Topic of the state estimate below the namespace, instead of the stack's: VehicleOdometry, Odometry,
    or PoseStamped as of a motion capture; the velocity is computed for the latter.
    """
    command: str = ""
    """Topic of the tracked acceleration and yaw rate, instead of the stack's."""
    goals_m: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """Goal of each robot, world ENU; without goals there are no observations."""

    def __post_init__(self) -> None:
        """Check the keys against each other."""
        if not self.robots:
            raise ValueError('robots must name at least one, as in [robots] one = "px4_1".')
        if unknown := sorted(set(self.goals_m) - set(self.robots)):
            raise ValueError(f"goals_m names {unknown[0]}, which is none of robots.")
        if len(set(self.robots.values())) < len(self.robots):
            raise ValueError("robots has the same namespace twice.")

    @property
    def topics(self) -> Topics:
        """Names below each namespace."""
        own = STACKS[self.stack]
        return Topics(self.estimate or own.estimate, self.command or own.command)


def load_layout(file: Path) -> ForeignLayout:
    """Read one.

    Raises:
        UserError: no such file, bad TOML, or a wrong key or value.
    """
    if not file.is_file():
        raise UserError(f"--layout {file}: there is no such file; docs/recordings.md shows one.")
    return build(ForeignLayout, read_toml(file, lambda base: read_toml(file.parent / base, lambda _: {})), file.name)
