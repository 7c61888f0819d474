"""Every topic of the node graph: name, type, quality of service, rate, frame. No ROS here.

Nodes, recorder, plan and README all read this table. A robot's topics are in its namespace, `BASE/NAME`; the
simulator's are in `BASE/sim`, where BASE is the team's namespace (empty unless the plan has one).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from robomarl.core.domain.base import of_kind
from robomarl.core.domain.registry import onboard_of
from robomarl.ros.robot.command_layout import FLYING

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
    """True if late subscribers get the last sample (transient local)."""
    depth: int
    """Samples that are kept for a reader that is late."""
    rate: str
    """For the README."""
    frame: str
    """For the README."""
    content: str
    """For the README."""
    judged: tuple[str, ...] | None = None
    """Fields that are validated: a message with a number that is not finite or absurdly large in one is rejected.
    None: all. Other fields are read by no node, or validated by their reader.
    """

    def of(self, robot: str, base: str = "") -> str:
        """Absolute name of a robot's topic; with robot "sim" of the simulator's, with robot "" of the team's."""
        if self.name.startswith("/"):
            return self.name
        return f"{base}/{robot}/{self.name}" if robot else f"{base}/{self.name}"


ODOMETRY = Topic(
    "odometry", "nav_msgs/msg/Odometry", False, False, 5, "policy rate", "map; twist in NAME/base_link",
    "state estimate: pose in the world, twist in the body frame (REP-105, REP-147)",
    ("header", "pose.pose", "twist.twist"),  # others write NaN or the largest double into covariances: not known
)  # fmt: skip
STATE_AND_PLAN = Topic(
    "state_and_plan", "trajectory_msgs/msg/MultiDOFJointTrajectory", False, False, 5, "`radio_hz`", "map",
    "the only message between robots: `points` are the estimate, the state after the queued commands, the stop point; "
    "a player adds what it sees, by the names in `joint_names` after its own; a certified robot adds its course and, "
    "of each teammate in `joint_names`, their two anchors (docs/certificate.md)",
)  # fmt: skip
COMMAND = Topic(
    "command", "trajectory_msgs/msg/MultiDOFJointTrajectory", True, False, 1, "policy rate while active", "map",
    "acceleration (`accelerations[0].linear`) and yaw rate (`velocities[0].angular.z`), filtered (REP-147); under a "
    "load roll and pitch rate (`velocities[0].angular.x`, `.y`) instead; free fall at the end of a landing: "
    "stop the motors",
)  # fmt: skip
GOAL = Topic(
    "goal", "geometry_msgs/msg/PoseStamped", True, False, 1, "when it changes", "map",
    "where the robot is asked to be; an operator may send a new one at any time",
)  # fmt: skip
TICK = Topic(
    "tick", "std_msgs/msg/Float64MultiArray", False, False, 100, "10 Hz, and at each change of state", "-",
    "what every tick did and how long it took, a row for each; names of the columns in `layout.dim[1].label`",
    ("layout",),  # NaN: there was none; `status_messages.ticks_to` judges the columns that a reader needs
)  # fmt: skip
ANNOUNCE = Topic(
    "announce", "diagnostic_msgs/msg/DiagnosticStatus", True, True, 1, "2 Hz, and at each change", "-",
    "who the robot is and what it does: `message` is its state, `values` are bundle, contract, vehicle, index",
)  # fmt: skip
ESTOP = Topic(
    "emergency_stop", "std_msgs/msg/Bool", True, True, 1, "10 Hz", "-",
    "of the monitor: the E-stop is pressed; its silence stops the team",
)  # fmt: skip
MONITOR = Topic(
    "monitor/claim", "std_msgs/msg/Header", True, True, 1, "1 Hz", "-",
    "of the monitor: since when it runs, and in which process; of several that start at once the first one stays",
)  # fmt: skip
RECORDING = Topic(
    "recording", "diagnostic_msgs/msg/DiagnosticStatus", True, True, 1, "1 Hz", "-",
    "of the recorder: `level` and `message` as in its diagnostics, `values` say for each robot whether it is recorded",
)  # fmt: skip
FLEET = Topic(
    "fleet", "std_msgs/msg/String", True, True, 1, "1 Hz", "-",
    "of the monitor: the fleet as a table, one line for each robot",
)  # fmt: skip
DIAGNOSTICS = Topic(
    "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", True, False, 10, "1 Hz", "-", "health (REP-107)"
)
CLOCK = Topic(
    "/clock", "rosgraph_msgs/msg/Clock", False, False, 1, "physics rate", "-",
    "simulator only, on request: simulated time, for nodes with `use_sim_time`",
)  # fmt: skip
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
    ("layout",),  # NaN: it has not happened
)  # fmt: skip

IMAGE = Topic(
    "camera/image_raw", "sensor_msgs/msg/Image", False, False, 1, "the camera's rate", "NAME/camera",
    "a robot's that sees: its camera's picture, rgb8; not recorded as it is, but see `camera/strip`",
)  # fmt: skip
COMPRESSED = Topic(
    "camera/image_raw/compressed", "sensor_msgs/msg/CompressedImage", False, False, 1, "the camera's rate",
    "NAME/camera", "the same as JPEG or PNG, with `image_transport: compressed`; recorded at `pictures_hz`",
)  # fmt: skip
CAMERA_INFO = Topic(
    "camera/camera_info", "sensor_msgs/msg/CameraInfo", False, False, 1, "the camera's rate", "NAME/camera",
    "the camera's size, intrinsics and distortion, which must be those of the bundle's camera",
)  # fmt: skip
STRIP = Topic(
    "camera/strip", "sensor_msgs/msg/Image", False, False, 5, "each picture that is used", "NAME/camera",
    "of the policy node, for the recorder: what the bundle's network was given of a picture, at its stamp",
)  # fmt: skip
ROSOUT = Topic("/rosout", "rcl_interfaces/msg/Log", True, True, 1000, "", "-", "what all nodes log")
CHANGES = Topic(
    "/parameter_events", "rcl_interfaces/msg/ParameterEvent", True, False, 100, "", "-", "changes of parameters"
)
TRANSITIONS = Topic(
    "policy_node/transition_event", "lifecycle_msgs/msg/TransitionEvent", True, False, 10, "", "-",
    "states of the lifecycle",
)  # fmt: skip
# Transforms of many senders and bodies: each is judged by itself.
TF = Topic("/tf", "tf2_msgs/msg/TFMessage", False, False, 100, "", "-", "frames that move", ())
TF_STATIC = Topic("/tf_static", "tf2_msgs/msg/TFMessage", True, True, 100, "", "-", "frames that do not", ())

SEEING = (COMPRESSED, CAMERA_INFO, STRIP)
"""Topics of a robot that sees that are recorded, beside its others: pictures as they are would take 20 MB/s each."""
ROBOT_TOPICS = (ODOMETRY, STATE_AND_PLAN, COMMAND, GOAL, TICK, ANNOUNCE)
"""Topics in the namespace of every robot that flies."""
MONITOR_TOPICS = (ESTOP, MONITOR, FLEET, DIAGNOSTICS)
"""Topics that the monitor publishes."""
TEAM_TOPICS = (*MONITOR_TOPICS, RECORDING)
"""Topics in the namespace of the team; `/diagnostics` is shared by all nodes."""
SIM_TOPICS = (TRUTH, SIM_GOALS, SIM_STATUS)
WORLD = "world"
"""Namespace of the topics that a task senses and receives as a team."""


@dataclass(frozen=True)
class NodeGraph:
    """Topics of a kind of team in the node graph; the defaults are for robots that sense nothing but themselves."""

    robot: tuple[Topic, ...] = ROBOT_TOPICS
    """Topics in the namespace of every robot."""
    goal: Topic | None = GOAL
    """Topic of goals: `GOAL` for each robot, or another one for the team (in `WORLD`); None: there are no goals."""
    sensed: tuple[Topic, ...] = ()
    """Topics that are sensed for the team, in `WORLD`."""
    beside: tuple[tuple[str, Topic], ...] = ()
    """(namespace, topic) of all topics on which the team's additional nodes publish."""
    sim: tuple[Topic, ...] = SIM_TOPICS

    @property
    def world(self) -> tuple[Topic, ...]:
        """All in `WORLD`."""
        return (*self.sensed, *((self.goal,) if self.goal not in (GOAL, None) else ()))  # type: ignore[return-value]


def graph_of(task: str) -> NodeGraph:
    """Return the node graph of the task's domain; the usual one if no task is named."""
    found = onboard_of({"task": task}).graph()
    return NodeGraph() if found is None else of_kind(found, NodeGraph, "What a domain's graph returns")


COMMANDED = ("acceleration.x", "acceleration.y", "acceleration.z", "rate.x", "rate.y", "yaw_rate")
"""Elements of a command's message: acceleration x, y, z in the world [m/s^2], roll, pitch and yaw rate in the body
[rad/s]. Elements that are not commanded are 0.
"""


def command_columns(elements: Iterable[str] = FLYING) -> list[int]:
    """Which of the numbers of a message the elements of a command are."""
    return [COMMANDED.index(element) for element in elements]


def linked(topic: Topic, robot: str, source: str, base: str = "") -> str:
    """Return the name under which the link emulator delivers a source's topic to a robot, instead of the source's
    own.
    """
    return f"{base}/{robot}/link/{source}/{topic.name}"


def recorded_topics(robots: tuple[str, ...], sim: bool, base: str = "", task: str = "") -> list[tuple[str, Topic]]:
    """Return (absolute name, topic) of all topics in a recording; `task` adds the topics sensed for it."""
    graph = graph_of(task)
    found = [(topic.of(robot, base), topic) for robot in robots for topic in graph.robot]
    found += [(topic.of(WORLD, base), topic) for topic in graph.world]
    found += [(topic.of(where, base), topic) for where, topic in graph.beside]
    found += [(topic.of("sim", base), topic) for topic in graph.sim if sim]
    return [*found, *((topic.of("", base), topic) for topic in TEAM_TOPICS)]


def system_topics(robots: tuple[str, ...], base: str = "") -> list[tuple[str, Topic]]:
    """Return (absolute name, topic) of ROS's own topics, which a recording adds if their types are installed."""
    shared = [(topic.name, topic) for topic in (ROSOUT, CHANGES, CLOCK, TF, TF_STATIC)]
    return [*shared, *((TRANSITIONS.of(robot, base), TRANSITIONS) for robot in robots)]


def topic_named(text: str) -> tuple[str, Topic]:
    """(absolute name, topic) of "NAME TYPE" or "NAME TYPE latched", any quality of service else.

    Raises:
        ValueError: it is written in another way.
    """
    name, kind, how = ([*text.split(), "", ""])[:3]
    if not name.startswith("/") or kind.count("/") != 2 or how not in ("", "latched") or len(text.split()) > 3:
        raise ValueError(f"{text!r} is not written as '/NAME PACKAGE/msg/TYPE' or '/NAME PACKAGE/msg/TYPE latched'")
    latched = how == "latched"  # who reads best effort hears everybody
    return name, Topic(name, kind, latched, latched, 100, "", "-", "of the operator's own")
