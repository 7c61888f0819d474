"""Every topic of the node graph: name, type, quality of service, rate, frame. No ROS here.

Nodes, recorder, plan and README all read this table. A robot's topics are in its namespace, `BASE/NAME`; the
simulator's are in `BASE/sim`, where BASE is the team's namespace (empty unless the plan has one).
"""

from dataclasses import dataclass

FRAME = "map"
"""The world frame, ENU, z up: `header.frame_id` of everything that is not a body frame."""


@dataclass(frozen=True)
class Topic:
    """One topic."""

    name: str
    type: str
    """ROS name of the message type."""
    reliable: bool
    """Lost samples are sent again."""
    latched: bool
    """Those who come late get the last sample (transient local)."""
    depth: int
    """Samples that are kept for a reader that is late."""
    rate: str
    """For the README."""
    frame: str
    """For the README."""
    content: str
    """For the README."""

    def of(self, robot: str, base: str = "") -> str:
        """Absolute name of a robot's topic, or with robot "sim" of the simulator's."""
        return self.name if self.name.startswith("/") else f"{base}/{robot}/{self.name}"


ODOMETRY = Topic(
    "odometry", "nav_msgs/msg/Odometry", False, False, 5, "policy rate", "map; twist in NAME/base_link",
    "state estimate: pose in the world, twist in the body frame (REP-105, REP-147)",
)  # fmt: skip
STATE_AND_PLAN = Topic(
    "state_and_plan", "trajectory_msgs/msg/MultiDOFJointTrajectory", False, False, 5, "policy rate", "map",
    "the only message between robots: `points` are the estimate, the state after the queued commands, the stop point",
)  # fmt: skip
COMMAND = Topic(
    "command", "trajectory_msgs/msg/MultiDOFJointTrajectory", True, False, 1, "policy rate while active", "map",
    "acceleration (`accelerations[0].linear`) and yaw rate (`velocities[0].angular.z`), filtered (REP-147)",
)  # fmt: skip
GOAL = Topic(
    "goal", "geometry_msgs/msg/PoseStamped", True, False, 1, "when it changes", "map",
    "where the robot is asked to be; an operator may send a new one at any time",
)  # fmt: skip
TICK = Topic(
    "tick", "std_msgs/msg/Float64MultiArray", False, False, 100, "policy rate", "-",
    "what one tick did and how long it took; the names of the elements are in `layout.dim[0].label`",
)  # fmt: skip
BUNDLE = Topic(
    "bundle", "std_msgs/msg/String", True, True, 1, "once", "-",
    "id of the bundle that the robot has loaded; robots with another id count as not heard",
)  # fmt: skip
DIAGNOSTICS = Topic(
    "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", True, False, 10, "1 Hz", "-", "health (REP-107)"
)
TRUTH = Topic(
    "truth", "trajectory_msgs/msg/MultiDOFJointTrajectory", False, False, 5, "policy rate", "map",
    "simulator only: true pose and twist (world frame, body rates) of all robots in `points[0]`",
)  # fmt: skip
SIM_GOALS = Topic(
    "goals", "geometry_msgs/msg/PoseArray", True, True, 1, "at each reset", "map",
    "simulator only: the goals that the scenario drew, in the order of the team",
)  # fmt: skip
SIM_STATUS = Topic(
    "status", "std_msgs/msg/Float64MultiArray", True, False, 10, "10 Hz", "-",
    "simulator only: the judge's figures of the flight; names in `layout.dim[0].label`",
)  # fmt: skip

ROBOT_TOPICS = (ODOMETRY, STATE_AND_PLAN, COMMAND, GOAL, TICK, BUNDLE)
"""In the namespace of every robot."""
TEAM_TOPICS = (DIAGNOSTICS,)
SIM_TOPICS = (TRUTH, SIM_GOALS, SIM_STATUS)


def qos_text(topic: Topic) -> str:
    """Quality of service in words, as in the README."""
    return f"{'reliable' if topic.reliable else 'best effort'}{', latched' if topic.latched else ''}, {topic.depth}"


def recorded_topics(robots: tuple[str, ...], sim: bool, base: str = "") -> list[tuple[str, Topic]]:
    """(absolute name, topic) of everything that a recording holds."""
    found = [(topic.of(robot, base), topic) for robot in robots for topic in ROBOT_TOPICS]
    found += [(topic.of("sim", base), topic) for topic in SIM_TOPICS if sim]
    return [*found, *((topic.name, topic) for topic in TEAM_TOPICS)]
