"""What was seen of a team while nothing moved, and what it has to be. No ROS."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from robomarl.core.hardware.field import scenario_content
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.vehicle import AnyVehicle, Quadrotor
from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.health import DiagnosticEntry
from robomarl.ros.robot.team_agreement import Announcement

DEFAULT_HZ = 50.0
"""Of a scenario that does not say how often its policies decide."""
Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Lower and upper corner [m]."""


class CheckRow(NamedTuple):
    """What came of one check of one robot."""

    robot: str
    """"" for the team."""
    check: str
    ok: bool | None
    """None: what it needs was not there to be seen."""
    why: str


class OdometrySample(NamedTuple):
    """One message of a robot's odometry."""

    arrived_s: float
    """By this machine's clock of stamps."""
    stamp_s: float
    estimate: Estimate


@dataclass
class RobotSeen:
    """One robot."""

    name: str
    odometry: list[OdometrySample] = field(default_factory=list)
    refused: str = ""
    """Why its newest odometry that can't be read can't."""
    publishers: tuple[str, ...] = ()
    """Nodes that publish its odometry."""
    lost: int = 0
    """Messages of its odometry that were sent and did not come."""
    announced: Announcement | None = None
    force_m_s2: list[np.ndarray] = field(default_factory=list)
    """[3] specific force of its accelerometer, body."""
    arena_m: Box | None = None
    """That its policy node was started with; None: the bundle's."""
    entries: dict[str, DiagnosticEntry] = field(default_factory=dict)
    """Of `/diagnostics`, by name: those of its nodes and adapters."""

    def value(self, key: str) -> float:
        """A number that one of its entries has; NaN where none has."""
        for entry in self.entries.values():
            if key in entry.values:
                try:
                    return float(entry.values[key])
                except ValueError:
                    return math.nan
        return math.nan


@dataclass
class TeamSeen:
    """All of it."""

    robots: dict[str, RobotSeen]
    monitors: tuple[str, ...] = ()
    """Nodes that publish the E-stop."""
    pressed: bool | None = None
    """The E-stop; None: nothing was heard of it."""
    recorder: str = ""
    """What a recorder says of its recording; "" without one."""
    nodes: Mapping[str, int] = field(default_factory=dict)
    """How many of each full name there are."""
    unheard: Sequence[str] = ()
    """Publishers that the nodes of the team don't receive, why, and the mend."""


@dataclass(frozen=True)
class Needs:
    """What one robot has to be."""

    index: int
    vehicle: AnyVehicle
    rate_hz: float
    """Of decisions: odometry comes as often."""
    space_m: Box | None
    """Arena of the scenario."""
    room_m: Box | None = None
    """Of the room that it is in, where the operator said that."""

    @property
    def flies(self) -> bool:
        """It is a multirotor."""
        return isinstance(self.vehicle, Quadrotor)


def needs_of(fleet: Fleet, room_m: Box | None = None) -> dict[str, Needs]:
    """What the files say, by robot."""
    content = scenario_content(fleet.scenario)
    arena = content.get("arena", {})
    corners = (arena.get("low_m"), arena.get("high_m"))
    space = tuple(map(tuple, corners)) if all(corners) else None
    rate = float(content.get("rates", {}).get("policy_hz", DEFAULT_HZ))
    size, vehicle = fleet.team_size, fleet.vehicle_config
    return {r.name: Needs(r.index % size, vehicle, rate, space, room_m) for r in fleet.robots}  # type: ignore[arg-type]
