"""Simulators with vehicles that are spoken to over their own protocol: one `PeerNode`, and a table of protocols.

Instead of `command` and `odometry` of each robot there is one address for each; goals, truth, status and judge are
those of `sim_node`. Robots start on the ground. The parameter `faults` takes ROBOT=FAULT of each that goes wrong.
`ros2 run robomarl_peers px4_peer_node` is `python -m robomarl_peers.flying px4_peer_node`.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from robomarl.domains.flight.field.sim_node import SimNode
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.simulated.faults import offer_faults
from robomarl.ros.io.messages import Estimate
from robomarl.ros.io.node_base import run_node, take_node_name
from robomarl.ros.topics import Topic
from robomarl.ros.vehicle_topics import crazyflie_uris, crazyswarm, mavros, px4_dds
from robomarl.ros.vehicle_topics.ros_address import RosAddress, address_of, simulated_uri
from robomarl.vehicles.crazyswarm.link import MEND as MEND_CRAZYSWARM
from robomarl.vehicles.mavlink import addresses
from robomarl.vehicles.mavros.link import MEND as MEND_MAVROS
from robomarl.vehicles.px4_dds.geography import SIM_ORIGIN
from robomarl.vehicles.px4_dds.link import MEND as MEND_PX4
from robomarl.vehicles.ros_wire import check_types
from robomarl_peers.crazyflie import team as crazyflie
from robomarl_peers.crazyflie.crtp_peer import CrtpPeer
from robomarl_peers.crazyflie.swarm_peer import SwarmPeer
from robomarl_peers.crazyflie.team import CrazyflieTeam
from robomarl_peers.driven_team import DrivenTeam
from robomarl_peers.px4 import team as px4
from robomarl_peers.px4.dds_wire import DdsWire
from robomarl_peers.px4.mavlink_wire import MavlinkWire
from robomarl_peers.px4.mavros_wire import MavrosWire
from robomarl_peers.px4.team import Px4Team


class PeerNode(SimNode):
    """All vehicles of a team, simulated."""

    _team: DrivenTeam

    def __init__(self, kind: "PeerKind") -> None:
        """Load the scenario, make the vehicles, reset, and run.

        Raises:
            UserError: the scenario does not exist or is for another number of robots, or message types are not
                installed.
        """
        self._kind = kind
        super().__init__()

    def made(self, scenario: FlightScenario) -> DrivenTeam:
        """The robots, on the ground."""
        return self._kind.team(self, scenario)

    def connect_robots(self) -> None:
        """Declare the parameter `faults`; the robots have no ROS topics of their own."""
        offer_faults(self, self._names, self._kind.faults, self._fail)

    def take_commands(self) -> None:
        """They come over the vehicles' protocol."""

    def tell_estimates(self, truth: Estimate, stamp_s: float) -> None:
        """They go over the vehicles' protocol."""

    def destroy_node(self) -> None:
        """Release the addresses."""
        super().destroy_node()
        if hasattr(self, "_team"):  # not where its parameters were refused
            self._team.close()

    def _fail(self, faults: list[set[str]]) -> None:
        for peer, own in zip(self._team.peers, faults, strict=True):
            peer.faults = own


class PeerKind(NamedTuple):
    """How simulated vehicles are spoken to."""

    faults: tuple[str, ...]
    """Names of the faults that can be injected."""
    team: Callable[[PeerNode, FlightScenario], DrivenTeam]
    """(node, scenario) -> the vehicles, on the ground; raises `UserError` if message types are not installed."""


def over_crtp(node: PeerNode, scenario: FlightScenario) -> CrazyflieTeam:
    """Crazyflies over UDP; the parameter `radio_hz` is the exchanges per second of their one radio, 0: no limit."""
    team = CrazyflieTeam(scenario, True, node.settings.handover_m)
    uris = crazyflie_uris.simulated_uris(scenario.count, _domain())
    rate_hz = node.declare_parameter("radio_hz", 0.0).value
    team.connect(CrtpPeer.all_at([crazyflie_uris.address_of(uri) for uri in uris], rate_hz))
    return team


def over_crazyswarm(node: PeerNode, scenario: FlightScenario) -> CrazyflieTeam:
    """Crazyflies behind Crazyswarm2's topics."""
    _check(crazyswarm.HEARD, crazyswarm.TOLD, MEND_CRAZYSWARM)
    team, mass_kg = CrazyflieTeam(scenario, True, node.settings.handover_m), scenario.vehicle_config.body.mass_kg
    uris = [simulated_uri(node.base, name, crazyswarm.BELOW) for name in node.settings.team]
    found = [address_of(uri, name) for uri, name in zip(uris, node.settings.team, strict=True)]
    team.connect([partial(SwarmPeer, node, address.namespace, mass_kg) for address in found])
    return team


def over_mavlink(node: PeerNode, scenario: FlightScenario) -> Px4Team:
    """PX4 vehicles over UDP."""
    team = Px4Team(scenario, True, node.settings.handover_m)
    uris = [addresses.simulated_uri(index, _domain()) for index in range(scenario.count)]
    team.connect(MavlinkWire.at(addresses.address_of(uri, "sim")) for uri in uris)
    return team


def over_dds(node: PeerNode, scenario: FlightScenario) -> Px4Team:
    """PX4 vehicles with topics of px4_msgs."""
    _check(px4_dds.HEARD, px4_dds.TOLD, MEND_PX4)
    team = Px4Team(scenario, True, node.settings.handover_m)
    found = _systems(node, "")
    team.connect([partial(DdsWire, node, a.namespace, system=a.system, home=SIM_ORIGIN) for a in found])
    return team


def over_mavros(node: PeerNode, scenario: FlightScenario) -> Px4Team:
    """PX4 vehicles behind MAVROS' topics."""
    _check(mavros.HEARD, mavros.TOLD, MEND_MAVROS)
    team = Px4Team(scenario, True, node.settings.handover_m)
    team.connect([partial(MavrosWire, node, a.namespace, system=a.system) for a in _systems(node, mavros.BELOW)])
    return team


def _systems(node: PeerNode, below: str) -> list[RosAddress]:
    team = node.settings.team
    return [address_of(simulated_uri(node.base, name, below, k + 1), name) for k, name in enumerate(team)]


def _check(heard: Sequence[Topic], told: Sequence[Topic], mend: str) -> None:
    check_types([topic.type for topic in (*heard, *told)], mend)


def _domain() -> int:
    return int(os.environ.get("ROS_DOMAIN_ID", "0"))


PROTOCOLS: Mapping[str, PeerKind] = {
    "crazyflie_peer_node": PeerKind(crazyflie.FAULTS, over_crtp),
    "crazyswarm_peer_node": PeerKind(crazyflie.FAULTS, over_crazyswarm),
    "px4_peer_node": PeerKind(px4.FAULTS, over_mavlink),
    "px4_dds_peer_node": PeerKind(px4.FAULTS, over_dds),
    "mavros_peer_node": PeerKind(tuple(fault for fault in px4.FAULTS if fault != "reset"), over_mavros),
}
"""Protocols by console script. MAVROS does not pass reset counters on."""


def main() -> int:
    """Run the node of the console script that was called; as a module, the node that the first argument names."""
    name = take_node_name(PROTOCOLS)
    return run_node(partial(PeerNode, PROTOCOLS[name]), urgent=True, name=name)


if __name__ == "__main__":
    sys.exit(main())
