"""Simulated Crazyflies and their adapters in one process; see `rig`. Real are cflib and its UDP link, too."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from robomarl.domains.flight.ros_nodes.crazyflie_peer.firmware import BOOT_S
from robomarl.domains.flight.ros_nodes.crazyflie_peer.team import CrazyflieTeam
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.ros_nodes.adapters.crazyflie.flight import CrazyflieConfig, GuardedCrazyflie
from robomarl.ros_nodes.adapters.crazyflie.link import CrazyflieLink
from robomarl.ros_nodes.adapters.crazyflie.uris import address_of
from robomarl.sim.scenario import load_scenario
from tests.ros_nodes.adapters.rig import PERIOD_S, RULES, VEHICLE, Rig


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


@contextmanager
def crazyflies(scenario: str = "swap_2", auto_arm: bool = True, **config: object) -> Iterator[CrazyRig]:
    """Peers that have been started on the ground, and adapters that are not connected."""
    loaded = load_scenario(scenario, FlightScenario)
    team = CrazyflieTeam(loaded, True)
    uris = [f"udp://127.78.{os.getpid() % 250}.{index + 1}:19850" for index in range(loaded.count)]
    team.connect([address_of(uri) for uri in uris], auto_arm)
    team.reset(0)
    links = [CrazyflieLink(uri, VEHICLE.body.mass_kg, PERIOD_S) for uri in uris]
    setup = {"rules": RULES, **config}
    try:
        config_made = CrazyflieConfig(**setup)  # type: ignore[arg-type]
        yield CrazyRig(team, links, [GuardedCrazyflie(link, VEHICLE, config_made) for link in links])
    finally:
        for link in links:
            link.close()
        team.close()
