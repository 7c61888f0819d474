"""Checks of one robot: observations against requirements. No ROS.

Each check returns its result (None: there was nothing to see) and the reason, in words that name
the fix.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from robomarl.core.geometry import rotation_matrix
from robomarl.core.hardware.sections import ASSUMED
from robomarl.core.hardware.vehicle import Quadrotor
from robomarl.core.types import GRAVITY_M_S2
from robomarl.ros.preflight.seen import Box, CheckRow, Needs, RobotSeen
from robomarl.ros.robot.health import OK
from robomarl.ros.robot.state_machine import State

RATE_SHARE = 0.8
"""Odometry comes at least so often, of the policy's rate."""
LOST_SHARE = 0.1
"""More messages lost is a bad link."""
AHEAD_S = 0.02
"""Stamps may be so far ahead: clocks that are synchronized over a network."""
UPRIGHT = math.cos(math.radians(20.0))
"""A robot that stands, stands so upright."""
GRAVITY_SHARE = 0.15
"""An accelerometer at rest is off by no more."""
HOVER_SHARE = (0.15, 0.8)
"""Range of plausible hover thrust, as fractions of full thrust."""
HOVER_ERROR = 0.15
"""Largest relative difference between the measured hover thrust and the weight in the vehicle file."""
FAR_M = 100.0
"""No place is further from the origin."""
LOOPS = ("needs_inner_loop", "inner_loop")
"""Keys in diagnostics of the control that a bundle needs, and of the one that an adapter has."""
LINK_S = 0.5
"""An adapter heard its vehicle no longer ago."""
Found = tuple[bool | None, str]
Check = Callable[[RobotSeen, Needs], Found]


def policy(seen: RobotSeen, needs: Needs) -> Found:
    """Its policy node, with the vehicle and index of the fleet file."""
    said = seen.announced
    if said is None:
        return False, "has not announced itself: start its policy node and configure it"
    if said.vehicle != needs.vehicle.name:
        return False, f"its bundle is for {said.vehicle}, the fleet file says {needs.vehicle.name}"
    if said.index != needs.index:
        return False, f"says that its index is {said.index}, the fleet file says {needs.index}"
    if said.state is State.READY:
        return True, f"READY with bundle {said.bundle_id[:12]}"
    entry = next((entry for name, entry in seen.entries.items() if name.endswith("/policy_node")), None)
    return False, f"{said.state.name}: {entry.message if entry else said.why or 'it has not said why'}"


def odometry(seen: RobotSeen, needs: Needs) -> Found:
    """One publisher, often enough, few lost."""
    if len(seen.publishers) > 1:
        return False, f"several nodes publish it: {', '.join(seen.publishers)}; stop all but one"
    if not seen.odometry:
        where = "nobody publishes it" if not seen.publishers else f"{seen.publishers[0]} is silent"
        return False, where + (f"; refused: {seen.refused}" if seen.refused else "")
    times = [sample.arrived_s for sample in seen.odometry]
    rate = (len(times) - 1) / max(times[-1] - times[0], 1e-9)
    gap_s = max((b - a for a, b in pairwise(times)), default=0.0)
    if gap_s > needs.vehicle.safety.max_age_s:
        return False, f"stopped for {gap_s:.2f} s, max_age_s is {needs.vehicle.safety.max_age_s:g}"
    if rate < RATE_SHARE * needs.rate_hz:
        return False, f"comes at {rate:.0f} Hz, the policy decides at {needs.rate_hz:g} Hz"
    share = seen.lost / (seen.lost + len(times))
    if share > LOST_SHARE:
        return False, f"{100 * share:.0f} % of the messages are lost on the way"
    return True, f"{rate:.0f} Hz, {100 * share:.1f} % lost"


def frame(seen: RobotSeen, needs: Needs) -> Found:
    """Readable, finite, upright."""
    if seen.refused:
        return False, seen.refused
    if not seen.odometry:
        return None, "no odometry"
    last = seen.odometry[-1].estimate
    if not all(np.isfinite(part).all() for part in last):
        return False, "an estimate is not finite"
    up = float(rotation_matrix(last.quat_wxyz)[2, 2])
    if up < -UPRIGHT:
        return False, "it stands upside down: NED and FRD are read as ENU and FLU"
    if up < UPRIGHT:
        tilt = math.degrees(math.acos(max(min(up, 1.0), -1.0)))
        return False, f"it stands tilted by {tilt:.0f} degrees: a frame with y up, or markers that are turned"
    return True, "upright; lift it and turn it with --by-hand to see the rest"


def clock(seen: RobotSeen, needs: Needs) -> Found:
    """Stamps against this machine's clock."""
    if not seen.odometry:
        return None, "no odometry"
    age_s = float(np.median([sample.arrived_s - sample.stamp_s for sample in seen.odometry]))
    if age_s < -AHEAD_S:
        return False, f"stamps are {-age_s:.3f} s ahead: synchronize the clocks (chrony, ntp)"
    if age_s > needs.vehicle.safety.delay_s:
        return False, f"odometry is {age_s:.3f} s old when it comes, delay_s of the vehicle file is smaller"
    return True, f"{1000 * age_s:.0f} ms old when it comes"


def at_rest(seen: RobotSeen, needs: Needs) -> Found:
    """The estimator has converged: a robot that stands does not move, but for its declared errors."""
    if len(seen.odometry) < 2:
        return None, "no odometry"
    pos = np.stack([sample.estimate.pos_m for sample in seen.odometry])
    vel = np.stack([sample.estimate.vel_m_s for sample in seen.odometry])
    if (pos == pos[0]).all() and (vel == vel[0]).all():
        return False, "it does not change in any bit: the sensor is dead, or the message is repeated"
    safety, spread = needs.vehicle.safety, float(np.abs(pos - pos.mean(0)).max())
    if spread > 2 * safety.position_error_m:
        return False, f"it wanders by {spread:.3f} m at rest, position_error_m is {safety.position_error_m:g}"
    drift = float(np.linalg.norm(vel.mean(0)))
    if drift > safety.velocity_error_m_s:
        return False, f"it says {drift:.3f} m/s at rest, velocity_error_m_s is {safety.velocity_error_m_s:g}"
    return True, f"still within {1000 * spread:.1f} mm"


def estimator(seen: RobotSeen, needs: Needs) -> Found:
    """Check that its filter assumes the bounds of the fleet's estimator, and that they were measured."""
    name, bounds = next(iter(needs.vehicle.bounds.items()))
    said = next((entry.values["estimator"] for entry in seen.entries.values() if "estimator" in entry.values), "")
    if said and said != name:
        mend = "set it up again, or start it with this fleet file"
        return False, f"its filter assumes the errors of the estimator {said}, the fleet file says {name}: {mend}"
    if name == ASSUMED:
        return None, "the errors of its estimator are assumed, not measured: name its estimator in the fleet file"
    if not said:
        return None, "its policy node has not said which estimator it assumes"
    return True, f"{name}, errors of up to {bounds[0]:g} m and {bounds[1]:g} m/s"


def inner_loop(seen: RobotSeen, needs: Needs) -> Found:
    """Check that the control under its commands is of the kind that its bundle was trained above."""
    entries = {key: entry.values[key] for entry in seen.entries.values() for key in LOOPS if key in entry.values}
    needed, there = (entries.get(key, "") for key in LOOPS)
    if not needed or not there:
        return None, "its bundle or its adapter does not say which control is under its commands"
    if needed == "torque_inversion" and there != needed:
        return False, f"its bundle flies only above {needed}, its adapter commands {there}: flash another bundle"
    return True, there


def gravity(seen: RobotSeen, needs: Needs) -> Found:
    """An accelerometer at rest feels +9.81 m/s^2 along z up."""
    if not seen.force_m_s2:
        return None, "no accelerometer is published"
    x, y, z = np.mean(seen.force_m_s2, axis=0).tolist()
    if abs(z + GRAVITY_M_S2) < GRAVITY_SHARE * GRAVITY_M_S2:
        return False, f"feels {z:.1f} m/s^2 along z: its sign is that of FRD, or gravity itself instead of the force"
    if abs(z - 1.0) < GRAVITY_SHARE:
        return False, "feels 1.0 along z: in units of g and read as m/s^2"
    if abs(z - GRAVITY_M_S2) > GRAVITY_SHARE * GRAVITY_M_S2:
        return False, f"feels ({x:.1f}, {y:.1f}, {z:.1f}) m/s^2 at rest, not (0, 0, 9.8)"
    return True, f"feels {z:.2f} m/s^2 along z"


def space(seen: RobotSeen, needs: Needs) -> Found:
    """It is inside of its geofence, and the geofence inside of the room."""
    fence = seen.arena_m or needs.space_m
    if fence is None:
        return None, "neither the policy node nor the scenario has an arena"
    whose = "the policy node's" if seen.arena_m else "the scenario's"
    if needs.room_m and (beyond := _beyond(fence, needs.room_m)):
        return False, f"{whose} arena reaches {beyond} beyond the room: set arena_low_m and arena_high_m"
    if not seen.odometry:
        return None, "no odometry"
    low, high = (np.array(corner) for corner in fence)
    place = seen.odometry[-1].estimate.pos_m
    if float(np.abs(place).max()) > FAR_M:
        return False, f"it is at {np.round(place).tolist()} m: in millimetres and read as metres"
    axes = slice(0, 2)  # from the ground a robot climbs into it
    if (place[axes] < low[axes]).any() or (place[axes] > high[axes]).any() or place[2] > high[2]:
        return False, f"it is at {np.round(place, 2).tolist()}, outside of {whose} arena"
    return True, f"inside of {whose} arena" + ("" if needs.room_m else "; name the room with --room to compare")


def hover(seen: RobotSeen, needs: Needs) -> Found:
    """Thrust against mass: of the file, and as measured where an adapter tells `hover_n`."""
    vehicle = needs.vehicle
    if not isinstance(vehicle, Quadrotor):
        return None, "it does not fly"
    weight = vehicle.body.mass_kg * GRAVITY_M_S2
    share = weight / (len(vehicle.rotors.spin) * vehicle.rotors.max_thrust_n)
    if not HOVER_SHARE[0] < share < HOVER_SHARE[1]:
        return False, f"by its file it hovers at {100 * share:.0f} % of full thrust: mass_kg or max_thrust_n is wrong"
    measured = seen.value("hover_n")
    if math.isnan(measured):
        return None, f"by its file at {100 * share:.0f} % of full thrust; nobody measured it"
    if abs(measured - weight) > HOVER_ERROR * weight:
        return False, f"it hovered with {measured:.3f} N, its file's mass needs {weight:.3f} N: weigh it"
    return True, f"it hovered with {measured:.3f} N, its file's mass needs {weight:.3f} N"


def adapter(seen: RobotSeen, needs: Needs) -> Found:
    """Check the adapters between topics and the vehicle, and between cameras and odometry."""
    entries = [entry for name, entry in seen.entries.items() if not name.endswith("/policy_node")]
    if not entries:
        return None, "no adapter tells of itself"
    bad = [f"{entry.name}: {entry.message}" for entry in entries if entry.level != OK]
    return (not bad, "; ".join(bad or [f"{entry.name}: {entry.message}" for entry in entries]))


def battery(seen: RobotSeen, needs: Needs) -> Found:
    """The voltage that its adapter tells; how low is low is the adapter's to say."""
    volts = seen.value("volts")
    if math.isnan(volts):
        return None, "no adapter tells its voltage"
    low = [entry.message for entry in seen.entries.values() if "battery is low" in entry.message]
    return (False, low[0]) if low else (True, f"{volts:.2f} V")


def link(seen: RobotSeen, needs: Needs) -> Found:
    """When its adapter heard the vehicle last."""
    age_s = seen.value("link_age_s")
    if math.isnan(age_s):
        return None, "no adapter tells of a link"
    return age_s <= LINK_S, f"heard {age_s:.2f} s ago"


CHECKS: dict[str, Check] = {
    "policy": policy,
    "odometry": odometry,
    "frame": frame,
    "clock": clock,
    "at rest": at_rest,
    "estimator": estimator,
    "inner loop": inner_loop,
    "gravity": gravity,
    "space": space,
    "hover": hover,
    "adapter": adapter,
    "battery": battery,
    "link": link,
}


def rows_of(seen: RobotSeen, needs: Needs) -> list[CheckRow]:
    """All of one robot."""
    return [CheckRow(seen.name, name, *check(seen, needs)) for name, check in CHECKS.items()]


def _beyond(inner: Box, outer: Box) -> str:
    """How far a box reaches out of another one, in words; "" where it does not."""
    over = np.maximum(np.subtract(outer[0], inner[0]), np.subtract(inner[1], outer[1])).tolist()
    return ", ".join(f"{m:.2f} m on {axis}" for axis, m in zip("xyz", over, strict=True) if m > 1e-9)
