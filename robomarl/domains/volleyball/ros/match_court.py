"""`MATCH_COURT`: message of a referee to the drones of both teams in a match, and its use by one drone.

Rows of three numbers in the map, which is the first team's court frame: (1 if the ball is in play, 1 if it is on the
second team's side, 0); for each robot of both teams, the first team's first, (1 if it may not hit the ball, speeds of
two rotors over the largest) and (speeds of the other two, 0); then the place of each of them [m].
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from robomarl.core.domain.onboard import Content
from robomarl.core.view import Goal, LocalView
from robomarl.domains.volleyball.core.match.sensed import MatchSensed
from robomarl.domains.volleyball.core.waiting import waiting
from robomarl.domains.volleyball.ros.court import court_reader
from robomarl.domains.volleyball.ros.tracked_ball import BALL, NO_BALL, SENSOR, HitWatch, carried_on, is_lost
from robomarl.ros.fieldtask import FieldTask, Seat, Sensor
from robomarl.ros.io.messages import TeamSnapshot
from robomarl.ros.topics import GOAL, ROBOT_TOPICS, NodeGraph, Topic

MATCH_COURT = Topic(
    "match_court", "geometry_msgs/msg/PoseArray", False, False, 5, "policy rate", "map",
    "what a referee tells drones of both teams in a volleyball match, as `position` of each pose: x 1 if the ball is "
    "in play, y 1 if it is on the second team's side; for each robot x 1 if it may not hit, then the speeds of its "
    "rotors; the place of each robot",
)  # fmt: skip
HEAD_ROWS, RECORD_ROWS, PLACE_ROWS = 1, 2, 1
TURNED = np.array([-1.0, -1.0, 1.0])
"""Half a turn of a vector about the vertical: from the map to the second team's court frame."""
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def graph() -> NodeGraph:
    """The usual topics, the court and the ball; the goal of a robot is its anchor, which nobody tells it."""
    robot = tuple(topic for topic in ROBOT_TOPICS if topic is not GOAL)
    return NodeGraph(robot, goal=None, sensed=(MATCH_COURT, BALL))


def rows_of(both: tuple[MatchSensed, MatchSensed], in_play: bool) -> np.ndarray:
    """Return the rows [1 + 6 N, 3] of what both teams sense, [N, ...] each, in their own court frames."""
    first, second = both
    records = [np.concatenate([s.has_hit[0][:, None], s.throttle, s.throttle[:, :1] * 0], -1) for s in both]
    places = second.opponents_m[0] * TURNED, first.opponents_m[0]
    head = [[float(in_play), float(second.turn[0, 0]), 0.0]]
    return np.concatenate([head, *(record.reshape(-1, 3) for record in records), *places])


def rows_for(seat: Seat) -> int:
    """Count the rows of a message to the robots of both teams."""
    return HEAD_ROWS + 2 * (RECORD_ROWS + PLACE_ROWS) * seat.size


class MatchSeat:
    """Senses of one robot of a team in a match."""

    def __init__(self, seat: Seat) -> None:
        """Nothing is in play."""
        self._seat, self._waits, self._watch = seat, True, HitWatch()
        self._blank = np.zeros((rows_for(seat), 3))

    def sensed(self, values: Mapping[str, Any], snapshot: TeamSnapshot) -> MatchSensed:
        """Return what the robot senses, in its team's court frame."""
        told, seat, count = values.get(MATCH_COURT.name), self._seat, self._seat.size
        rows = self._blank if told is None else told
        seen = values.get(BALL.name) or NO_BALL
        ball, change = carried_on(seen, snapshot.now_s), TURNED if seat.away else np.ones(3)
        records = rows[HEAD_ROWS : HEAD_ROWS + 2 * RECORD_ROWS * count].reshape(2, count, 3 * RECORD_ROWS)
        is_behind = self._watch.is_behind(records[:, :, 0], seen)
        self._waits = bool(rows[0, 0] < 0.5 or is_behind or is_lost(seen, snapshot.now_s))
        places = rows[-2 * count :].reshape(2, count, 3)
        mine, here = records[int(seat.away)], float(rows[0, 1] == seat.away)
        return MatchSensed(
            ball.pos_m * change, ball.vel_m_s * change, mine[seat.index, 1:5], np.array([here, 1 - here]), mine[:, 0],
            places[int(not seat.away)] * change,
        )  # fmt: skip

    def waits(self, view: LocalView) -> np.ndarray | None:
        """Return the command of a robot whose ball is lost or not in play; None: its policy decides."""
        return waiting(view) if self._waits else None


def anchor_of(content: Content, index: int) -> Goal:
    """The robot's anchor in its team's court frame."""
    start = content["start"]
    assert isinstance(start, Mapping), "the scenario of a match has a section start"
    return Goal(np.array(start["anchors_m"][index], float), UPRIGHT)


def field_task(content: Content, seat: Seat) -> FieldTask:
    """Return the field task of one robot of a team."""
    of_robot, reader = MatchSeat(seat), court_reader(rows_for(seat))
    return FieldTask(
        (Sensor(MATCH_COURT, reader), SENSOR),
        of_robot.sensed,
        fixed_goal=anchor_of(content, seat.index),
        away=seat.away,
        role=np.int32(seat.index),
        waits=of_robot.waits,
    )
