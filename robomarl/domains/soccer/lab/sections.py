"""The sections of a soccer scenario's file."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from robomarl.core.config import Fraction, NonNegative, Positive, Range
from robomarl.core.hardware.plausible import check_density, volume_m3
from robomarl.lab.sim.randomize import Interval, Randomize
from robomarl.lab.sim.scenario import RateConfig

Sees = Literal["eyes", "all"]
"""Knowledge of a team beside messages. eyes: each robot's camera and its estimate of its own pose; all: true ball,
opponents and own pose, always and at once, as no robot can. For comparison only.
"""


@dataclass(frozen=True)
class GameRates(RateConfig):
    """How often things happen; `physics_hz` is of the robots' controllers, and of the physics in `fast`."""

    contact_hz: Positive
    """Rate [Hz] of MuJoCo's steps, with contacts as springs; a multiple of `physics_hz`."""


@dataclass(frozen=True)
class PitchConfig:
    """The field: boards all round, a goal in the middle of each end; the origin is the centre."""

    length_m: Positive
    """Length [m] along x, from goal to goal."""
    width_m: Positive
    """Width [m] along y."""
    goal_width_m: Positive
    """Width [m] between the posts."""
    restitution: Fraction
    """Speed after over speed before, of the ball at a board."""


@dataclass(frozen=True)
class BallConfig:
    """The ball: a homogeneous sphere that slides first and then rolls."""

    mass_kg: Positive
    """Mass [kg] of the whole ball."""
    radius_m: Positive
    """Radius [m] of the sphere."""
    sliding_m_s2: Positive
    """Deceleration while it slides."""
    rolling_m_s2: Positive
    """Deceleration while it rolls."""
    restitution: Fraction
    """Speed after over speed before, of the ball at a robot."""

    def __post_init__(self) -> None:
        """Check that the body can be; raises `ValueError`."""
        check_density(self.mass_kg, volume_m3(self.radius_m), f"radius_m = {self.radius_m:g} m")


RANGES_M = (0.2, 0.5, 1.0, 1.5, 2.5, 4.0)
"""Distances at which `TrackConfig` gives its numbers; between them they are linear, beyond them constant."""
SharesByRange = tuple[Fraction, Fraction, Fraction, Fraction, Fraction, Fraction]
DeviationsByRange = tuple[NonNegative, NonNegative, NonNegative, NonNegative, NonNegative, NonNegative]


@dataclass(frozen=True)
class TrackConfig:
    """Errors of a tracker of pixels about one kind of thing; lists are for the distances 0.2, 0.5, 1, 1.5, 2.5, 4 m."""

    found: SharesByRange
    """Share of the decisions in which a thing in view is found."""
    run_s: Positive
    """Time constant with which finding and missing a thing in view last."""
    held_s: NonNegative
    """Time for which a thing that is not found is still told."""
    slows_m_s2: NonNegative
    """Deceleration of a thing that is not found."""
    bearing_rad: DeviationsByRange
    """Standard deviation of the bearing's error."""
    range: DeviationsByRange
    """Standard deviation of the distance's error, as a share of it."""
    error_s: Positive
    """Time constant of both errors."""
    speed_m_s: DeviationsByRange
    """Standard deviation of the velocity's error, each axis."""
    speed_error_s: Positive
    """Time constant of the velocity's error."""
    lag_s: NonNegative
    """Time constant with which the velocity follows a thing that was kicked."""


@dataclass(frozen=True)
class TracksConfig:
    """Errors of places and velocities that our robots work out from pixels, fitted by `benchmarks.eyes.errors`."""

    ball: TrackConfig
    """Errors about the ball."""
    opponents: TrackConfig
    """Errors about each opponent."""


@dataclass(frozen=True)
class EyesConfig:
    """Camera of a robot: ball and opponents, as bearing and range."""

    fov_rad: Annotated[float, Range(0.1, 2 * math.pi)]
    """Whole angle of the field of view, symmetric about the body's x axis."""
    range_m: Positive
    """Farther things are not seen."""
    bearing_noise_rad: NonNegative
    """Largest error of a bearing, uniform."""
    range_noise: Fraction
    """Largest error of a range, uniform, as a fraction of the range."""
    velocity_noise_m_s: NonNegative
    """Largest error of a velocity [m/s], each axis, uniform, after the robot's own tracking of the sightings."""
    dropout: Fraction
    """Probability that something in sight is missed in one picture."""
    latency_s: NonNegative
    """Delay [s] from the picture to the sighting; a multiple of the decision period."""
    tracks: TracksConfig | None = None
    """Errors of our robots that change slowly, in place of those above, which are drawn anew; None: there are none."""


@dataclass(frozen=True)
class PoseConfig:
    """Largest error of a robot's estimate of its own pose, uniform."""

    position_noise_m: NonNegative
    """Largest error of the position [m] on each axis."""
    velocity_noise_m_s: NonNegative
    """Largest error of the velocity [m/s] on each axis."""
    heading_noise_rad: NonNegative
    """About the vertical."""
    drift_m: NonNegative = 0.0
    """Standard deviation of the position error of our robots along each axis [m]. The error changes slowly; needs
    `eyes.tracks`."""
    drift_rad: NonNegative = 0.0
    """Standard deviation of the heading error of our robots [rad]. The error changes slowly; needs `eyes.tracks`."""
    drift_s: Positive = 1.0
    """Time constant of the position and heading errors [s]; needs `eyes.tracks`."""


@dataclass(frozen=True)
class RulesConfig:
    """Rules that the referee applies."""

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
    """Opponent team, if no other team is named."""

    script: str
    """A name of `robomarl.domains.soccer.lab.controllers.SCRIPTS`."""
    roles: tuple[str, ...]
    """Role of each of its robots."""
    sees: Sees = "eyes"
    """Knowledge of the opponents; see `Sees`."""


@dataclass(frozen=True)
class GameRandomize(Randomize):
    """Uniform ranges [low, high], drawn for each robot and episode (ball: for the game)."""

    delay_s: Interval = (0.0, 0.0)
    """Delay [s] from the decision to the low-level controller."""
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
