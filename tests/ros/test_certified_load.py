"""Carriers behind the certificate through their nodes, over real DDS: they lift, fly, land, and a replay is equal."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.paths import bundles_dir
from robomarl.domains.flight.ros.payload.rehearsal import fly_mission
from robomarl.field.replay.figures import figures_of
from robomarl.field.replay.replayed import replay_bag
from tests.ros.test_load_flight import check_landed, closest_m, options

pytestmark = [pytest.mark.ros, pytest.mark.alone, pytest.mark.slow]


def short(folder: Path) -> str:
    """A mission of one set-point, with time to fly there at the pace of references."""
    points = [{"at_s": 0.0, "pos_m": [0.4, 0.2, 1.0], "yaw_rad": 0.3}]
    file = folder / "short.yaml"
    file.write_text(yaml.safe_dump({"version": 1, "name": "short", "land_s": 14.0, "set_points": points}))
    return str(file)


def test_three_certified_carriers_lift_fly_and_land(tmp_path: Path):
    fleet = replace(load_fleet("lift_3"), filter="certificate")
    result = fly_mission(fleet, options(tmp_path, bundles_dir() / "lift_3", short(tmp_path)))
    names = {robot.name for robot in fleet.robots}
    check_landed(result, names)
    assert result.ok, result.flight.reason
    assert result.load.set_points[-1].position_error_m < 0.2
    assert closest_m(result, names) > 0.7
    figures = figures_of(replay_bag(tmp_path / "bag"))
    assert (figures["action_diff_max"], figures["command_diff_max"], figures["observation_diff_max"]) == (0.0, 0.0, 0.0)
    assert all(robot["commands_compared"] > 500 for robot in figures["robots"].values())
