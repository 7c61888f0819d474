"""What is behind a robot's namespace and must not be flown, each said in one sentence; real types over real DDS."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

import rclpy

from robomarl.ros.io.node_base import message_class, publisher
from robomarl.ros.vehicle_topics import px4_dds as topics
from robomarl.vehicles.guard_terms import GuardState
from tests.ros.vehicles.px4rig import Px4Rig, px4s

pytestmark = [pytest.mark.slow, pytest.mark.ros, pytest.mark.usefixtures("foreign_messages")]
Spoil = Callable[[Px4Rig, Any], None]


def no_such_vehicle(rig: Px4Rig, wire: Any) -> None:
    wire.kind = 10


def another_vehicle(rig: Px4Rig, wire: Any) -> None:
    wire.system = 9


def another_frame(rig: Px4Rig, wire: Any) -> None:
    sound = wire._makers[topics.ODOMETRY]
    wire._makers[topics.ODOMETRY] = lambda seen: sound(seen) | {"pose_frame": 2}


def no_place(rig: Px4Rig, wire: Any) -> None:
    wire._makers[topics.LOCAL] = lambda seen: {"xy_global": False}


def another_version(rig: Px4Rig, wire: Any) -> None:
    node, kind = rig.ends.peer, message_class(topics.STATUS.type)
    node.destroy_publisher(wire._said[topics.STATUS])
    wire._said[topics.STATUS] = node.create_publisher(kind, f"{wire._namespace}/{topics.STATUS.name}_v7", 1)


def another_definition(rig: Px4Rig, wire: Any) -> None:
    """Of another participant: one of DDS has one type for a topic."""
    rig.ends.peer.destroy_publisher(wire._said.pop(topics.BATTERY))
    wire._makers[topics.BATTERY] = lambda seen: None
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=rig.ends.peer.context.get_domain_id())
    rig.ends.peer.context.on_shutdown(context.shutdown)  # or the next test finds its type there
    wire._node_there = rclpy.create_node("other", context=context)
    wire._node_there.create_publisher(message_class(topics.TIME.type), topics.BATTERY.of("", wire._namespace), 1)


def second_adapter(rig: Px4Rig, wire: Any) -> None:
    wire._other = publisher(rig.ends.peer, topics.SETPOINT, topics.SETPOINT.of("", wire._namespace))


def second_vehicle(rig: Px4Rig, wire: Any) -> None:
    wire._other = publisher(rig.ends.peer, topics.ODOMETRY, topics.ODOMETRY.of("", wire._namespace))


def battery(rig: Px4Rig, wire: Any) -> None:
    rig.team.peers[0].faults.add("battery")


REFUSED: dict[Spoil, str] = {
    no_such_vehicle: "it is a rover, and the vehicle file says a quadrotor",
    another_vehicle: "system 9 answers there, and it is to be 1 (MAV_SYS_ID)",
    another_frame: "its VehicleOdometry is in frames (2, 1); (1, 1) or (1, 3) is read",
    no_place: "it has not said where its local frame begins",
    another_version: "its VehicleStatus is of version 7, and 0 is read here",
    another_definition: "/robot_0/fmu/out/battery_status is px4_msgs/msg/TimesyncStatus there, and",
    second_adapter: "/peer sends /robot_0/fmu/in/trajectory_setpoint too; stop one of the two",
    second_vehicle: "2 vehicles say /robot_0/fmu/out/vehicle_odometry: give each a namespace of its own",
    battery: "the battery is low",
}


@pytest.mark.parametrize("spoil", REFUSED, ids=lambda spoil: spoil.__name__)
def test_it_is_refused_in_one_sentence_and_not_armed(spoil: Spoil):
    with px4s("px4_dds") as rig:
        wire: Any = rig.team.peers[0].wire
        spoil(rig, wire)
        for link in rig.links:
            link.open()
        rig.run(4.0)
        why = rig.links[0].problem or rig.flights[0].unfit
        assert why.startswith(REFUSED[spoil]) and "\n" not in why
        assert rig.states[1] is GuardState.READY, rig.whys
        rig.run(1.0, lambda index, sample: np.array([0.0, 0.0, 1.0, 0.0]) if index == 0 else None)
        assert rig.states[0] is GuardState.WAITING and not rig.team.peers[0].vehicle.commander.armed
        assert rig.flights[0].unfit
