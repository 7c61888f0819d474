"""`COURT`: message of a tracking system to all drones about the ball, and its use by one drone.

Rows of three numbers: the ball's place [m], its velocity [m/s], and two rows for each robot: 1 if it
has the turn and the speeds of two rotors over the largest, then those of the other two and 0.
"""

from collections.abc import Mapping

import numpy as np

from robomarl.core.domain.onboard import Content, LazyImport
from robomarl.domains.volleyball.core.sensed import TURNS, VolleySensed
from robomarl.ros.fieldtask import FieldTask, Seat, Sensor
from robomarl.ros.io.messages import Message, TeamSnapshot
from robomarl.ros.topics import NodeGraph, Topic

COURT = Topic(
    "court", "geometry_msgs/msg/PoseArray", False, False, 5, "policy rate", "map",
    "what drones that play volleyball are told, as `position` of each pose: place of the ball, its velocity; then for "
    "each robot x 1 if it has the turn and as y, z the speeds of two rotors, then of two more",
)  # fmt: skip
BALL_ROWS, ROBOT_ROWS = 2, 2


def graph() -> NodeGraph:
    """The usual topics, and the court."""
    return NodeGraph(sensed=(COURT,))


def rows_to(message: Message) -> tuple[np.ndarray, float]:
    """[2 + 2 N, 3] of a message, and its stamp [s].

    Raises:
        MessageError: a number is not sound.
    """
    from robomarl.ros.convert import stamp_of, xyz_of

    return np.array([xyz_of(pose.position) for pose in message.poses]).reshape(-1, 3), stamp_of(message.header)


def rows_from(rows: np.ndarray, stamp_s: float) -> Message:
    """The message of [2 + 2 N, 3]."""
    from geometry_msgs.msg import Point, Pose, PoseArray

    from robomarl.ros.convert import header

    poses = [Pose(position=Point(x=float(x), y=float(y), z=float(z))) for x, y, z in rows]
    return PoseArray(header=header(stamp_s), poses=poses)


def rows_of(sensed: VolleySensed) -> np.ndarray:
    """Return the rows [2 + 2 N, 3] of what a team senses, [N, ...] each."""
    zero = sensed.throttle[:, :1] * 0
    has_turn = (sensed.turn * np.eye(len(zero), TURNS)).sum(-1, keepdims=True)
    robots = np.concatenate([has_turn, sensed.throttle, zero], -1)
    return np.concatenate([sensed.ball_pos_m[:1], sensed.ball_vel_m_s[:1], robots.reshape(-1, 3)])


def field_task(content: Content, seat: Seat) -> FieldTask:
    """Return the field task of one robot; in tasks without a ball it senses its own place as the ball's."""
    count, has_ball = seat.size, content.get("ball") is not None
    nothing = np.zeros((BALL_ROWS + ROBOT_ROWS * count, 3))

    def sensed(values: Mapping[str, np.ndarray | None], snapshot: TeamSnapshot) -> VolleySensed:
        told = values.get(COURT.name)
        rows = nothing if told is None or len(told) != len(nothing) else told
        robots = rows[BALL_ROWS:].reshape(count, 3 * ROBOT_ROWS)
        turn = np.zeros(TURNS)
        turn[: min(count, TURNS)] = robots[:TURNS, 0]
        return VolleySensed(rows[0], rows[1] * has_ball, robots[seat.index, 1:5], turn)

    reader = LazyImport("robomarl.domains.volleyball.ros.court:rows_to")
    return FieldTask((Sensor(COURT, reader),), sensed, role=np.int32(seat.index))
