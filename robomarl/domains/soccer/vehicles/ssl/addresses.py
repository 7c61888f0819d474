"""Identity of a robot for the league's vision and radio, and their addresses: ssl:COLOUR/NUMBER, HOST:PORT. No ROS
here.
"""

import re
import socket
from typing import NamedTuple

from robomarl.core.config import UserError

BLUE, YELLOW = "blue", "yellow"
RADIO_PORT = {BLUE: 10301, YELLOW: 10302}
"""Port for the robots of each colour, in the league's simulation protocol."""
VISION = "224.5.23.2:10006"
"""Multicast group of the league's vision; its simulators send to port 10020."""
SIM_PORT = 10020
_URI = re.compile(r"ssl:(blue|yellow)/(\d{1,2})")
_PLACE = re.compile(r"(\d+\.\d+\.\d+\.\d+):(\d+)")
MOST_BYTES = 65536


class Shirt(NamedTuple):
    """Which robot of the field it is."""

    colour: str
    number: int
    """Number of the robot's pattern."""

    def __str__(self) -> str:
        return f"{self.colour} {self.number}"


def shirts_of(uris: tuple[str, ...], team: tuple[str, ...]) -> list[Shirt]:
    """Return one shirt for each robot.

    Raises:
        UserError: a robot has none, or two robots have one in common.
    """
    if len(uris) != len(team):
        raise UserError(f"uris: {len(uris)} URIs for {len(team)} robots; name one for each, in the team's order.")
    found: dict[Shirt, str] = {}
    for uri, name in zip(uris, team, strict=True):
        match = _URI.fullmatch(uri)
        if match is None or int(match[2]) > 15:
            raise UserError(f"uri: {uri!r} of {name} must be ssl:COLOUR/NUMBER, such as ssl:blue/3; numbers end at 15.")
        shirt = Shirt(match[1], int(match[2]))
        if shirt in found:
            raise UserError(f"uri: {found[shirt]} and {name} are both {shirt}; give each robot its own.")
        found[shirt] = name
    return list(found)


def simulated_uris(count: int) -> tuple[str, ...]:
    """Return the URIs of simulated robots: the first team is blue."""
    half = count // 2
    return tuple(f"ssl:{BLUE if i < half else YELLOW}/{i % half}" for i in range(count))


def simulated_vision(domain_id: int) -> str:
    """Return the vision address of a simulated field: a group of its own for each ROS domain, on this machine only."""
    return f"239.80.{domain_id}.2:{SIM_PORT}"


def simulated_radio(domain_id: int) -> str:
    """Likewise."""
    return f"127.80.{domain_id}.1"


def place_of(text: str, key: str) -> tuple[str, int]:
    """Address and port.

    Raises:
        UserError: it is written in another way.
    """
    match = _PLACE.fullmatch(text)
    if match is None or not 0 < int(match[2]) < 65536:
        raise UserError(f"ssl_node: {key} = {text!r} must be ADDRESS:PORT, such as {VISION}.")
    return match[1], int(match[2])


class VisionSocket:
    """Hears a multicast group."""

    def __init__(self, group: str, interface: str) -> None:
        """Join it.

        Args:
            group: ADDRESS:PORT.
            interface: address of this machine in the network of vision; 0.0.0.0: the system chooses.

        Raises:
            UserError: the address is none, or the group can't be joined.
        """
        place = place_of(group, "vision")
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(place)
            both = socket.inet_aton(place[0]) + socket.inet_aton(interface)
            self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, both)
        except OSError as error:
            self._socket.close()
            raise UserError(f"ssl_node: vision = {group!r}, interface = {interface!r}: {error.strerror}.") from None

    def take(self) -> list[bytes]:
        """Return the received packets."""
        return received(self._socket)

    def close(self) -> None:
        """Leave the group."""
        self._socket.close()


class RadioSocket:
    """Socket to the commander of the robots of one colour."""

    def __init__(self, host: str, colour: str) -> None:
        """Nothing is sent yet."""
        self._to = (host, RADIO_PORT[colour])
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def send(self, packet: bytes) -> str:
        """Returns why it could not be sent."""
        try:
            self._socket.sendto(packet, self._to)
        except OSError as error:
            return f"{self._to[0]}:{self._to[1]}: {error.strerror}"
        return ""

    def take(self) -> list[bytes]:
        """Return the received answers."""
        return received(self._socket)

    def close(self) -> None:
        """Release the address."""
        self._socket.close()


def received(link: socket.socket) -> list[bytes]:
    """All packets that wait."""
    packets = []
    while True:
        try:
            packets.append(link.recv(MOST_BYTES))
        except ConnectionError:
            continue  # what was sent before did not arrive: nobody listened
        except OSError:
            return packets
