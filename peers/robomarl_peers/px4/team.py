"""`Px4Team`: MuJoCo's vehicles under PX4's controllers, over any transport. No ROS here."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from robomarl.ros.io.messages import Estimate
from robomarl_peers.driven_team import EMPTY_V, Battery, Driven, DrivenTeam
from robomarl_peers.px4.controller import Target, collective, px4_controller, px4_rest
from robomarl_peers.px4.gains import gains_of
from robomarl_peers.px4.sensed import Sensed
from robomarl_peers.px4.vehicle import NONE, Px4Vehicle, Wish

FAULTS = ("radio", "battery", "refuses", "jump", "reset", "unseen", "enu", "degrees", "mirrored", "pilot")
"""Faults that can be injected: no packet passes; the battery is low; arming is refused; the estimate jumps by 1 m,
is reset by 0.3 m (its counter says so), stops; it is published in ENU, with rates in degrees, left-handed; a
pilot flies it.
"""
EVERY = 2
"""Steps from one turn of the position controller to the next: it is slower than those of attitude and rates."""
RESET_M = np.array([0.3, 0.0, 0.0])
WORLD = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""ENU to NED."""
BODY = np.diag([1.0, -1.0, -1.0])
"""FLU to FRD."""


class Px4Wire(Protocol):
    """Transport of a vehicle's messages."""

    @property
    def vehicle(self) -> Px4Vehicle:
        """Vehicle behind this wire."""
        ...

    def restart(self, vehicle: Px4Vehicle) -> None:
        """It was switched off and on."""
        ...

    def hear(self, now_s: float, deaf: bool) -> None:
        """Handle the messages received since the last call; `deaf`: no message passes."""
        ...

    def tell(self, now_s: float, seen: Sensed, mute: bool) -> None:
        """Send the messages that are due; `mute`: no message passes."""
        ...

    def close(self) -> None:
        """Release the resources of the transport."""
        ...


@dataclass
class Px4Peer:
    """One simulated vehicle: its behaviour, and the transport of its messages."""

    wire: Px4Wire
    battery: Battery = field(default_factory=Battery)
    faults: set[str] = field(default_factory=set)
    resets: int = 0
    moved_m: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """Displacement [m] of its estimator's origin, NED."""
    throttle: float = 0.0

    @property
    def vehicle(self) -> Px4Vehicle:
        """Its modes and set-points."""
        return self.wire.vehicle

    def restart(self, hover: float) -> None:
        """It was carried elsewhere, and switched off and on; its parameters stay."""
        parameters = self.vehicle.commander.parameters
        self.wire.restart(Px4Vehicle(hover))
        self.vehicle.commander.parameters = parameters
        self.battery, self.throttle, self.moved_m = Battery(), 0.0, np.zeros(3)
        self.faults.discard("pilot")

    def step(self, now_s: float, own: Estimate, force_m_s2: np.ndarray) -> Wish | None:
        """Receive messages, decide, send messages; return the set-point that is tracked now, None if motors idle or
        are off.
        """
        commander, faults = self.vehicle.commander, self.faults
        commander.refuses, commander.battery_low = "refuses" in faults, "battery" in faults
        if "pilot" in faults:
            commander.take_over()
            faults.discard("pilot")
        if "reset" in faults:
            self.moved_m, self.resets = self.moved_m + RESET_M, self.resets + 1
            faults.discard("reset")
        own = own._replace(pos_m=own.pos_m + self.moved_m)
        self.wire.hear(now_s, "radio" in faults)
        wish = self.vehicle.step(now_s, own, self.throttle)
        low = "battery" in faults or self.battery.volts <= EMPTY_V
        seen = Sensed(own, force_m_s2, self.battery.volts, low, self.resets, frozenset(faults))
        self.wire.tell(now_s, seen, "radio" in faults)
        if wish is None:
            return None
        return wish._replace(pos_m=wish.pos_m - self.moved_m)


class Px4Team(DrivenTeam):
    """One team."""

    peers: list[Px4Peer]

    def connect(self, wires: Iterable[Callable[[Px4Vehicle], Px4Wire]]) -> None:
        """Connect each vehicle [N] to its message transport."""
        self._gains, self.now_s = gains_of(self.scenario.vehicle_config), 0.0
        self.peers = [Px4Peer(wire(Px4Vehicle(self._gains.hover))) for wire in wires]

    def close(self) -> None:
        """Release the resources of the wires."""
        for peer in self.peers:
            peer.wire.close()

    def reset(self, seed: int) -> None:
        """New places; every vehicle was carried there and switched off and on. Streams and parameters stay."""
        self._memory, self._turn = px4_rest(self.scenario.count), 0
        super().reset(seed)
        for peer in self.peers:
            peer.restart(self._gains.hover)

    def driven(self, own: Estimate) -> Driven:
        """Run PX4 for one step; return its rotor thrusts, motor states and tracked commands."""
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
    """Return the set-points of N vehicles as one `Target`."""
    return Target(*(np.array(part, float) for part in zip(*wishes, strict=True)))
