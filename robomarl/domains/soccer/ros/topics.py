"""Topics of players and of their referee, besides the usual ones. No ROS here."""

from robomarl.ros import topics
from robomarl.ros.topics import NodeGraph, Topic

CMD_VEL = Topic(
    "cmd_vel", "geometry_msgs/msg/TwistStamped", True, False, 1, "policy rate while active", "NAME/base_link",
    "a player's, instead of `command`: the velocity that it is to have one decision after the odometry with this "
    "stamp, and its yaw rate, filtered",
)  # fmt: skip
KICK = Topic(
    "kick", "geometry_msgs/msg/Vector3Stamped", True, False, 1, "policy rate while active", "NAME/base_link",
    "`x`: how fast the ball is to leave the kicker as soon as it is there; 0: not at all",
)  # fmt: skip
SIGHTING = Topic(
    "sighting", "trajectory_msgs/msg/MultiDOFJointTrajectory", False, False, 5, "policy rate", "NAME/base_link",
    "sensed: one picture of the robot's camera, at the stamp: `ball` and `opponent_K` in `joint_names`, places and "
    "velocities over ground in `points[0]`; what is not seen is not there",
)  # fmt: skip
KICKER = Topic(
    "kicker", "sensor_msgs/msg/TimeReference", False, False, 5, "policy rate", "-",
    "sensed: `time_ref` is when the kicker will be charged",
)  # fmt: skip
BALL = Topic(
    "ball", "geometry_msgs/msg/PointStamped", False, False, 5, "policy rate", "map",
    "where the referee sees the ball: of a camera above the field, or of the simulator; players do not listen",
)  # fmt: skip
MATCH = Topic(
    "match", "diagnostic_msgs/msg/DiagnosticStatus", True, True, 1, "1 Hz, and at each change", "-",
    "of the referee: `message` is the phase (WAITING, PLAYING, STOPPED, OVER), `values` are both scores, the match's "
    "time [s] and its kick-offs",
)  # fmt: skip
REFEREE = "referee"
"""Name of the referee, and the namespace of its topics and services."""
PLAYER_TOPICS = (
    *(topics.ODOMETRY, topics.STATE_AND_PLAN, CMD_VEL, KICK),
    *(SIGHTING, KICKER, topics.TICK, topics.ANNOUNCE),
    *topics.SEEING,
)
"""Topics in the namespace of every robot that plays."""


def graph() -> NodeGraph:
    """Return the players' topics, the referee's inputs and its messages; robots receive no goals in a game."""
    sim = (topics.TRUTH, topics.SIM_STATUS)
    return NodeGraph(PLAYER_TOPICS, goal=None, sensed=(BALL,), beside=((REFEREE, MATCH),), sim=sim)
