"""`Unheard`: publishers that a node can't receive because of another quality of service or another
message type.

The middleware connects no such pair, and tells the publisher's side at most. So the robot itself
reports it: a line in the log once for each publisher, and an entry in the diagnostics as long as
the publisher is there.
"""

from weakref import WeakKeyDictionary

from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo

from robomarl.ros.intake.quality import mismatch
from robomarl.ros.topics import ESTOP, Topic

UNKNOWN = "_NODE_NAME_UNKNOWN_"
"""Name that the graph gives to a node before its real name is known."""
PRESSES = "; a press of it stops this robot all the same"
"""Addition to a report on an E-stop publisher: see `EstopListener`."""


def node_named(info: TopicEndpointInfo) -> str:
    """Full name of the node that an endpoint of the graph belongs to."""
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"


def unheard_publishers(node: Node, name: str, topic: Topic) -> dict[str, str]:
    """Return, by full node name, why nothing is received from that publisher, and the fix.

    Args:
        node: node that asks the graph.
        name: absolute name of the topic.
        topic: topic with the quality of service that the node asks for.
    """
    found = {}
    for info in node.get_publishers_info_by_topic(name):
        if why := mismatch(topic, info.qos_profile, info.topic_type):
            stops = PRESSES if topic.name == ESTOP.name and info.topic_type == topic.type else ""
            found[node_named(info)] = f"nothing is received from {node_named(info)}: {why}{stops}"
    return found


class Unheard:
    """Memory of one node."""

    def __init__(self) -> None:
        """The node subscribes to nothing."""
        self._topics: dict[str, Topic] = {}
        self._told: set[tuple[str, str]] = set()

    def add(self, name: str, topic: Topic) -> None:
        """A subscription was made; of several of one topic, the one that asks for most counts."""
        before = self._topics.get(name)
        if before is None or not (before.reliable or before.latched):
            self._topics[name] = topic

    def remove(self, name: str, topic: Topic) -> None:
        """A subscription has ended."""
        if self._topics.get(name) == topic:
            del self._topics[name]

    def look(self, node: Node) -> dict[str, str]:
        """Return, by topic, the publishers that the node does not receive now, why, and the fix; log new ones.

        Called about once a second. A publisher without a known name is logged at a later call.
        """
        found = {}
        for name, topic in tuple(self._topics.items()):
            if who := unheard_publishers(node, name, topic):
                found[name] = "; ".join(who.values())
                for publisher in [p for p in who if UNKNOWN not in p and (name, p) not in self._told]:
                    self._told.add((name, publisher))
                    node.get_logger().error(f"{name}: {who[publisher]}.")
        return found


_OF_NODES: WeakKeyDictionary[Node, Unheard] = WeakKeyDictionary()


def unheard_of(node: Node) -> Unheard:
    """Return the `Unheard` of a node, one object for all calls."""
    return _OF_NODES.setdefault(node, Unheard())
