"""`adapter_rights`: what the nodes may that stand between robots and their vehicles, from the tables of topics.

A node that other software's topics lead to (px4_msgs, MAVROS, Crazyswarm2) may use those of its own vehicle, in the
namespace that the fleet file's `uri` says; the other side needs an enclave of its own, which is not made here.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from robomarl.config import UserError
from robomarl.hardware_configs.fleet import RobotConfig
from robomarl.ros_nodes import topics
from robomarl.ros_nodes.adapters.crazyswarm import topics as crazyswarm
from robomarl.ros_nodes.adapters.mavros import topics as mavros
from robomarl.ros_nodes.adapters.px4_dds import topics as px4_dds
from robomarl.ros_nodes.adapters.ros_address import address_of
from robomarl.ros_nodes.enclaves.rights_terms import SERVED_BY_LIFECYCLE, Rights
from robomarl.ros_nodes.topics import Topic

ORDERS = ("kill", "reset")
"""Services of each vehicle, below NAME/vehicle."""


@dataclass(frozen=True)
class Speech:
    """What an adapter says to vehicles and hears of them, below a vehicle's namespace."""

    heard: tuple[Topic, ...] = ()
    told: tuple[Topic, ...] = ()
    called: tuple[str, ...] = ()
    versioned: bool = False
    """The version of a message is part of its topic's name."""

    def below(self, namespace: str) -> Rights:
        """For one vehicle."""
        end = "*" if self.versioned else ""
        said, heard = ({f"{topic.of('', namespace)}{end}" for topic in rows} for rows in (self.told, self.heard))
        calls = {f"{namespace}/{name}" for name in self.called}
        return Rights(frozenset(said), frozenset(heard), calls=frozenset(calls))


SINGLE = {
    "mavlink": Speech(),
    "px4_dds": Speech(px4_dds.HEARD, px4_dds.TOLD, versioned=True),
    "mavros_adapter": Speech(mavros.HEARD, mavros.TOLD, tuple(mavros.SERVICES)),
}
"""Adapters of which each robot has one, NAME_ROBOT."""
SHARED = {
    "crazyflie_node": Speech(),
    "crazyswarm_node": Speech(crazyswarm.HEARD, crazyswarm.TOLD, tuple(crazyswarm.SERVICES)),
}
"""Adapters of which a team has one."""


def adapter_rights(robots: Iterable[RobotConfig], base: str) -> dict[str, Rights]:
    """Rights by full name of every adapter's node that can fly these robots.

    Args:
        robots: of the team.
        base: its namespace.
    """
    team, found = list(robots), {}
    for name, speech in SINGLE.items():
        for robot in team:
            node = f"{base}/{name}_{robot.name}"
            found[node] = _own(node, [robot], base) | _of(speech, robot)
    for name, speech in SHARED.items():
        node = f"{base}/{name}"
        found[node] = _own(node, team, base)
        for robot in team:
            found[node] |= _of(speech, robot)
    return found


def _own(node: str, robots: list[RobotConfig], base: str) -> Rights:
    """On the robots' side, and a lifecycle node's."""
    said = {topics.ODOMETRY.of(robot.name, base) for robot in robots}
    heard = {topics.COMMAND.of(robot.name, base) for robot in robots} | {topics.ESTOP.of("", base)}
    serves = {f"{base}/{robot.name}/vehicle/{order}" for robot in robots for order in ORDERS}
    serves |= {f"{node}/{service}" for service in SERVED_BY_LIFECYCLE}
    said |= {topics.DIAGNOSTICS.name, f"{node}/transition_event"}
    return Rights(frozenset(said), frozenset(heard), frozenset(serves))


def _of(speech: Speech, robot: RobotConfig) -> Rights:
    """On its vehicle's side, where that is in ROS."""
    try:
        return speech.below(address_of(robot.uri, robot.name).namespace)
    except UserError:
        return Rights()  # its vehicle is found in another way
