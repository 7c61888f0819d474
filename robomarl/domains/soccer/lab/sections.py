"""The sections of a soccer scenario's file."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from robomarl.core.config import Fraction, NonNegative, Positive, Range
from robomarl.core.hardware.plausible import check_density, volume_m3
from robomarl.lab.sim.randomize import Interval, Randomize
from robomarl.lab.sim.scenario import RateConfig

Sees = Literal["eyes", "all"]
"""What a team knows beside what it hears: eyes: what each robot's eyes and estimate of its own pose say; all: ball,
opponents and own pose as they are, always and at once, as no robot can. To compare with, and for nothing else."""


@dataclass(frozen=True)
class GameRates(RateConfig):
    """How often things happen; `physics_hz` is of the robots' controllers, and of the physics in `fast`."""

    contact_hz: Positive
    """Steps of MuJoCo, whose contacts are springs; a multiple of `physics_hz`."""


@dataclass(frozen=True)
class PitchConfig:
    """The field: boards all round, a goal in the middle of each end; the origin is the centre."""

    length_m: Positive
    """Along x, from goal to goal."""
    width_m: Positive
    """Along y."""
    goal_width_m: Positive
    """Between the posts."""
    restitution: Fraction
    """Speed after over speed before, of the ball at a board."""


@dataclass(frozen=True)
class BallConfig:
    """The ball: a homogeneous sphere that slides first and then rolls."""

    mass_kg: Positive
    """Of the whole ball."""
    radius_m: Positive
    """Of the sphere."""
    sliding_m_s2: Positive
    """Deceleration while it slides."""
    rolling_m_s2: Positive
    """Deceleration while it rolls."""
    restitution: Fraction
    """Speed after over speed before, of the ball at a robot."""

    def __post_init__(self) -> None:
        """Check that the body can be; raises `ValueError`."""
        check_density(self.mass_kg, volume_m3(self.radius_m), f"radius_m = {self.radius_m:g} m")


@dataclass(frozen=True)
class EyesConfig:
    """What a robot's camera sees: ball and opponents, as bearing and range."""

    fov_rad: Annotated[float, Range(0.1, 2 * math.pi)]
    """Whole angle of the field of view, symmetric about the body's x axis."""
    range_m: Positive
    """Farther things are not seen."""
    bearing_noise_rad: NonNegative
    """Largest error of a bearing, uniform."""
    range_noise: Fraction
    """Largest error of a range, uniform, as a share of it."""
    velocity_noise_m_s: NonNegative
    """Largest error of a velocity, each axis, uniform: what the robot's own tracker makes of the sightings."""
    dropout: Fraction
    """Probability that something in sight is missed in one picture."""
    latency_s: NonNegative
    """From the picture to the sighting; a multiple of the decision period."""


@dataclass(frozen=True)
class PoseConfig:
    """Largest error of a robot's estimate of its own pose, uniform."""

    position_noise_m: NonNegative
    """On each axis."""
    velocity_noise_m_s: NonNegative
    """On each axis."""
    heading_noise_rad: NonNegative
    """About the vertical."""


@dataclass(frozen=True)
class RulesConfig:
    """What the referee does."""

    kickoff_m: Positive
    """Distance from the ball of the robot that kicks off; everybody else of the field players is twice as far."""
    jitter_m: NonNegative
    """Uniform offset of each place at a kick-off, each axis."""
    stuck_m: Positive
    """A ball that stays within this distance ..."""
    stuck_s: Positive
    """... for this time is put back to the centre."""
    rally_s: Positive
    """Episodes of training end at a goal, or after this time; matches go on."""


@dataclass(frozen=True)
class OpponentConfig:
    """Who the other team is, where nobody else is named."""

    script: str
    """A name of `robomarl.domains.soccer.lab.controllers.SCRIPTS`."""
    roles: tuple[str, ...]
    """Role of each of its robots."""
    sees: Sees = "eyes"
    """What it knows; see `Sees`."""


@dataclass(frozen=True)
class GameRandomize(Randomize):
    """Uniform ranges [low, high], drawn for each robot and episode (ball: for the game)."""

    delay_s: Interval = (0.0, 0.0)
    """From decision to low-level controller."""
    noise_scale: Interval = (1.0, 1.0)
    """Factor on all errors of eyes and pose."""
    packet_loss: Interval = (0.0, 0.0)
    """Probability that a message does not arrive, per receiver."""
    accel_scale: Interval = (1.0, 1.0)
    """True over commanded acceleration: mass, battery, carpet."""
    kick_scale: Interval = (1.0, 1.0)
    """True over commanded kick speed."""
    rolling_scale: Interval = (1.0, 1.0)
    """True over nominal deceleration of the rolling ball."""
