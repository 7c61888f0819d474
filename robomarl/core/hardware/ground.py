"""Vehicles that drive: omnidirectional robots and differential drives.

Both are commanded by an acceleration in the plane. An omnidirectional robot makes it with its
centre. A differential drive makes it with the look-ahead point, a fixed distance in front of its
axle; the point's acceleration follows from those of its wheels
(`robomarl.core.filter.model.look_ahead`).
"""

import math
from dataclasses import dataclass
from typing import Literal

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.config import Positive
from robomarl.core.hardware.sections import VehicleBase


@dataclass(frozen=True)
class GroundBodyConfig:
    """The rigid body."""

    mass_kg: Positive
    """Mass, battery included."""
    radius_m: Positive
    """Radius of the circle about the centre (the middle of the axle) that holds the whole robot."""
    height_m: Positive
    """Height above the ground."""


@dataclass(frozen=True)
class OmniWheelConfig:
    """The wheels of an omnidirectional robot."""

    angles_rad: tuple[float, ...]
    """Direction of each wheel, counter-clockwise from the body's x axis; it drives across that direction."""
    lever_m: Positive
    """Distance from the centre to each wheel's contact."""
    radius_m: Positive
    """Radius of each wheel."""
    speed_rad_s: Positive
    """Largest speed of a wheel under load."""


@dataclass(frozen=True)
class TractionConfig:
    """How an omnidirectional robot's wheels follow its commands."""

    rim_accel_m_s2: Positive
    """Largest acceleration of a wheel's rim before it slips; driving and turning share it."""
    yaw_rate_per_s: Positive
    """Angular acceleration over yaw rate error."""


@dataclass(frozen=True)
class KickerConfig:
    """The flat face in front of a soccer robot, and the plate behind it that kicks."""

    face_m: Positive
    """Distance from the centre forward to the face: the circle is cut off there."""
    width_m: Positive
    """Width of the plate."""
    reach_m: Positive
    """Gap between face and ball across which the plate still hits it."""
    min_speed_m_s: Positive
    """Smaller kick commands do nothing."""
    max_speed_m_s: Positive
    """Largest speed that a kick adds to the robot's own."""
    recharge_s: Positive
    """Time between two kicks."""


@dataclass(frozen=True)
class DriveConfig:
    """The axle of a differential drive."""

    track_m: Positive
    """Distance between the wheels' contacts."""
    wheel_speed_m_s: Positive
    """Largest speed of a wheel's rim."""
    look_ahead_m: Positive
    """Distance from the middle of the axle forward to the point that is commanded."""


@dataclass(frozen=True)
class StopConfig:
    """Reaction of a ground robot on its own when commands stop coming."""

    stop_after_s: Positive
    """Without a command for this long it brakes to rest."""


@dataclass(frozen=True, kw_only=True)
class GroundVehicle(VehicleBase):
    """Common part of both kinds."""

    body: GroundBodyConfig
    on_command_loss: StopConfig

    def __post_init__(self) -> None:
        """Check that nothing asks for a motion out of the plane."""
        if self.limits.accel_min_m_s2[2] or self.limits.accel_max_m_s2[2]:
            raise ValueError("limits: accel_min_m_s2[2] and accel_max_m_s2[2] must be 0 for a ground robot.")


@dataclass(frozen=True, kw_only=True)
class OmniRobot(GroundVehicle):
    """A robot that drives in every direction at once, its heading on its own."""

    kind: Literal["omnidirectional"]
    """Which model applies."""
    wheels: OmniWheelConfig
    traction: TractionConfig | None = None
    """Needed in simulation only."""
    kicker: KickerConfig | None = None
    """None for robots that don't play."""
    camera: PinholeCamera | None = None
    """None for robots without one."""

    def __post_init__(self) -> None:
        """Check that the wheels reach everything that the limits allow, driving and turning together."""
        super().__post_init__()
        if len(self.wheels.angles_rad) < 3:
            raise ValueError("wheels.angles_rad must have 3 entries at least.")
        rim = self.wheels.speed_rad_s * self.wheels.radius_m
        need = self.limits.speed_m_s + self.limits.yaw_rate_rad_s * self.wheels.lever_m
        if need > rim + 1e-9:
            raise ValueError(
                f"limits: speed_m_s and yaw_rate_rad_s together ask {need:.3g} m/s of a wheel; "
                f"its rim makes {rim:.3g}, so lower one of them."
            )
        if self.kicker and self.kicker.face_m >= self.body.radius_m:
            raise ValueError(
                f"kicker.face_m = {self.kicker.face_m:g} must be smaller than body.radius_m = {self.body.radius_m:g}."
            )


@dataclass(frozen=True, kw_only=True)
class DifferentialDrive(GroundVehicle):
    """A robot with two driven wheels on one axle."""

    kind: Literal["differential"]
    """Which model applies."""
    drive: DriveConfig

    def __post_init__(self) -> None:
        """Check that the wheels reach everything that the limits allow.

        With a speed V of the look-ahead point, v^2 + (l w)^2 <= V^2: the faster wheel's v + w track / 2 is
        at most V sqrt(1 + (track / 2 l)^2), and the yaw rate at most V / l.
        """
        super().__post_init__()
        speed, ahead = self.limits.speed_m_s, self.drive.look_ahead_m
        need = speed * math.hypot(1, self.drive.track_m / (2 * ahead))
        if need > self.drive.wheel_speed_m_s + 1e-9:
            raise ValueError(
                f"limits.speed_m_s = {speed:g} asks {need:.3g} m/s of a wheel, which makes "
                f"{self.drive.wheel_speed_m_s:g}; lower it, or lengthen drive.look_ahead_m."
            )
        if speed > self.limits.yaw_rate_rad_s * ahead + 1e-9:
            raise ValueError(
                f"limits.speed_m_s = {speed:g} across drive.look_ahead_m = {ahead:g} turns faster than "
                f"limits.yaw_rate_rad_s = {self.limits.yaw_rate_rad_s:g}; it must be at most "
                f"{self.limits.yaw_rate_rad_s * ahead:.3g}."
            )
