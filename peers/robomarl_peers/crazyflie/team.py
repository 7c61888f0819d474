"""`CrazyflieTeam`: MuJoCo's vehicles under the firmware of Crazyflies, over any transport. No ROS here."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from robomarl.ros.io.messages import Estimate
from robomarl_peers.crazyflie.firmware import Firmware, Setpoint
from robomarl_peers.crazyflie.mellinger import MellingerGains, Wanted, mellinger, mellinger_rest
from robomarl_peers.crazyflie.supervisor import Supervisor
from robomarl_peers.driven_team import EMPTY_V, Battery, Driven, DrivenTeam

LOW_POWER = 3
"""`pm.state` of an empty battery; 0: on battery."""
FAULTS = ("radio", "battery", "refuses", "jump", "unseen")
"""Faults that can be injected: no packet passes; the battery is empty; arming is refused; the estimate jumps by 1 m;
the estimate is no longer sent.
"""


@dataclass
class Peer(ABC):
    """One simulated vehicle: its firmware, and the transport of its messages."""

    firmware: Firmware
    battery: Battery = field(default_factory=Battery)
    faults: set[str] = field(default_factory=set)
    force_m_s2: np.ndarray = field(default_factory=lambda: np.zeros(3))
    """Specific force [m/s²] that the vehicle's accelerometer measures."""

    @property
    @abstractmethod
    def mass_kg(self) -> float:
        """Mass [kg] that the vehicle's controller assumes."""

    @abstractmethod
    def serve(self, now_s: float, own: Estimate) -> None:
        """Answer received messages, and send those that are due."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources of the transport."""

    def restart(self, firmware: Firmware) -> None:
        """It was switched off and on."""
        self.firmware, self.battery = firmware, Battery()

    @property
    def power(self) -> tuple[float, int]:
        """Voltage, and `pm.state`."""
        low = "battery" in self.faults or self.battery.volts <= EMPTY_V
        return (min(self.battery.volts, EMPTY_V - 0.1) if low else self.battery.volts), LOW_POWER * low


class CrazyflieTeam(DrivenTeam):
    """One team."""

    peers: list[Peer]

    def connect(self, wires: Iterable[Callable[[Firmware], Peer]], auto_arm: bool = True) -> None:
        """Connect each vehicle [N] to its message transport."""
        self._auto_arm, self.now_s = auto_arm, 0.0
        self.peers = [wire(self._started()) for wire in wires]

    def _started(self) -> Firmware:
        return Firmware(Supervisor(self._auto_arm), self.now_s)

    def close(self) -> None:
        """Close all simulated vehicles."""
        for peer in self.peers:
            peer.close()

    def reset(self, seed: int) -> None:
        """Draw new places. Every vehicle was carried there and switched off and on; log blocks and parameters are
        kept.
        """
        self._memory, self._gains = mellinger_rest(self.scenario.count), MellingerGains()
        super().reset(seed)
        for peer in self.peers:
            peer.restart(self._started())

    def driven(self, own: Estimate) -> Driven:
        """Run the firmware for one step; return its rotor thrusts, motor states and tracked commands."""
        count, forces = len(self.peers), self.forces(self.truth())
        rows = [Estimate(*(part[i] for part in own)) for i in range(count)]
        for peer, force in zip(self.peers, forces, strict=True):
            peer.force_m_s2 = force
        wanted = [self._step(peer, row) for peer, row in zip(self.peers, rows, strict=True)]
        self._gains = replace(self._gains, mass_kg=np.array([[peer.mass_kg] for peer in self.peers]))
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
