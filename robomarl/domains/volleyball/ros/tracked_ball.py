"""`BALL`: message of a tracking system about the ball to all drones, and the ball as one drone believes it now.

Between two messages a drone carries the ball on by its flight. A ball without a message for `LOST_S` is lost: then its
drones go back to their posts and hover there, and strike at nothing.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.domain.onboard import LazyImport
from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.volleyball.core.sensed import LOST_S
from robomarl.ros.fieldtask import Sensor
from robomarl.ros.io.messages import Message
from robomarl.ros.topics import Topic

BALL = Topic(
    "tracked_ball", "geometry_msgs/msg/PoseArray", False, False, 5, "policy rate", "map",
    "the ball as a tracking system sees it, as `position` of two poses: its place, and its velocity",
)  # fmt: skip
FOR_EVER_S = 1e9
"""The node itself never takes the ball for lost: it would brake where it is, and the drones have something better."""


class TrackedBall(NamedTuple):
    """The ball at one moment."""

    pos_m: np.ndarray
    vel_m_s: np.ndarray
    stamp_s: float


NO_BALL = TrackedBall(np.zeros(3), np.zeros(3), -np.inf)
"""The ball before the first message."""


def ball_to(message: Message) -> tuple[TrackedBall, float]:
    """The ball of a message, and its stamp [s].

    Raises:
        MessageError: it is no two poses, or a number is not sound.
    """
    from robomarl.ros.convert import MessageError, places_to

    rows, stamp_s = places_to(message)
    if len(rows) != 2:
        raise MessageError(f"has {len(rows)} poses, and the ball has 2: its place and its velocity")
    return TrackedBall(rows[0], rows[1], stamp_s), stamp_s


SENSOR = Sensor(BALL, LazyImport("robomarl.domains.volleyball.ros.tracked_ball:ball_to"), max_age_s=FOR_EVER_S)


def is_lost(ball: TrackedBall, now_s: float) -> bool:
    """True if the last message is too old to strike at the ball, or from so far ahead that a clock is wrong."""
    return not abs(now_s - ball.stamp_s) <= LOST_S


def carried_on(ball: TrackedBall, now_s: float) -> TrackedBall:
    """Return the ball as it flies now; after `LOST_S` without a message it stays where it was then."""
    on_s = float(np.clip(now_s - ball.stamp_s, 0.0, LOST_S))
    fall = np.array([0.0, 0.0, GRAVITY_M_S2 * on_s])
    return TrackedBall(ball.pos_m + on_s * (ball.vel_m_s - fall / 2), ball.vel_m_s - fall, now_s)


class HitWatch:
    """Notes when the referee has seen a hit of which the ball's own messages do not know yet, because one was lost.

    A robot that gets the turn would else strike for a moment at the ball as it flew before the hit.
    """

    def __init__(self) -> None:
        """Nothing was seen."""
        self._record, self._stamp_s, self._behind = np.zeros(0), -np.inf, False

    def is_behind(self, record: np.ndarray, ball: TrackedBall) -> bool:
        """True if the referee's record [R] has changed since the ball's last message; called once for each view."""
        if not np.array_equal(record, self._record):
            self._behind = ball.stamp_s == self._stamp_s
        elif ball.stamp_s > self._stamp_s:
            self._behind = False
        self._record, self._stamp_s = record, ball.stamp_s
        return self._behind
