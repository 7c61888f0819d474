"""Simulated PX4 vehicles and their adapters in one process; see `rig`.

Real are also pymavlink and the UDP sockets, or the message types and DDS between two nodes.
"""

import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest.mock import patch

from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.sim.scenario import load_scenario
from robomarl.vehicles.autopilot.flight import AutopilotConfig, GuardedAutopilot
from robomarl.vehicles.autopilot.link import AutopilotLink
from robomarl.vehicles.mavlink.addresses import Address
from robomarl.vehicles.mavlink.link import MavlinkLink
from robomarl_peers.px4.mavlink_wire import MavlinkWire
from robomarl_peers.px4.team import Px4Team
from tests.ros.vehicles.rig import PERIOD_S, RULES, VEHICLE, Rig

ARM_S = 6.0
ARRIVES_S = 0.002
"""What is on its way between two nodes of one process arrives within this time."""
SPINS = 10
"""Most answers of services that wait for a step."""
LOSS = VEHICLE.on_command_loss
_RIGS = itertools.count()


class Px4Rig(Rig):
    """With PX4 vehicles."""

    team: Px4Team
    flights: list[GuardedAutopilot]
    links: list[AutopilotLink]
    ends: "Ends"

    def _drain(self) -> None:
        time.sleep(self.ends.arrives_s)
        if self.ends.executor is None:
            return
        for _ in range(SPINS):
            self.ends.executor.spin_once(timeout_sec=0)


@dataclass(frozen=True)
class Ends:
    """Both ends of each vehicle's wire."""

    wires: list[Callable[..., Any]]
    links: list[AutopilotLink]
    arrives_s: float = 0.0
    peer: Any = None
    """Node of the vehicles, where there is one."""
    executor: Any = None
    """Of both nodes, where services have to be answered."""


def mavlink_ends(count: int, stack: ExitStack) -> Ends:
    """UDP sockets."""
    rig = next(_RIGS) % 250
    hosts = [f"127.{80 + os.getpid() % 150}.{rig}.{index + 1}" for index in range(count)]
    addresses = [Address(host, 14540, True, index + 1) for index, host in enumerate(hosts)]
    links: list[AutopilotLink] = [MavlinkLink(address, PERIOD_S, LOSS) for address in addresses]
    return Ends([MavlinkWire.at(address) for address in addresses], links)


def px4_dds_ends(count: int, stack: ExitStack) -> Ends:
    """Topics of px4_msgs."""
    from robomarl.ros.vehicle_topics.ros_address import RosAddress
    from robomarl.vehicles.px4_dds.geography import SIM_ORIGIN
    from robomarl.vehicles.px4_dds.link import Px4DdsLink
    from robomarl_peers.px4.dds_wire import DdsWire

    peer, adapter = two_nodes(stack)
    places = [RosAddress(f"/robot_{index}", index + 1) for index in range(count)]
    wires = [partial(DdsWire, peer, a.namespace, system=a.system, home=SIM_ORIGIN) for a in places]
    links: list[AutopilotLink] = [Px4DdsLink(adapter, address, LOSS, SIM_ORIGIN) for address in places]
    return Ends(wires, links, ARRIVES_S, peer)


def mavros_ends(count: int, stack: ExitStack) -> Ends:
    """Topics and services of MAVROS."""
    from rclpy.executors import SingleThreadedExecutor

    from robomarl.ros.vehicle_topics.ros_address import RosAddress
    from robomarl.vehicles.mavros.link import MavrosLink
    from robomarl_peers.px4.mavros_wire import MavrosWire

    peer, adapter = two_nodes(stack)
    executor = SingleThreadedExecutor(context=peer.context)
    stack.callback(executor.shutdown)
    for node in (peer, adapter):
        executor.add_node(node)
    places = [RosAddress(f"/robot_{index}/mavros", index + 1) for index in range(count)]
    wires = [partial(MavrosWire, peer, a.namespace, system=a.system) for a in places]
    links: list[AutopilotLink] = [MavrosLink(adapter, address, LOSS) for address in places]
    return Ends(wires, links, ARRIVES_S, peer, executor)


ENDS = {"mavlink": mavlink_ends, "px4_dds": px4_dds_ends, "mavros": mavros_ends}


def two_nodes(stack: ExitStack) -> tuple[Any, Any]:
    """Of the vehicles and of the adapters, in a ROS domain of their own."""
    import rclpy

    from robomarl.ros.io.environment import environment
    from robomarl.ros.io.processes import claimed_domain

    given = os.environ.get("ROS_DOMAIN_ID")
    domain = stack.enter_context(claimed_domain(int(given) if given else None))
    stack.enter_context(patch.dict(os.environ, environment(True, domain)))
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    stack.callback(rclpy.try_shutdown, context=context)
    nodes = [rclpy.create_node(name, context=context) for name in ("peer", "adapter")]
    for node in nodes:
        stack.callback(node.destroy_node)
    return nodes[0], nodes[1]


@contextmanager
def px4s(wire: str = "mavlink", **config: object) -> Iterator[Px4Rig]:
    """Peers that have been started on the ground, and adapters that are not connected."""
    loaded = load_scenario("swap_2", FlightScenario)
    team = Px4Team(loaded, True)
    with ExitStack() as stack:
        ends = ENDS[wire](loaded.count, stack)
        team.connect(ends.wires)
        stack.callback(team.close)
        team.reset(0)
        setup = {"rules": replace(RULES, arm_s=ARM_S), **config}
        made = AutopilotConfig(**setup)  # type: ignore[arg-type]
        for link in ends.links:
            stack.callback(link.close)
        rig = Px4Rig(team, ends.links, [GuardedAutopilot(link, VEHICLE, made) for link in ends.links])
        rig.ends = ends
        yield rig
