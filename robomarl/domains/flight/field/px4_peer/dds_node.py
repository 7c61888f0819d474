"""`px4_dds_peer_node`: the simulator with PX4 vehicles in it that speak px4_msgs; see `PeerNode`."""

import sys
from functools import partial

from robomarl.domains.flight.field.peer_node import PeerNode
from robomarl.domains.flight.field.px4_peer.dds_wire import DdsWire
from robomarl.domains.flight.field.px4_peer.team import FAULTS, Px4Team
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.ros.io.node_base import run_node
from robomarl.ros.vehicle_topics import px4_dds as topics
from robomarl.ros.vehicle_topics.ros_address import address_of
from robomarl.vehicles.px4_dds.link import MEND
from robomarl.vehicles.px4_dds.node import SIM_ORIGIN, simulated_uri
from robomarl.vehicles.ros_wire import check_types


class Px4DdsPeerNode(PeerNode):
    """All PX4 vehicles of a team, simulated."""

    FAULTS = FAULTS

    def made(self, scenario: FlightScenario) -> Px4Team:
        """The robots, on the ground.

        Raises:
            UserError: px4_msgs is not installed.
        """
        check_types([topic.type for topic in (*topics.HEARD, *topics.TOLD)], MEND)
        team = Px4Team(scenario, True, self.settings.handover_m)
        uris = [simulated_uri(name, index, self.base) for index, name in enumerate(self._names)]
        addresses = [address_of(uri, name) for uri, name in zip(uris, self._names, strict=True)]
        wires = [partial(DdsWire, self, a.namespace, system=a.system, home=SIM_ORIGIN) for a in addresses]
        team.connect(wires)
        return team


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl px4_dds_peer_node`."""
    return run_node(Px4DdsPeerNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
