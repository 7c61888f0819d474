"""`rights_of`: topics and services that each node of a field test may use, made from `topics`. No ROS
here.

A node's enclave (SROS2) permits these and nothing else, so a lost key speaks for one node only.
Simulator and link emulator have no enclaves: they never leave their machine.
"""

from dataclasses import dataclass

from robomarl.core.domain.base import of_kind
from robomarl.core.domain.registry import onboard_of
from robomarl.core.hardware.field import scenario_content
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.ground import GroundVehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.ros import topics
from robomarl.ros.enclaves.adapter_rights import adapter_rights, base_rights, mocap_rights
from robomarl.ros.enclaves.rights_terms import SERVED_BY_ALL, SERVED_BY_LIFECYCLE, Rights
from robomarl.ros.fieldtask import FieldTask, Seat, field_task
from robomarl.ros.robot.state_machine import Order
from robomarl.ros.topics import WORLD, Topic, graph_of

CONSOLE = "robomarl_console"
"""Node and enclave of `robomarl up`."""
DESK = "robomarl_operate"
"""Enclave of `robomarl operate`."""
VEHICLE, SENSORS = "vehicle", "sensors"
"""Enclaves for nodes that are not ours: the driver of one robot, and the team's sensors (motion capture)."""


def rights_of(fleet: Fleet, base: str = "") -> dict[str, Rights]:
    """Return the rights of a whole team by enclave, which is the node's full name.

    Args:
        fleet: the fleet.
        base: namespace of the team.
    """
    content = scenario_content(fleet.scenario)
    robots = fleet.own
    names, task = tuple(robot.name for robot in robots), str(content.get("task", ""))
    size, made = fleet.team_size, TeamRights(base, names, task)
    found: dict[str, Rights] = {}
    for k, name in enumerate(names):
        begin = k // size * size
        field = field_task(content, Seat(k % size, size))
        mates = tuple(n for n in names[begin : begin + size] if n != name)
        found[f"{base}/{name}/policy_node"] = made.policy(name, mates, field)
        found[f"{base}/{name}/{VEHICLE}"] = made.vehicle(name, field)
    found |= {f"{base}/{name}": made.shared(name) for name in ("monitor", "recorder", CONSOLE, DESK)}
    for name, rights in onboard_of(content).rights(made).items():
        own = of_kind(rights, Rights, f"What a domain's rights says of {name}")
        found[f"{base}/{name}"] = found.get(f"{base}/{name}", Rights()) | own
    found[f"{base}/{WORLD}/{SENSORS}"] = made.sensors()
    found |= adapter_rights(robots, base, {*onboard_of(content).peers})  # they fly what can be rehearsed
    found |= mocap_rights(names, base)
    if isinstance(load_any_vehicle(fleet.vehicle), GroundVehicle) and topics.COMMAND in graph_of(task).robot:
        found |= base_rights(names, base)
    return {name: rights | _of_all(name) for name, rights in found.items()}


@dataclass(frozen=True)
class TeamRights:
    """Robots and task that the rights are made for, and the rights of nodes that every kind of team has."""

    base: str
    """Namespace."""
    names: tuple[str, ...]
    """Names of the robots."""
    task: str
    """Task of the scenario."""

    def each(self, names: tuple[str, ...], *found: Topic) -> frozenset[str]:
        """Absolute names of topics in the namespace of each of these."""
        return frozenset(topic.of(name, self.base) for name in names for topic in found)

    def all(self, *orders: Order) -> frozenset[str]:
        """The services by which the whole team is ordered."""
        return frozenset(f"{self.base}/all/{order}" for order in orders)

    def policy(self, name: str, mates: tuple[str, ...], field: FieldTask) -> Rights:
        """Return the rights of a robot's policy node."""
        said = (*field.commands, topics.STATE_AND_PLAN, topics.TICK, topics.ANNOUNCE, topics.TRANSITIONS)
        goal = () if field.fixed_goal else (field.goal_name(name, self.base),)
        sensed = {sensor.name(name, self.base) for sensor in field.sensors}
        heard = self.each(mates, topics.STATE_AND_PLAN, topics.ANNOUNCE) | self.each(("",), topics.ESTOP)
        node = f"{self.base}/{name}/policy_node"
        return Rights(
            self.each((name,), *said) | {topics.DIAGNOSTICS.name},
            frozenset(goal) | sensed | heard | self.each((name,), topics.ODOMETRY) | self.each(("",), topics.RECORDING),
            frozenset(f"{self.base}/{name}/{order}" for order in Order)
            | {f"{node}/{service}" for service in SERVED_BY_LIFECYCLE},
        )

    def vehicle(self, name: str, field: FieldTask) -> Rights:
        """Return the rights of the node that drives one robot."""
        sensed = {sensor.name(name, self.base) for sensor in field.sensors if not sensor.shared}
        commands = self.each((name,), *field.commands) | self.each(("",), topics.ESTOP)
        return Rights(self.each((name,), topics.ODOMETRY) | sensed | {topics.DIAGNOSTICS.name}, commands)

    def sensors(self) -> Rights:
        """Return the rights of the node that senses for the team."""
        return Rights(self.each((WORLD,), *graph_of(self.task).sensed) | self.each(self.names, topics.ODOMETRY))

    def shared(self, node: str) -> Rights:
        """Return the rights of the monitor, the recorder or the operator."""
        announced = self.each(self.names, topics.ANNOUNCE)
        if node == "monitor":
            orders = {f"{self.base}/{name}/{order}" for name in self.names for order in Order}
            said = self.each(("",), *topics.MONITOR_TOPICS)
            goals = self.each(self.names, topics.GOAL) if graph_of(self.task).goal is topics.GOAL else frozenset()
            heard = announced | goals | self.each(("",), topics.MONITOR, topics.RECORDING)
            return Rights(said, heard, self.all(*Order), frozenset(orders))
        if node == "recorder":
            heard = topics.recorded_topics(self.names, False, self.base, self.task)
            heard += topics.system_topics(self.names, self.base)
            said = self.each(("",), topics.RECORDING, topics.DIAGNOSTICS)
            return Rights(said, frozenset(name for name, _ in heard))
        return self._console() | self._desk() if node == DESK else self._console()

    def _console(self) -> Rights:
        """Return the operator's rights: all orders, all goals, transitions, and the tick reports of the robots."""
        goal = graph_of(self.task).goal
        said = () if goal is None else self.each(self.names if goal is topics.GOAL else (WORLD,), goal)
        calls = {f"{self.base}/{name}/{order}" for name in (*self.names, "all") for order in Order}
        calls |= {f"{self.base}/{name}/policy_node/change_state" for name in self.names}
        heard = self.each(self.names, topics.TICK) | self.each(("sim",), topics.SIM_STATUS, topics.SIM_GOALS)
        heard |= {topics.DIAGNOSTICS.name}
        return Rights(frozenset(said), heard, calls=frozenset(calls))

    def _desk(self) -> Rights:
        """Return what the operator's page receives besides: everything that the team reports and publishes."""
        heard = topics.recorded_topics(self.names, False, self.base, self.task)
        return Rights(frozenset(), frozenset(name for name, _ in heard))


def _of_all(node: str) -> Rights:
    """Return the rights of every node: its log, its parameters, and the clock topic that it may be told to use."""
    said = frozenset({topics.ROSOUT.name, topics.CHANGES.name})
    return Rights(said, frozenset({topics.CLOCK.name}), frozenset(f"{node}/{service}" for service in SERVED_BY_ALL))
