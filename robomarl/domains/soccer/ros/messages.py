"""Omnidirectional robots with a camera and a kicker: a player's messages to arrays and back.

A base of this kind takes velocities, the policy decides on accelerations. `cmd_vel` is the
velocity that the robot is to have one decision after the odometry with the message's stamp: the
velocity of that estimate, plus acceleration times period, along the body's axes. A base that
knows that estimate gets the acceleration back exactly.
"""

import numpy as np
from geometry_msgs.msg import PointStamped, TwistStamped, Vector3Stamped
from sensor_msgs.msg import TimeReference
from std_msgs.msg import Header
from trajectory_msgs.msg import MultiDOFJointTrajectory

from robomarl.core.geometry import quat_conjugate, rotate
from robomarl.domains.soccer.ros.playing import Sighting, Thing
from robomarl.ros.convert import MessageError, header, point_of, points_of, set_xyz, stamp_of, xyz_of
from robomarl.ros.io.messages import Estimate, Message
from robomarl.ros.timing.stamp import set_stamp, time_of


def velocity_after(command: np.ndarray, own: Estimate, period_s: float) -> np.ndarray:
    """Return the velocity [3] that a command [4] asks of the base, body frame: forward and left [m/s],
    yaw rate [rad/s].

    Args:
        command: acceleration x and y in the frame of the estimate, yaw rate, kick.
        own: the estimate that the command was decided on.
        period_s: between two decisions.
    """
    wanted = np.array([*(own.vel_m_s[:2] + command[:2] * period_s), 0.0])
    forward, left, _ = rotate(quat_conjugate(own.quat_wxyz), wanted)
    return np.array([forward, left, command[2]])


def acceleration_to(velocity: np.ndarray, own: Estimate, period_s: float) -> np.ndarray:
    """[3] acceleration x and y in the frame of the estimate [m/s^2] and yaw rate: the inverse of `velocity_after`."""
    wanted = rotate(own.quat_wxyz, np.array([*velocity[:2], 0.0]))
    return np.array([*((wanted[:2] - own.vel_m_s[:2]) / period_s), velocity[2]])


def twist_from(velocity: np.ndarray, stamp_s: float, robot: str) -> TwistStamped:
    """[3] of `velocity_after` as a message."""
    message = TwistStamped(header=_body_header(stamp_s, robot))
    set_xyz(message.twist.linear, np.array([*velocity[:2], 0.0]))
    message.twist.angular.z = float(velocity[2])
    return message


def twist_to(message: TwistStamped) -> tuple[np.ndarray, float]:
    """[3] as in `velocity_after`, and the stamp of the odometry that it goes on from [s].

    Raises:
        MessageError: another frame, or not finite.
    """
    _check_body(message.header)
    linear, angular = message.twist.linear, message.twist.angular
    return _finite(np.array([linear.x, linear.y, angular.z]), "a velocity"), stamp_of(message.header)


def kick_from(speed_m_s: float, stamp_s: float, robot: str) -> Vector3Stamped:
    """A kick forward."""
    message = Vector3Stamped(header=_body_header(stamp_s, robot))
    message.vector.x = float(speed_m_s)
    return message


def kick_to(message: Vector3Stamped) -> tuple[float, float]:
    """Speed [m/s] and stamp [s].

    Raises:
        MessageError: another frame, or not finite.
    """
    _check_body(message.header)
    return float(_finite(np.array([message.vector.x]), "a kick")[0]), stamp_of(message.header)


def sighting_from(sighting: Sighting, robot: str) -> MultiDOFJointTrajectory:
    """Return the message of one picture: the seen things, by kind."""
    point = point_of((t.pos_m for t in sighting.things), (t.vel_m_s for t in sighting.things), 0.0)
    names = [thing.kind for thing in sighting.things]
    return MultiDOFJointTrajectory(header=_body_header(sighting.stamp_s, robot), joint_names=names, points=[point])


def sighting_to(message: MultiDOFJointTrajectory) -> tuple[Sighting, float]:
    """The picture, and its stamp [s].

    Raises:
        MessageError: another frame or layout, or not finite.
    """
    _check_body(message.header)
    names, points, stamp_s = list(message.joint_names), points_of(message), stamp_of(message.header)
    if len(points) != 1 or not len(names) == len(points[0].transforms) == len(points[0].velocities):
        raise MessageError("a sighting has one point with a transform and a velocity for each name")
    places = [xyz_of(place.translation) for place in points[0].transforms]
    motions = [xyz_of(motion.linear) for motion in points[0].velocities]
    _finite(np.array([*places, *motions]), "a sighting")
    return Sighting(stamp_s, tuple(map(Thing, names, places, motions))), stamp_s


def kicker_from(charged_s: float, stamp_s: float) -> TimeReference:
    """When the kicker will be charged."""
    message = TimeReference(header=header(stamp_s), source="kicker")
    set_stamp(message.time_ref, charged_s)
    return message


def kicker_to(message: TimeReference) -> tuple[float, float]:
    """When the kicker will be charged, and the stamp [s] each."""
    return time_of(message.time_ref), stamp_of(message.header)


def ball_from(pos_m: np.ndarray, stamp_s: float) -> PointStamped:
    """Return the message of the ball's place [2], on the map."""
    message = PointStamped(header=header(stamp_s))
    set_xyz(message.point, np.array([*pos_m[:2], 0.0]))
    return message


def ball_to(message: PointStamped) -> tuple[np.ndarray, float]:
    """[2] where the ball is, and the stamp [s].

    Raises:
        MessageError: not on the map, or not finite.
    """
    if message.header.frame_id != header(0.0).frame_id:
        raise MessageError(f"header.frame_id is {message.header.frame_id!r}, not {header(0.0).frame_id!r}")
    return _finite(xyz_of(message.point)[:2], "a ball"), stamp_of(message.header)


class PlayerCommands:
    """A player's commands as messages."""

    def __init__(self, robot: str, period_s: float) -> None:
        """Create the writer for that robot; `period_s` between two decisions."""
        self._robot, self._period_s = robot, period_s

    def __call__(self, command: np.ndarray, own: Estimate | None, stamp_s: float) -> tuple[Message, Message]:
        """`cmd_vel` and `kick`.

        Args:
            command: [4].
            own: the estimate that it was decided on; None where the robot brakes without knowing where it is, which
                for a base that is told velocities means to stop.
            stamp_s: of that estimate.
        """
        velocity = np.zeros(3) if own is None else velocity_after(command, own, self._period_s)
        return twist_from(velocity, stamp_s, self._robot), kick_from(command[3], stamp_s, self._robot)


def _body_header(stamp_s: float, robot: str) -> Header:
    made = header(stamp_s)
    made.frame_id = f"{robot}/base_link"
    return made


def _check_body(of: Header) -> None:
    if not of.frame_id.endswith("base_link"):
        raise MessageError(f"header.frame_id is {of.frame_id!r}, not that of the robot's base_link")


def _finite(values: np.ndarray, what: str) -> np.ndarray:
    if not np.isfinite(values).all():
        raise MessageError(f"{what} must be finite, not {values}")
    return values
