"""`adapter_rights`: rights of the nodes between robots and their vehicles, from the topic tables.

A node that uses topics of other software (px4_msgs, MAVROS, Crazyswarm2) may use those of its own
vehicle, in the namespace that the fleet file's `uri` gives. The peer at the vehicle needs an
enclave of its own, which is not made here.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import RobotConfig
from robomarl.ros import topics
from robomarl.ros.enclaves.rights_terms import SERVED_BY_LIFECYCLE, Rights
from robomarl.ros.settings import BaseSettings
from robomarl.ros.topics import Topic
from robomarl.ros.vehicle_topics import crazyswarm as crazyswarm
from robomarl.ros.vehicle_topics import mavros as mavros
from robomarl.ros.vehicle_topics import px4_dds as px4_dds
from robomarl.ros.vehicle_topics.mocap import KINDS, RESET, topics_of
from robomarl.ros.vehicle_topics.ros_address import address_of

ORDERS, BASE_ORDERS = ("kill", "reset"), ("stop", "reset")
"""Services of each vehicle, below NAME/vehicle: those of flying vehicles, and those of ground bases."""


@dataclass(frozen=True)
class Speech:
    """Topics and services that an adapter uses to talk to vehicles, below a vehicle's namespace."""

    heard: tuple[Topic, ...] = ()
    told: tuple[Topic, ...] = ()
    called: tuple[str, ...] = ()
    versioned: bool = False
    """The version of a message is part of its topic's name."""
    vehicles: tuple[str, ...] = ()
    """Names in `--vehicles` of the kinds of vehicle that the adapter talks to."""

    def below(self, namespace: str) -> Rights:
        """For one vehicle."""
        end = "*" if self.versioned else ""
        said, heard = ({f"{topic.of('', namespace)}{end}" for topic in rows} for rows in (self.told, self.heard))
        calls = {f"{namespace}/{name}" for name in self.called}
        return Rights(frozenset(said), frozenset(heard), calls=frozenset(calls))


SINGLE = {
    "mavlink": Speech(vehicles=("px4", "ardupilot")),
    "px4_dds": Speech(px4_dds.HEARD, px4_dds.TOLD, versioned=True, vehicles=("px4_dds",)),
    "mavros_adapter": Speech(mavros.HEARD, mavros.TOLD, tuple(mavros.SERVICES), vehicles=("mavros",)),
}
"""Adapters of which each robot has one, NAME_ROBOT."""
SHARED = {
    "crazyflie_node": Speech(vehicles=("crazyflie",)),
    "crazyswarm_node": Speech(crazyswarm.HEARD, crazyswarm.TOLD, tuple(crazyswarm.SERVICES), vehicles=("crazyswarm",)),
}
"""Adapters of which a team has one."""


def adapter_rights(robots: Iterable[RobotConfig], base: str, flown: Collection[str]) -> dict[str, Rights]:
    """Return the rights, by full name, of every adapter node that can fly these robots.

    Args:
        robots: robots of the team.
        base: namespace of the team.
        flown: values that `--vehicles` may have for them.
    """
    team, found = list(robots), {}
    for name, speech in _chosen(SINGLE, flown):
        for robot in team:
            node = f"{base}/{name}_{robot.name}"
            found[node] = _own(node, [robot], base) | _of(speech, robot)
    for name, speech in _chosen(SHARED, flown):
        node = f"{base}/{name}"
        found[node] = _own(node, team, base)
        for robot in team:
            found[node] |= _of(speech, robot)
    return found


def base_rights(names: tuple[str, ...], base: str) -> dict[str, Rights]:
    """Return the rights of `base_node`: topics have their usual names, and all ways to localize a base are
    permitted.
    """
    node, usual = f"{base}/base_node", BaseSettings()
    told = (topics.ODOMETRY.name, usual.cmd_vel)
    heard = (topics.COMMAND.name, topics.ODOMETRY.name, usual.odom, usual.pose)
    said, listens = (frozenset(f"{base}/{name}/{topic}" for name in names for topic in row) for row in (told, heard))
    serves = frozenset(f"{base}/{name}/vehicle/{order}" for name in names for order in BASE_ORDERS)
    listens |= {topics.ESTOP.of("", base), topics.TF.name}
    return {node: Rights(said, listens, serves) | lifecycle_rights(node)}


def mocap_rights(names: tuple[str, ...], base: str) -> dict[str, Rights]:
    """Return the rights of `mocap_node`: bodies have the names of the robots, and poses may come from every kind of
    source.
    """
    node = f"{base}/mocap_node"
    said = frozenset(topics.ODOMETRY.of(name, base) for name in names) | {topics.TF.name}
    heard = frozenset(name for kind in KINDS for name, _ in topics_of(kind, "", names))
    heard |= {topic.of(name, base) for name in names for topic in (topics.ANNOUNCE, topics.COMMAND)}
    serves = frozenset(f"{base}/{name}/{RESET}" for name in names)
    return {node: Rights(said, heard, serves) | lifecycle_rights(node)}


def lifecycle_rights(node: str) -> Rights:
    """Return the rights of every adapter: diagnostics, and the rights of a lifecycle node."""
    said = frozenset({topics.DIAGNOSTICS.name, f"{node}/transition_event"})
    return Rights(said, serves=frozenset(f"{node}/{service}" for service in SERVED_BY_LIFECYCLE))


def _chosen(table: dict[str, Speech], flown: Collection[str]) -> Iterator[tuple[str, Speech]]:
    return ((name, speech) for name, speech in table.items() if set(speech.vehicles) & set(flown))


def _own(node: str, robots: list[RobotConfig], base: str) -> Rights:
    """Return an adapter's rights on the robots' side, and those of a lifecycle node."""
    said = {topics.ODOMETRY.of(robot.name, base) for robot in robots}
    heard = {topics.COMMAND.of(robot.name, base) for robot in robots} | {topics.ESTOP.of("", base)}
    serves = {f"{base}/{robot.name}/vehicle/{order}" for robot in robots for order in ORDERS}
    return Rights(frozenset(said), frozenset(heard), frozenset(serves)) | lifecycle_rights(node)


def _of(speech: Speech, robot: RobotConfig) -> Rights:
    """Return an adapter's rights on the vehicle's side; none if the vehicle is not addressed by a ROS namespace."""
    try:
        return speech.below(address_of(robot.uri, robot.name).namespace)
    except UserError:
        return Rights()  # its vehicle is found in another way
