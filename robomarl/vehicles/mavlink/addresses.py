"""Addresses of vehicles that speak MAVLink: udp://HOST:PORT of a listening vehicle, udpin://HOST:PORT of our own
port.
"""

from typing import NamedTuple
from urllib.parse import parse_qs, urlparse

from robomarl.core.config import UserError

SIM_PORT, SIM_VEHICLE_PORT = 14540, 14580
"""Ports to which, and from which, PX4's simulated vehicles send."""


class Address(NamedTuple):
    """One link."""

    host: str
    port: int
    listens: bool
    """We do, and the vehicle sends first."""
    system: int
    """MAV_SYS_ID of the vehicle; 0: the first one that answers."""


def simulated_uri(index: int, domain_id: int) -> str:
    """Return the URI of a simulated vehicle: a loopback address for each ROS domain, so that rehearsals do not meet."""
    return f"udpin://127.79.{domain_id}.{index + 1}:{SIM_PORT}?system={index + 1}"


def address_of(uri: str, name: str) -> Address:
    """Return the address in a URI.

    Args:
        uri: URI in the fleet file.
        name: the robot.

    Raises:
        UserError: it is not the URI of a MAVLink vehicle.
    """
    found = urlparse(uri)
    try:
        port, system = found.port or 0, int(parse_qs(found.query).get("system", ["0"])[0])
    except ValueError:
        port, system = 0, 0
    if found.scheme not in ("udp", "udpin") or not found.hostname or not port or not 0 <= system <= 254:
        raise UserError(
            f"uri: {uri!r} of {name} must be udp://HOST:PORT of a vehicle that listens, or udpin://HOST:PORT where "
            f"this machine does, with ?system=N for MAV_SYS_ID N, such as udpin://0.0.0.0:14540?system=1."
        )
    return Address(found.hostname, port, found.scheme == "udpin", system)
