"""`CrazyflieTeam`: MuJoCo's vehicles under the firmware of Crazyflies, each with its own socket. No ROS here."""

import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from robomarl.domains.flight.engines.mujoco import MujocoBodies, MujocoTeam
from robomarl.domains.flight.quadrotor import RigidVehicle, Vec4
from robomarl.domains.flight.ros_nodes.crazyflie_peer.crtp import CrtpServer, Packet, decoded
from robomarl.domains.flight.ros_nodes.crazyflie_peer.firmware import Firmware, Setpoint, packed_quat
from robomarl.domains.flight.ros_nodes.crazyflie_peer.mellinger import MellingerGains, Wanted, mellinger, mellinger_rest
from robomarl.domains.flight.ros_nodes.crazyflie_peer.supervisor import Supervisor
from robomarl.domains.flight.ros_nodes.sim_team import RealTimeTeam
from robomarl.domains.flight.ros_nodes.vehicle_failsafe import Mode
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.flight.world import World
from robomarl.ros_nodes.io.messages import Estimate

FULL_V, EMPTY_V, LASTS_S = 4.1, 3.2, 400.0
"""Voltage under load of a full and of an empty battery, and how long a flight takes from one to the other."""
LOW_POWER = 3
"""`pm.state` of an empty battery; 0: on battery."""
STANDS = 1.5
"""Lower than so many radii, slow and without motors, a vehicle stands on the ground."""
LOGGED = {
    **{f"stateEstimateZ.{name}": "h" for name in ("x", "y", "z", "vx", "vy", "vz")},
    "stateEstimateZ.quat": "I",
    **{f"stateEstimateZ.{name}": "h" for name in ("rateRoll", "ratePitch", "rateYaw")},
    "pm.vbat": "f",
    "pm.state": "b",
    "supervisor.info": "H",
}
"""What can be logged: the compressed state estimate in mm, mm/s and mrad/s (the pitch rate of the firmware is
negative), battery, supervisor."""
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
    volts: float = FULL_V
    faults: set[str] = field(default_factory=set)

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
        low = "battery" in self.faults or self.volts <= EMPTY_V
        volts = min(self.volts, EMPTY_V - 0.1) if low else self.volts
        said = {"pm.vbat": volts, "pm.state": LOW_POWER * low, "supervisor.info": self.firmware.bits}
        return {**found, "stateEstimateZ.quat": packed_quat(own.quat_wxyz), **said}


class DrivenBodies(MujocoBodies):
    """Bodies whose rotors are told from elsewhere."""

    def __init__(self, scenario: FlightScenario) -> None:
        """Rotors stand still."""
        super().__init__(scenario, 1)
        self.rotors_n = np.zeros((scenario.count, 4))

    def rotor_targets(self, world: World, body: RigidVehicle, substep: int) -> Vec4:
        """What was told."""
        return tuple(self.rotors_n[None, :, i] for i in range(4))  # type: ignore[return-value]


class CrazyflieTeam(RealTimeTeam):
    """One team, commanded through CRTP and not through `command`; on the ground after a reset."""

    peers: list[Peer]
    make_socket: Callable[[int], socket.socket]

    def _engine(self, seed: int) -> MujocoTeam:
        sim = super()._engine(seed)
        sim.bodies = DrivenBodies(self._fine)
        return sim

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
            peer.firmware, peer.volts = self._started(), FULL_V
            peer.server.told = peer.firmware.told

    def stop(self) -> None:
        """Nothing: the E-stop reaches these vehicles through their adapter."""

    def _drive(self) -> np.ndarray:
        self.now_s += self.dt_s
        own, count = self.owns(), len(self.peers)
        rows = [Estimate(*(part[i] for part in own)) for i in range(count)]
        wanted = [self._step(peer, row) for peer, row in zip(self.peers, rows, strict=True)]
        self._gains = replace(
            self._gains, mass_kg=np.array([[p.server.parameters["ctrlMel.mass"][1]] for p in self.peers])
        )
        told = [row if row is not None else _resting(own, i) for i, row in enumerate(wanted)]
        self._memory, rotors = mellinger(self._gains, self._memory, own, self._stacked(told), self.dt_s)
        runs = np.array([row is not None and row.pwm != 0 for row in wanted])
        bodies = self._sim.bodies
        assert isinstance(bodies, DrivenBodies)
        bodies.rotors_n = np.where(runs[:, None], rotors, 0.0)
        self._note_modes(own, runs)
        return np.array([[*row.accel_m_s2, row.yaw_rate_rad_s] for row in told])

    def _step(self, peer: Peer, own: Estimate) -> Setpoint | None:
        peer.firmware.supervisor.refuses = "refuses" in peer.faults
        peer.serve(self.now_s, own)
        found = peer.firmware.step(self.now_s, own)
        if found is not None:
            peer.volts -= (FULL_V - EMPTY_V) / LASTS_S * self.dt_s
        return found

    def owns(self) -> Estimate:
        """[N, ...] what the vehicles' estimators say."""
        truth, measured = self.truth(), self.world.measured
        return truth._replace(pos_m=measured.pos_m[0].astype(float), vel_m_s=measured.vel_m_s[0].astype(float))

    def _stacked(self, told: list[Setpoint]) -> Wanted:
        full_n = 4 * self._gains.rotor_n
        thrust = np.array([s.pwm / 65535 * full_n if s.pwm >= 0 else np.nan for s in told])
        pos, vel, accel = (np.stack([row[i] for row in told]) for i in range(3))
        yaw, angles = np.array([row.yaw_rad for row in told]), np.array([row.roll_pitch_rad for row in told])
        return Wanted(pos, vel, accel, yaw, angles, thrust)

    def _note_modes(self, own: Estimate, runs: np.ndarray) -> None:
        """What the judge and the ground have to know."""
        low = own.pos_m[:, 2] < STANDS * self.scenario.vehicle_config.body.radius_m
        stands = ~runs & low & (np.linalg.norm(own.vel_m_s, axis=-1) < 0.3)
        self.onboard.mode[:] = np.where(runs, Mode.FOLLOWING, np.where(stands, Mode.GROUNDED, Mode.OFF))


def _resting(own: Estimate, index: int) -> Setpoint:
    still = np.zeros(3)
    return Setpoint(own.pos_m[index], still, still, 0.0)
