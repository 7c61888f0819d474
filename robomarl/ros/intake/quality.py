"""Quality of service and message types of the topic table in rclpy's terms, and reasons why two endpoints do not
match.
"""

import importlib

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSCompatibility, QoSProfile, ReliabilityPolicy
from rclpy.qos import qos_check_compatible as check_compatible

from robomarl.ros.io.messages import Message
from robomarl.ros.topics import Topic


def qos_of(topic: Topic) -> QoSProfile:
    """The topic's quality of service."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=topic.depth,
        reliability=ReliabilityPolicy.RELIABLE if topic.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if topic.latched else DurabilityPolicy.VOLATILE,
    )


def message_class(type_name: str) -> type[Message]:
    """The class of "package/msg/Name"."""
    package, kind, name = type_name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), name)


def mismatch(topic: Topic, offered: QoSProfile, kind: str) -> str:
    """Return why a subscription of the topic table receives nothing from a publisher, and the fix; "" if
    it receives.

    Args:
        topic: topic that is subscribed to.
        offered: quality of service of the publisher.
        kind: message type of the publisher.
    """
    if kind != topic.type:
        return f"it publishes {kind}, this node reads {topic.type}; publish that type, or rename its topic"
    asked = qos_of(topic)
    compatibility, reason = check_compatible(offered, asked)
    if compatibility != QoSCompatibility.ERROR:
        return ""
    lacks = []
    if topic.reliable and offered.reliability != ReliabilityPolicy.RELIABLE:
        lacks.append("reliability RELIABLE")
    if topic.latched and offered.durability != DurabilityPolicy.TRANSIENT_LOCAL:
        lacks.append("durability TRANSIENT_LOCAL")
    mend = f"publish it with {' and '.join(lacks)}" if lacks else f"mend its QoS ({reason.strip()})"
    return f"it publishes {_words(offered)}, this node asks for {_words(asked)}; {mend}"


def _words(qos: QoSProfile) -> str:
    """Reliability and durability, as the table of topics has them."""
    reliable = "reliable" if qos.reliability == ReliabilityPolicy.RELIABLE else "best effort"
    return f"{reliable}, {'transient local' if qos.durability == DurabilityPolicy.TRANSIENT_LOCAL else 'volatile'}"
