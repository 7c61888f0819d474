# pyright: reportArgumentType=false, reportCallIssue=false, reportAssignmentType=false
"""What vehicles, cameras and the league's vision say that can't be meant: refused, counted, named; they age."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.autopilot.state import AutopilotState, share_of
from robomarl.vehicles.mavlink.vehicle_state import VehicleState
from robomarl.vehicles.mavros.vehicle_state import MavrosState
from robomarl.vehicles.px4_dds.geography import Geodetic
from robomarl.vehicles.px4_dds.vehicle_state import Px4State

LOSS = load_vehicle("crazyflie_21").on_command_loss
STILL = Estimate(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), np.zeros(3))
BAD = (math.nan, math.inf, -math.inf, 3e38)


def broken(bad: float) -> list[Estimate]:
    """Every part with one bad number, and an attitude that is none."""
    found = []
    for name in Estimate._fields:
        part = getattr(STILL, name).copy()
        part[-1] = bad
        found.append(STILL._replace(**{name: part}))
    return [*found, STILL._replace(quat_wxyz=np.zeros(4)), STILL._replace(quat_wxyz=np.array([2.0, 0, 0, 0]))]


def mavlink(parts: Estimate) -> Any:
    """An ODOMETRY that went through a packet."""
    common = pytest.importorskip("pymavlink.dialects.v20.common")
    there, here = (common.MAVLink(None, srcSystem=1, srcComponent=1) for _ in range(2))
    pos, quat, vel, omega = (part.tolist() for part in parts)
    made = there.odometry_encode(0, 1, 12, *pos, quat, *vel, *omega, [math.nan] * 21, [math.nan] * 21)
    (read,) = here.parse_buffer(made.pack(there)) or ()
    return read


def px4(parts: Estimate) -> Any:
    pos, quat, vel, omega = (part.astype(np.float32) for part in parts)
    fixed = {"timestamp": 0, "timestamp_sample": 0, "pose_frame": 1, "velocity_frame": 3, "reset_counter": 0}
    return SimpleNamespace(position=pos, q=quat, velocity=vel, angular_velocity=omega, **fixed)


def mavros(parts: Estimate) -> Any:
    from robomarl.ros.convert import odometry_from

    message = odometry_from(STILL, 1.0, "x")
    message.child_frame_id = "base_link"
    (px, py, pz), (w, x, y, z), (a, b, c), (p, q, r) = (part.tolist() for part in parts)
    place, turn, twist = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist
    place.x, place.y, place.z, turn.w, turn.x, turn.y, turn.z = px, py, pz, w, x, y, z
    twist.linear.x, twist.linear.y, twist.linear.z = a, b, c
    twist.angular.x, twist.angular.y, twist.angular.z = p, q, r
    return message


def hears(wire: str) -> tuple[AutopilotState, Any]:
    """A state, and what gives it an estimate at a time."""
    if wire == "mavlink":
        state = VehicleState(0, LOSS)
        return state, lambda parts, at_s: state.take(mavlink(parts), (1, 1), at_s)
    if wire == "px4":
        other = Px4State(0, LOSS)
        return other, lambda parts, at_s: other.take["VehicleOdometry"](px4(parts), at_s)
    third = MavrosState(0, LOSS)
    return third, lambda parts, at_s: third.take["Odometry"](mavros(parts), at_s)


@pytest.mark.parametrize("wire", ["mavlink", "px4", "mavros"])
def test_an_estimate_that_can_not_be_meant_is_none(wire: str):
    state, take = hears(wire)
    take(STILL, 1.0)
    before, count = state.sample, 0
    assert before is not None
    for bad in BAD:
        for parts in broken(bad):
            take(parts, 1.1)
            count += 1
            assert state.sample is before, "its age goes on"
            assert state.refused == count
            assert "is refused: " in state._wrong[next(iter(state._wrong))]
    take(STILL, 1.2)
    assert state.sample is not before
    assert not state._wrong


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e39])
def test_a_frame_that_begins_nowhere(bad: float):
    """It made every estimate of the vehicle one that is not finite, for as long as it flew."""
    state = Px4State(0, LOSS, Geodetic(47.0, 8.0, 400.0))
    fix = {"xy_global": True, "z_global": True, "ref_lat": 47.0, "ref_lon": 8.0, "ref_alt": 400.0}
    state.take["VehicleLocalPosition"](SimpleNamespace(**fix | {"ref_lat": bad}), 1.0)
    assert (state.begins_m, state.refused) == (None, 1)
    state.take["VehicleLocalPosition"](SimpleNamespace(**fix | {"xy_global": False, "ref_lat": bad}), 1.0)
    assert state.refused == 1, "without a fix nobody reads it"
    state.take["VehicleLocalPosition"](SimpleNamespace(**fix), 1.0)
    np.testing.assert_allclose(state.begins_m, 0.0, atol=1e-6)


def test_parameters_and_batteries():
    state = VehicleState(0, LOSS)
    for value in BAD[:3]:
        state.said("COM_OBL_RC_ACT", value)
    assert (state.parameters, state.refused) == ({}, 3)
    assert share_of(0.4) == 0.4
    assert all(math.isnan(share_of(value)) for value in (*BAD, -1.0, 1.01))


@pytest.mark.parametrize("bad", [*BAD, 1e39, 1e300])
def test_a_pose_of_motion_capture(bad: float):
    from robomarl.core.filter.params import from_vehicle
    from robomarl.ros.robot.jumps import reach_of
    from robomarl.vehicles.mocap.tracker import PoseTracker, SensedPose, TrackRules

    tracker = PoseTracker(TrackRules(), reach_of(from_vehicle(load_vehicle("crazyflie_21"), 0.01)))
    up = np.array([1.0, 0.0, 0.0, 0.0])
    for k in range(100):
        told = tracker.take(SensedPose(np.array([0.0, 0.0, 1.0]), up, 0.01 * k), 0.01 * k)
    assert told is not None
    for count, pose in enumerate(
        (
            SensedPose(np.array([0.0, bad, 1.0]), up, 1.0),
            SensedPose(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, bad, 0.0]), 1.0),
            SensedPose(np.array([0.0, 0.0, 1.0]), np.zeros(4), 1.0),
            *([] if math.isfinite(bad) else [SensedPose(np.array([0.0, 0.0, 1.0]), up, bad)]),
        )
    ):
        assert tracker.take(pose, 1.0) is None
        assert tracker.refused == count + 1
    assert tracker.take(SensedPose(np.array([0.0, 0.0, 1.0]), up, 1.01), 1.01) is not None, "the track goes on"


@pytest.mark.parametrize("bad", BAD)
def test_a_packet_of_the_league(bad: float):
    pytest.importorskip("google.protobuf")
    from tests.ros.ssl.test_ssl_vision import OURS, picture, tracks

    found, refused = tracks(), []
    found.refuse = refused.append
    for k in range(60):
        moved, _ = found.take(picture(0.02 * k, 1.0, 0.5, 0.0), 0.02 * k)
    assert moved == [OURS]
    for name in ("x", "y", "orientation", "confidence"):
        packet = picture(1.2, 1.0, 0.5, 0.0)
        setattr(packet.detection.robots_blue[0], name, bad)
        ball = packet.detection.balls.add(confidence=0.9, x=0.0, y=0.0, pixel_x=0.0, pixel_y=0.0)
        setattr(ball, "x" if name == "orientation" else name, bad)
        assert found.take(packet, 1.2) == ([], False)
    assert len(refused) == 8
    if not math.isfinite(bad):
        packet = picture(bad, 1.0, 0.5, 0.0)
        assert found.take(packet, 1.2) == ([], False)
        assert refused[-1].startswith("t_capture is no time")
    moved, _ = found.take(picture(1.22, 1.0, 0.5, 0.0), 1.22)
    assert moved == [OURS], "one packet without a time began all tracks anew"
