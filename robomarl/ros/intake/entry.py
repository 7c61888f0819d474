"""`intake_entry`: a node's entry in `/diagnostics` on messages that it refused and publishers that it can't hear."""

from rclpy.node import Node

from robomarl.ros.intake.refusals import refusals_of
from robomarl.ros.intake.unheard import unheard_of
from robomarl.ros.robot.health import OK, WARN, DiagnosticEntry


def intake_entry(node: Node) -> DiagnosticEntry | None:
    """The entry of a node, once a second; None if it has refused nothing so far and hears everybody."""
    refused, unheard = refusals_of(node), unheard_of(node).look(node)
    if not refused.total and not unheard:
        return None
    news = refused.news()
    values = {"messages_refused": str(refused.total), **refused.values()}
    values |= {f"unheard {topic}": why for topic, why in unheard.items()}
    said = [f"refused {news} messages"] if news else []
    said += [f"{topic}: {why}" for topic, why in unheard.items()]
    name = f"{node.get_fully_qualified_name()}/messages"
    return DiagnosticEntry(name, WARN if said else OK, "; ".join(said) or "ok", values)
