"""`px4_peer_node`: the simulator with PX4 vehicles in it that are spoken to over MAVLink; see `PeerNode`."""

import os
import sys

from robomarl.domains.flight.field.peer_node import PeerNode
from robomarl.domains.flight.field.px4_peer.mavlink_wire import MavlinkWire
from robomarl.domains.flight.field.px4_peer.team import FAULTS, Px4Team
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.ros.io.node_base import run_node
from robomarl.vehicles.mavlink.addresses import address_of, simulated_uri


class Px4PeerNode(PeerNode):
    """All PX4 vehicles of a team, simulated."""

    FAULTS = FAULTS

    def made(self, scenario: FlightScenario) -> Px4Team:
        """The robots, on the ground."""
        team = Px4Team(scenario, True, self.settings.handover_m)
        domain = int(os.environ.get("ROS_DOMAIN_ID", "0"))
        addresses = [address_of(simulated_uri(index, domain), "sim") for index in range(scenario.count)]
        team.connect(map(MavlinkWire.at, addresses))
        return team


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl px4_peer_node`."""
    return run_node(Px4PeerNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
