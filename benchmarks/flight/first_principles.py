"""A Crazyflie 2.1 from published equations, which training never saw: rotors that turn, and a published controller.

Rotors spin up and down at different rates, push with a polynomial of their speed and turn the vehicle as gyroscopes;
the vehicle's own attitude controller is that of Mellinger and Kumar (ICRA 2011), as the Crazyflie's firmware has it and
its peer flies it: gains on PWM, at 500 Hz. Numbers are those that were identified for the Crazyflie with thrust-stock
propellers (cf2x_L250 of utiasDSL's drone-models and drone-controllers 0.1.0). It shares weather, delays and radio with
the engines, and nothing else.
Numpy; vectors on the last axis, SI units, rotor speeds in rpm.
"""

import numpy as np

from robomarl.core.geometry import rotation_matrix
from robomarl.core.types import GRAVITY_M_S2
from robomarl.core.view import Plan
from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.quadrotor import RigidVehicle, Vec3
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.step import advance
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.engines.delay import command_in_force
from robomarl_peers.crazyflie.mellinger import (
    LAYOUT,
    MellingerGains,
    MellingerMemory,
    facing,
    rotor_thrusts,
    torque_for,
)

MASS_KG, ARM_M = 0.0319, 0.03253
INERTIA_KG_M2 = np.array([16.8e-6, 16.8e-6, 29.8e-6])
DRAG_N_S_M = np.array([0.01471782, 0.01471782, 0.01277641])
THRUST_OF_RPM = (0.0, -5.382196214637237e-7, 2.4582929831265485e-10)
TORQUE_OF_RPM = (0.0, 1.410454111996297e-9, 1.4592584373980652e-12)
UP_PER_S, DOWN_PER_RPM_S = 7.355623702172756, 0.00024443862952110715
"""Rotors speed up with the error of the speed, and slow down with that of its square."""
PROPELLER_KG_M2 = 34.52e-9
GAINS = MellingerGains()
CONTROL_S, STEPS = 0.002, 2
"""Period of the controller, and steps of the physics within it."""


def thrust_of(rpm: np.ndarray) -> np.ndarray:
    """[N] of a rotor."""
    a, b, c = THRUST_OF_RPM
    return a + b * rpm + c * rpm**2


def rpm_for(thrust_n: np.ndarray) -> np.ndarray:
    """The inverse of `thrust_of`."""
    a, b, c = THRUST_OF_RPM
    return (-b + np.sqrt(b * b - 4 * c * (a - thrust_n))) / (2 * c)


def turned(quat: np.ndarray, omega: np.ndarray, dt_s: float) -> np.ndarray:
    """Attitude after turning at a body rate, normalized."""
    w, v = quat[..., :1], quat[..., 1:]
    change = [-(v * omega).sum(-1, keepdims=True), w * omega + np.cross(v, omega)]
    after = quat + 0.5 * dt_s * np.concatenate(change, -1)
    return after / np.linalg.norm(after, axis=-1, keepdims=True)


def rotor_acceleration(rpm: np.ndarray, wanted_rpm: np.ndarray) -> np.ndarray:
    """[..., 4] rpm/s: faster with the error of the speed, slower with the error of its square."""
    up, down = UP_PER_S * (wanted_rpm - rpm), DOWN_PER_RPM_S * (wanted_rpm**2 - rpm**2)
    return np.where(wanted_rpm > rpm, up, down)


def net_force(quat: np.ndarray, thrust_n: np.ndarray, vel: np.ndarray) -> np.ndarray:
    """[..., 3] N in the world, of rotors [..., 4] and of the air, through which the vehicle moves with `vel`."""
    rotation = rotation_matrix(quat)
    against = np.swapaxes(rotation, -1, -2) @ vel[..., None]
    drag = (rotation @ (DRAG_N_S_M[:, None] * against))[..., 0]
    return thrust_n.sum(-1, keepdims=True) * rotation[..., 2] - drag


def net_torque(thrust_n: np.ndarray, rpm: np.ndarray, spin_up: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """[..., 3] N m on a body: of thrusts on their arms, of the air on rotors, of rotors and body as gyroscopes."""
    a, b, c = TORQUE_OF_RPM
    reaction = (a + b * rpm + c * rpm**2) @ LAYOUT[2]
    per_rpm = PROPELLER_KG_M2 * 2 * np.pi / 60
    spin, change = per_rpm * (rpm @ LAYOUT[2]), per_rpm * (spin_up @ LAYOUT[2])
    lever = ARM_M * (thrust_n @ LAYOUT[:2].T)
    gyroscope = np.stack([omega[..., 1] * spin, -omega[..., 0] * spin, change], -1)
    torque = np.concatenate([lever, reaction[..., None]], -1) + gyroscope
    return torque - np.cross(omega, INERTIA_KG_M2 * omega)


class AttitudeControl:
    """The firmware's attitude controller: a wanted force and heading in, rotor speeds out."""

    def __init__(self, yaw_rad: np.ndarray, omega: np.ndarray) -> None:
        """Nothing to make good yet; `yaw_rad` [...] is the heading now, `omega` [..., 3] the body rates."""
        self._yaw_rad, nothing = yaw_rad, np.zeros_like(omega)
        self._memory = MellingerMemory(nothing, nothing, omega)

    def __call__(
        self, rotation: np.ndarray, omega: np.ndarray, force_n: np.ndarray, yaw_rate: np.ndarray
    ) -> np.ndarray:
        """[..., 4] rpm.

        Args:
            rotation: [..., 3, 3] body to world.
            omega: [..., 3] body rates.
            force_n: [..., 3] wanted, world.
            yaw_rate: [...] at which the wanted heading turns.
        """
        self._yaw_rad = self._yaw_rad + CONTROL_S * yaw_rate
        goal = facing(force_n, self._yaw_rad)
        self._memory, torque = torque_for(GAINS, self._memory, (rotation, omega), goal, CONTROL_S)
        return rpm_for(rotor_thrusts(GAINS, (force_n * rotation[..., 2]).sum(-1), torque))


class FirstPrinciplesBodies:
    """`Integrate` of this plant: moves the vehicles of E teams through one decision."""

    def __init__(self, scenario: FlightScenario) -> None:
        """Nothing flies before `prepare`."""
        self._scenario = scenario
        self._repeats = round(scenario.physics_dt_s / CONTROL_S)

    def prepare(self, world: FlightWorld) -> None:
        """Take over how the episodes begin: rotors at the speed that hovers."""
        quat, scale = np.stack(world.body.quat, -1).astype(float), self._mass_scale(world)
        self._rpm = np.repeat(rpm_for(MASS_KG * scale * GRAVITY_M_S2 / 4)[..., None], 4, -1)
        yaw = np.arctan2(2 * (quat[..., 0] * quat[..., 3]), 1 - 2 * quat[..., 3] ** 2)
        self._control = AttitudeControl(yaw, np.stack(world.body.omega, -1).astype(float))

    def _mass_scale(self, world: FlightWorld) -> np.ndarray:
        return np.asarray(world.hidden.physics.mass_kg, float) / self._scenario.vehicle_config.body.mass_kg

    def __call__(self, world: FlightWorld, wind: Vec3) -> FlightWorld:
        """The world one decision later; see `robomarl.domains.flight.lab.world.Integrate`."""
        body, air = world.body, np.stack(wind, -1)
        pos, quat, vel, omega = (np.stack(part, -1).astype(float) for part in body[:4])
        thinks_kg = self._scenario.vehicle_config.body.mass_kg
        for i in range(self._scenario.substeps):
            *accel, yaw_rate = command_in_force(world, np.asarray(i), self._scenario.substeps)
            force = thinks_kg * (np.stack(accel, -1).astype(float) + [0, 0, GRAVITY_M_S2])
            for _ in range(self._repeats):
                rpm = self._control(rotation_matrix(quat), omega, force, yaw_rate)
                for _ in range(STEPS):
                    pos, quat, vel, omega = self._move(world, (pos, quat, vel, omega), rpm, air)
        p, q, v, o = (tuple(np.moveaxis(x, -1, 0).astype(world.goal_m.dtype)) for x in (pos, quat, vel, omega))
        return world._replace(body=RigidVehicle(p, q, v, o, body.rotors))

    def _move(
        self, world: FlightWorld, motion: tuple, wanted_rpm: np.ndarray, air: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """One step of rotors and rigid bodies, semi-implicit."""
        (pos, quat, vel, omega), dt_s = motion, CONTROL_S / STEPS
        spin_up = rotor_acceleration(self._rpm, wanted_rpm)
        self._rpm = self._rpm + dt_s * spin_up
        thrust = thrust_of(self._rpm) * np.asarray(world.hidden.physics.thrust_scale, float)[..., None]
        force = net_force(quat, thrust, vel - air) / (MASS_KG * self._mass_scale(world))[..., None]
        vel = vel + dt_s * (force - [0, 0, GRAVITY_M_S2])
        omega = omega + dt_s * net_torque(thrust, self._rpm, spin_up, omega) / INERTIA_KG_M2
        return pos + dt_s * vel, turned(quat, omega, dt_s), vel, omega


class FirstPrinciplesTeam(TeamSim):
    """E teams on this plant."""

    def __init__(self, scenario: FlightScenario, num_envs: int, seed: int) -> None:
        """See `TeamSim`."""
        super().__init__(scenario, num_envs, seed)
        self.bodies = FirstPrinciplesBodies(scenario)

    def _started(self, world: FlightWorld) -> None:
        self.bodies.prepare(world)

    def _advance(
        self, world: FlightWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None
    ) -> FlightWorld:
        return advance(self.scenario, world, command, draws, self.bodies, plan)
