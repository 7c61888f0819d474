"""Simulated Crazyflies and their adapters in one process; see `rig`.

Real are also cflib and its UDP link, or the message types, services and DDS between two nodes.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros.vehicle_topics.crazyflie_uris import address_of
from robomarl.vehicles.crazyflie.flight import CrazyflieConfig, GuardedCrazyflie
from robomarl.vehicles.crazyflie.link import CrazyflieLink
from robomarl_peers.crazyflie.crtp_peer import CrtpPeer
from robomarl_peers.crazyflie.firmware import BOOT_S
from robomarl_peers.crazyflie.team import CrazyflieTeam
from tests.ros.vehicles.px4rig import ARRIVES_S, SPINS, two_nodes
from tests.ros.vehicles.rig import PERIOD_S, RULES, VEHICLE, Rig


class CrazyRig(Rig):
    """With Crazyflies."""

    team: CrazyflieTeam
    BOOT_S = BOOT_S

    def _drain(self) -> None:
        """Wait until cflib has read what was sent."""
        time.sleep(0.001)
        for _ in range(1000):
            drivers = [link._cf.link for link in self.links]
            if all(driver is None or driver.in_queue.empty() for driver in drivers):
                return
            time.sleep(0.001)


class SwarmRig(Rig):
    """Behind Crazyswarm2's topics."""

    team: CrazyflieTeam
    BOOT_S = BOOT_S
    executor: Any
    peer: Any
    """Node of the vehicles."""

    def _drain(self) -> None:
        time.sleep(ARRIVES_S)
        for _ in range(SPINS):
            self.executor.spin_once(timeout_sec=0)


@contextmanager
def crazyflies(
    scenario: str = "swap_2", auto_arm: bool = True, radio_hz: float = 0.0, **config: object
) -> Iterator[CrazyRig]:
    """Peers that have been started on the ground, and adapters that are not connected."""
    loaded = load_scenario(scenario, FlightScenario)
    team = CrazyflieTeam(loaded, True)
    uris = [f"udp://127.78.{os.getpid() % 250}.{index + 1}:19850" for index in range(loaded.count)]
    team.connect(CrtpPeer.all_at([address_of(uri) for uri in uris], radio_hz), auto_arm)
    team.reset(0)
    links = [CrazyflieLink(uri, VEHICLE.body.mass_kg, PERIOD_S, types=("Crazyflie 2.1",)) for uri in uris]
    setup = {"rules": RULES, **config}
    try:
        config_made = CrazyflieConfig(**setup)  # type: ignore[arg-type]
        yield CrazyRig(team, links, [GuardedCrazyflie(link, VEHICLE, config_made) for link in links])
    finally:
        for link in links:
            link.close()
        team.close()


@contextmanager
def swarm(auto_arm: bool = True, **config: object) -> Iterator[SwarmRig]:
    """The same behind Crazyswarm2's topics."""
    from rclpy.executors import SingleThreadedExecutor

    from robomarl.ros.vehicle_topics.ros_address import RosAddress
    from robomarl.vehicles.crazyswarm.link import CrazyswarmLink
    from robomarl_peers.crazyflie.swarm_peer import SwarmPeer

    loaded = load_scenario("swap_2", FlightScenario)
    team = CrazyflieTeam(loaded, True)
    with ExitStack() as stack:
        peer, adapter = two_nodes(stack)
        executor = SingleThreadedExecutor(context=peer.context)
        stack.callback(executor.shutdown)
        for node in (peer, adapter):
            executor.add_node(node)
        places = [RosAddress(f"/cf{index}") for index in range(loaded.count)]
        team.connect([partial(SwarmPeer, peer, a.namespace, VEHICLE.body.mass_kg) for a in places], auto_arm)
        stack.callback(team.close)
        team.reset(0)
        links = [CrazyswarmLink(adapter, address) for address in places]
        for link in links:
            stack.callback(link.close)
        setup = {"rules": RULES, "watchdog": False, **config}
        made = CrazyflieConfig(**setup)  # type: ignore[arg-type]
        rig = SwarmRig(team, links, [GuardedCrazyflie(link, VEHICLE, made) for link in links])
        rig.executor, rig.peer = executor, peer
        yield rig
