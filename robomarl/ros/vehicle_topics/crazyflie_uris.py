"""Addresses of Crazyflies: URIs as cflib takes them."""

from typing import Any
from urllib.parse import urlparse

from robomarl.core.config import UserError

SIM_PORT = 19850
CHANNEL, ADDRESS = "2", "E7E7E7E7E7"
"""Channel and address of a Crazyflie with a URI that does not give them."""
SCHEMES = ("radio", "usb", "udp", "tcp")


def simulated_uris(count: int, domain_id: int) -> tuple[str, ...]:
    """Return the URIs of simulated Crazyflies: loopback addresses for each ROS domain, so that rehearsals do not
    meet.
    """
    return tuple(f"udp://127.77.{domain_id}.{index + 1}:{SIM_PORT}" for index in range(count))


def address_of(uri: str) -> tuple[str, int]:
    """Host and port of a URI of a socket."""
    found = urlparse(uri)
    return found.hostname or "", found.port or SIM_PORT


def check_uris(uris: tuple[str, ...], team: tuple[str, ...]) -> None:
    """Check that there is one URI for each robot.

    Raises:
        UserError: the numbers differ, a scheme is not known, or two robots have one vehicle.
    """
    if len(uris) != len(team):
        raise UserError(f"uris: {len(uris)} URIs for {len(team)} robots; name one for each, in the team's order.")
    for uri, name in zip(uris, team, strict=True):
        if urlparse(uri).scheme not in SCHEMES:
            raise UserError(
                f"uris: {uri!r} of {name} must begin with one of {', '.join(SCHEMES)}, such as radio://0/80/2M."
            )
    _check_same(uris, team)


def _check_same(uris: tuple[str, ...], team: tuple[str, ...]) -> None:
    """Each vehicle is flown by one adapter, by whichever of several radios it is reached."""
    found: dict[Any, tuple[str, str]] = {}
    for uri, name in zip(uris, team, strict=True):
        other, its = found.setdefault(vehicle_of(uri), (name, uri))
        if other != name:
            raise UserError(
                f"uris: {uri} of {name} and {its} of {other} are one vehicle, and two adapters can't fly one vehicle; "
                "give each vehicle an address of its own."
            )


def vehicle_of(uri: str) -> Any:
    """Return a key that tells vehicles apart: for a radio its channel and address, for any dongle, rate and
    spelling.
    """
    found = urlparse(uri)
    if found.scheme != "radio":
        return uri
    channel, _, address = ([*found.path.split("/")[1:], "", "", ""])[:3]
    return channel or CHANNEL, (address or ADDRESS).upper()
