"""`COURT`: message of a referee to all drones of one team, and its use by one drone.

Rows of three numbers: (1 if the ball is in play, 0, 0), and two rows for each robot: 1 if it has the turn and the
speeds of two rotors over the largest, then those of the other two and 0. The ball itself is a message of its own.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robomarl.core.domain.onboard import Content, LazyImport
from robomarl.core.view import LocalView
from robomarl.domains.volleyball.core.sensed import TURNS, VolleySensed
from robomarl.domains.volleyball.core.waiting import waiting
from robomarl.domains.volleyball.ros.tracked_ball import BALL, NO_BALL, SENSOR, HitWatch, carried_on, is_lost
from robomarl.ros.fieldtask import BoundReader, FieldTask, Seat, Sensor
from robomarl.ros.io.messages import Message, TeamSnapshot
from robomarl.ros.topics import NodeGraph, Topic

COURT = Topic(
    "court", "geometry_msgs/msg/PoseArray", False, False, 5, "policy rate", "map",
    "what a referee tells drones that play volleyball, as `position` of each pose: x 1 if the ball is in play; then "
    "for each robot x 1 if it has the turn and as y, z the speeds of two rotors, then of two more",
)  # fmt: skip
HEAD_ROWS, ROBOT_ROWS = 1, 2


def graph() -> NodeGraph:
    """The usual topics, the court and the ball."""
    return NodeGraph(sensed=(COURT, BALL))


def rows_to(message: Message) -> tuple[np.ndarray, float]:
    """[R, 3] of a message, and its stamp [s].

    Raises:
        MessageError: a number is not sound.
    """
    from robomarl.ros.convert import stamp_of, xyz_of

    return np.array([xyz_of(pose.position) for pose in message.poses]).reshape(-1, 3), stamp_of(message.header)


def reader_of(expected: int) -> Callable[[Message], tuple[np.ndarray, float]]:
    """Return `rows_to` for messages of so many rows; it raises `MessageError` for one of another team's size."""
    from robomarl.ros.convert import MessageError

    def read(message: Message) -> tuple[np.ndarray, float]:
        if (count := len(message.poses)) != expected:
            raise MessageError(f"has {count} poses, and the referee of this team's size sends {expected}")
        return rows_to(message)

    return read


def court_reader(rows: int) -> BoundReader:
    """Return the reader of a referee's messages of so many rows."""
    return BoundReader(LazyImport("robomarl.domains.volleyball.ros.court:reader_of"), (rows,))


def rows_from(rows: np.ndarray, stamp_s: float) -> Message:
    """The message of [R, 3]."""
    from geometry_msgs.msg import Point, Pose, PoseArray

    from robomarl.ros.convert import header

    poses = [Pose(position=Point(x=float(x), y=float(y), z=float(z))) for x, y, z in rows]
    return PoseArray(header=header(stamp_s), poses=poses)


def rows_of(sensed: VolleySensed, in_play: bool) -> np.ndarray:
    """Return the rows [1 + 2 N, 3] of what a team senses, [N, ...] each."""
    zero = sensed.throttle[:, :1] * 0
    has_turn = (sensed.turn * np.eye(len(zero), TURNS)).sum(-1, keepdims=True)
    robots = np.concatenate([has_turn, sensed.throttle, zero], -1)
    return np.concatenate([[[float(in_play), 0.0, 0.0]], robots.reshape(-1, 3)])


def rows_for(seat: Seat) -> int:
    """Count the rows of a message to the robot's team."""
    return HEAD_ROWS + ROBOT_ROWS * seat.size


class Court:
    """Senses of one robot in a task of one team."""

    def __init__(self, seat: Seat, has_ball: bool) -> None:
        """Nothing is in play; `has_ball`: a ball is played in the task."""
        self._seat, self._has_ball, self._waits, self._watch = seat, has_ball, True, HitWatch()

    def sensed(self, values: Mapping[str, Any], snapshot: TeamSnapshot) -> VolleySensed:
        """Return what the robot senses; in tasks without a ball it senses its own place as the ball's."""
        told, seat = values.get(COURT.name), self._seat
        rows = np.zeros((rows_for(seat), 3)) if told is None else told
        robots = rows[HEAD_ROWS:].reshape(seat.size, 3 * ROBOT_ROWS)
        turn = np.zeros(TURNS)
        turn[: min(seat.size, TURNS)] = robots[:TURNS, 0]
        seen = values.get(BALL.name) or NO_BALL
        is_behind = self._watch.is_behind(turn, seen)
        has_lost = self._has_ball and (is_behind or is_lost(seen, snapshot.now_s))
        self._waits = bool(rows[0, 0] < 0.5 or has_lost)
        ball = carried_on(seen, snapshot.now_s)
        return VolleySensed(ball.pos_m, ball.vel_m_s * self._has_ball, robots[seat.index, 1:5], turn)

    def waits(self, view: LocalView) -> np.ndarray | None:
        """Return the command of a robot whose ball is lost, or before and after play; None: its policy decides."""
        return waiting(view) if self._waits else None


def field_task(content: Content, seat: Seat) -> FieldTask:
    """Return the field task of one robot."""
    has_ball = content.get("ball") is not None
    court, reader = Court(seat, has_ball), court_reader(rows_for(seat))
    return FieldTask((Sensor(COURT, reader), SENSOR), court.sensed, role=np.int32(seat.index), waits=court.waits)
