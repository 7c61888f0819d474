"""Frames and angles, both ways, on 10,000 random states; what is checked against is built another way."""

import math

import numpy as np
import pytest

from robomarl.core.geometry import rotate, rotation_matrix, yaw_of
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion import frames

COUNT = 10_000
EXACT = 1e-6
ENU_TO_NED = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
FLU_TO_FRD = np.diag([1.0, -1.0, -1.0])


@pytest.fixture(scope="module")
def states() -> Estimate:
    rng = np.random.default_rng(0)
    quat = rng.normal(size=(COUNT, 4))
    quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
    pos, vel, omega = rng.normal(size=(3, COUNT, 3)) * np.array([20.0, 5.0, 10.0])[:, None, None]
    return Estimate(pos, quat, vel, omega)


def test_there_and_back_is_the_same_state(states: Estimate):
    back = frames.swap_estimate(frames.swap_estimate(states))
    np.testing.assert_allclose(back.pos_m, states.pos_m, atol=EXACT)
    np.testing.assert_allclose(back.vel_m_s, states.vel_m_s, atol=EXACT)
    np.testing.assert_allclose(back.omega_rad_s, states.omega_rad_s, atol=EXACT)
    np.testing.assert_allclose(rotation_matrix(back.quat_wxyz), rotation_matrix(states.quat_wxyz), atol=EXACT)


def test_a_vector_of_the_body_means_the_same_in_both_worlds(states: Estimate):
    there = frames.swap_estimate(states)
    along = np.random.default_rng(1).normal(size=(COUNT, 3))
    ours = rotate(states.quat_wxyz, along) @ ENU_TO_NED.T
    theirs = rotate(there.quat_wxyz, along @ FLU_TO_FRD.T)
    np.testing.assert_allclose(ours, theirs, atol=EXACT)


def test_vectors_are_those_of_the_definitions(states: Estimate):
    np.testing.assert_allclose(frames.swap_world(states.pos_m), states.pos_m @ ENU_TO_NED.T, atol=EXACT)
    np.testing.assert_allclose(frames.swap_body(states.pos_m), states.pos_m @ FLU_TO_FRD.T, atol=EXACT)
    east, climbs = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 2.0])
    np.testing.assert_allclose(frames.swap_world(east), [0.0, 1.0, 0.0])
    np.testing.assert_allclose(frames.swap_world(climbs), [0.0, 0.0, -2.0])


def test_headings_follow_the_attitude(states: Estimate):
    there = frames.swap_attitude(states.quat_wxyz)
    level = np.abs(rotation_matrix(states.quat_wxyz)[:, 2, 0]) < 0.99
    off = frames.wrapped(frames.swap_yaw(yaw_of(states.quat_wxyz)) - yaw_of(there))
    assert np.abs(off[level]).max() < EXACT
    yaw = np.random.default_rng(2).uniform(-math.pi, math.pi, COUNT)
    assert np.abs(frames.wrapped(frames.swap_yaw(frames.swap_yaw(yaw)) - yaw)).max() < EXACT
    assert frames.swap_yaw(0.0) == pytest.approx(math.pi / 2)  # east


def test_elements_of_quaternions_both_ways(states: Estimate):
    quat = states.quat_wxyz
    assert (frames.wxyz(frames.xyzw(quat)) == quat).all()
    assert (frames.xyzw(quat)[:, 3] == quat[:, 0]).all()


def test_roll_pitch_yaw_both_ways(states: Estimate):
    angles = frames.roll_pitch_yaw(states.quat_wxyz)
    back = rotation_matrix(frames.quat_from_roll_pitch_yaw(angles))
    steep = np.abs(np.abs(angles[:, 1]) - math.pi / 2) < 1e-3  # there roll and yaw are one
    assert steep.mean() < 0.01
    np.testing.assert_allclose(back[~steep], rotation_matrix(states.quat_wxyz)[~steep], atol=EXACT)


def test_roll_pitch_yaw_is_three_turns(states: Estimate):
    roll, pitch, yaw = 0.3, -0.4, 2.0
    quat = frames.quat_from_roll_pitch_yaw(np.array([roll, pitch, yaw]))
    c, s = np.cos, np.sin
    about_z = np.array([[c(yaw), -s(yaw), 0], [s(yaw), c(yaw), 0], [0, 0, 1]])
    about_y = np.array([[c(pitch), 0, s(pitch)], [0, 1, 0], [-s(pitch), 0, c(pitch)]])
    about_x = np.array([[1, 0, 0], [0, c(roll), -s(roll)], [0, s(roll), c(roll)]])
    np.testing.assert_allclose(rotation_matrix(quat), about_z @ about_y @ about_x, atol=EXACT)


@pytest.mark.parametrize(
    ("angle", "same"), [(math.pi, -math.pi), (3 * math.pi / 2, -math.pi / 2), (-7.0, 2 * math.pi - 7.0)]
)
def test_angles_are_wrapped(angle: float, same: float):
    assert float(frames.wrapped(angle)) == pytest.approx(same)
