"""Conversion of an acceleration and a yaw rate to a reference of position, velocity, acceleration and
heading.

Vehicles that track positions add their own acceleration, gains times (reference - state). Two
measures keep them from flying to a place that was not commanded. The reference decays: it returns
to the estimate with a time constant, so that old commands do not pull. And it leads by a bounded
distance only, for any force that holds the vehicle back.

    v_ref' = a + (v - v_ref) / T        p_ref' = v_ref + (p - p_ref) / T

A steady disturbance d leaves v_ref - v = -T d and p_ref - p = -T^2 d: the vehicle's own gains work
against it.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import yaw_of
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.frames import wrapped

MAX_STEP_S = 0.1
"""A longer time between two commands counts as this."""


@dataclass(frozen=True)
class Lead:
    """How far a reference may be ahead of the vehicle."""

    forget_s: float = 0.5
    """T: how fast it goes back to the estimate."""
    pos_m: float = 0.25
    """Longest distance from the estimate."""
    vel_m_s: float = 0.8
    """Largest difference to the estimated velocity."""
    yaw_rad: float = 0.5
    """Largest difference to the estimated heading."""


class Reference(NamedTuple):
    """Reference for a vehicle to track, all in the world frame (ENU)."""

    pos_m: np.ndarray
    """[3]."""
    vel_m_s: np.ndarray
    """[3]."""
    accel_m_s2: np.ndarray
    """[3] without gravity: 0 hovers."""
    yaw_rad: float
    """Heading from -pi to pi."""
    yaw_rate_rad_s: float


def reference_at(own: Estimate) -> Reference:
    """Return the reference before the first command: the vehicle's position and velocity.

    Raises:
        ValueError: the estimate is not finite.
    """
    check_finite("estimate", *own)
    return Reference(own.pos_m.copy(), own.vel_m_s.copy(), np.zeros(3), float(yaw_of(own.quat_wxyz)), 0.0)


def advanced(before: Reference, command: np.ndarray, own: Estimate, dt_s: float, lead: Lead = Lead()) -> Reference:
    """The reference after a command held for `dt_s`.

    Args:
        before: the last one.
        command: [4] acceleration x, y, z [m/s^2, world] and yaw rate [rad/s].
        own: the estimate now.
        dt_s: since the last one; at most `MAX_STEP_S` counts.
        lead: how far it may be ahead.

    Raises:
        ValueError: a number is not finite.
    """
    check_finite("command", command)
    check_finite("estimate", *own)
    step_s = min(max(dt_s, 0.0), MAX_STEP_S)
    accel, rate, keep = command[:3], float(command[3]), math.exp(-step_s / lead.forget_s)
    pos = before.pos_m + before.vel_m_s * step_s + accel * (step_s * step_s / 2)
    vel = before.vel_m_s + accel * step_s
    yaw = float(yaw_of(own.quat_wxyz))
    ahead = float(wrapped(before.yaw_rad + rate * step_s - yaw))
    return Reference(
        own.pos_m + shortened((pos - own.pos_m) * keep, lead.pos_m),
        own.vel_m_s + shortened((vel - own.vel_m_s) * keep, lead.vel_m_s),
        np.array(accel, float),
        float(wrapped(yaw + min(max(ahead, -lead.yaw_rad), lead.yaw_rad))),
        rate,
    )


def shortened(vector: np.ndarray, most: float) -> np.ndarray:
    """Return the vector [3] in its direction, no longer than `most`."""
    size = float(np.linalg.norm(vector))
    return vector if size <= most else vector * (most / size)


def check_finite(what: str, *arrays: np.ndarray) -> None:
    """Reject arrays that are not finite.

    Raises:
        ValueError: an element is NaN or infinite.
    """
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError(f"the {what} is not finite")
