"""`DrivenTeam`: MuJoCo's vehicles with rotors commanded by simulated autopilots instead of `command`. No ROS here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from robomarl.core.geometry import rotation_matrix
from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.field.sim_team import RealTimeTeam
from robomarl.domains.flight.field.vehicle_failsafe import Mode
from robomarl.domains.flight.lab.engines.mujoco import MujocoTeam
from robomarl.domains.flight.lab.engines.mujoco_bodies import MujocoBodies
from robomarl.domains.flight.lab.quadrotor import RigidVehicle, Vec4
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.ros.io.messages import Estimate

STANDS = 1.5
"""Height in body radii below which a slow vehicle without motors is on the ground."""
FULL_V, EMPTY_V, LASTS_S = 4.1, 3.2, 400.0
"""Voltage under load of a full and of an empty battery [V], and the flight time [s] from full to empty."""


class Driven(NamedTuple):
    """Output of the autopilots in one step."""

    rotors_n: np.ndarray
    """[N, 4] thrust of each rotor."""
    runs: np.ndarray
    """[N] bool: its motors turn."""
    command: np.ndarray
    """[N, 4] acceleration and yaw rate that are tracked, for the log."""


@dataclass
class Battery:
    """One vehicle's."""

    volts: float = FULL_V

    def drain(self, dt_s: float) -> None:
        """Discharge the battery by a time [s] with the motors on."""
        self.volts -= (FULL_V - EMPTY_V) / LASTS_S * dt_s


class DrivenBodies(MujocoBodies):
    """Bodies with rotor thrusts set from outside."""

    def __init__(self, scenario: FlightScenario) -> None:
        """Rotors stand still."""
        super().__init__(scenario, 1)
        self.rotors_n = np.zeros((scenario.count, 4))

    def rotor_targets(self, world: FlightWorld, body: RigidVehicle, substep: int) -> Vec4:
        """Return the rotor thrusts that were set."""
        return tuple(self.rotors_n[None, :, i] for i in range(4))  # type: ignore[return-value]


class Faulty(Protocol):
    """One simulated autopilot."""

    faults: set[str]
    """Names of the faults injected into this autopilot."""


class DrivenTeam(RealTimeTeam):
    """One team under autopilots; on the ground after a reset."""

    peers: Sequence[Faulty]
    now_s = 0.0

    def _engine(self, seed: int) -> MujocoTeam:
        sim = super()._engine(seed)
        sim.bodies = DrivenBodies(self._fine)
        return sim

    def reset(self, seed: int) -> None:
        """New places; every vehicle was carried there and switched off and on."""
        self._vel_m_s = np.zeros((self.scenario.count, 3))
        super().reset(seed)

    def driven(self, own: Estimate) -> Driven:
        """Run the autopilots for one step; `own` [N, ...] are the estimates of their estimators."""
        raise NotImplementedError

    def close(self) -> None:
        """Release the autopilots' addresses."""
        raise NotImplementedError

    def stop(self) -> None:
        """Nothing: the E-stop reaches these vehicles through their adapter."""

    def owns(self) -> Estimate:
        """Return the state estimates [N, ...] of the vehicles' estimators."""
        truth, measured = self.truth(), self.world.measured
        return truth._replace(pos_m=measured.pos_m[0].astype(float), vel_m_s=measured.vel_m_s[0].astype(float))

    def forces(self, truth: Estimate) -> np.ndarray:
        """Return the specific forces [N, 3] of the accelerometers since the last call, FLU [m/s^2]: (0, 0, 9.81) at
        rest.
        """
        accel = (truth.vel_m_s - self._vel_m_s) / self.dt_s + np.array([0.0, 0.0, GRAVITY_M_S2])
        self._vel_m_s = truth.vel_m_s
        return (np.swapaxes(rotation_matrix(truth.quat_wxyz), -1, -2) @ accel[..., None])[..., 0]

    def _drive(self) -> np.ndarray:
        self.now_s += self.dt_s
        own = self.owns()
        found = self.driven(own)
        bodies = self._sim.bodies
        assert isinstance(bodies, DrivenBodies)
        bodies.rotors_n = np.where(found.runs[:, None], found.rotors_n, 0.0)
        self._note_modes(own, found.runs)
        return found.command

    def _note_modes(self, own: Estimate, runs: np.ndarray) -> None:
        """Record the modes that the judge and the ground contact need."""
        low = own.pos_m[:, 2] < STANDS * self.scenario.vehicle_config.body.radius_m
        stands = ~runs & low & (np.linalg.norm(own.vel_m_s, axis=-1) < 0.3)
        self.onboard.mode[:] = np.where(runs, Mode.FOLLOWING, np.where(stands, Mode.GROUNDED, Mode.OFF))
