"""Addresses of vehicles with topics that other software puts into ROS: ros:/NAMESPACE?system=N. No ROS here."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlparse

from robomarl.core.config import UserError

NAME = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)*")


@dataclass(frozen=True)
class RosAddress:
    """Address of a vehicle's topics."""

    namespace: str
    """Begins with a slash, or is empty."""
    system: int = 0
    """MAV_SYS_ID of the vehicle; 0: any."""


def simulated_uri(base: str, robot: str, below: str = "", system: int = 0) -> str:
    """Return the URI of a simulated vehicle, with topics beside its robot's own.

    Args:
        base: namespace of the team.
        robot: name of the robot.
        below: the rest of the namespace, with its slash.
        system: MAV_SYS_ID of the vehicle; 0: it has none.
    """
    return f"ros:{base}/{robot}{below}" + (f"?system={system}" if system else "")


def address_of(uri: str, name: str) -> RosAddress:
    """Return the address in a URI of the fleet file.

    Args:
        uri: such as ros:/px4_1?system=2.
        name: the robot.

    Raises:
        UserError: it is not the URI of a vehicle's topics.
    """
    found = urlparse(uri)
    try:
        system = int(parse_qs(found.query).get("system", ["0"])[0])
    except ValueError:
        system = -1
    namespace = found.path.rstrip("/")
    if found.scheme != "ros" or found.netloc or not NAME.fullmatch(namespace) or not 0 <= system <= 254:
        raise UserError(
            f"uri: {uri!r} of {name} must be ros:/NAMESPACE of the vehicle's topics, with ?system=N for MAV_SYS_ID N, "
            f"such as ros:/px4_1?system=1."
        )
    return RosAddress(namespace, system)
