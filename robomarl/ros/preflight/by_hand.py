"""Checks for which a person moves a robot: the direction of up, and the sense of rotation. No ROS."""

import math
from collections.abc import Callable

import numpy as np

from robomarl.core.geometry import yaw_of
from robomarl.ros.preflight.seen import CheckRow, OdometrySample

LIFT_M = 0.2
"""Minimum rise of a robot that is lifted [m]."""
TURN_RAD = math.radians(45.0)
"""Minimum turn of a robot that is turned [rad]."""
SHIFT_M = 0.2
"""Minimum motion of a robot that is pushed forward [m]."""


def lifted(samples: list[OdometrySample]) -> tuple[bool, str]:
    """Raised straight up by half a metre: z grows, and nothing else does."""
    moved = samples[-1].estimate.pos_m - samples[0].estimate.pos_m
    if moved[2] < -LIFT_M:
        return False, f"z falls by {-moved[2]:.2f} m when it is lifted: the frame is NED"
    side = int(np.argmax(np.abs(moved)))
    if side != 2 and abs(moved[side]) > LIFT_M:
        return False, f"{'xyz'[side]} changes by {moved[side]:.2f} m when it is lifted: up is not z"
    if moved[2] > 100 * LIFT_M:
        return False, f"z grows by {moved[2]:.0f} m: millimetres read as metres"
    return (True, f"z grew by {moved[2]:.2f} m") if moved[2] > LIFT_M else (False, f"z grew by {moved[2]:.2f} m only")


def turned_left(samples: list[OdometrySample]) -> tuple[bool, str]:
    """Turned to the left, seen from above, by a quarter: yaw grows, the yaw rate was positive."""
    yaw = np.unwrap([float(yaw_of(sample.estimate.quat_wxyz)) for sample in samples])
    turn = float(yaw[-1] - yaw[0])
    if turn < -TURN_RAD:
        return False, f"yaw falls by {math.degrees(-turn):.0f} degrees: it is clockwise, or the frame left-handed"
    if turn < TURN_RAD:
        return False, f"yaw grew by {math.degrees(turn):.0f} degrees only"
    times = np.array([sample.stamp_s for sample in samples])
    rates = np.array([sample.estimate.omega_rad_s[2] for sample in samples])
    felt = float(((rates[1:] + rates[:-1]) / 2 * np.diff(times)).sum())
    if felt < 0.5 * turn or felt > 2 * turn:
        hint = ": degrees read as radians" if felt > 20 * turn else ": FRD read as FLU" if felt < -0.5 * turn else ""
        return False, f"yaw grew by {turn:.2f} rad, its rate says {felt:.2f} rad{hint}"
    return True, f"yaw grew by {math.degrees(turn):.0f} degrees, and its rate says so too"


def pushed_forward(samples: list[OdometrySample]) -> tuple[bool, str]:
    """Moved towards where its nose points: the place changes along the heading, and the velocity says so."""
    first, last = samples[0].estimate, samples[-1].estimate
    moved, yaw = last.pos_m - first.pos_m, float(yaw_of(first.quat_wxyz))
    along = float(moved[0] * math.cos(yaw) + moved[1] * math.sin(yaw))
    across = float(moved[1] * math.cos(yaw) - moved[0] * math.sin(yaw))
    if max(abs(along), abs(across)) < SHIFT_M:
        return False, f"it moved by {math.hypot(along, across):.2f} m only"
    if along < 2 * abs(across):
        off = math.degrees(math.atan2(across, along))
        return False, f"it moved {off:.0f} degrees off its nose: the markers are turned, or the frame is not ENU"
    return True, f"it moved {along:.2f} m along its nose"


TASKS: dict[str, tuple[str, Callable[[list[OdometrySample]], tuple[bool, str]]]] = {
    "up": ("lift it straight up by half a metre", lifted),
    "left": ("turn it to the left, seen from above, by a quarter", turned_left),
    "forward": ("move it half a metre towards where its nose points", pushed_forward),
}
"""Instruction to the person, and the function that judges the motion, by name."""


def row_of(robot: str, name: str, samples: list[OdometrySample]) -> CheckRow:
    """Return the result of one task."""
    if len(samples) < 2:
        return CheckRow(robot, f"by hand: {name}", False, "no odometry came meanwhile")
    return CheckRow(robot, f"by hand: {name}", *TASKS[name][1](samples))
