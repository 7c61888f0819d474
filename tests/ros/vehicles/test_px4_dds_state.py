"""What px4_msgs mean: states and set-points there and back, 10,000 random ones; checked against another way."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from robomarl.core.config import UserError
from robomarl.core.geometry import rotation_matrix
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.ros.settings import Px4DdsSettings
from robomarl.ros.vehicle_topics.ros_address import RosAddress, address_of, simulated_uri
from robomarl.vehicles.px4_dds.geography import EARTH_M, SIM_ORIGIN, Geodetic, ned_between, origin_of
from robomarl.vehicles.px4_dds.link import Px4DdsLink
from robomarl.vehicles.px4_dds.vehicle_state import Px4State

COUNT = 10_000
EXACT = 1e-6
WORLD = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
BODY = np.diag([1.0, -1.0, -1.0])
LOSS = load_vehicle("crazyflie_21").on_command_loss


def odometry(pos: Any, quat: Any, vel: Any, omega: Any, **other: Any) -> SimpleNamespace:
    fields = {"timestamp": 0, "timestamp_sample": 0, "pose_frame": 1, "velocity_frame": 1, "reset_counter": 0}
    return SimpleNamespace(position=pos, q=quat, velocity=vel, angular_velocity=omega, **(fields | other))


@pytest.mark.parametrize("frame", [1, 3])
def test_an_odometry_means_what_its_definition_says(frame: int):
    """Velocities in NED (1) and in FRD (3)."""
    rng, state = np.random.default_rng(frame), Px4State(0, LOSS)
    quats = rng.normal(size=(COUNT, 4))
    quats /= np.linalg.norm(quats, axis=-1, keepdims=True)
    pos, vel, omega = rng.uniform(-8, 8, (3, COUNT, 3))
    there = rotation_matrix(quats)  # FRD in NED
    said = vel if frame == 1 else np.einsum("nji,nj->ni", there, vel)
    found = []
    for k in range(COUNT):
        state.take["VehicleOdometry"](odometry(pos[k], quats[k], said[k], omega[k], velocity_frame=frame), 0.02 * k)
        assert state.sample is not None
        found.append(state.sample.estimate)
    ours = [np.stack(part) for part in zip(*found, strict=True)]
    np.testing.assert_allclose(ours[0], pos @ WORLD.T, atol=EXACT)
    np.testing.assert_allclose(rotation_matrix(ours[1]), WORLD @ there @ BODY, atol=EXACT)
    np.testing.assert_allclose(ours[2], vel @ WORLD.T, atol=EXACT)
    np.testing.assert_allclose(ours[3], omega @ BODY, atol=EXACT)


@pytest.mark.parametrize("frames", [(2, 1), (1, 2), (0, 0)])
def test_other_frames_are_named_and_not_flown(frames: tuple[int, int]):
    state, still = Px4State(0, LOSS), np.zeros(3)
    said = odometry(still, np.array([1.0, 0, 0, 0]), still, still, pose_frame=frames[0], velocity_frame=frames[1])
    state.take["VehicleOdometry"](said, 1.0)
    assert (
        state.sample is None and state.problem == f"its VehicleOdometry is in frames {frames}; (1, 1) or (1, 3) is read"
    )


def place_of(state: Px4State, geo: Geodetic) -> None:
    said = SimpleNamespace(xy_global=True, z_global=True, ref_lat=geo[0], ref_lon=geo[1], ref_alt=geo[2])
    state.take["VehicleLocalPosition"](said, 1.0)


def test_vehicles_that_began_elsewhere_share_one_frame():
    """One point of the Earth, said by two vehicles in their own local frames."""
    still, upright = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    north_deg = math.degrees(10.0 / EARTH_M)
    found = []
    for begins, north_m in ((SIM_ORIGIN, 10.0), (SIM_ORIGIN._replace(latitude_deg=47.397742 + north_deg), 0.0)):
        state = Px4State(0, LOSS, SIM_ORIGIN)
        said = odometry(np.array([north_m, 3.0, -1.0]), upright, still, still)
        state.take["VehicleOdometry"](said, 1.0)
        assert state.sample is None, "not before it is known where its frame begins"
        place_of(state, begins)
        state.take["VehicleOdometry"](said, 1.0)
        assert state.sample is not None
        found.append(state.sample.estimate.pos_m)
    np.testing.assert_allclose(found[0], [3.0, 10.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)


def test_a_frame_that_is_moved_in_flight_counts_as_a_reset():
    state, still = Px4State(0, LOSS, SIM_ORIGIN), np.zeros(3)
    place_of(state, SIM_ORIGIN)
    said = odometry(still, np.array([1.0, 0, 0, 0]), still, still, reset_counter=7)
    state.take["VehicleOdometry"](said, 1.0)
    before = state.sample
    place_of(state, SIM_ORIGIN._replace(altitude_m=SIM_ORIGIN.altitude_m + 0.5))
    state.take["VehicleOdometry"](said, 1.02)
    assert before is not None and state.sample is not None
    assert state.sample.resets != before.resets
    assert state.sample.estimate.pos_m[2] == pytest.approx(before.estimate.pos_m[2] + 0.5)


def test_the_projection_is_azimuthal_and_equidistant():
    """Distance is the great circle's, and direction that of the tangent plane, by vectors from the Earth's centre."""
    rng = np.random.default_rng(0)

    def up(geo: Geodetic) -> np.ndarray:
        lat, lon = math.radians(geo.latitude_deg), math.radians(geo.longitude_deg)
        return np.array([math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)])

    for _ in range(500):
        begin = Geodetic(rng.uniform(-60, 60), rng.uniform(-180, 180), rng.uniform(0, 500))
        there = Geodetic(begin[0] + rng.normal() * 0.05, begin[1] + rng.normal() * 0.05, rng.uniform(0, 500))
        a, b = up(begin), up(there)
        east = np.cross([0.0, 0.0, 1.0], a)
        east /= np.linalg.norm(east)
        flat = np.array([np.cross(a, east) @ b, east @ b])
        along = EARTH_M * math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)
        expected = [*(flat / np.linalg.norm(flat) * along), begin[2] - there[2]]
        np.testing.assert_allclose(ned_between(begin, there), expected, atol=1e-4)
    assert not ned_between(SIM_ORIGIN, SIM_ORIGIN).any()


def test_addresses_and_origins_are_checked():
    assert address_of("ros:/px4_1?system=3", "a") == RosAddress("/px4_1", 3)
    assert address_of("ros:/", "a") == RosAddress("", 0)
    assert address_of(simulated_uri("/lab", "robot_1", system=2), "a") == RosAddress("/lab/robot_1", 2)
    for uri in ("udpin://0.0.0.0:1", "ros://px4_1", "ros:px4_1", "ros:/a b", "ros:/a?system=x", "ros:/a?system=255"):
        with pytest.raises(UserError, match="of a must be ros:/NAMESPACE"):
            address_of(uri, "a")
    assert origin_of(Px4DdsSettings()) is None and origin_of(Px4DdsSettings(sim=True)) == SIM_ORIGIN
    assert origin_of(Px4DdsSettings(map_origin=(47.0, 8.0, 500.0))) == Geodetic(47.0, 8.0, 500.0)
    with pytest.raises(UserError, match="map_origin = .* must be latitude, longitude"):
        origin_of(Px4DdsSettings(map_origin=(8.0, 470.0, 0.0)))


def test_without_its_messages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    import sys

    monkeypatch.setitem(sys.modules, "px4_msgs", None)
    monkeypatch.setitem(sys.modules, "px4_msgs.msg", None)
    with pytest.raises(UserError, match="px4_msgs/msg/VehicleOdometry is not installed; install ros-"):
        Px4DdsLink(None, RosAddress("/px4_1"), LOSS)  # type: ignore[arg-type]
