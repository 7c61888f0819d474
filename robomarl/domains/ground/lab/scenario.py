"""`GroundScenario`: content of a scenario file for a team of ground robots in an arena."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np

from robomarl.core.config import Count, NonNegative, Positive, Range, UserError, to_dict
from robomarl.core.features import NeighbourRule
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.hardware.sections import Vector3
from robomarl.core.hardware.vehicle import DifferentialDrive, OmniRobot
from robomarl.core.types import Array
from robomarl.domains.ground.core.sensed import capabilities
from robomarl.lab.sim.model import TeamScenario

Point = tuple[float, float]
GroundVehicle = DifferentialDrive | OmniRobot
"""Vehicles that drive on the floor."""


@dataclass(frozen=True)
class GroundArena:
    """The floor that centres of robots stay on, world frame; heights are for nodes that check where a robot is."""

    low_m: Vector3
    """Lowest corner ..."""
    high_m: Vector3
    """... and highest."""
    obstacles: tuple[Obstacle, ...] = ()
    """Obstacles, which never move. The filter keeps clear of all obstacles."""

    def __post_init__(self) -> None:
        """Check the corners."""
        if any(low >= high for low, high in zip(self.low_m, self.high_m, strict=True)):
            raise ValueError("low_m must be below high_m on every axis.")

    def holds(self, low_m: Point, high_m: Point) -> bool:
        """Return True if a rectangle is on the floor."""
        return all(self.low_m[i] - 1e-9 <= low_m[i] and high_m[i] <= self.high_m[i] + 1e-9 for i in (0, 1))


@dataclass(frozen=True)
class GridStart:
    """Robots start in cells of a grid that are drawn without repetition, headings drawn too."""

    width_m: Positive
    """Width [m] of the grid along x, about the middle of the arena ..."""
    height_m: Positive
    """... and along y."""
    spacing_m: Positive
    """Distance [m] between the centres of neighbouring cells."""

    @property
    def shape(self) -> tuple[int, int]:
        """Cells along x and y."""
        return int(self.width_m / self.spacing_m + 1e-9), int(self.height_m / self.spacing_m + 1e-9)

    @property
    def size(self) -> int:
        """All cells."""
        return self.shape[0] * self.shape[1]

    @property
    def cells_m(self) -> list[Point]:
        """Their centres, relative to the middle of the grid."""
        columns, rows = self.shape
        x0, y0 = ((count - 1) / 2 for count in (columns, rows))
        return [((i - x0) * self.spacing_m, (j - y0) * self.spacing_m) for i in range(columns) for j in range(rows)]


@dataclass(frozen=True)
class GroundRole:
    """Robots of one role, consecutive in the team."""

    role: str
    """Name of the role in the task."""
    count: Count
    """How many."""
    capability: Point = (0.0, 0.0)
    """Two numbers, as the task says them."""


@dataclass(frozen=True)
class FloorZone:
    """A rectangle of the floor, or the ellipse in it."""

    name: str
    """Name of the zone in the task."""
    low_m: Point
    """Lowest corner ..."""
    high_m: Point
    """... and highest."""
    is_round: bool = False
    """The ellipse in the rectangle counts, and not the corners."""

    @property
    def middle_m(self) -> np.ndarray:
        """[2] its middle."""
        return (np.array(self.low_m, np.float32) + np.array(self.high_m, np.float32)) / 2

    def holds(self, place_m: Array) -> Array:
        """[...] bool: places [..., 2] in it."""
        half = (np.array(self.high_m, np.float32) - np.array(self.low_m, np.float32)) / 2
        off = (place_m[..., :2] - self.middle_m) / half
        return (off * off).sum(-1) < 1 if self.is_round else (abs(off) < 1).all(-1)


@dataclass(frozen=True, kw_only=True)
class GroundScenario(TeamScenario):
    """A team on the floor, and its vehicle."""

    arena: GroundArena
    start: GridStart
    team: tuple[GroundRole, ...] = ()
    """Roles of the team, if its robots differ."""
    zones: tuple[FloorZone, ...] = ()
    """Zones in which things are loaded and set down."""
    goal_radius_m: Annotated[float, Range(0.01, 1.0)] = 0.1
    """A robot this near to its goal has arrived."""
    reward_step_s: Positive = 0.99
    """Length [s] of a step in rewards "per step" of the published table: 30 steps of 0.033 s."""
    least_gain_per_s: NonNegative | None = None
    """If set, a policy sets the gain of its robot's safety filter, from this to the vehicle's, and nothing else: its
    robots want straight to their goals ..."""
    goes_around: bool = False
    """... or the shortest way around the obstacles, and make room for mates at them."""
    sees_plans: bool = False
    """Policies see where their mates have committed to come to rest (`mates_plan`), as their filters do."""

    @cached_property
    def vehicle_config(self) -> GroundVehicle:
        """The vehicle file; raises `UserError` if the vehicle does not drive."""
        vehicle = super().vehicle_config
        if not isinstance(vehicle, GroundVehicle):
            raise UserError(f"{self.name}.toml: vehicle = {self.vehicle!r} does not drive; name a ground vehicle.")
        return vehicle

    def zone(self, name: str) -> FloorZone:
        """The zone of that name; the task has checked that it is there."""
        return next(zone for zone in self.zones if zone.name == name)

    @property
    def rule(self) -> NeighbourRule:
        """Which mates a policy looks at."""
        rule = self.radio.rule
        return replace(rule, count=min(rule.count, self.count - 1))

    @cached_property
    def capability(self) -> np.ndarray:
        """[N, 3] of every robot, see `capabilities`."""
        return capabilities([to_dict(role) for role in self.team])
