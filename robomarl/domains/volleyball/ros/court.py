"""`COURT`: message of a referee to all drones of one team, and its use by one drone.

Rows of three numbers: (1 if the ball is in play, 0, 0), and two rows for each robot: 1 if it has the turn and the
speeds of two rotors over the largest, then those of the other two and 0. The ball itself is a message of its own.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from robomarl.core.domain.onboard import Content, LazyImport
from robomarl.core.view import LocalView
from robomarl.domains.volleyball.core.sensed import TURNS, VolleySensed
from robomarl.domains.volleyball.core.waiting import waiting
from robomarl.domains.volleyball.ros.tracked_ball import BALL, NO_BALL, SENSOR, HitWatch, carried_on, is_lost
from robomarl.ros.fieldtask import BoundReader, FieldTask, Seat, Sensor
from robomarl.ros.io.messages import TeamSnapshot
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


def court_reader(rows: int) -> BoundReader:
    """Return the reader of a referee's messages of so many rows."""
    return BoundReader(LazyImport("robomarl.ros.convert:places_reader"), (rows, "the referee of this team's size"))


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
