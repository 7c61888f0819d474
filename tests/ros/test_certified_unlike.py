"""Certified robots of two vehicles, through their nodes over real DDS: they arrive, and a replay is equal.

A simulator has robots of one vehicle, so there are two, side by side, each with one robot. What keeps the two robots
apart are the courses that their nodes tell each other; the distance is read from the recording.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.field.replay.figures import figures_of
from robomarl.field.replay.replayed import replay_bag
from robomarl.front.cli import main
from robomarl.ros.io.processes import child_environment
from robomarl.ros.operator.console import DEACTIVATE
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import SILENT, bring_up
from tests.ros.bundles import make_bundle
from tests.ros.groundbundle import make_ground_bundle

pytestmark = [pytest.mark.ros, pytest.mark.alone, pytest.mark.slow]
NEAR_M, ARRIVED_M, LIMIT_S = 0.05, 0.2, 90.0
"""Distances from their goals of references, and of robots, that have arrived; time for that."""


class Member(NamedTuple):
    """A robot that crosses the other one's way, and the seed by which its simulator places it there."""

    name: str
    vehicle: str
    seed: int
    start_m: tuple[float, float]
    goal_m: tuple[float, float]


DRIVING = (
    Member("a", "ssl_omni", 7, (0.7, -0.35), (-0.7, 0.35)),
    Member("b", "turtlebot3_burger", 3, (-0.7, 0.35), (0.0, -0.35)),
)
FLYING = (
    Member("a", "crazyflie_21", 0, (-0.60, -0.71), (0.60, 0.71)),
    Member("b", "carrier_600", 5, (1.03, 0.07), (-1.03, -0.07)),
)


def make_flying_bundle(folder: Path, vehicle: str) -> tuple[Path, Path]:
    """Write scenario and bundle of two such quadrotors that change sides into a folder, and return their paths."""
    file = folder / f"two_{vehicle}.toml"
    file.write_text(f'extends = "swap_4"\nvehicle = "{vehicle}"\ncount = 2\n')
    return file, make_bundle(folder / f"to_{vehicle}", str(file), f"to_{vehicle}")


def fleet_of(folder: Path, name: str, scenario: Path, members: tuple[Member, ...]) -> Path:
    """Write a fleet file."""
    content = {"version": 1, "name": name, "vehicle": members[0].vehicle, "scenario": str(scenario)}
    robots = [
        {"name": one.name, "index": i, "folder": str(folder / one.name), "vehicle": one.vehicle}
        for i, one in enumerate(members)
    ]
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump({**content, "filter": "certificate", "robots": robots}))
    return file


def simulator(folder: Path, member: Member, scenario: Path) -> NodeSpec:
    """A simulator with one robot, which tells it its goal."""
    alone = folder / f"alone_{member.name}.toml"
    alone.write_text(scenario.read_text().replace("count = 2", "count = 1"))
    fleet = load_fleet(str(fleet_of(folder, f"alone_{member.name}", alone, (member,))))
    plan = PlanOptions(sim=True, policies=False, monitor=False, tell_goals=True, seed=member.seed)
    (spec,) = plan_fleet(fleet, plan)
    return replace(spec, name=f"sim_{member.name}")


def fly(fleet: Fleet, sims: list[NodeSpec], bag: Path) -> None:
    """Bring up the nodes and the simulators, fly until all references are at their goals, and 3 s more."""
    with bring_up(fleet, PlanOptions(record=str(bag)), None, SILENT) as team:
        team.processes.start(sims, child_environment(team.environment))
        team.configure()
        console, names = team.console, [robot.name for robot in fleet.own]
        refused = console.start(names)
        assert not any(refused.values()), refused
        away = dict.fromkeys(names, np.inf)

        def arrived() -> bool:
            for name in names:
                for tick in console.take_ticks(name):
                    error = np.hypot(tick["obs.goal_error.x"], tick["obs.goal_error.y"])
                    away[name] = error if np.isfinite(error) else away[name]
            team.processes.check()
            return max(away.values()) < NEAR_M

        console.wait(arrived, LIMIT_S, "both robots to arrive")
        console.poll(3.0)
        console.change(DEACTIVATE, names)


@pytest.mark.parametrize(
    ("team", "make", "bodies_m"),
    [(DRIVING, make_ground_bundle, 0.09 + 0.113), (FLYING, make_flying_bundle, 0.07 + 0.17)],
    ids=["driving", "flying"],
)
def test_robots_of_two_vehicles_cross_each_others_way(
    team: tuple[Member, ...], make: Callable[[Path, str], tuple[Path, Path]], bodies_m: float, tmp_path: Path
):
    made = {one.name: make(tmp_path, one.vehicle) for one in team}
    file = fleet_of(tmp_path, "unlike", made["a"][0], team)
    for _, bundle in made.values():
        assert main(["flash", str(bundle), str(file)]) == 0
    fly(load_fleet(str(file)), [simulator(tmp_path, one, made[one.name][0]) for one in team], tmp_path / "bag")
    found = replay_bag(tmp_path / "bag")
    figures = figures_of(found)
    assert (figures["action_diff_max"], figures["command_diff_max"], figures["observation_diff_max"]) == (0.0, 0.0, 0.0)
    assert all(robot["commands_compared"] > 50 for robot in figures["robots"].values())
    assert figures["min_distance_m"] > bodies_m
    begin, end = found.flights[0].pos_m[0, :, :2], found.flights[-1].pos_m[-1, :, :2]
    assert begin == pytest.approx(np.array([one.start_m for one in team]), abs=0.05)
    assert np.linalg.norm(end - [one.goal_m for one in team], axis=-1).max() < ARRIVED_M
    assert {name: Path(settings.vehicle).stem for name, settings in found.recording.settings.items()} == {
        one.name: one.vehicle for one in team
    }
