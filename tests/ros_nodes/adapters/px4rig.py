"""Simulated PX4 vehicles and their adapters in one process; see `rig`. Real are pymavlink and the UDP sockets, too."""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from robomarl.domains.flight.ros_nodes.px4_peer.mavlink_wire import MavlinkWire
from robomarl.domains.flight.ros_nodes.px4_peer.team import Px4Team
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.ros_nodes.adapters.autopilot.flight import AutopilotConfig, GuardedAutopilot
from robomarl.ros_nodes.adapters.autopilot.seat import ARM_S
from robomarl.ros_nodes.adapters.mavlink.addresses import Address
from robomarl.ros_nodes.adapters.mavlink.link import MavlinkLink
from robomarl.sim.scenario import load_scenario
from tests.ros_nodes.adapters.rig import PERIOD_S, RULES, VEHICLE, Rig

_RIGS = itertools.count()


class Px4Rig(Rig):
    """With PX4 vehicles."""

    team: Px4Team
    flights: list[GuardedAutopilot]
    links: list[MavlinkLink]


@contextmanager
def px4s(scenario: str = "swap_2", **config: object) -> Iterator[Px4Rig]:
    """Peers that have been started on the ground, and adapters that are not connected."""
    loaded = load_scenario(scenario, FlightScenario)
    team, rig = Px4Team(loaded, True), next(_RIGS) % 250
    addresses = [
        Address(f"127.{80 + os.getpid() % 150}.{rig}.{index + 1}", 14540, True, index + 1)
        for index in range(loaded.count)
    ]
    team.connect(map(MavlinkWire.at, addresses))
    team.reset(0)
    links = [MavlinkLink(address, PERIOD_S, VEHICLE.on_command_loss) for address in addresses]
    setup = {"rules": replace(RULES, arm_s=ARM_S), **config}
    made = AutopilotConfig(**setup)  # type: ignore[arg-type]
    try:
        yield Px4Rig(team, links, [GuardedAutopilot(link, VEHICLE, made) for link in links])
    finally:
        for link in links:
            link.close()
        team.close()
