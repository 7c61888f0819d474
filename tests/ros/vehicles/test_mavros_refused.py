"""What MAVROS says of a vehicle that must not be flown, each said in one sentence; what its odometry means."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.geometry import rotation_matrix
from robomarl.ros.io.node_base import publisher
from robomarl.ros.vehicle_topics import mavros as topics
from robomarl.vehicles.guard_terms import GuardState
from robomarl.vehicles.mavros.vehicle_state import MavrosState
from tests.ros.vehicles.px4rig import LOSS, Px4Rig, px4s

Spoil = Callable[[Px4Rig, Any], None]
COUNT, EXACT = 10_000, 1e-6


def no_such_vehicle(rig: Px4Rig, wire: Any) -> None:
    wire.kind = 1


def no_such_firmware(rig: Px4Rig, wire: Any) -> None:
    wire.firmware = 4


def another_vehicle(rig: Px4Rig, wire: Any) -> None:
    wire.system = 9


def another_frame(rig: Px4Rig, wire: Any) -> None:
    wire.frames = ("odom", "base_link")


def no_vehicle(rig: Px4Rig, wire: Any) -> None:
    wire.connected = False


def would_not_land(rig: Px4Rig, wire: Any) -> None:
    wire.vehicle.commander.parameters["COM_OBL_RC_ACT"] = 0


def second_adapter(rig: Px4Rig, wire: Any) -> None:
    wire.other = publisher(rig.ends.peer, topics.TARGET, topics.TARGET.of("", wire._namespace))


def battery(rig: Px4Rig, wire: Any) -> None:
    rig.team.peers[0].faults.add("battery")


REFUSED: dict[Spoil, str] = {
    no_such_vehicle: "it is a fixed wing, and the vehicle file says a quadrotor",
    no_such_firmware: "its MAV_AUTOPILOT is 4; PX4 and ArduPilot are flown",
    another_vehicle: "system 9 answers there, and it is to be 1 (MAV_SYS_ID)",
    another_frame: "its local_position/odom is in frames ('odom', 'base_link'); ('map', 'base_link') is read",
    no_vehicle: "MAVROS has no connection to it",
    would_not_land: "its COM_OBL_RC_ACT is 0: without this adapter it would not land; set it to 4 (land)",
    second_adapter: "/peer sends /robot_0/mavros/setpoint_raw/local too; stop one of the two",
    battery: "the battery is low",
}


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.usefixtures("foreign_messages")
@pytest.mark.parametrize("spoil", REFUSED, ids=lambda spoil: spoil.__name__)
def test_it_is_refused_in_one_sentence_and_not_armed(spoil: Spoil):
    with px4s("mavros") as rig:
        spoil(rig, rig.team.peers[0].wire)
        for link in rig.links:
            link.open()
        rig.run(4.0)
        why = rig.links[0].problem or rig.flights[0].unfit
        assert why.startswith(REFUSED[spoil]) and "\n" not in why
        assert rig.states[1] is GuardState.READY, rig.whys
        rig.run(1.0, lambda index, sample: np.array([0.0, 0.0, 1.0, 0.0]) if index == 0 else None)
        assert rig.states[0] is GuardState.WAITING and not rig.team.peers[0].vehicle.commander.armed
        assert rig.flights[0].unfit


def test_its_odometry_means_what_rep_105_says():
    """10,000 random states: pose in ENU, twist of the body in FLU."""
    rng, state = np.random.default_rng(0), MavrosState(0, LOSS)
    quats = rng.normal(size=(COUNT, 4))
    quats /= np.linalg.norm(quats, axis=-1, keepdims=True)
    pos, vel, omega = rng.uniform(-8, 8, (3, COUNT, 3))
    within, found = np.einsum("nji,nj->ni", rotation_matrix(quats), vel), []
    for k in range(COUNT):
        state.take["Odometry"](odometry(pos[k], quats[k], within[k], omega[k]), 0.02 * k)
        assert state.sample is not None
        found.append(state.sample.estimate)
    for ours, theirs in zip(zip(*found, strict=True), (pos, quats, vel, omega), strict=True):
        np.testing.assert_allclose(np.stack(ours), theirs, atol=EXACT)


def odometry(pos: np.ndarray, quat: np.ndarray, vel: np.ndarray, omega: np.ndarray) -> SimpleNamespace:
    def xyz(vector: np.ndarray) -> SimpleNamespace:
        return SimpleNamespace(**dict(zip("xyz", vector, strict=True)))

    turn = SimpleNamespace(**dict(zip("wxyz", quat, strict=True)))
    pose = SimpleNamespace(pose=SimpleNamespace(position=xyz(pos), orientation=turn))
    twist = SimpleNamespace(twist=SimpleNamespace(linear=xyz(vel), angular=xyz(omega)))
    header = SimpleNamespace(frame_id="map", stamp=SimpleNamespace(sec=0, nanosec=0))
    return SimpleNamespace(header=header, child_frame_id="base_link", pose=pose, twist=twist)
