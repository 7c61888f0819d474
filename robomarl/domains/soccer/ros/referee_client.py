"""`RefereeClient`: the operator's side of a referee: its services, and its messages."""

from rclpy.client import Client
from rclpy.node import Node
from std_srvs.srv import Trigger

from robomarl.domains.soccer.ros.referee_messages import match_to
from robomarl.domains.soccer.ros.topics import MATCH, REFEREE
from robomarl.ros.io.node_base import Mailbox

SERVICES = ("start", "stop", "goal", "reset")


class RefereeClient:
    """For a console."""

    def __init__(self, node: Node, base: str) -> None:
        """Subscribe; `base` is the namespace of the game."""
        self.services: dict[str, Client] = {
            name: node.create_client(Trigger, f"{base}/{REFEREE}/{name}") for name in SERVICES
        }
        self.match = Mailbox(node, MATCH, MATCH.of(REFEREE, base), match_to)

    @property
    def clients(self) -> list[Client]:
        """Services that have to be there before a match begins."""
        return list(self.services.values())
