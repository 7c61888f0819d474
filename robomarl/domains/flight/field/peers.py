"""`PeerNode`: the simulator with vehicles in it that are spoken to over their own protocol, for their adapter.

Instead of `command` and `odometry` of each robot it has one address for each; goals, truth, status and judge are those
of `sim_node`. Robots start on the ground. The parameter `faults` takes ROBOT=FAULT of each that something goes wrong
with.
"""

from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from robomarl.domains.flight.field.driven_team import DrivenTeam
from robomarl.domains.flight.field.sim_node import SimNode
from robomarl.ros.io.messages import Estimate


class PeerNode(SimNode):
    """All vehicles of a team, simulated."""

    _team: DrivenTeam
    FAULTS: tuple[str, ...] = ()
    """What may go wrong on purpose."""

    def connect_robots(self) -> None:
        """Nothing in ROS but what goes wrong."""
        self.declare_parameter("faults", [""])
        self.add_on_set_parameters_callback(self._on_faults)

    def take_commands(self) -> None:
        """They come over the vehicles' protocol."""

    def tell_estimates(self, truth: Estimate, stamp_s: float) -> None:
        """They go over the vehicles' protocol."""

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
            if wrong := [f"{who}={what}" for who, what in pairs if who not in self._names or what not in self.FAULTS]:
                reason = f"{wrong[0]} is not ROBOT=FAULT with one of {', '.join(self.FAULTS)}"
                return SetParametersResult(successful=False, reason=reason)
            for name, peer in zip(self._names, self._team.peers, strict=True):
                peer.faults = {what for who, what in pairs if who == name}
        return SetParametersResult(successful=True)
