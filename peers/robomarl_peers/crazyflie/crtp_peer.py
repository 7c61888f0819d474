"""`CrtpPeer`: one Crazyflie that is spoken to over CRTP, on a UDP socket of its own; `SharedRadio`. No ROS here."""

import math
import socket
from collections import deque
from functools import partial

from robomarl.core.types import GRAVITY_M_S2
from robomarl.ros.io.messages import Estimate
from robomarl_peers.crazyflie.crtp import CrtpServer, Packet, decoded
from robomarl_peers.crazyflie.firmware import Firmware, packed_quat
from robomarl_peers.crazyflie.team import Peer

LOGGED = {
    **{f"stateEstimateZ.{name}": "h" for name in ("x", "y", "z", "vx", "vy", "vz")},
    "stateEstimateZ.quat": "I",
    **{f"stateEstimateZ.{name}": "h" for name in ("rateRoll", "ratePitch", "rateYaw")},
    "pm.vbat": "f",
    "pm.state": "b",
    "supervisor.info": "H",
    **{f"acc.{name}": "f" for name in "xyz"},
}
"""Variables that can be logged: the compressed state estimate in mm, mm/s and mrad/s (the pitch rate of the firmware
is negative), battery, supervisor, and the accelerometer in g.
"""
JUMP_MM = 1000.0
MOST = 50
"""Packets that wait in one direction; of more the oldest are lost."""


class SharedRadio:
    """Memory of one Crazyradio for a whole team: which exchanges have been.

    An exchange is a packet to one vehicle and, in its acknowledgement, one packet back (Bitcraze, communication
    protocol overview). Vehicles take turns, whether they have something to send or not.
    """

    def __init__(self, rate_hz: float, count: int) -> None:
        """Create a radio with `rate_hz` exchanges per second, given to `count` vehicles in turn; 0: no rate limit."""
        self.rate_hz, self._count = rate_hz, count
        self._done = [0.0] * count

    def exchanges(self, index: int, now_s: float) -> int:
        """Those of one vehicle since its last call."""
        if not self.rate_hz:
            return MOST
        # Of this vehicle are the numbers index, index + count, index + 2 count, ...
        reached = math.floor((now_s * self.rate_hz - index) / self._count)
        since, self._done[index] = reached - self._done[index], reached
        return int(min(max(since, 0), MOST))


def parameters() -> dict[str, tuple[str, float]]:
    """Parameters with their defaults, as after a start."""
    return {"stabilizer.controller": ("B", 1), "stabilizer.estimator": ("B", 2), "ctrlMel.mass": ("f", 0.029)}


class CrtpPeer(Peer):
    """One vehicle: its firmware, its CRTP server, and its socket."""

    def __init__(self, address: tuple[str, int], radio: SharedRadio, index: int, firmware: Firmware) -> None:
        """Listen for one ground station at an address, at one's turn of the radio."""
        super().__init__(firmware)
        self.server = CrtpServer(parameters(), LOGGED, firmware.told)
        self.link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.link.setblocking(False)
        self.link.bind(address)
        self.to: tuple[str, int] | None = None
        self._radio, self._index = radio, index
        self._up: deque[Packet] = deque(maxlen=MOST)
        self._down: deque[Packet] = deque(maxlen=MOST)

    @classmethod
    def all_at(cls, addresses: list[tuple[str, int]], rate_hz: float = 0.0) -> "list[partial[CrtpPeer]]":
        """A team's, for `CrazyflieTeam.connect`; `rate_hz` are exchanges of its radio, 0: without a limit."""
        radio = SharedRadio(rate_hz, len(addresses))
        return [partial(cls, address, radio, index) for index, address in enumerate(addresses)]

    @property
    def mass_kg(self) -> float:
        """Mass [kg] that the parameter `ctrlMel.mass` states."""
        return self.server.parameters["ctrlMel.mass"][1]

    def restart(self, firmware: Firmware) -> None:
        """Restart with new firmware; log blocks and parameters are kept."""
        super().restart(firmware)
        self.server.told = firmware.told

    def close(self) -> None:
        """Release the address."""
        self.link.close()

    def serve(self, now_s: float, own: Estimate) -> None:
        """Answer received packets, and send the log blocks that are due."""
        self._up.extend(self._received())
        due = self.server.due(now_s, lambda: self.values(own))
        self._down.extend(
            row for row in due if "unseen" not in self.faults or not self.server.tells(row, "stateEstimateZ")
        )
        for _ in range(self._radio.exchanges(self._index, now_s)):
            if not self._up and not self._down:
                break
            if self._up:
                self._down.extend(self.server.answer(self._up.popleft()))
            if self._down:
                self._send(self._down.popleft())

    def _send(self, packet: Packet) -> None:
        if self.to is not None and "radio" not in self.faults:
            self.link.sendto(packet.encode(), self.to)

    def _received(self) -> list[Packet]:
        packets = []
        while True:
            try:
                raw, self.to = self.link.recvfrom(64)
            except (BlockingIOError, ConnectionError):
                return [] if "radio" in self.faults else packets
            packets += [decoded(raw)] if raw else []

    def values(self, own: Estimate) -> dict[str, float]:
        """Return the current values of all log variables."""
        pos, vel, rates = own.pos_m * 1000, own.vel_m_s * 1000, own.omega_rad_s * 1000
        names = ("x", "y", "z", "vx", "vy", "vz", "rateRoll", "ratePitch", "rateYaw")
        numbers = (*pos, *vel, rates[0], -rates[1], rates[2])
        found = {f"stateEstimateZ.{name}": value for name, value in zip(names, numbers, strict=True)}
        found["stateEstimateZ.x"] += JUMP_MM * ("jump" in self.faults)
        volts, state = self.power
        said = {"pm.vbat": volts, "pm.state": state, "supervisor.info": self.firmware.bits}
        felt = {f"acc.{axis}": value / GRAVITY_M_S2 for axis, value in zip("xyz", self.force_m_s2, strict=True)}
        return {**found, **felt, "stateEstimateZ.quat": packed_quat(own.quat_wxyz), **said}
