"""States and references to MAVLink and back, 10,000 random ones; what is checked against is built another way."""

import math
import struct
from typing import Any

import numpy as np
import pytest

from robomarl.core.geometry import rotation_matrix
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.autopilot import ned as frames
from robomarl.vehicles.autopilot.kinds import ARDUPILOT, PX4, px4_mode
from robomarl.vehicles.mavlink.vehicle_state import decoded

COUNT = 10_000
EXACT = 1e-6
WORLD = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
BODY = np.diag([1.0, -1.0, -1.0])


@pytest.fixture(scope="module")
def states() -> Estimate:
    rng = np.random.default_rng(0)
    quat = rng.normal(size=(COUNT, 4))
    quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
    pos, vel, omega = rng.uniform(-8, 8, (3, COUNT, 3))
    return Estimate(pos, quat, vel, omega)


def same(a: Estimate, b: Estimate) -> None:
    for name in ("pos_m", "vel_m_s", "omega_rad_s"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=EXACT)
    np.testing.assert_allclose(rotation_matrix(a.quat_wxyz), rotation_matrix(b.quat_wxyz), atol=EXACT)


@pytest.mark.parametrize("body", [True, False])
def test_an_odometry_there_and_back(states: Estimate, body: bool):
    sent = frames.to_odometry(states) if body else frames.to_ned(states)
    velocity = frames.BODY_FRD if body else frames.LOCAL_NED
    same(frames.from_odometry((frames.LOCAL_NED, velocity), sent), states)


def test_an_odometry_means_what_its_definition_says(states: Estimate):
    sent = frames.to_odometry(states)
    turned = WORLD @ rotation_matrix(states.quat_wxyz) @ BODY
    np.testing.assert_allclose(rotation_matrix(sent.quat_wxyz), turned, atol=EXACT)
    np.testing.assert_allclose(sent.pos_m, states.pos_m @ WORLD.T, atol=EXACT)
    within = (np.swapaxes(turned, -1, -2) @ (states.vel_m_s @ WORLD.T)[..., None])[..., 0]
    np.testing.assert_allclose(sent.vel_m_s, within, atol=EXACT)
    np.testing.assert_allclose(sent.omega_rad_s, states.omega_rad_s @ BODY, atol=EXACT)


def test_a_target_there_and_back_and_as_defined(states: Estimate):
    rng = np.random.default_rng(1)
    yaw, rate = rng.uniform(-math.pi, math.pi, COUNT), rng.uniform(-2, 2, COUNT)
    sent = frames.to_target(states.pos_m, states.vel_m_s, states.omega_rad_s, yaw, rate)
    np.testing.assert_allclose(sent.accel_m_s2, states.omega_rad_s @ WORLD.T, atol=EXACT)
    # The nose, in ENU and in NED, is one direction.
    nose = np.stack([np.cos(yaw), np.sin(yaw), np.zeros(COUNT)], -1) @ WORLD.T
    np.testing.assert_allclose(nose[:, :2], np.stack([np.cos(sent.yaw_rad), np.sin(sent.yaw_rad)], -1), atol=EXACT)
    np.testing.assert_allclose(sent.yaw_rate_rad_s, -rate)
    back = frames.from_target(sent)
    for ours, theirs in zip((states.pos_m, states.vel_m_s, states.omega_rad_s), back[:3], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=EXACT)
    turned = np.angle(np.exp(1j * (back[3] - yaw)))
    assert np.abs(turned).max() < EXACT and np.abs(back[4] - rate).max() < EXACT


def test_an_odometry_through_its_packet(states: Estimate):
    """Numbers of 32 bits: 10,000 states of up to 8 m, m/s and rad/s."""
    common = pytest.importorskip("pymavlink.dialects.v20.common")
    there, here = (common.MAVLink(None, srcSystem=1, srcComponent=1) for _ in range(2))
    sent, rows = frames.to_odometry(states), []
    unknown = [math.nan] * 21
    for pos, quat, vel, omega in zip(*(part.tolist() for part in sent), strict=True):
        made = there.odometry_encode(0, 1, 12, *pos, quat, *vel, *omega, unknown, unknown)
        read: list[Any] = list(here.parse_buffer(made.pack(there)) or ())
        got = read[0]
        rows.append((got.x, got.y, got.z, *got.q, got.vx, got.vy, got.vz, got.rollspeed, got.pitchspeed, got.yawspeed))
    table = np.array(rows)
    got = Estimate(table[:, :3], table[:, 3:7], table[:, 7:10], table[:, 10:])
    back = frames.from_odometry((1, 12), got)
    # A quaternion of 32 bits is off its length by 6e-8, and a velocity of 14 m/s with it.
    for name in ("pos_m", "omega_rad_s"):
        np.testing.assert_allclose(getattr(back, name), getattr(states, name), atol=EXACT)
    np.testing.assert_allclose(back.vel_m_s, states.vel_m_s, atol=4 * EXACT)


@pytest.mark.parametrize(("pair", "why"), [((21, 12), "MAV_FRAME 21"), ((1, 21), "velocity of its ODOMETRY")])
def test_other_frames_are_named(pair: tuple[int, int], why: str, states: Estimate):
    with pytest.raises(frames.FrameError, match=why):
        frames.from_odometry(pair, states)


def test_modes_and_parameters_are_as_the_autopilots_write_them():
    assert (PX4.set_mode(PX4.land), PX4.mode_name(px4_mode(4, 6))) == ((4.0, 6.0), "AUTO.LAND")
    assert (ARDUPILOT.set_mode(ARDUPILOT.guided), ARDUPILOT.mode_name(9)) == ((4.0, 0.0), "LAND")
    assert PX4.mode_name(px4_mode(5)) == "mode 0x50000"
    (carried,) = struct.unpack("<f", struct.pack("<i", 4))
    assert decoded(carried, 6, PX4) == 4.0 and decoded(4.0, 6, ARDUPILOT) == 4.0 and decoded(0.5, 9, PX4) == 0.5
