"""`crazyflie_peer_node`: the simulator with Crazyflies in it that are spoken to over CRTP, for their adapter.

Instead of `command` and `odometry` of each robot it has one UDP address for each; goals, truth, status and judge are
those of `sim_node`. Robots start on the ground.
"""

import os
import sys

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from robomarl.domains.flight.ros_nodes.crazyflie_peer.team import FAULTS, CrazyflieTeam
from robomarl.domains.flight.ros_nodes.sim_node import SimNode
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.ros_nodes.adapters.crazyflie.uris import address_of, simulated_uris
from robomarl.ros_nodes.io.messages import Estimate
from robomarl.ros_nodes.io.node_base import run_node


class CrazyfliePeerNode(SimNode):
    """All Crazyflies of a team, simulated."""

    _team: CrazyflieTeam

    def made(self, scenario: FlightScenario) -> CrazyflieTeam:
        """The robots, on the ground."""
        team = CrazyflieTeam(scenario, True, self.settings.handover_m)
        uris = simulated_uris(scenario.count, int(os.environ.get("ROS_DOMAIN_ID", "0")))
        team.connect([address_of(uri) for uri in uris])
        return team

    def connect_robots(self) -> None:
        """Nothing in ROS; the parameter `faults` says what goes wrong."""
        self.declare_parameter("faults", [""])
        self.add_on_set_parameters_callback(self._on_faults)

    def take_commands(self) -> None:
        """They come over CRTP."""

    def tell_estimates(self, truth: Estimate, stamp_s: float) -> None:
        """They go over CRTP."""

    def destroy_node(self) -> None:
        """Release the addresses."""
        super().destroy_node()
        self._team.close()

    def _on_faults(self, changed: list[Parameter]) -> SetParametersResult:
        """ROBOT=FAULT for each."""
        for parameter in changed:
            if parameter.name != "faults":
                continue
            pairs = [text.partition("=")[::2] for text in parameter.value if text]
            if wrong := [f"{who}={what}" for who, what in pairs if who not in self._names or what not in FAULTS]:
                reason = f"{wrong[0]} is not ROBOT=FAULT with one of {', '.join(FAULTS)}"
                return SetParametersResult(successful=False, reason=reason)
            for name, peer in zip(self._names, self._team.peers, strict=True):
                peer.faults = {what for who, what in pairs if who == name}
        return SetParametersResult(successful=True)


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl crazyflie_peer_node`."""
    return run_node(CrazyfliePeerNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
