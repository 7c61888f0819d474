"""Bundles that set the gain of their filter, through ROS 2: four robots that two at a time have no room for."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.paths import bundles_dir
from robomarl.ros.operator.flights import fly
from robomarl.ros.operator.plan_options import PlanOptions

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.alone]


@pytest.mark.parametrize("name", ["passage_4", "intersection_4"])
def test_a_team_with_learned_gains_arrives_through_its_nodes(name: str, tmp_path: Path):
    plan = PlanOptions(sim=True, bundle=str(bundles_dir() / name), seed=100, log_dir=str(tmp_path))
    (flight,) = fly(load_fleet(name), plan).flights
    assert flight.success, flight.reason
    assert flight.collisions == 0
    assert flight.fallback_share == 0.0, "policies decided all along"
