"""`FlightScenario`: content of a scenario file for a team that flies. The vehicle file is loaded with it, so that
one object holds every physical number.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robomarl.core.config import NonNegative, Positive
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.hardware.field import DeploymentConfig
from robomarl.core.hardware.sections import Vector3
from robomarl.core.hardware.vehicle import Vehicle, load_vehicle
from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.core.control.command_kinds import CommandConfig
from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig, PathConfig
from robomarl.domains.flight.lab.places import Box, GoalConfig, StartConfig, check_places, used_boxes
from robomarl.domains.flight.lab.randomize import LOAD_NAMES, RandomizeConfig
from robomarl.domains.flight.lab.residual import ResidualConfig
from robomarl.lab.sim.scenario import Scenario


@dataclass(frozen=True)
class SuccessConfig:
    """When a robot has arrived; a team succeeds when all have, without contact, within the time limit."""

    position_m: Positive
    """Largest distance from the goal; of a load, that of its origin."""
    speed_m_s: Positive
    """Largest speed there."""
    hold_s: Positive
    """It stays so for this long."""
    attitude_rad: Positive = np.pi
    """For loads: largest angle between attitude and goal."""


@dataclass(frozen=True)
class ArenaConfig:
    """The box that the robots must stay in, world frame."""

    low_m: Vector3
    """Lowest corner ..."""
    high_m: Vector3
    """... and highest."""
    obstacles: tuple[Obstacle, ...] = ()
    """Obstacles in the arena, which never move. The safety filter keeps clear of obstacles; policies do not observe
    any.
    """

    def __post_init__(self) -> None:
        """Check the corners."""
        if any(low >= high for low, high in zip(self.low_m, self.high_m, strict=True)):
            raise ValueError("low_m must be below high_m on every axis.")


@dataclass(frozen=True)
class SensingConfig:
    """Largest error of the state estimate, each axis, uniform: bounded, as the safety filter assumes."""

    position_noise_m: NonNegative
    """Error [m] of a robot's position."""
    velocity_noise_m_s: NonNegative
    """Error [m/s] of a robot's velocity."""
    load_position_noise_m: NonNegative = 0.0
    """Error [m] of the load's position."""
    load_attitude_noise_rad: NonNegative = 0.0
    """About each axis of the load."""


@dataclass(frozen=True)
class WeatherConfig:
    """How the wind changes."""

    gust_time_s: Positive = 0.5
    """Correlation time of the gusts."""


@dataclass(frozen=True, kw_only=True)
class FlightScenario(Scenario):
    """A team that flies, and its vehicle."""

    success: SuccessConfig
    arena: ArenaConfig
    sensing: SensingConfig
    start: StartConfig = StartConfig(ring_radius_m=1.0, min_spacing_m=0.6, height_m=1.2)
    goal: GoalConfig = GoalConfig("far_side")
    load: LoadConfig | None = None
    """Load that the team carries; None for teams without one. The section has its own start and goal."""
    cables: CableConfig | None = None
    """Cables that carry the load."""
    command: CommandConfig = CommandConfig()
    """Kind of command of a carrier's decision."""
    action_m_s2: tuple[Positive, Positive, Positive] | None = None
    """Largest acceleration [m/s²] that a policy may ask for along each axis, either way; None: the vehicle's limits.
    The safety filter has the vehicle's whole box.
    """
    remembered_s: NonNegative = 0.0
    """Time constant [s] of a mean that policies observe; 0: none. In the task `swap` it is the mean of their
    position error, which shows errors of thrust and mass; in `lift` the mean of how much too high their own point
    is beside the load's middle, which shows a lost teammate.
    """
    randomize: RandomizeConfig = RandomizeConfig()
    weather: WeatherConfig = WeatherConfig()
    residual: ResidualConfig | None = None
    """Behaviour of the vehicles beyond their model, from recordings; None for vehicles that follow their model."""
    field: DeploymentConfig = DeploymentConfig()
    """How a test in the field begins; the simulation does not look at it."""

    def __post_init__(self) -> None:
        """Check constraints that one key alone cannot show."""
        super().__post_init__()
        self._check_load()
        check_places(self.start, self.goal, self.count)

    def _check_load(self) -> None:
        """Check that the sections of a load are present, or absent, together."""
        if self.load and self.arena.obstacles:
            raise ValueError("arena.obstacles: a load among obstacles is not simulated; leave them out.")
        if (self.load is None) != (self.cables is None):
            raise ValueError("load and cables belong together: write both sections, or none.")
        if self.load is None and self.command != CommandConfig():
            raise ValueError("command says what carriers are told; leave the section out where nothing is carried.")
        if self.load and self.residual:
            raise ValueError("residual: vehicles under a load are not identified; leave the section out.")

    @property
    def carried(self) -> tuple[LoadConfig, CableConfig]:
        """Sections of the load and of its cables; raises `ValueError` for a team that carries nothing."""
        if self.load is None or self.cables is None:
            raise ValueError(f"{self.name}: only scenarios with the sections load and cables have these.")
        return self.load, self.cables

    @property
    def goal_path(self) -> PathConfig | None:
        """Path of the load's goal; None for a goal that does not move, and for teams without a load."""
        return self.load.path if self.load else None

    @property
    def named_files(self) -> dict[str, str]:
        """Files that do not ship, by the dotted key that names them."""
        return super().named_files | ({"residual.file": self.residual.file} if self.residual else {})

    @property
    def randomized(self) -> tuple[str, ...]:
        """Names of the parameters that can be randomized and perturbed here."""
        return tuple(n for n in super().randomized if self.load is not None or n not in LOAD_NAMES)

    @cached_property
    def command_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest command, [A] each: acceleration and yaw rate; under a load the limits of `command`."""
        limits = self.vehicle_config.limits
        rate = limits.yaw_rate_rad_s
        low, high = (*limits.accel_min_m_s2, -rate), (*limits.accel_max_m_s2, rate)
        if self.load:
            low, high = self.command.limits(self.vehicle_config, self._hover_m_s2)
        return np.array(low, np.float32), np.array(high, np.float32)

    @property
    def rest_command(self) -> tuple[float, ...]:
        """Command [A] in force before the first command has arrived."""
        return self.command.at_rest(self._hover_m_s2) if self.load else (0.0,) * 4

    @property
    def _hover_m_s2(self) -> float:
        """Thrust over mass of a vehicle that hovers with its part of the load."""
        mass, load = self.vehicle_config.body.mass_kg, self.load.mass_kg if self.load else 0.0
        return (mass + load / self.count) / mass * GRAVITY_M_S2

    @cached_property
    def vehicle_config(self) -> Vehicle:
        """The vehicle file."""
        return load_vehicle(self.vehicle, self.estimator or "")

    @property
    def ring_radius_m(self) -> float:
        """Radius that this team really uses."""
        needed = self.start.min_spacing_m / (2 * np.sin(np.pi / max(self.count, 2)))
        return max(self.start.ring_radius_m, float(needed))

    @property
    def used_m(self) -> dict[str, Box]:
        """Boxes in which robots, or their load, start and are sent, by section of the file; world frame."""
        if self.load:
            spans = {"load.start": self.load.start, "load.goal": self.load.goal}
            return {section: (span.low_m, span.high_m) for section, span in spans.items()}
        return used_boxes(self.start, self.goal, self.ring_radius_m)
