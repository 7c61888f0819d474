"""The way-point controller: an acceleration that takes a robot's commanded point to a place and stops it there."""

from typing import Any

from robomarl.geometry import components, namespace, norm
from robomarl.hardware_configs.vehicle import DifferentialDrive
from robomarl.safety.model.look_ahead import point_of
from robomarl.types import Array
from robomarl.view import LocalView

POSITION_PER_S = 1.5
"""Wanted speed over distance."""
VELOCITY_PER_S = 4.0
"""Wanted acceleration over velocity error: within a command's delay of 0.1 s it makes good less than half of it."""
CRUISE_SHARE = 0.95
"""Share of the vehicle's speed limit that it drives at."""


def commanded_point(scenario: Any, view: LocalView) -> tuple[Array, Array]:
    """Place and velocity [..., 2] each of what the command accelerates: the look-ahead point, or the centre."""
    own, vehicle = view.own, scenario.vehicle_config
    if not isinstance(vehicle, DifferentialDrive):
        return own.pos_m[..., :2], own.vel_m_s[..., :2]
    xp = namespace(own.pos_m)
    centre = components(own.pos_m), components(own.vel_m_s)
    turn, ahead = own.omega_rad_s[..., 2], vehicle.drive.look_ahead_m
    place, velocity = point_of(centre, components(own.quat_wxyz), turn, ahead, xp)  # type: ignore[arg-type]
    return xp.stack(place[:2], -1), xp.stack(velocity[:2], -1)


def toward(scenario: Any, view: LocalView, target_m: Array) -> Array:
    """[..., 2] the velocity that takes the robot's centre to a place [..., 2], within the limits."""
    limits, xp = scenario.vehicle_config.limits, namespace(target_m)
    wanted = POSITION_PER_S * (target_m - view.own.pos_m[..., :2])
    speed = norm(wanted)[..., None]
    return wanted * xp.minimum(1.0, CRUISE_SHARE * limits.speed_m_s / xp.maximum(speed, 1e-6))


def acceleration(scenario: Any, view: LocalView, wanted_m_s: Array) -> Array:
    """[..., 4] the command that makes a velocity [..., 2] of the commanded point."""
    xp, limits = namespace(wanted_m_s), scenario.vehicle_config.limits
    accel = VELOCITY_PER_S * (wanted_m_s - commanded_point(scenario, view)[1])
    low, high = (xp.asarray(end[:2], dtype=accel.dtype) for end in (limits.accel_min_m_s2, limits.accel_max_m_s2))
    return xp.concatenate([xp.clip(accel, low, high), accel * 0], -1)
