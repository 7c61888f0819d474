"""Where Crazyflies are found: URIs as cflib takes them."""

from typing import Any
from urllib.parse import urlparse

from robomarl.core.config import UserError

SIM_PORT = 19850
CHANNEL, ADDRESS = "2", "E7E7E7E7E7"
"""Of a Crazyflie, where its URI does not say them."""
SCHEMES = ("radio", "usb", "udp", "tcp")


def simulated_uris(count: int, domain_id: int) -> tuple[str, ...]:
    """Of simulated ones: loopback addresses of their own for each ROS domain, so that rehearsals don't meet."""
    return tuple(f"udp://127.77.{domain_id}.{index + 1}:{SIM_PORT}" for index in range(count))


def address_of(uri: str) -> tuple[str, int]:
    """Host and port of a URI of a socket."""
    found = urlparse(uri)
    return found.hostname or "", found.port or SIM_PORT


def check_uris(uris: tuple[str, ...], team: tuple[str, ...]) -> None:
    """One URI for each robot.

    Raises:
        UserError: there is not, or two robots have the same.
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
    """What tells vehicles apart: of a radio its channel and address, whatever the radio, rate and spelling are."""
    found = urlparse(uri)
    if found.scheme != "radio":
        return uri
    channel, _, address = ([*found.path.split("/")[1:], "", "", ""])[:3]
    return channel or CHANNEL, (address or ADDRESS).upper()
