"""`card_html`: the figures of a robot, of the monitor or of the recorder, in one layout."""

import math
from html import escape

from robomarl.front.operate.words import badge, number, seconds
from robomarl.ros.desk.member import TeamMember

OLD_S = 0.5
"""Age [s] from which an input is emphasized."""


def card_html(member: TeamMember) -> str:
    """Return the state of a member with its cause and its figures."""
    cause = f'<p class="cause">{escape(member.cause)}</p>' if member.cause else ""
    rows = "".join(f"<div><dt>{name}</dt><dd{style}>{text}</dd></div>" for name, text, style in figures(member))
    note = f'<p class="note">{escape(member.note)}</p>' if member.note else ""
    return f"{badge(member.level, member.word)}{cause}<dl>{rows}</dl>{note}"


def figures(member: TeamMember) -> list[tuple[str, str, str]]:
    """Return (name, value, attribute of emphasis) of every figure that the kind of member has."""
    received = ("report", seconds(member.age_s), "")
    if member.kind != "robot":
        return [received]
    battery = number(member.battery_v, "V") + (" low" if member.battery_low else "")
    margin = number(member.margin_m, "m") + (" · filter acts" if member.filtered else "")
    bundle = escape(member.bundle[:8]) or "–"
    return [
        received,
        ("own state", seconds(member.input_age_s), strong(member.input_age_s > OLD_S)),
        ("teammates", seconds(member.teammates_age_s), strong(member.teammates_age_s > OLD_S)),
        ("margin", margin, strong(member.margin_m < 0)),
        ("battery", battery, strong(member.battery_low)),
        ("link", link(member), strong(member.link_age_s > OLD_S or member.lost > 0.1)),
        ("bundle", bundle + (" differs" if member.bundle_differs else ""), strong(member.bundle_differs)),
    ]


def link(member: TeamMember) -> str:
    """Return the age of the link to the vehicle, and the fraction of the teammates' messages that is lost."""
    lost = f"{100 * member.lost:.0f}&nbsp;% lost" if math.isfinite(member.lost) else ""
    age = seconds(member.link_age_s) if not math.isnan(member.link_age_s) else ""
    return " · ".join(filter(None, (age, lost))) or "–"


def strong(emphasized: bool) -> str:
    """Return the attribute of a figure that needs attention."""
    return ' class="strong"' if emphasized else ""
