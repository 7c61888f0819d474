"""`LoadPosePolicy`: a centralized, model-based controller of a load on cables; the reference for the
learned ones.

A cascade after Lee (IEEE T-CST 2018): the error of the load's pose asks for a wrench, a quadratic
program distributes the wrench among the cables, and every vehicle is sent to the place where its
cable pulls as it should. The controller reads at once the knowledge of all robots, with the noisy
estimates that the policies get, and differentiates the load's pose.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import quat_conjugate, quat_multiply, rotation_matrix
from robomarl.core.types import GRAVITY_M_S2
from robomarl.core.view import LoadSensed, LocalView
from robomarl.domains.flight.lab.payload.controllers.force_allocation import CableRig, Spread, allocate, rig_of
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of


@dataclass(frozen=True)
class CascadeGains:
    """Gains of the cascade, all bounded by the low-level controller, a load of little inertia and the delay."""

    position_per_s: float = 1.2
    """Wanted velocity of the load over its position error ..."""
    speed_m_s: float = 1.0
    """... at most this."""
    velocity_per_s: float = 2.4
    """Wanted acceleration over its velocity error ..."""
    accel_m_s2: float = 1.5
    """... at most this."""
    attitude_per_s: float = 1.2
    """Wanted angular velocity over its attitude error ..."""
    turn_rad_s: float = 1.0
    """... at most this."""
    rate_per_s: float = 2.4
    """Wanted angular acceleration over its angular velocity error."""
    vehicle_per_s2: float = 2.0
    """Acceleration of a vehicle over its distance from where it should be, relative to the load; the cable's own
    pendulum adds to it."""
    vehicle_per_s: float = 3.0
    """Acceleration over its velocity error there."""
    filter_s: float = 0.06
    """Time constant of the filters behind derivatives."""


class CarryingTeam(NamedTuple):
    """Input of the controller: E teams of N vehicles, world frame."""

    pos_m: np.ndarray
    """[E, 3] load frame's origin."""
    quat_wxyz: np.ndarray
    """[E, 4] attitude of the load."""
    goal_m: np.ndarray
    """[E, 3] wanted place of that origin."""
    goal_quat: np.ndarray
    """[E, 4] wanted attitude."""
    vehicle_m: np.ndarray
    """[E, N, 3]"""
    vehicle_m_s: np.ndarray
    """[E, N, 3]"""


class Past(NamedTuple):
    """The controller's memory."""

    pos_m: np.ndarray
    """[E, 3] at the last decision."""
    rot: np.ndarray
    """[E, 3, 3] load frame to world, at the last decision."""
    vel_m_s: np.ndarray
    """[E, 3] of the load, filtered."""
    omega_rad_s: np.ndarray
    """[E, 3] of the load, world frame, filtered."""
    pull_n: np.ndarray
    """[E, N, 3] that was asked of the cables."""
    lean_per_s: np.ndarray
    """[E, N, 3] rate of the cables' wanted directions, filtered."""


def control(
    rig: CableRig, gains: CascadeGains, past: Past, team: CarryingTeam, period_s: float
) -> tuple[Past, np.ndarray]:
    """One decision: the next memory, and the acceleration [E, N, 3] of every vehicle [m/s^2, world]."""
    share = 1 - math.exp(-period_s / gains.filter_s)
    rot = rotation_matrix(team.quat_wxyz)
    vel = past.vel_m_s + share * ((team.pos_m - past.pos_m) / period_s - past.vel_m_s)
    omega = past.omega_rad_s + share * (_turned(past.rot, rot) / period_s - past.omega_rad_s)
    accel, spin = _wanted_motion(gains, team, vel, omega)
    offset = turn(rot, rig.com_m)
    wrench = _wrench(rig, rot, omega, accel + np.cross(spin, offset), spin)
    pull = allocate(rig, Spread(), rot, wrench, np.linalg.norm(past.pull_n, axis=-1))
    rate = past.lean_per_s + share * ((direction(pull) - direction(past.pull_n)) / period_s - past.lean_per_s)
    arm = rig.point_m @ np.swapaxes(rot, -1, -2)
    whirl = omega[:, None]
    place = team.pos_m[:, None] + arm + rig.reach_m * direction(pull)
    moving = vel[:, None] + np.cross(whirl, arm) + rig.reach_m * rate
    ahead = accel[:, None] + np.cross(spin[:, None], arm) + np.cross(whirl, np.cross(whirl, arm))
    back = gains.vehicle_per_s2 * (place - team.vehicle_m) + gains.vehicle_per_s * (moving - team.vehicle_m_s)
    return Past(team.pos_m, rot, vel, omega, pull, rate), ahead + back


def first_past(rig: CableRig, team: CarryingTeam) -> Past:
    """The memory before the first decision: everything has been at rest, and the cables pull as they hang."""
    zero = np.zeros_like(team.pos_m)
    rot = rotation_matrix(team.quat_wxyz)
    ends = team.pos_m[:, None] + rig.point_m @ np.swapaxes(rot, -1, -2)
    pull = rig.even_n * direction(team.vehicle_m - ends)
    return Past(team.pos_m, rot, zero, zero, pull, np.zeros_like(pull))


def _wanted_motion(
    gains: CascadeGains, team: CarryingTeam, vel: np.ndarray, omega: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Acceleration of the load frame's origin and angular acceleration of the load, [E, 3] each, world."""
    speed = limit(gains.position_per_s * (team.goal_m - team.pos_m), gains.speed_m_s)
    error = quat_multiply(team.goal_quat, quat_conjugate(team.quat_wxyz))
    error = error * np.where(error[:, :1] < 0, -1.0, 1.0)
    size = np.linalg.norm(error[:, 1:], axis=-1, keepdims=True)
    angle = error[:, 1:] / np.maximum(size, 1e-9) * 2 * np.arctan2(size, error[:, :1])
    turning = limit(gains.attitude_per_s * angle, gains.turn_rad_s)
    return limit(gains.velocity_per_s * (speed - vel), gains.accel_m_s2), gains.rate_per_s * (turning - omega)


def _wrench(rig: CableRig, rot: np.ndarray, omega: np.ndarray, accel: np.ndarray, spin: np.ndarray) -> np.ndarray:
    """[E, 6] force and torque about the centre of mass for its acceleration and the load's, world (Newton, Euler)."""
    force = rig.mass_kg * (accel + np.array([0.0, 0.0, GRAVITY_M_S2]))
    inertia = (rot * rig.inertia_kg_m2) @ np.swapaxes(rot, -1, -2)
    torque = turn(inertia, spin) + np.cross(omega, turn(inertia, omega))
    return np.concatenate([force, torque], -1)


def _turned(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """[E, 3] small rotation from one attitude to the next, axis times sine of the angle, world."""
    m = after @ np.swapaxes(before, -1, -2)
    return np.stack([m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]], -1) / 2


def direction(vector: np.ndarray) -> np.ndarray:
    """Unit vectors."""
    return vector / np.maximum(np.linalg.norm(vector, axis=-1, keepdims=True), 1e-9)


def limit(vector: np.ndarray, most: float) -> np.ndarray:
    """The vectors, shortened to a length."""
    return vector * np.minimum(1.0, most / np.maximum(np.linalg.norm(vector, axis=-1, keepdims=True), 1e-9))


def turn(rot: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """[E, 3, 3] times [E, 3] or [3]."""
    return (rot @ vector[..., None])[..., 0]


class WholeTeam:
    """Observation of the controller from the views of all robots, [..., N, 20]; no single robot could make it."""

    size = 20

    def init(self, view: LocalView) -> tuple:
        """No memory."""
        return ()

    def observe(self, memory: tuple, view: LocalView) -> tuple[tuple, np.ndarray]:
        """Own position and velocity, pose of the load, wanted pose."""
        sensed = view.sensed
        assert isinstance(sensed, LoadSensed), "the controller of a load needs one"
        parts = (view.own.pos_m, view.own.vel_m_s, sensed.load_pos_m, sensed.load_quat_wxyz, *view.goal)
        return memory, np.concatenate([np.asarray(p, float) for p in parts], -1)


class LoadPosePolicy:
    """The controller with the interface of a trained policy, for all robots of a team at once: [E, N, ...]."""

    def __init__(self, scenario: FlightScenario, gains: CascadeGains = CascadeGains()) -> None:  # noqa: B008  (frozen)
        """Take the nominal load, cables and limits of the scenario."""
        scenario.command.must_be_flown(scenario.name, "the baseline")
        self.name = "baseline"
        self.scenario_name = scenario.name
        self.vehicle_name = scenario.vehicle_config.name
        self.observation = WholeTeam()
        self.action = task_of(scenario).action(scenario)
        self._rig, self._gains, self._period_s = rig_of(scenario), gains, scenario.period_s

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """`Past` with the team's [E, ...] repeated for every robot, [E, N, ...]: zeros until the first observation."""
        return tuple(np.zeros((*batch, *tail)) for tail in ((3,), (3, 3), (3,), (3,), (3,), (3,)))

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """(carry, obs [E, N, 20]) -> (carry, action [E, N, 5]): acceleration [m/s^2] and no body rates."""
        pos, vel, load, quat, goal, goal_quat = np.split(obs, [3, 6, 9, 13, 16], -1)
        mean = quat.mean(-2)
        quat = mean / np.linalg.norm(mean, axis=-1, keepdims=True)
        team = CarryingTeam(load.mean(-2), quat, goal[:, 0], goal_quat[:, 0], pos, vel)
        past = _of_team(carry, first_past(self._rig, team))
        past, accel = control(self._rig, self._gains, past, team, self._period_s)
        action = np.concatenate([accel, np.zeros((*accel.shape[:-1], self.action.size - 3))], -1)
        return _of_robots(past), np.clip(action, self.action.low, self.action.high).astype(np.float32)


def _of_team(carry: tuple, first: Past) -> Past:
    """The team's memory, of the robots'; the first one for a team with a robot that has none yet."""
    before = Past(*(leaf[:, 0] for leaf in carry[:4]), *carry[4:])
    fresh = ~carry[1].any((-2, -1)).all(-1)  # no rotation matrix is zero
    parts = (
        np.where(fresh.reshape(-1, *[1] * (new.ndim - 1)), new, old) for new, old in zip(first, before, strict=True)
    )
    return Past(*parts)


def _of_robots(past: Past) -> tuple:
    """[E, N, ...] of every part."""
    count = past.pull_n.shape[1]
    shared = (np.repeat(leaf[:, None], count, axis=1) for leaf in past[:4])
    return (*shared, past.pull_n, past.lean_per_s)
