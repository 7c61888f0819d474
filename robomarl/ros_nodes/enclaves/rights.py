"""`rights_of`: what every node of a field test may publish, hear, serve and call, made from `topics`. No ROS here.

A node's enclave (SROS2) permits this and nothing else, so a key that is lost speaks for one node. Simulator and link
emulator have none: they never leave their machine.
"""

from dataclasses import dataclass

from robomarl.hardware_configs.field import scenario_content
from robomarl.hardware_configs.fleet import Fleet
from robomarl.ros_nodes import topics
from robomarl.ros_nodes.fieldtask import FieldTask, Seat, field_task
from robomarl.ros_nodes.robot.state_machine import Order
from robomarl.ros_nodes.topics import REFEREE, WORLD, Topic

CONSOLE = "robomarl_console"
"""Node and enclave of `robomarl up`."""
VEHICLE, SENSORS = "vehicle", "sensors"
"""Enclaves of whose nodes are not ours: what drives one robot, and what senses for the team (motion capture)."""
SERVED_BY_ALL = (
    "describe_parameters", "get_parameter_types", "get_parameters", "get_type_description", "list_parameters",
    "set_parameters", "set_parameters_atomically",
)  # fmt: skip
"""Services in the namespace of every node."""
SERVED_BY_LIFECYCLE = (
    "change_state", "get_available_states", "get_available_transitions", "get_state", "get_transition_graph",
)  # fmt: skip
"""And of every lifecycle node."""
REFEREE_SERVES = ("start", "stop", "goal", "reset")
REFEREE_ORDERS = (Order.ARM, Order.ACTIVATE, Order.STOP)
SENSED_FOR_ALL = (topics.LOAD_POSE, topics.BALL)
"""What no robot senses by itself."""


@dataclass(frozen=True)
class Rights:
    """Absolute names of topics and services."""

    publishes: frozenset[str] = frozenset()
    subscribes: frozenset[str] = frozenset()
    serves: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()

    def __or__(self, other: "Rights") -> "Rights":
        """Both."""
        return Rights(
            self.publishes | other.publishes,
            self.subscribes | other.subscribes,
            self.serves | other.serves,
            self.calls | other.calls,
        )


def rights_of(fleet: Fleet, base: str = "") -> dict[str, Rights]:
    """Rights by enclave, which is the node's full name, of a whole team.

    Args:
        fleet: who.
        base: namespace of the team.
    """
    content = scenario_content(fleet.scenario)
    robots = sorted(fleet.robots, key=lambda robot: robot.index)
    names, task = tuple(robot.name for robot in robots), str(content.get("task", ""))
    size, made = fleet.team_size, _Team(base, names, task)
    found: dict[str, Rights] = {}
    for k, name in enumerate(names):
        begin = k // size * size
        field = field_task(content, Seat(k % size, size))
        mates = tuple(n for n in names[begin : begin + size] if n != name)
        found[f"{base}/{name}/policy_node"] = made.policy(name, mates, field)
        found[f"{base}/{name}/{VEHICLE}"] = made.vehicle(name, field)
    found |= {f"{base}/{name}": made.shared(name) for name in ("monitor", "recorder", CONSOLE)}
    if task in topics.REFEREE_TOPICS:
        found[f"{base}/{REFEREE}"] = made.shared(REFEREE)
    if topics.LOAD_GOAL in topics.WORLD_TOPICS.get(task, ()):
        found[f"{base}/mission"] = made.shared("mission")
    found[f"{base}/{WORLD}/{SENSORS}"] = made.sensors()
    return {name: rights | _of_all(name) for name, rights in found.items()}


@dataclass(frozen=True)
class _Team:
    base: str
    names: tuple[str, ...]
    task: str

    def policy(self, name: str, mates: tuple[str, ...], field: FieldTask) -> Rights:
        said = (*field.commands, topics.STATE_AND_PLAN, topics.TICK, topics.ANNOUNCE, topics.TRANSITIONS)
        goal = () if field.fixed_goal else (field.goal_name(name, self.base),)
        sensed = {sensor.name(name, self.base) for sensor in field.sensors}
        heard = self._each(mates, topics.STATE_AND_PLAN, topics.ANNOUNCE) | self._each(("",), topics.ESTOP)
        node = f"{self.base}/{name}/policy_node"
        return Rights(
            self._each((name,), *said) | {topics.DIAGNOSTICS.name},
            frozenset(goal)
            | sensed
            | heard
            | self._each((name,), topics.ODOMETRY)
            | self._each(("",), topics.RECORDING),
            frozenset(f"{self.base}/{name}/{order}" for order in Order)
            | {f"{node}/{service}" for service in SERVED_BY_LIFECYCLE},
        )

    def vehicle(self, name: str, field: FieldTask) -> Rights:
        sensed = {sensor.name(name, self.base) for sensor in field.sensors if not sensor.shared}
        commands = self._each((name,), *field.commands) | self._each(("",), topics.ESTOP)
        return Rights(self._each((name,), topics.ODOMETRY) | sensed | {topics.DIAGNOSTICS.name}, commands)

    def sensors(self) -> Rights:
        known = [topic for topic in topics.WORLD_TOPICS.get(self.task, ()) if topic in SENSED_FOR_ALL]
        return Rights(self._each((WORLD,), *known) | self._each(self.names, topics.ODOMETRY))

    def shared(self, node: str) -> Rights:
        announced = self._each(self.names, topics.ANNOUNCE)
        if node == "monitor":
            orders = {f"{self.base}/{name}/{order}" for name in self.names for order in Order}
            said = self._each(("",), *topics.MONITOR_TOPICS)
            return Rights(said, announced | self._each(("",), topics.MONITOR), self._all(*Order), frozenset(orders))
        if node == "recorder":
            heard = topics.recorded_topics(self.names, False, self.base, self.task)
            heard += topics.system_topics(self.names, self.base)
            said = self._each(("",), topics.RECORDING, topics.DIAGNOSTICS)
            return Rights(said, frozenset(name for name, _ in heard))
        if node == REFEREE:
            return self._referee(announced)
        if node == "mission":
            return Rights(self._each((WORLD,), topics.LOAD_GOAL), announced, calls=self._all(Order.LAND))
        return self._console()

    def _referee(self, announced: frozenset[str]) -> Rights:
        resets = {f"{self.base}/{name}/{Order.RESET}" for name in self.names}
        return Rights(
            self._each((REFEREE,), topics.MATCH),
            announced | self._each((WORLD,), topics.BALL),
            frozenset(f"{self.base}/{REFEREE}/{service}" for service in REFEREE_SERVES),
            self._all(*REFEREE_ORDERS) | resets,
        )

    def _console(self) -> Rights:
        """The operator: all orders, all goals, transitions, and what robots say of their ticks."""
        plays, carries = self.task == topics.SOCCER, topics.LOAD_GOAL in topics.WORLD_TOPICS.get(self.task, ())
        goals = self._each((WORLD,), topics.LOAD_GOAL) if carries else self._each(self.names, topics.GOAL)
        calls = {f"{self.base}/{name}/{order}" for name in (*self.names, "all") for order in Order}
        calls |= {f"{self.base}/{name}/policy_node/change_state" for name in self.names}
        calls |= {f"{self.base}/{REFEREE}/{service}" for service in REFEREE_SERVES if plays}
        heard = self._each(self.names, topics.TICK) | self._each(("sim",), topics.SIM_STATUS, topics.SIM_GOALS)
        heard |= self._each((REFEREE,), *([topics.MATCH] if plays else []))
        return Rights(frozenset() if plays else goals, heard, calls=frozenset(calls))

    def _each(self, names: tuple[str, ...], *found: Topic) -> frozenset[str]:
        return frozenset(topic.of(name, self.base) for name in names for topic in found)

    def _all(self, *orders: Order) -> frozenset[str]:
        return frozenset(f"{self.base}/all/{order}" for order in orders)


def _of_all(node: str) -> Rights:
    """Of every node: its log, its parameters, and the clock that it may be told to take."""
    said = frozenset({topics.ROSOUT.name, topics.CHANGES.name})
    return Rights(said, frozenset({topics.CLOCK.name}), frozenset(f"{node}/{service}" for service in SERVED_BY_ALL))
