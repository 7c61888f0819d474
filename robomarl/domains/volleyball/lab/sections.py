"""The sections of a volleyball scenario's file."""

from dataclasses import dataclass
from typing import Literal

from robomarl.core.config import Fraction, NonNegative, Positive
from robomarl.core.hardware.plausible import check_density, volume_m3
from robomarl.core.hardware.sections import Vector3
from robomarl.lab.sim.randomize import Interval, Randomize
from robomarl.lab.sim.scenario import RateConfig

Spread3 = tuple[NonNegative, NonNegative, NonNegative]
"""Largest deviations along x, y and z."""

Referee = Literal["contact", "racket"]
"""Detection of hits. contact: the ball is touched; racket: the ball's velocity jumps while its middle is in the
cylinder over the racket, as a camera can see it.
"""

CommandKind = Literal["acceleration", "thrust_rates", "rotor_thrusts"]
"""Kind of command. acceleration: acceleration in the world frame and yaw rate, which nodes and the safety filter know;
thrust_rates: collective thrust over mass and body rates; rotor_thrusts: the thrust of each rotor. The last two are the
published action spaces, and have neither nodes nor a filter.
"""


@dataclass(frozen=True)
class VolleyRates(RateConfig):
    """How often things happen; `physics_hz` is of the attitude controllers, and of the physics in `fast`."""

    contact_hz: Positive
    """Rate [Hz] of MuJoCo's steps, with contacts as springs; a multiple of `physics_hz`."""


@dataclass(frozen=True)
class CourtConfig:
    """The court: the net is the plane x = 0, and the origin is the point of the ground below its middle."""

    length_m: Positive
    """Length [m] along x of both halves together."""
    width_m: Positive
    """Width [m] along y."""
    net_m: Positive
    """Height [m] of the net's upper edge."""


@dataclass(frozen=True)
class FlyingBallConfig:
    """The ball: it flies without drag and without spin."""

    mass_kg: Positive
    """Mass [kg]."""
    radius_m: Positive
    """Radius [m] of the sphere."""

    def __post_init__(self) -> None:
        """Check that the body can be; raises `ValueError`."""
        check_density(self.mass_kg, volume_m3(self.radius_m), f"radius_m = {self.radius_m:g} m")


@dataclass(frozen=True)
class RacketConfig:
    """The racket: a smooth disc that is fixed to the vehicle, square to the thrust."""

    radius_m: Positive
    """Radius [m] of the disc."""
    above_m: Positive
    """Height [m] of the disc's upper side over the vehicle's centre."""
    scatter: Fraction = 0.0
    """Largest deviation of the restitution from its value, uniform at each hit, on the engine `fast`; contacts of
    MuJoCo scatter by themselves, with the instant that a step falls on."""


@dataclass(frozen=True)
class BallSensorConfig:
    """Tracking of the ball, by motion capture or a camera; errors are uniform, each axis and decision by itself."""

    position_error_m: NonNegative
    """Largest error of the position [m] on each axis."""
    velocity_error_m_s: NonNegative
    """Largest error of the velocity [m/s] on each axis."""
    latency_s: NonNegative = 0.0
    """Time [s] from a measurement to its message at the robots. Behind ROS only: robots carry the ball on by its
    flight, so that in episodes this would change the decisions just after a hit alone."""
    loss: Fraction = 0.0
    """Share of the messages that are lost; behind ROS only, as `latency_s`."""


@dataclass(frozen=True)
class VolleyStart:
    """Anchors of the robots and the start of an episode: robots at rest, the ball at rest above the first one."""

    anchors_m: tuple[Vector3, ...]
    """Place that each robot plays from, world frame."""
    spread_m: Spread3 = (0.5, 0.5, 0.2)
    """Largest offset of a start from its anchor, each axis, uniform."""
    tilt_rad: NonNegative = 0.3141592653589793
    """Largest roll and pitch at the start, uniform; the heading is anywhere."""
    ball_above_m: Positive = 2.0
    """Height [m] of the ball over the first robot."""
    speed_m_s: NonNegative = 0.0
    """Largest speed [m/s] of a robot at the start, each axis, uniform; 0: robots start at rest."""
    posts_within_m: Positive | None = None
    """`volley_bump_pass`: largest distance [m] along y of a robot's post from its anchor, which `PassLaw` keeps; None:
    posts may be anywhere."""


@dataclass(frozen=True)
class IncomingBallConfig:
    """Flight of the ball at the start of an episode, in place of a ball at rest above the first robot."""

    place_m: Vector3
    """Place [m] of the ball, world frame ..."""
    velocity_m_s: Vector3
    """... and its velocity [m/s]."""
    place_spread_m: Spread3 = (0.0, 0.0, 0.0)
    """Largest deviation of the place, each axis, uniform ..."""
    velocity_spread_m_s: Spread3 = (0.0, 0.0, 0.0)
    """... and of the velocity."""


@dataclass(frozen=True)
class AimConfig:
    """Target of the one hit of `volley_strike`."""

    place_m: Vector3
    """Place [m] through which the ball is to fall, world frame."""
    within_m: Positive
    """Largest horizontal distance [m] from that place, at its height, that counts."""


@dataclass(frozen=True)
class VolleyRandomize(Randomize):
    """Uniform ranges [low, high], drawn for each episode."""

    restitution: tuple[Fraction, Fraction] = (0.8, 0.8)
    """Speed after over speed before, of the ball at a racket, both along the racket's normal."""
    noise_scale: Interval = (1.0, 1.0)
    """Factor on the errors of the ball's tracking."""
