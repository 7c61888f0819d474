"""The filters of motion capture: steps by hand, their published steady state, motion, noise and symmetry."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.core.geometry import quat_from_yaw, quat_multiply, rotate
from robomarl.vehicles.conversion.frames import quat_from_roll_pitch_yaw
from robomarl.vehicles.mocap.motion_filter import MotionFilter, PoseNoise, rotation_vector, turned
from robomarl.vehicles.mocap.sources import Mounting
from robomarl.vehicles.mocap.tracker import SensedPose

UP = np.array([1.0, 0.0, 0.0, 0.0])
ONE = PoseNoise(pose_m=1.0, pose_rad=1.0, jerk_m_s2=1e-9, turn_rad_s=1e-9)
"""So that a step can be done by hand: it begins with variances 1, 9, 100 and 1, 100."""


def test_one_step_of_the_position_by_hand():
    track = MotionFilter(ONE, np.zeros(3), UP)
    track.take(np.array([3.6, 0.0, -7.2]), UP, 1.0)
    # Variance of the position after a second: 1 + 9 + 100 / 4 = 35; with velocity 9 + 100 / 2 = 59; 35 + 1 = 36.
    assert track.estimate.pos_m == pytest.approx([3.5, 0.0, -7.0])
    assert track.estimate.vel_m_s == pytest.approx([5.9, 0.0, -11.8])
    assert track.surprise == pytest.approx((3.6**2 + 7.2**2) / 36)
    ahead_m, _ = track.ahead(2.0)  # the acceleration is 50 / 36 of the innovation
    assert ahead_m == pytest.approx([3.5 + 2 * 5.9 + 2 * 5.0, 0.0, -7.0 - 2 * 11.8 - 2 * 10.0])


def test_one_step_of_the_attitude_by_hand():
    track = MotionFilter(ONE, np.zeros(3), UP)
    track.take(np.zeros(3), quat_from_yaw(np.float64(0.102)), 1.0)
    assert track.estimate.omega_rad_s == pytest.approx([0.0, 0.0, 0.1])  # 100 / (1 + 100 + 1) of 0.102
    assert rotation_vector(track.estimate.quat_wxyz) == pytest.approx([0.0, 0.0, 0.101])


def test_the_jerk_widens_what_is_expected_as_published():
    jerk = 6.0
    track = MotionFilter(PoseNoise(pose_m=1.0, jerk_m_s2=jerk), np.zeros(3), UP)
    track.take(np.ones(3), UP, 2.0)
    # 1 + 9 * 4 + 100 * 4 + 36 * 2^5 / 20, and the pose's own 1.
    total = 1 + 36 + 400 + jerk**2 * 32 / 20 + 1
    assert track.surprise == pytest.approx(3 / total)


@pytest.mark.parametrize("noise", [PoseNoise(), PoseNoise(pose_m=0.003, jerk_m_s2=20.0)])
def test_the_steady_state_is_that_of_the_continuous_filter(noise: PoseNoise):
    """Of a triple integrator: the velocity's variance is 3 w^3 r, w = (q / r)^(1/6), r the density of the noise."""
    dt_s = 0.002
    track = MotionFilter(noise, np.zeros(3), UP)
    for _ in range(800):
        track.take(np.zeros(3), UP, dt_s)
    density = noise.pose_m**2 * dt_s
    width = (noise.jerk_m_s2**2 / density) ** (1 / 6)
    assert track.speed_error_m_s == pytest.approx(math.sqrt(3 * width**3 * density), rel=0.05)


def test_constant_acceleration_and_turning_are_followed_without_lag():
    accel, rate = np.array([1.0, -2.0, 0.5]), np.array([0.3, -0.4, 1.0])
    track = MotionFilter(PoseNoise(), np.zeros(3), UP)
    for k in range(1, 300):
        t = 0.01 * k
        track.take(accel * t * t / 2, turned(UP, rate * t), 0.01)
    assert track.estimate.vel_m_s == pytest.approx(accel * 2.99, abs=1e-3)
    assert track.estimate.omega_rad_s == pytest.approx(rate, abs=1e-3)


@pytest.mark.parametrize(("rate_hz", "most_m_s"), [(50, 0.06), (100, 0.045), (240, 0.035)])
def test_of_noisy_poses_with_gaps_the_velocity_is_known(rate_hz: int, most_m_s: float):
    """A vehicle that swings with 2 m/s^2 and 6 m/s^3; every tenth pose is missing."""
    rng, errors = np.random.default_rng(0), []
    track, before_s = MotionFilter(PoseNoise(), np.zeros(3), UP), 0.0
    for t in np.arange(1, 4 * rate_hz) / rate_hz:
        if rng.random() < 0.1:
            continue
        pos = np.array([2 / 9 * math.sin(3 * t), 0.5 * t, 1.0 - math.cos(t)])
        track.take(pos + rng.normal(size=3) * 0.0005, UP, float(t - before_s))
        before_s = float(t)
        if t > 1.0:
            errors.append(track.estimate.vel_m_s - [2 / 3 * math.cos(3 * t), 0.5, math.sin(t)])
    assert np.sqrt(np.mean(np.square(errors), 0)).max() < most_m_s


angles = st.floats(-3.1, 3.1)
places = st.tuples(*[st.floats(-5, 5)] * 3)


@settings(max_examples=25)
@given(yaw=angles, origin=places, seed=st.integers(0, 100))
def test_estimates_turn_with_the_world(yaw: float, origin: tuple, seed: int):
    """What is seen from another place and heading is estimated there, all else equal."""
    rng = np.random.default_rng(seed)
    placed = Mounting("z_up", origin, yaw)
    pos, quat = rng.normal(size=(6, 3)) * 0.02, quat_from_roll_pitch_yaw(rng.normal(size=(6, 3)) * 0.1)
    here = MotionFilter(PoseNoise(), pos[0], quat[0])
    first = placed.in_map(SensedPose(pos[0], quat[0], 0.0))
    there = MotionFilter(PoseNoise(), first.pos_m, first.quat)
    for p, q in zip(pos[1:], quat[1:], strict=True):
        here.take(p, q, 0.01)
        moved = placed.in_map(SensedPose(p, q, 0.0))
        there.take(moved.pos_m, moved.quat, 0.01)
    turn, a, b = quat_from_yaw(np.float64(yaw)), here.estimate, there.estimate
    assert rotate(turn, a.pos_m) + np.array(origin) == pytest.approx(b.pos_m, abs=1e-9)
    assert rotate(turn, a.vel_m_s) == pytest.approx(b.vel_m_s, abs=1e-8)
    assert a.omega_rad_s == pytest.approx(b.omega_rad_s, abs=1e-8)
    assert abs(quat_multiply(turn, a.quat_wxyz) @ b.quat_wxyz) == pytest.approx(1.0)


@settings(max_examples=25)
@given(st.tuples(*[st.floats(-1.7, 1.7)] * 3))
def test_rotation_vectors_are_undone(vector: tuple):
    assert rotation_vector(turned(UP, np.array(vector))) == pytest.approx(vector, abs=1e-9)


def test_y_up_becomes_z_up():
    """In y-up a body that is upright has its axes along the world's; its height is y, and what was z goes to -y."""
    seen = Mounting("y_up").in_map(SensedPose(np.array([1.0, 2.0, 3.0]), UP, 0.0))
    assert seen.pos_m == pytest.approx([1.0, -3.0, 2.0])
    assert seen.quat == pytest.approx(UP)
    about_y = np.array([math.cos(0.2), 0.0, math.sin(0.2), 0.0])
    turn = Mounting("y_up").in_map(SensedPose(np.zeros(3), about_y, 0.0))
    assert turn.quat == pytest.approx(quat_from_yaw(np.float64(0.4)))
