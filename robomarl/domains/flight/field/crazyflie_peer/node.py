"""`crazyflie_peer_node`: the simulator with Crazyflies in it that are spoken to over CRTP; see `PeerNode`.

The parameter `radio_hz` gives all vehicles one radio with so many exchanges a second; without it there is no limit.
"""

import os
import sys

from robomarl.domains.flight.field.crazyflie_peer.crtp_peer import CrtpPeer
from robomarl.domains.flight.field.crazyflie_peer.team import FAULTS, CrazyflieTeam
from robomarl.domains.flight.field.peer_node import PeerNode
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.ros.io.node_base import run_node
from robomarl.ros.vehicle_topics.crazyflie_uris import address_of, simulated_uris


class CrazyfliePeerNode(PeerNode):
    """All Crazyflies of a team, simulated."""

    FAULTS = FAULTS

    def made(self, scenario: FlightScenario) -> CrazyflieTeam:
        """The robots, on the ground."""
        team = CrazyflieTeam(scenario, True, self.settings.handover_m)
        uris = simulated_uris(scenario.count, int(os.environ.get("ROS_DOMAIN_ID", "0")))
        rate_hz = self.declare_parameter("radio_hz", 0.0).value
        team.connect(CrtpPeer.all_at([address_of(uri) for uri in uris], rate_hz))
        return team


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl crazyflie_peer_node`."""
    return run_node(CrazyfliePeerNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
