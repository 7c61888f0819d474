"""One adapter node for each robot of a fleet, in its plan."""

from dataclasses import replace

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.plan_options import PlanOptions


@pytest.mark.parametrize(
    ("vehicles", "name", "peer"),
    [
        ("px4", "mavlink", "px4_peer_node"),
        ("px4_dds", "px4_dds", "px4_dds_peer_node"),
        ("mavros", "mavros_adapter", "mavros_peer_node"),
    ],
)
def test_each_robot_has_its_adapter_and_all_share_the_simulator(vehicles: str, name: str, peer: str):
    specs = plan_fleet(load_fleet("local_4"), PlanOptions(sim=True, vehicles=vehicles, namespace="lab"))
    adapters = [spec for spec in specs if spec.executable == f"{name}_node"]
    assert [spec.full_name for spec in adapters] == [f"/lab/{name}_robot_{i}" for i in range(4)]
    assert [spec.parameters["index"] for spec in adapters] == [0, 1, 2, 3]
    assert all(spec.parameters["sim"] and spec.parameters["vehicle"] == "crazyflie_21" for spec in adapters)
    assert [spec.executable for spec in specs if spec.name == "sim"] == [peer]


def test_real_vehicles_have_the_uris_of_the_fleet_file():
    fleet = load_fleet("local_4")
    robots = tuple(replace(robot, uri=f"udpin://0.0.0.0:1454{robot.index}?system=1") for robot in fleet.robots)
    specs = plan_fleet(replace(fleet, robots=robots), PlanOptions(vehicles="ardupilot"))
    adapters = [spec for spec in specs if spec.executable == "mavlink_node"]
    assert adapters[2].parameters["uri"] == "udpin://0.0.0.0:14542?system=1"
    assert not [spec for spec in specs if "sim" in spec.name]


def test_ardupilot_is_not_simulated():
    with pytest.raises(UserError, match="can't be simulated as ardupilot"):
        plan_fleet(load_fleet("local_4"), PlanOptions(sim=True, vehicles="ardupilot"))
