"""`RosWire`: topics of one vehicle that other software puts into ROS, and problems with other nodes on
them.

Message types of other software are found when a wire is made: their packages are on no package
index as wheels.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from rclpy.client import Client
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.topic_endpoint_info import TopicEndpointInfo

from robomarl.core.config import UserError
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.node_base import message_class, publisher
from robomarl.ros.topics import Topic

LOOK_S = 1.0
"""The graph is looked at so often."""


def check_types(types: list[str], mend: str) -> None:
    """Check that message types are installed.

    Args:
        types: as "package/msg/Name".
        mend: instruction for installing the package.

    Raises:
        UserError: one is not.
    """
    for kind in types:
        try:
            message_class(kind)
        except (ImportError, AttributeError):
            raise UserError(f"{kind} is not installed; {mend}.") from None


class RosWire:
    """Topics of one vehicle."""

    def __init__(self, node: Node, namespace: str) -> None:
        """Nothing is subscribed to yet."""
        self.node, self.namespace = node, namespace
        self._ends: list[Callable[[], object]] = []
        self._heard: dict[str, Topic] = {}
        self._told: dict[str, Topic] = {}
        self._looked_s = -LOOK_S

    def hear(self, topic: Topic) -> Mailbox:
        """Subscribe."""
        name = topic.of("", self.namespace)
        found = Mailbox(self.node, topic, name, lambda message: message)
        self._heard[name] = topic
        self._ends.append(found.destroy)
        return found

    def tell(self, topic: Topic) -> Publisher:
        """A publisher."""
        name = topic.of("", self.namespace)
        made = publisher(self.node, topic, name)
        self._told[name] = topic
        self._ends.append(lambda: self.node.destroy_publisher(made))
        return made

    def client(self, kind: str, name: str) -> Client:
        """Return a client of a service of the vehicle."""
        made = self.node.create_client(message_class(kind), f"{self.namespace}/{name}")
        self._ends.append(lambda: self.node.destroy_client(made))
        return made

    def close(self) -> None:
        """Let everything go."""
        for end in self._ends:
            end()
        self._ends, self._heard, self._told = [], {}, {}

    def look(self, now_s: float) -> str | None:
        """Return the problem with other nodes, "" if there is none, once in `LOOK_S`; None: it was not checked."""
        if now_s - self._looked_s < LOOK_S:
            return None
        self._looked_s = now_s
        return self._rival() or self._definitions() or self._versions()

    def _rival(self) -> str:
        """Return the problem of another node that commands the vehicle, or publishes in its place; "" if there is
        none.
        """
        ours = f"{self.node.get_namespace().rstrip('/')}/{self.node.get_name()}"
        for name in self._told:
            names = [_full(info) for info in self.node.get_publishers_info_by_topic(name)]
            if ours in names:
                names.remove(ours)  # one of that name is this node
            if names:
                return f"{names[0]} sends {name} too; stop one of the two"
        for name in self._heard:
            infos = self.node.get_publishers_info_by_topic(name)
            if len({bytes(info.endpoint_gid) for info in infos}) > 1:
                return f"{len(infos)} vehicles say {name}: give each a namespace of its own"
        return ""

    def _definitions(self) -> str:
        """Return the first message that is defined differently here and at its publisher, if known; "" if there is
        none.
        """
        for name, topic in self._heard.items():
            here = {_definition(info) for info in self.node.get_subscriptions_info_by_topic(name)}
            for info in self.node.get_publishers_info_by_topic(name):
                if info.topic_type != topic.type:
                    return f"{name} is {info.topic_type} there, and {topic.type} is read"
                if (there := _definition(info)) and here - {None} and there not in here:
                    package = topic.type.partition("/")[0]
                    return f"{name} is defined otherwise there than in the {package} here; install the same version"
        return ""

    def _versions(self) -> str:
        """PX4 adds the version of a definition to the topic's name: whether only another one is said."""
        known = [name for name, _ in self.node.get_topic_names_and_types()]
        for name, topic in self._heard.items():
            stem = re.sub(r"_v\d+$", "", name)
            shape = re.compile(re.escape(stem) + r"(?:_v(\d+))?")
            others = [found for text in known if text != name and (found := shape.fullmatch(text))]
            said = [found for found in others if self.node.count_publishers(found[0])]
            if said and not self.node.count_publishers(name):
                ours = name.removeprefix(stem).lstrip("_v") or "0"
                return f"its {topic.type.split('/')[-1]} is of version {said[0][1] or 0}, and {ours} is read here"
        return ""


def versioned(topic: Topic) -> Topic:
    """Return a PX4 topic with its actual name: with the version of its message, if that is not 0."""
    version = getattr(message_class(topic.type), "MESSAGE_VERSION", 0)
    return replace(topic, name=f"{topic.name}_v{version}") if version else topic


def _full(info: TopicEndpointInfo) -> str:
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"


def _definition(info: TopicEndpointInfo) -> str | None:
    """The hash of a type's definition; None where the middleware was not told."""
    found = info.topic_type_hash
    return None if found is None or not found.version else bytes(found.value).hex()
