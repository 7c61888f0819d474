"""Variables of ROS that have a few allowed values. No ROS here."""

import re
from collections.abc import Iterator, Mapping

from robomarl.core.config import suggest

LAST_DOMAIN = 232
"""Largest domain id of DDS, which derives its port numbers from the domain."""
SWITCHES = (
    "ROS_LOCALHOST_ONLY",
    "RCUTILS_LOGGING_BUFFERED_STREAM",
    "RCUTILS_LOGGING_USE_STDOUT",
    "RCUTILS_COLORIZED_OUTPUT",
    "ROS_DISABLE_LOANED_MESSAGES",
)
"""0 or 1."""
RANGES = ("SUBNET", "LOCALHOST", "SYSTEM_DEFAULT", "OFF")
"""Values of ROS_AUTOMATIC_DISCOVERY_RANGE that ROS knows."""
_HOST = re.compile(r"[A-Za-z0-9.:%_-]+")


def value_problems(environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable with a value that ROS does not know; the empty text counts as unset."""
    for name in SWITCHES:
        if (value := environment.get(name, "")) not in ("", "0", "1"):
            yield f"{name}={value}: must be 0 or 1; mend it, or unset it."
    yield from _domain(environment.get("ROS_DOMAIN_ID", ""))
    yield from _range(environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", ""))
    yield from _peers(environment.get("ROS_STATIC_PEERS", ""))


def _domain(value: str) -> Iterator[str]:
    if value and not (value.isascii() and value.isdigit() and int(value) <= LAST_DOMAIN):
        yield f"ROS_DOMAIN_ID={value}: must be a whole number from 0 to {LAST_DOMAIN}; mend it, or unset it for 0."


def _range(value: str) -> Iterator[str]:
    if value == "OFF":
        yield "ROS_AUTOMATIC_DISCOVERY_RANGE=OFF: no node would find another; write SUBNET or LOCALHOST, or unset it."
    elif value and value not in RANGES:
        yield f"ROS_AUTOMATIC_DISCOVERY_RANGE={value}: is not known; {suggest(value, RANGES).rstrip('.')}"


def _peers(value: str) -> Iterator[str]:
    for peer in filter(None, value.split(";")):
        if not _HOST.fullmatch(peer):
            yield f"ROS_STATIC_PEERS={value}: {peer!r} is no host name or address; separate them by ';' without spaces."
