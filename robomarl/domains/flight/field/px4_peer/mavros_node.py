"""`mavros_peer_node`: the simulator with PX4 vehicles in it behind MAVROS' topics; see `PeerNode`."""

import sys
from functools import partial

from robomarl.domains.flight.field.peer_node import PeerNode
from robomarl.domains.flight.field.px4_peer.mavros_wire import MavrosWire
from robomarl.domains.flight.field.px4_peer.team import FAULTS, Px4Team
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.ros.io.node_base import run_node
from robomarl.ros.vehicle_topics import mavros as topics
from robomarl.ros.vehicle_topics.ros_address import address_of
from robomarl.vehicles.mavros.link import MEND
from robomarl.vehicles.mavros.node import simulated_uri
from robomarl.vehicles.ros_wire import check_types


class MavrosPeerNode(PeerNode):
    """All PX4 vehicles of a team, simulated."""

    FAULTS = tuple(fault for fault in FAULTS if fault != "reset")
    """MAVROS does not tell reset counters."""

    def made(self, scenario: FlightScenario) -> Px4Team:
        """The robots, on the ground.

        Raises:
            UserError: mavros_msgs is not installed.
        """
        check_types([topic.type for topic in (*topics.HEARD, *topics.TOLD)], MEND)
        team = Px4Team(scenario, True, self.settings.handover_m)
        uris = [simulated_uri(name, index, self.base) for index, name in enumerate(self._names)]
        addresses = [address_of(uri, name) for uri, name in zip(uris, self._names, strict=True)]
        team.connect([partial(MavrosWire, self, a.namespace, system=a.system) for a in addresses])
        return team


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl mavros_peer_node`."""
    return run_node(MavrosPeerNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
