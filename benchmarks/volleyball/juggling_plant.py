"""`JugglingPlant`: a drone with a racket and a ball, written from the vehicle file's words. It imports no engine.

MuJoCo moves two free bodies; it knows of no contact. Racket and ball push each other by a Hertzian spring with
hysteresis (Flores et al., Multibody System Dynamics 25, 2011), with friction, and the racket may sit beside the place
where the policy believes it. The autopilot is a geometric attitude controller (Lee et al., CDC 2010) that learns the
vehicle's mass from its accelerometer. The ball has a little drag.
"""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from robomarl.core.hardware.vehicle import Quadrotor

BALL_KG, BALL_M, RACKET_M = 0.005, 0.1, 0.2
"""Mass and radius of the ball, radius of the racket."""
STIFF, FRICTION = 4000.0, 0.1
"""Stiffness of the contact [N/m^1.5], and its coefficient of friction."""
DRAG = 0.03 * 0.005 * 9.81 / 25
"""Drag of the ball [N s^2/m^2]: 3 % of its weight at 5 m/s."""
COARSE_S, FINE_S, NEAR_M = 0.004, 0.00025, 0.06
"""Steps away from a contact and near one, and the distance of racket and ball that is near."""
NOTHING = np.zeros(3)
GRAVITY = np.array([0.0, 0.0, -9.81])
LEARN_PER_S = 1.0
"""Rate at which the autopilot learns the vehicle's mass."""
MODEL = """
<mujoco>
  <option integrator="implicitfast" gravity="0 0 -9.81"/>
  <worldbody>
    <body name="drone"><freejoint/><inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia}"/></body>
    <body name="ball"><freejoint/><inertial pos="0 0 0" mass="{ball}" diaginertia="2e-5 2e-5 2e-5"/></body>
  </worldbody>
</mujoco>
"""


@dataclass(frozen=True)
class Deviations:
    """How the plant differs from what the policy was trained with."""

    mass: float = 1.0
    """Factor on the vehicle's mass and inertia."""
    restitution: float = 0.785
    offset_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Place of the racket beside its own."""
    thrust: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    """Factors on the thrusts of the rotors."""
    latency_s: float = 0.0
    """Time from a decision to its arrival at the autopilot."""


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """[3] cross product; NumPy's own takes twenty times as long for so few numbers."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


class Touch(NamedTuple):
    """A contact that goes on: its damping."""

    damping: float


class JugglingPlant:
    """One vehicle with its ball."""

    def __init__(self, vehicle: Quadrotor, deviations: Deviations, above_m: float) -> None:
        """Compile; `above_m`: the racket's height over the vehicle's centre."""
        self._vehicle, self._other = vehicle, deviations
        body = vehicle.body
        inertia = np.array(body.inertia_kg_m2) * deviations.mass
        mass = body.mass_kg * deviations.mass
        text = MODEL.format(mass=mass, inertia=" ".join(f"{value:.9g}" for value in inertia), ball=BALL_KG)
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self._plate = np.array([0.0, 0.0, above_m]) + deviations.offset_m
        self._inertia, self._believed_kg = np.array(body.inertia_kg_m2), body.mass_kg
        places = np.array(vehicle.rotors.positions_m)
        spin = np.array(vehicle.rotors.spin) * vehicle.rotors.torque_per_thrust_m
        self._mixer = np.stack([np.ones(4), places[:, 1], -places[:, 0], -spin])
        self._unmix = np.linalg.inv(self._mixer)
        self.throttle = np.full(4, (9.81 * body.mass_kg / 4 / vehicle.rotors.max_thrust_n) ** 0.5)
        self._target = self.throttle.copy()
        self.hits, self._touch, self._next_s = 0, None, 0.0
        self.hit_s = -1.0

    def place(self, drone_m: np.ndarray, ball_m: np.ndarray) -> None:
        """Put both there, at rest."""
        self.data.qpos[:] = [*drone_m, 1, 0, 0, 0, *ball_m, 1, 0, 0, 0]
        self.data.qvel[:] = 0.0
        mujoco.mj_forward(self.model, self.data)

    @property
    def turn(self) -> np.ndarray:
        """[3, 3] body to world."""
        return self.data.body("drone").xmat.reshape(3, 3)

    def run(self, until_s: float, command: np.ndarray) -> None:
        """Simulate until a time under one command: acceleration [m/s^2, world] and yaw rate [rad/s]."""
        data = self.data
        while data.time < until_s - 1e-9:
            near = self._gap()[0] < NEAR_M
            self.model.opt.timestep = min(FINE_S if near else COARSE_S, until_s - data.time + 1e-12)
            if data.time >= self._next_s:
                self._next_s = data.time + COARSE_S - 1e-9
                self._control(command)
            self._push(self.model.opt.timestep)
            mujoco.mj_step(self.model, data)

    def _control(self, command: np.ndarray) -> None:
        """The autopilot: rotor speeds for a wanted acceleration."""
        control, turn = self._vehicle.control, self.turn
        force = command[:3] - GRAVITY
        lift = max(float(force @ turn[:, 2]), control.min_lift_m_s2)
        wanted = turn.T @ (force / np.linalg.norm(force))
        rates = self.data.qvel[3:6]
        asked = np.array([-wanted[1], wanted[0], 0.0]) * control.tilt_per_s
        torque = self._inertia * control.rate_per_s * (asked - rates)
        torque[2] = self._inertia[2] * control.yaw_rate_per_s * (command[3] - rates[2])
        torque[2] = np.clip(torque[2], -0.05, 0.05)
        top = self._vehicle.rotors.max_thrust_n
        thrusts = np.clip(self._unmix @ [lift * self._believed_kg, *torque], 0.0, top)
        self._target = np.sqrt(thrusts / top)

    def _push(self, dt_s: float) -> None:
        """Forces of rotors, contact and drag for one step."""
        data, turn, rotors = self.data, self.turn, self._vehicle.rotors
        self.throttle = self.throttle + (self._target - self.throttle) * -np.expm1(-dt_s / rotors.time_constant_s)
        plain = rotors.max_thrust_n * self.throttle**2
        total = self._mixer @ (plain * self._other.thrust)
        lift_m_s2 = total[0] / self.model.body("drone").mass[0]
        learned = plain.sum() / max(lift_m_s2, 1.0) - self._believed_kg
        self._believed_kg += LEARN_PER_S * dt_s * learned
        push, at = self._contact()
        data.xfrc_applied[1, :3] = turn[:, 2] * total[0] - push
        data.xfrc_applied[1, 3:] = turn @ total[1:] - cross(at, push)
        fast = data.qvel[6:9]
        data.xfrc_applied[2, :3] = push - DRAG * (fast @ fast) ** 0.5 * fast

    def _gap(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Gap of ball and racket along the racket's normal [m], the ball in its frame [3], the normal [3]."""
        turn, data = self.turn, self.data
        local = turn.T @ (data.qpos[7:10] - data.qpos[:3]) - self._plate
        return float(local[2]) - BALL_M, local, turn[:, 2]

    def _contact(self) -> tuple[np.ndarray, np.ndarray]:
        """Force on the ball [N], and the place where it acts from the vehicle's centre [m], world."""
        gap, local, normal = self._gap()
        data, turn = self.data, self.turn
        if gap >= 0 or gap < -BALL_M or local[0] ** 2 + local[1] ** 2 > RACKET_M**2:
            self._touch = None
            return NOTHING, NOTHING
        at = turn @ (self._plate + [local[0], local[1], 0.0])
        speed = data.qvel[6:9] - data.qvel[:3] - cross(turn @ data.qvel[3:6], at)
        closing = -float(speed @ normal)
        if self._touch is None:
            e = self._other.restitution
            self._touch = Touch(8 * STIFF * (1 - e) / (5 * e * max(closing, 0.05)))
            self.hits, self.hit_s = self.hits + 1, data.time
        depth = (-gap) ** 1.5
        force = max(STIFF * depth + self._touch.damping * depth * closing, 0.0)
        aside = speed + closing * normal
        slip = float(np.linalg.norm(aside))
        return force * (normal - FRICTION * aside / max(slip, 0.05)), at
