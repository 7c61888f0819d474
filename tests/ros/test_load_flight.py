"""A load through ROS 2: real processes over real DDS, with the simulator in place of robots and motion capture."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.log import load_flight
from robomarl.core.paths import bundles_dir
from robomarl.domains.flight.front.payload.page import write_load_report
from robomarl.domains.flight.ros.payload.outcome import MissionResult
from robomarl.domains.flight.ros.payload.rehearsal import fly_mission
from robomarl.field.replay.figures import figures_of
from robomarl.field.replay.replayed import replay_bag
from robomarl.front.cli import main
from robomarl.ros.operator.plan_options import PlanOptions

pytestmark = [pytest.mark.ros, pytest.mark.alone]
# Three policy nodes at 100 Hz and a simulator, on machines that have other things to do: what is late is not lost.
PATIENT = {"heartbeat_after_s": 10.0, "robot_lost_after_s": 2.0, "arm_lasts_s": 600.0, "silent_after_s": 10.0}


def options(folder: Path, bundle: Path, mission: str) -> PlanOptions:
    params = folder / "params.yaml"
    params.write_text(yaml.safe_dump({"/**/policy_node": {"ros__parameters": PATIENT}}))
    return PlanOptions(
        mission=mission,
        bundle=str(bundle),
        root=str(folder),
        log_dir=str(folder / "out"),
        record=str(folder / "bag"),
        params_file=str(params),
    )


def short(folder: Path, land_s: float) -> str:
    """A mission of two set-points."""
    points = [{"at_s": 0.0, "pos_m": [0.2, 0.0, 0.9]}, {"at_s": 5.0, "pos_m": [0.5, 0.3, 0.8], "yaw_rad": 0.4}]
    (folder / "short.yaml").write_text(
        yaml.safe_dump({"version": 1, "name": "short", "land_s": land_s, "set_points": points})
    )
    return str(folder / "short.yaml")


def recorded(folder: Path) -> dict[str, int]:
    """Messages of every topic in the recording."""
    about = yaml.safe_load((folder / "bag" / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    rows = about["topics_with_message_count"]
    return {row["topic_metadata"]["name"]: row["message_count"] for row in rows}


def check_landed(result: MissionResult, left: set[str]) -> None:
    if result.load.lost:  # somebody may come down on who fell, as `ros_nodes/README.md` says; nobody on another
        assert closest_m(result, left) > load_flight(Path(result.flight.log)).separation_m
    else:
        assert result.flight.collisions == 0
    assert result.load.set_down
    assert {result.states[name] for name in left} == {"STOP"}


def closest_m(result: MissionResult, among: set[str]) -> float:
    """Least distance of two of these robots in the whole flight."""
    robots = [i for i, robot in enumerate(load_fleet("lift_3").robots) if robot.name in among]
    places = load_flight(Path(result.flight.log)).pos_m[:, robots]
    return min(
        float(np.linalg.norm(places[:, i] - places[:, j], axis=-1).min()) for j in range(len(robots)) for i in range(j)
    )


def test_a_mission_from_the_ground_to_the_ground(law_bundle: Path, tmp_path: Path):
    fleet = load_fleet("lift_3")
    result = fly_mission(fleet, options(tmp_path, law_bundle, short(tmp_path, 10.0)))
    check_landed(result, {robot.name for robot in fleet.robots})
    assert result.ok, result.flight.reason
    assert len(result.load.set_points) == 2
    counts = recorded(tmp_path)
    assert counts["/world/load_pose"] > 100
    assert counts["/world/load_goal"] >= 2
    figures = figures_of(replay_bag(tmp_path / "bag"))
    assert figures["actions_compared"] > 500
    assert figures["action_diff_max"] == figures["command_diff_max"] == 0.0
    assert figures["observation_diff_max"] < 1e-6
    file = tmp_path / "report.html"
    write_load_report(result, file, {"fleet": fleet.name})
    page = file.read_text()
    assert all(title in page for title in ("Place against goal", "Tensions", "From above", "Set-points"))
    assert page.count("<svg") >= 7


@pytest.mark.slow
def test_sixty_seconds_with_three_set_points(law_bundle: Path, tmp_path: Path):
    fleet = load_fleet("lift_3")
    result = fly_mission(fleet, options(tmp_path, law_bundle, "lift_3"))
    check_landed(result, {robot.name for robot in fleet.robots})
    assert result.ok, result.flight.reason
    assert max(point.position_error_m for point in result.load.set_points) < 0.10


@pytest.mark.slow
def test_a_process_ends_in_flight_and_the_others_set_the_load_down(law_bundle: Path, tmp_path: Path):
    fleet = load_fleet("lift_3")
    result = fly_mission(fleet, options(tmp_path, law_bundle, "lift_3"), ("robot_1", 40.0))
    check_landed(result, {"robot_0", "robot_2"})
    assert result.load.lost == "robot_1"
    assert result.load.after_loss_min_height_m is not None
    assert result.load.after_loss_min_height_m > 0.8


@pytest.mark.slow
def test_a_payload_that_is_too_heavy_is_found_in_recordings_and_adapted_to(tmp_path: Path):
    """As a stranger would: two missions, `identify` of the first, `adapt` of both; nobody is told what was planted."""
    (tmp_path / "heavy.toml").write_text('extends = "lift_3"\n[randomize]\nload_mass_scale = [1.3, 1.3]\n')
    fleet = replace(load_fleet("lift_3"), scenario=str(tmp_path / "heavy.toml"))
    bags = [tmp_path / name / "bag" for name in ("first", "second")]
    for bag in bags:
        bag.parent.mkdir()
        result = fly_mission(fleet, options(bag.parent, bundles_dir() / "lift_3", "lift_3"))
        assert result.ok, result.flight.reason
    of, figures = ["--scenario", "lift_3", "--out"], tmp_path / "found.json"
    assert main(["identify", str(bags[0]), *of, str(tmp_path / "identified"), "--json", str(figures)]) == 0
    found = {row["name"]: row for row in json.loads(figures.read_text())["parameters"]}
    assert found["mass_kg"]["low"] < 1.3 * 1.4 < found["mass_kg"]["high"]
    few = ["--minutes", "0.5", "--episodes", "16"]
    assert main(["adapt", "lift_3", *map(str, bags), *of, str(tmp_path / "adapted"), *few]) == 0
    adapted = json.loads((tmp_path / "adapted" / "adapt.json").read_text())
    assert adapted["success_after"] >= adapted["success_before"] > 0.9
    assert str(tmp_path) not in (tmp_path / "adapted" / "identified" / "lift_3_identified.toml").read_text()
