"""Motion capture and bases in the plan of a fleet."""

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.plan_options import PlanOptions


def test_bases_are_found_by_their_topics_and_take_their_place_from_motion_capture():
    fleet = load_fleet("local_4")
    specs = {spec.executable: spec for spec in plan_fleet(fleet, PlanOptions(vehicles="base", mocap="pose"))}
    base, mocap = specs["base_node"], specs["mocap_node"]
    assert base.parameters["localization"] == "odometry" and base.parameters["vehicle"] == fleet.vehicle
    assert "uris" not in base.parameters
    assert mocap.parameters["source"] == "pose" and mocap.parameters["team"] == [r.name for r in fleet.robots]
    alone = {spec.executable: spec for spec in plan_fleet(fleet, PlanOptions(vehicles="base"))}
    assert "mocap_node" not in alone and "localization" not in alone["base_node"].parameters


def test_simulated_robots_have_no_motion_capture():
    with pytest.raises(UserError, match="a simulator tells where its robots are itself"):
        plan_fleet(load_fleet("local_4"), PlanOptions(sim=True, mocap="tf"))
    with pytest.raises(UserError, match="can't be simulated as base"):
        plan_fleet(load_fleet("local_4"), PlanOptions(sim=True, vehicles="base"))
