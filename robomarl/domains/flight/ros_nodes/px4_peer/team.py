"""`Px4Team`: MuJoCo's vehicles under PX4's controllers, each with its own socket. No ROS here."""

import socket
from dataclasses import dataclass, field

import numpy as np

from robomarl.domains.flight.ros_nodes.driven_team import EMPTY_V, Battery, Driven, DrivenTeam
from robomarl.domains.flight.ros_nodes.px4_peer.controller import Target, collective, px4_controller, px4_rest
from robomarl.domains.flight.ros_nodes.px4_peer.gains import gains_of
from robomarl.domains.flight.ros_nodes.px4_peer.server import MavlinkServer, Sensed
from robomarl.domains.flight.ros_nodes.px4_peer.vehicle import NONE, Px4Vehicle, Wish
from robomarl.ros_nodes.adapters.mavlink.addresses import SIM_VEHICLE_PORT, Address
from robomarl.ros_nodes.io.messages import Estimate

FAULTS = ("radio", "battery", "refuses", "jump", "reset", "unseen", "enu", "degrees", "mirrored", "pilot")
"""What may go wrong on purpose: no packet passes; the battery is low; arming is refused; the estimate jumps by 1 m, is
reset by 0.3 m (its counter says so), stops; it is told in ENU, with rates in degrees, left-handed; a pilot takes over.

"""
EVERY = 2
"""Steps from one turn of the position controller to the next: it is slower than those of attitude and rates."""
RESET_M = np.array([0.3, 0.0, 0.0])
WORLD = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""ENU to NED."""
BODY = np.diag([1.0, -1.0, -1.0])
"""FLU to FRD."""


@dataclass
class Px4Peer:
    """One vehicle: what it does, what answers for it, and its socket."""

    vehicle: Px4Vehicle
    server: MavlinkServer
    link: socket.socket
    to: tuple[str, int]
    """Where it sends."""
    battery: Battery = field(default_factory=Battery)
    faults: set[str] = field(default_factory=set)
    resets: int = 0
    moved_m: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """Of its estimator's origin, NED."""
    throttle: float = 0.0

    def step(self, now_s: float, own: Estimate, force_m_s2: np.ndarray) -> Wish | None:
        """Hear, decide, say; what is tracked now."""
        commander, faults = self.vehicle.commander, self.faults
        commander.refuses, commander.battery_low = "refuses" in faults, "battery" in faults
        if "pilot" in faults:
            commander.take_over()
            faults.discard("pilot")
        if "reset" in faults:
            self.moved_m, self.resets = self.moved_m + RESET_M, self.resets + 1
            faults.discard("reset")
        own = own._replace(pos_m=own.pos_m + self.moved_m)
        for raw in self._received():
            self.server.take(raw, now_s)
        wish = self.vehicle.step(now_s, own, self.throttle)
        low = "battery" in faults or self.battery.volts <= EMPTY_V
        seen = Sensed(own, force_m_s2, self.battery.volts, low, self.resets, frozenset(faults))
        for raw in self.server.due(now_s, seen):
            if "radio" not in faults:
                self._send(raw)
        if wish is None:
            return None
        return wish._replace(pos_m=wish.pos_m - self.moved_m)

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
                return [] if "radio" in self.faults else packets


class Px4Team(DrivenTeam):
    """One team, commanded through MAVLink."""

    peers: list[Px4Peer]

    def connect(self, addresses: list[Address]) -> None:
        """Speak to one adapter at each address [N], MAV_SYS_ID from 1."""
        self._gains, self.now_s = gains_of(self.scenario.vehicle_config), 0.0
        self.peers = []
        for address in addresses:
            link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            link.setblocking(False)
            link.bind((address.host, SIM_VEHICLE_PORT))
            vehicle = Px4Vehicle(self._gains.hover)
            self.peers.append(Px4Peer(vehicle, MavlinkServer(vehicle, address.system), link, address[:2]))

    def close(self) -> None:
        """Release the addresses."""
        for peer in self.peers:
            peer.link.close()

    def reset(self, seed: int) -> None:
        """New places; every vehicle was carried there and switched off and on. Streams and parameters stay."""
        self._memory, self._turn = px4_rest(self.scenario.count), 0
        super().reset(seed)
        for peer in self.peers:
            parameters = peer.vehicle.commander.parameters
            peer.vehicle = peer.server.vehicle = Px4Vehicle(self._gains.hover)
            peer.vehicle.commander.parameters = parameters
            peer.battery, peer.throttle, peer.moved_m = Battery(), 0.0, np.zeros(3)
            peer.faults.discard("pilot")

    def driven(self, own: Estimate) -> Driven:
        """What PX4 does now."""
        ned, count = in_ned(own), len(self.peers)
        forces = self.forces(self.truth()) @ BODY
        rows = [Estimate(*(part[i] for part in ned)) for i in range(count)]
        wishes = [
            peer.step(self.now_s, *now) for peer, now in zip(self.peers, zip(rows, forces, strict=True), strict=True)
        ]
        runs = np.array([wish is not None for wish in wishes])
        target = stacked([wish or Wish(NONE, NONE, NONE) for wish in wishes])
        self._turn = (self._turn + 1) % EVERY
        periods_s = self.dt_s, 0.0 if self._turn else EVERY * self.dt_s
        memory, throttle = px4_controller(self._gains, self._memory, ned, target, periods_s)
        rest = px4_rest(count)._replace(vel_m_s=ned.vel_m_s, omega_rad_s=ned.omega_rad_s)
        rows = zip(memory, rest, strict=True)
        self._memory = memory if runs.all() else type(memory)(*(np.where(runs[:, None], a, b) for a, b in rows))
        for peer, turns, wanted in zip(self.peers, runs, collective(memory), strict=True):
            peer.throttle = float(wanted)
            if turns:
                peer.battery.drain(self.dt_s)
        command = np.concatenate(
            [np.nan_to_num(target.accel_m_s2) @ WORLD, -np.nan_to_num(target.yaw_rate_rad_s)[:, None]], -1
        )
        return Driven(throttle * self._gains.rotor_n, runs, command)


def in_ned(own: Estimate) -> Estimate:
    """[N, ...] ENU and FLU as NED and FRD."""
    return Estimate(own.pos_m @ WORLD.T, turned(own.quat_wxyz), own.vel_m_s @ WORLD.T, own.omega_rad_s @ BODY)


def turned(quat: np.ndarray) -> np.ndarray:
    """[N, 4] attitude of FLU in ENU as of FRD in NED: (0, h, h, 0) times it times (0, 1, 0, 0), h the root of 1/2."""
    w, x, y, z = quat.T
    return np.stack([w + z, x + y, x - y, w - z], -1) * np.sqrt(0.5)


def stacked(wishes: list[Wish]) -> Target:
    """Of N vehicles."""
    return Target(*(np.array(part, float) for part in zip(*wishes, strict=True)))
