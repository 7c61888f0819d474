"""`CrtpPeer`: one Crazyflie that is spoken to over CRTP, on a UDP socket of its own. No ROS here."""

import socket
from functools import partial

from robomarl.domains.flight.ros_nodes.crazyflie_peer.crtp import CrtpServer, Packet, decoded
from robomarl.domains.flight.ros_nodes.crazyflie_peer.firmware import Firmware, packed_quat
from robomarl.domains.flight.ros_nodes.crazyflie_peer.team import Peer
from robomarl.ros_nodes.io.messages import Estimate
from robomarl.types import GRAVITY_M_S2

LOGGED = {
    **{f"stateEstimateZ.{name}": "h" for name in ("x", "y", "z", "vx", "vy", "vz")},
    "stateEstimateZ.quat": "I",
    **{f"stateEstimateZ.{name}": "h" for name in ("rateRoll", "ratePitch", "rateYaw")},
    "pm.vbat": "f",
    "pm.state": "b",
    "supervisor.info": "H",
    **{f"acc.{name}": "f" for name in "xyz"},
}
"""What can be logged: the compressed state estimate in mm, mm/s and mrad/s (the pitch rate of the firmware is
negative), battery, supervisor, and the accelerometer in g."""
JUMP_MM = 1000.0


def parameters() -> dict[str, tuple[str, float]]:
    """Parameters with their defaults, as after a start."""
    return {"stabilizer.controller": ("B", 1), "stabilizer.estimator": ("B", 2), "ctrlMel.mass": ("f", 0.029)}


class CrtpPeer(Peer):
    """One vehicle: its firmware, what answers for it, and its socket."""

    def __init__(self, address: tuple[str, int], firmware: Firmware) -> None:
        """Listen for one ground station at an address."""
        super().__init__(firmware)
        self.server = CrtpServer(parameters(), LOGGED, firmware.told)
        self.link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.link.setblocking(False)
        self.link.bind(address)
        self.to: tuple[str, int] | None = None

    @classmethod
    def at(cls, address: tuple[str, int]) -> "partial[CrtpPeer]":
        """For `CrazyflieTeam.connect`."""
        return partial(cls, address)

    @property
    def mass_kg(self) -> float:
        """As its parameter says."""
        return self.server.parameters["ctrlMel.mass"][1]

    def restart(self, firmware: Firmware) -> None:
        """What is logged and set stays."""
        super().restart(firmware)
        self.server.told = firmware.told

    def close(self) -> None:
        """Release the address."""
        self.link.close()

    def serve(self, now_s: float, own: Estimate) -> None:
        """Answer what has come, and send the log blocks that are due."""
        found = [reply for packet in self._received() for reply in self.server.answer(packet)]
        due = self.server.due(now_s, lambda: self.values(own))
        found += [row for row in due if "unseen" not in self.faults or not self.server.tells(row, "stateEstimateZ")]
        if self.to is not None and "radio" not in self.faults:
            for packet in found:
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
        """What is logged now."""
        pos, vel, rates = own.pos_m * 1000, own.vel_m_s * 1000, own.omega_rad_s * 1000
        names = ("x", "y", "z", "vx", "vy", "vz", "rateRoll", "ratePitch", "rateYaw")
        numbers = (*pos, *vel, rates[0], -rates[1], rates[2])
        found = {f"stateEstimateZ.{name}": value for name, value in zip(names, numbers, strict=True)}
        found["stateEstimateZ.x"] += JUMP_MM * ("jump" in self.faults)
        volts, state = self.power
        said = {"pm.vbat": volts, "pm.state": state, "supervisor.info": self.firmware.bits}
        felt = {f"acc.{axis}": value / GRAVITY_M_S2 for axis, value in zip("xyz", self.force_m_s2, strict=True)}
        return {**found, **felt, "stateEstimateZ.quat": packed_quat(own.quat_wxyz), **said}
