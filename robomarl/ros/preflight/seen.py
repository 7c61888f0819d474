"""Observations of a team at rest, and the requirements on it. No ROS."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from robomarl.core.config.parsed import is_list, number, table_in
from robomarl.core.hardware.field import scenario_content
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.vehicle import AnyVehicle, Quadrotor
from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.health import DiagnosticEntry
from robomarl.ros.robot.team_agreement import Announcement

DEFAULT_HZ = 50.0
"""Decision rate [Hz] of a scenario that specifies none."""
Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Lower and upper corner [m]."""


class CheckRow(NamedTuple):
    """Result of one check of one robot."""

    robot: str
    """"" for the team."""
    check: str
    ok: bool | None
    """True if the check passed; None: its inputs were not observed."""
    why: str


class OdometrySample(NamedTuple):
    """One message of a robot's odometry."""

    arrived_s: float
    """Arrival time [s] on this machine's clock of stamps."""
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
    """Entries of `/diagnostics` by name: those of its nodes and adapters."""

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
    """Observations of a whole team."""

    robots: dict[str, RobotSeen]
    monitors: tuple[str, ...] = ()
    """Nodes that publish the E-stop."""
    pressed: bool | None = None
    """True if the E-stop is pressed; None: no message of the E-stop was received."""
    recorder: str = ""
    """A recorder's report on its recording; "" without one."""
    nodes: Mapping[str, int] = field(default_factory=dict)
    """How many of each full name there are."""
    unheard: Sequence[str] = ()
    """Publishers that the nodes of the team don't receive, why, and the mend."""


@dataclass(frozen=True)
class Needs:
    """Requirements on one robot."""

    index: int
    vehicle: AnyVehicle
    rate_hz: float
    """Decision rate [Hz], which the odometry has to match."""
    space_m: Box | None
    """Arena of the scenario."""
    room_m: Box | None = None
    """Corners of the room around the robot, if the operator gave them."""

    @property
    def flies(self) -> bool:
        """It is a multirotor."""
        return isinstance(self.vehicle, Quadrotor)


def needs_of(fleet: Fleet, room_m: Box | None = None) -> dict[str, Needs]:
    """Return the requirements in the files, by robot."""
    content = scenario_content(fleet.scenario)
    arena = table_in(content, "arena") if "arena" in content else {}
    low, high = arena.get("low_m"), arena.get("high_m")
    space = (tuple(low), tuple(high)) if is_list(low) and is_list(high) else None
    rates = table_in(content, "rates") if "rates" in content else {}
    rate = float(number(rates.get("policy_hz", DEFAULT_HZ), "policy_hz"))
    size, kinds = fleet.team_size, [(vehicle, fleet.flown_as(name)) for name, vehicle in fleet.vehicles.items()]
    flown = {r.name: vehicle for vehicle, robots in kinds for r in robots}
    return {r.name: Needs(r.index % size, flown[r.name], rate, space, room_m) for r in fleet.own}  # type: ignore[arg-type]
