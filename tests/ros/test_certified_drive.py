"""Certified robots that drive, through their nodes over real DDS: they arrive, and a replay is equal."""

import json
from pathlib import Path

import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.paths import fleets_dir
from robomarl.front.cli import main
from tests.ros.groundbundle import make_ground_bundle

pytestmark = pytest.mark.ros
BODIES_M = {"ssl_omni": 0.18, "turtlebot3_burger": 0.226}
"""Distance of two centres at which bodies touch."""


@pytest.mark.slow
def test_certified_players_play_and_nobody_is_hit(tmp_path: Path):
    """Two teams that are strangers to each other; what a player sees and its words ride on one message."""
    fleet = yaml.safe_load((fleets_dir() / "soccer_2v2.yaml").read_text())
    robots = [{**robot, "folder": str(tmp_path / robot["name"])} for robot in fleet["robots"]]
    (tmp_path / "players.yaml").write_text(yaml.safe_dump({**fleet, "filter": "certificate", "robots": robots}))
    figures, log = tmp_path / "figures.json", str(tmp_path / "out")
    words = ["--sim", "mujoco", "--seed", "5", "--duration", "10", "--bundle", "soccer_2v2", "--out", log]
    assert main(["up", str(tmp_path / "players.yaml"), *words, "--json", str(figures)]) == 0
    flight = json.loads(figures.read_text())["flight"]
    assert flight["success"] and flight["collisions"] == 0 and flight["filter_active_share"] > 0.5


@pytest.mark.alone
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
