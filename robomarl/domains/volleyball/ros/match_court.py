"""`MATCH_COURT`: message of a tracking system to the drones of one team in a match, and its use by one drone.

Rows of three numbers in the team's court frame: the ball's place [m], its velocity [m/s], (1 if the ball is on the
team's side, 0, 0); for each robot of the team (1 if it may not hit the ball, speeds of two rotors over the largest) and
(speeds of the other two, 0); the place of each opponent [m].
"""

from collections.abc import Mapping

import numpy as np

from robomarl.core.domain.onboard import Content, LazyImport
from robomarl.domains.volleyball.core.match.sensed import MatchSensed
from robomarl.ros.fieldtask import FieldTask, Seat, Sensor
from robomarl.ros.io.messages import TeamSnapshot
from robomarl.ros.topics import NodeGraph, Topic

MATCH_COURT = Topic(
    "match_court", "geometry_msgs/msg/PoseArray", False, False, 5, "policy rate", "map",
    "what drones of a team in a volleyball match are told, as `position` of each pose: place of the ball, its speed, "
    "whether it is on their side; for each mate x 1 if it may not hit, then the speeds of its rotors; the opponents",
)  # fmt: skip
BALL_ROWS, MATE_ROWS, OPPONENT_ROWS = 3, 2, 1


def graph() -> NodeGraph:
    """The usual topics, and the court."""
    return NodeGraph(sensed=(MATCH_COURT,))


def rows_of(sensed: MatchSensed) -> np.ndarray:
    """Return the rows [3 + 3 N, 3] of what a team senses, [N, ...] each."""
    zero = sensed.throttle[:, :1] * 0
    side = np.array([[sensed.turn[0, 0], 0.0, 0.0]])
    mates = np.concatenate([sensed.has_hit[0][:, None], sensed.throttle, zero], -1).reshape(-1, 3)
    return np.concatenate([sensed.ball_pos_m[:1], sensed.ball_vel_m_s[:1], side, mates, sensed.opponents_m[0]])


def sensed_of(rows: np.ndarray, index: int) -> MatchSensed:
    """Return the sensor data of one robot from the rows [3 + 3 N, 3]."""
    count = (len(rows) - BALL_ROWS) // (MATE_ROWS + OPPONENT_ROWS)
    end = BALL_ROWS + MATE_ROWS * count
    mates, here = rows[BALL_ROWS:end].reshape(count, 3 * MATE_ROWS), rows[2, 0]
    return MatchSensed(rows[0], rows[1], mates[index, 1:5], np.array([here, 1 - here]), mates[:, 0], rows[end:])


def field_task(content: Content, seat: Seat) -> FieldTask:
    """Return the field task of one robot of a team."""
    nothing = np.zeros((BALL_ROWS + (MATE_ROWS + OPPONENT_ROWS) * seat.size, 3))

    def sensed(values: Mapping[str, np.ndarray | None], snapshot: TeamSnapshot) -> MatchSensed:
        told = values.get(MATCH_COURT.name)
        return sensed_of(nothing if told is None or len(told) != len(nothing) else told, seat.index)

    reader = LazyImport("robomarl.domains.volleyball.ros.court:rows_to")
    return FieldTask((Sensor(MATCH_COURT, reader),), sensed, role=np.int32(seat.index))
