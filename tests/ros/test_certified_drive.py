"""Certified robots that drive, through their nodes over real DDS: they arrive, and a replay is equal."""

import json
from pathlib import Path

import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.front.cli import main
from tests.ros.groundbundle import make_ground_bundle

pytestmark = pytest.mark.ros
BODIES_M = {"ssl_omni": 0.18, "turtlebot3_burger": 0.226}
"""Distance of two centres at which bodies touch."""


@pytest.mark.parametrize("vehicle", ["ssl_omni", pytest.param("turtlebot3_burger", marks=pytest.mark.slow)])
def test_two_certified_robots_that_drive_arrive(vehicle: str, tmp_path: Path):
    scenario, bundle = make_ground_bundle(tmp_path, vehicle)
    robots = [{"name": name, "index": index, "folder": str(tmp_path / name)} for index, name in enumerate("ab")]
    fleet = {"version": 1, "name": "pair", "vehicle": vehicle, "scenario": str(scenario), "filter": "certificate"}
    (tmp_path / "pair.yaml").write_text(yaml.safe_dump({**fleet, "robots": robots}))
    bag, figures, again = tmp_path / "bag", tmp_path / "figures.json", tmp_path / "replay.json"
    words = ["--sim", "mujoco", "--flights", "1", "--seed", "2", "--bundle", str(bundle)]
    assert main(["up", str(tmp_path / "pair.yaml"), *words, "--record", str(bag), "--json", str(figures)]) == 0
    (flight,) = json.loads(figures.read_text())["flights"]
    assert flight["success"] and flight["collisions"] == 0 and flight["fallback_share"] == 0.0
    assert flight["min_distance_m"] > BODIES_M[vehicle]
    words = ["--bundle", str(bundle), "--json", str(again), "--out", str(tmp_path / "page")]
    assert main(["replay", str(bag), *words]) == 0
    found = json.loads(again.read_text())
    assert (found["action_diff_max"], found["command_diff_max"], found["observation_diff_max"]) == (0.0, 0.0, 0.0)
    assert all(robot["commands_compared"] > 50 for robot in found["robots"].values())
