"""`MavlinkWire`: one PX4 vehicle's messages over UDP. No ROS here."""

import socket
from functools import partial

from robomarl.vehicles.mavlink.addresses import SIM_VEHICLE_PORT, Address
from robomarl_peers.px4.sensed import Sensed
from robomarl_peers.px4.server import MavlinkServer
from robomarl_peers.px4.vehicle import Px4Vehicle


class MavlinkWire:
    """One socket, and the MAVLink server behind it."""

    def __init__(self, address: Address, vehicle: Px4Vehicle, system: int = 0) -> None:
        """Speak to the adapter at an address; MAV_SYS_ID is the address's, or another one."""
        self.server, self.to = MavlinkServer(vehicle, system or address.system), address[:2]
        self.link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.link.setblocking(False)
        self.link.bind((address.host, SIM_VEHICLE_PORT))

    @classmethod
    def at(cls, address: Address) -> "partial[MavlinkWire]":
        """For `Px4Team.connect`."""
        return partial(cls, address)

    @property
    def vehicle(self) -> Px4Vehicle:
        """Vehicle behind this wire."""
        return self.server.vehicle

    def restart(self, vehicle: Px4Vehicle) -> None:
        """Another memory; the clock runs on."""
        self.server.vehicle = vehicle

    def hear(self, now_s: float, deaf: bool) -> None:
        """Answer the received messages."""
        for raw in self._received():
            if not deaf:
                self.server.take(raw, now_s)

    def tell(self, now_s: float, seen: Sensed, mute: bool) -> None:
        """Send the messages that are due."""
        for raw in self.server.due(now_s, seen):
            if not mute:
                self._send(raw)

    def close(self) -> None:
        """Release the address."""
        self.link.close()

    def _send(self, raw: bytes) -> None:
        try:
            self.link.sendto(raw, self.to)
        except ConnectionError:
            return  # nobody listens there now

    def _received(self) -> list[bytes]:
        packets = []
        while True:
            try:
                packets.append(self.link.recv(512))
            except ConnectionError:
                continue  # what was sent before did not arrive: nobody listened
            except BlockingIOError:
                return packets
