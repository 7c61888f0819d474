"""Certified robots through their nodes, over real DDS: they arrive, and a recording is decided again, bit by bit."""

import json
from pathlib import Path

import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.front.cli import main

pytestmark = pytest.mark.ros


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    robots = [{"name": name, "index": index, "folder": str(tmp_path / name)} for index, name in enumerate("ab")]
    content = {"version": 1, "name": "pair", "vehicle": "crazyflie_21", "scenario": "swap_2", "filter": "certificate"}
    (tmp_path / "pair.yaml").write_text(yaml.safe_dump({**content, "robots": robots}))
    return tmp_path / "pair.yaml"


def test_two_certified_robots_swap_places(fleet: Path, goto_bundle: Path, tmp_path: Path):
    bag, figures = tmp_path / "bag", tmp_path / "figures.json"
    words = ["--sim", "mujoco", "--flights", "1", "--seed", "5", "--duration", "30", "--bundle", str(goto_bundle)]
    assert main(["up", str(fleet), *words, "--record", str(bag), "--json", str(figures)]) == 0
    (flight,) = json.loads(figures.read_text())["flights"]
    assert flight["collisions"] == 0 and flight["min_distance_m"] > 0.3
    again = tmp_path / "replay.json"
    assert main(["replay", str(bag), "--json", str(again), "--out", str(tmp_path / "page")]) == 0
    found = json.loads(again.read_text())
    assert (found["action_diff_max"], found["command_diff_max"], found["observation_diff_max"]) == (0.0, 0.0, 0.0)
    assert all(robot["commands_compared"] > 50 for robot in found["robots"].values())
