"""The adapter in the plan of a fleet, and URIs."""

from dataclasses import replace

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.preflight.team_checks import radios
from robomarl.ros.vehicle_topics.crazyflie_uris import address_of, check_uris, simulated_uris

TEAM = ("a", "b")


def test_simulated_vehicles_have_addresses_of_their_own():
    uris = simulated_uris(4, 55) + simulated_uris(4, 56)
    assert len(set(uris)) == 8
    assert address_of(uris[1]) == ("127.77.55.2", 19850)


@pytest.mark.parametrize(
    ("uris", "why"),
    [
        (("udp://x:1",), "1 URIs for 2 robots"),
        (("udp://x:1", "udp://x:1"), "two adapters can't fly one vehicle"),
        (("udp://x:1", "cf231"), "'cf231' of b must begin with one of radio"),
    ],
)
def test_wrong_uris_are_named(uris: tuple[str, ...], why: str):
    with pytest.raises(UserError, match=why):
        check_uris(uris, TEAM)
    check_uris(("radio://0/80/2M/E7E7E7E701", "udp://x:1"), TEAM)


def test_the_adapter_stands_between_robots_and_simulated_vehicles():
    fleet = load_fleet("local_4")
    specs = {spec.executable: spec for spec in plan_fleet(fleet, PlanOptions(sim=True, vehicles="crazyflie"))}
    assert "sim_node" not in specs
    assert specs["crazyflie_peer_node"].full_name == "/sim"
    adapter = specs["crazyflie_node"]
    assert adapter.parameters["sim"] is True and adapter.parameters["vehicle"] == "crazyflie_21"


def test_real_vehicles_have_the_uris_of_the_fleet_file():
    fleet = load_fleet("local_4")
    robots = tuple(replace(robot, uri=f"radio://0/80/2M/E7E7E7E70{robot.index}") for robot in fleet.robots)
    specs = plan_fleet(replace(fleet, robots=robots), PlanOptions(vehicles="crazyflie"))
    (adapter,) = (spec for spec in specs if spec.executable == "crazyflie_node")
    assert adapter.parameters["uris"][3] == "radio://0/80/2M/E7E7E7E703"
    assert not [spec for spec in specs if "sim" in spec.name]


def test_there_is_not_every_adapter():
    with pytest.raises(UserError, match="must be one of crazyflie, crazyswarm, px4, ardupilot, mavros, px4_dds, base"):
        plan_fleet(load_fleet("local_4"), PlanOptions(vehicles="tello"))
    with pytest.raises(UserError, match="robot_0 has no uri"):
        plan_fleet(load_fleet("local_4"), PlanOptions(vehicles="crazyflie"))
    with pytest.raises(UserError, match="can't be simulated as crazyflie"):
        plan_fleet(load_fleet("soccer_2v2"), PlanOptions(sim=True, vehicles="crazyflie"))


@pytest.mark.parametrize("uris", [
    ("radio://0/80/2M/E7E7E7E701", "radio://1/80/2M/E7E7E7E701"),
    ("radio://0/80/2M/E7E7E7E701", "radio://0/80/1M/e7e7e7e701"),
    ("radio://0/80/2M", "radio://1/80/2M/E7E7E7E7E7"),
    ("usb://0", "usb://0"),
])  # fmt: skip
def test_one_vehicle_over_two_radios_is_one_vehicle(uris: tuple[str, str]):
    with pytest.raises(UserError, match=f"{uris[1]} of b and {uris[0]} of a are one vehicle"):
        check_uris(uris, ("a", "b"))


def test_a_fleet_may_have_several_radios():
    uris = ("radio://0/80/2M/E7E7E7E701", "radio://1/90/2M/E7E7E7E701", "radio://2/80/2M/E7E7E7E703", "usb://0")
    check_uris(uris, ("a", "b", "c", "d"))
    fleet = load_fleet("local_4")
    robots = tuple(replace(robot, uri=uri) for robot, uri in zip(fleet.robots, uris, strict=True))
    row = radios(replace(fleet, robots=robots))
    assert (row.ok, row.why) == (True, "3 vehicles over radios 0, 1, 2")
    (node,) = [spec for spec in plan_fleet(replace(fleet, robots=robots), PlanOptions(vehicles="crazyflie"))
               if spec.executable == "crazyflie_node"]  # fmt: skip
    assert tuple(node.parameters["uris"]) == uris
    twice = (replace(robots[0], uri=uris[0].replace("//0", "//3")), *robots[1:3], replace(robots[3], uri=uris[0]))
    assert radios(replace(fleet, robots=twice)).ok is False
    with pytest.raises(UserError, match="are one vehicle"):
        plan_fleet(replace(fleet, robots=twice), PlanOptions(vehicles="crazyflie"))
