"""The way-point controller: an acceleration that takes a robot's commanded point to a place and stops it there.

`WAYPOINTS` are the five discrete actions of the published work: stay, or drive to a place beside the robot.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.filter.model.look_ahead import heading
from robomarl.core.geometry import components, namespace, norm
from robomarl.core.hardware.vehicle import DifferentialDrive
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.lab.simulation import Choices

POSITION_PER_S = 1.5
"""Wanted speed over distance."""
VELOCITY_PER_S = 4.0
"""Wanted acceleration over velocity error; within a command's delay of 0.1 s it corrects less than half of the
error.
"""
CRUISE_SHARE = 0.95
"""Share of the vehicle's speed limit that it drives at."""
STEP_M = 0.2
"""Published: from the robot to a way-point."""
WAYPOINTS = STEP_M * np.array([(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)], np.float32)
"""[5, 2] stay, up, down, right, left; world frame."""
READS = ("heading.cos", "heading.sin", "speed_and_turn.forward", "speed_and_turn.turn")


class Driving(NamedTuple):
    """How a robot moves."""

    toward: Array
    """[..., 2] its heading, a unit vector."""
    vel_m_s: Array
    """[..., 2] of its centre."""
    turn_rad_s: Array
    """[...]"""


def driving(view: LocalView) -> Driving:
    """Return the motion of the robot itself."""
    own, xp = view.own, namespace(view.own.pos_m)
    toward = xp.stack(heading(components(own.quat_wxyz), xp), -1)  # type: ignore[arg-type]
    return Driving(toward, own.vel_m_s[..., :2], own.omega_rad_s[..., 2])


def commanded_velocity(scenario: GroundScenario, now: Driving) -> Array:
    """Return the velocity [..., 2] of the commanded point: the look-ahead point, or the centre."""
    vehicle, xp = scenario.vehicle_config, namespace(now.vel_m_s)
    if not isinstance(vehicle, DifferentialDrive):
        return now.vel_m_s
    across = xp.stack([-now.toward[..., 1], now.toward[..., 0]], -1)
    return now.vel_m_s + vehicle.drive.look_ahead_m * now.turn_rad_s[..., None] * across


def approach(scenario: GroundScenario, offset_m: Array) -> Array:
    """[..., 2] the velocity that takes the robot's centre along an offset [..., 2], within the limits."""
    limits, xp = scenario.vehicle_config.limits, namespace(offset_m)
    wanted = POSITION_PER_S * offset_m
    speed = norm(wanted)[..., None]
    return wanted * xp.minimum(1.0, CRUISE_SHARE * limits.speed_m_s / xp.maximum(speed, 1e-6))


def acceleration(scenario: GroundScenario, now: Driving, wanted_m_s: Array) -> Array:
    """[..., 4] the command that makes a velocity [..., 2] of the commanded point."""
    xp, limits = namespace(wanted_m_s), scenario.vehicle_config.limits
    accel = VELOCITY_PER_S * (wanted_m_s - commanded_velocity(scenario, now))
    low, high = (xp.asarray(end[:2], dtype=accel.dtype) for end in (limits.accel_min_m_s2, limits.accel_max_m_s2))
    return xp.concatenate([xp.clip(accel, low, high), accel * 0], -1)


def waypoints(scenario: GroundScenario) -> Choices:
    """Five way-points, one in every published step. The offset that is left to the way-point is counted from the
    robot's own velocity, so that it needs to see neither its place nor the arena."""

    def pursue(reads: Array, offset_m: Array) -> tuple[Array, Array]:
        toward, forward = reads[..., :2], reads[..., 2:3]
        now = Driving(toward, forward * toward, reads[..., 3])
        return offset_m - scenario.period_s * now.vel_m_s, acceleration(scenario, now, approach(scenario, offset_m))

    return Choices(WAYPOINTS, round(scenario.reward_step_s * scenario.rates.policy_hz), READS, pursue)
