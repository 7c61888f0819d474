"""`CrazyflieTeam`: MuJoCo's vehicles under the firmware of Crazyflies, each with its own socket. No ROS here."""

import socket
from dataclasses import dataclass, field, replace

import numpy as np

from robomarl.domains.flight.ros_nodes.crazyflie_peer.crtp import CrtpServer, Packet, decoded
from robomarl.domains.flight.ros_nodes.crazyflie_peer.firmware import Firmware, Setpoint, packed_quat
from robomarl.domains.flight.ros_nodes.crazyflie_peer.mellinger import MellingerGains, Wanted, mellinger, mellinger_rest
from robomarl.domains.flight.ros_nodes.crazyflie_peer.supervisor import Supervisor
from robomarl.domains.flight.ros_nodes.driven_team import EMPTY_V, Battery, Driven, DrivenTeam
from robomarl.ros_nodes.io.messages import Estimate
from robomarl.types import GRAVITY_M_S2

LOW_POWER = 3
"""`pm.state` of an empty battery; 0: on battery."""
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
FAULTS = ("radio", "battery", "refuses", "jump", "unseen")
"""What may go wrong on purpose: no packet passes; the battery is empty; arming is refused; the estimate jumps by 1 m;
the log of the estimate stops."""
JUMP_MM = 1000.0


def parameters() -> dict[str, tuple[str, float]]:
    """Parameters with their defaults, as after a start."""
    return {"stabilizer.controller": ("B", 1), "stabilizer.estimator": ("B", 2), "ctrlMel.mass": ("f", 0.029)}


@dataclass
class Peer:
    """One vehicle: its firmware, what answers for it, and its socket."""

    firmware: Firmware
    server: CrtpServer
    link: socket.socket
    to: tuple[str, int] | None = None
    """Who spoke last."""
    battery: Battery = field(default_factory=Battery)
    faults: set[str] = field(default_factory=set)
    force_m_s2: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """Of its accelerometer."""

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
        low = "battery" in self.faults or self.battery.volts <= EMPTY_V
        volts = min(self.battery.volts, EMPTY_V - 0.1) if low else self.battery.volts
        said = {"pm.vbat": volts, "pm.state": LOW_POWER * low, "supervisor.info": self.firmware.bits}
        felt = {f"acc.{axis}": value / GRAVITY_M_S2 for axis, value in zip("xyz", self.force_m_s2, strict=True)}
        return {**found, **felt, "stateEstimateZ.quat": packed_quat(own.quat_wxyz), **said}


class CrazyflieTeam(DrivenTeam):
    """One team, commanded through CRTP."""

    peers: list[Peer]

    def connect(self, addresses: list[tuple[str, int]], auto_arm: bool = True) -> None:
        """Listen for one ground station at each address [N]."""
        self._auto_arm, self.now_s = auto_arm, 0.0
        self.peers = [self._peer(address) for address in addresses]

    def _peer(self, address: tuple[str, int]) -> Peer:
        link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        link.setblocking(False)
        link.bind(address)
        firmware = self._started()
        return Peer(firmware, CrtpServer(parameters(), LOGGED, firmware.told), link)

    def _started(self) -> Firmware:
        return Firmware(Supervisor(self._auto_arm), self.now_s)

    def close(self) -> None:
        """Release the addresses."""
        for peer in self.peers:
            peer.link.close()

    def reset(self, seed: int) -> None:
        """New places; every vehicle was carried there and switched off and on. What is logged and set stays."""
        self._memory, self._gains = mellinger_rest(self.scenario.count), MellingerGains()
        super().reset(seed)
        for peer in self.peers:
            peer.firmware, peer.battery = self._started(), Battery()
            peer.server.told = peer.firmware.told

    def driven(self, own: Estimate) -> Driven:
        """What the firmware does now."""
        count, forces = len(self.peers), self.forces(self.truth())
        rows = [Estimate(*(part[i] for part in own)) for i in range(count)]
        for peer, force in zip(self.peers, forces, strict=True):
            peer.force_m_s2 = force
        wanted = [self._step(peer, row) for peer, row in zip(self.peers, rows, strict=True)]
        self._gains = replace(
            self._gains, mass_kg=np.array([[p.server.parameters["ctrlMel.mass"][1]] for p in self.peers])
        )
        told = [row if row is not None else _resting(own, i) for i, row in enumerate(wanted)]
        self._memory, rotors = mellinger(self._gains, self._memory, own, self._stacked(told), self.dt_s)
        runs = np.array([row is not None and row.pwm != 0 for row in wanted])
        return Driven(rotors, runs, np.array([[*row.accel_m_s2, row.yaw_rate_rad_s] for row in told]))

    def _step(self, peer: Peer, own: Estimate) -> Setpoint | None:
        peer.firmware.supervisor.refuses = "refuses" in peer.faults
        peer.serve(self.now_s, own)
        found = peer.firmware.step(self.now_s, own)
        if found is not None:
            peer.battery.drain(self.dt_s)
        return found

    def _stacked(self, told: list[Setpoint]) -> Wanted:
        full_n = 4 * self._gains.rotor_n
        thrust = np.array([s.pwm / 65535 * full_n if s.pwm >= 0 else np.nan for s in told])
        pos, vel, accel = (np.stack([row[i] for row in told]) for i in range(3))
        yaw, angles = np.array([row.yaw_rad for row in told]), np.array([row.roll_pitch_rad for row in told])
        return Wanted(pos, vel, accel, yaw, angles, thrust)


def _resting(own: Estimate, index: int) -> Setpoint:
    still = np.zeros(3)
    return Setpoint(own.pos_m[index], still, still, 0.0)
