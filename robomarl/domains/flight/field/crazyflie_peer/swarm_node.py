"""`crazyswarm_peer_node`: the simulator with Crazyflies in it behind Crazyswarm2's topics; see `PeerNode`."""

import sys
from functools import partial

from robomarl.domains.flight.field.crazyflie_peer.swarm_peer import SwarmPeer
from robomarl.domains.flight.field.crazyflie_peer.team import FAULTS, CrazyflieTeam
from robomarl.domains.flight.field.peer_node import PeerNode
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.ros.io.node_base import run_node
from robomarl.ros.vehicle_topics import crazyswarm as topics
from robomarl.ros.vehicle_topics.ros_address import address_of
from robomarl.vehicles.crazyswarm.link import MEND
from robomarl.vehicles.crazyswarm.node import simulated_uri
from robomarl.vehicles.ros_wire import check_types


class CrazyswarmPeerNode(PeerNode):
    """All Crazyflies of a team, simulated."""

    FAULTS = FAULTS

    def made(self, scenario: FlightScenario) -> CrazyflieTeam:
        """The robots, on the ground.

        Raises:
            UserError: crazyflie_interfaces is not installed.
        """
        check_types([topic.type for topic in (*topics.HEARD, *topics.TOLD)], MEND)
        team = CrazyflieTeam(scenario, True, self.settings.handover_m)
        mass_kg = scenario.vehicle_config.body.mass_kg
        addresses = [address_of(simulated_uri(name, self.base), name) for name in self._names]
        team.connect([partial(SwarmPeer, self, address.namespace, mass_kg) for address in addresses])
        return team


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl crazyswarm_peer_node`."""
    return run_node(CrazyswarmPeerNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
