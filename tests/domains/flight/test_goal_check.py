"""Scenario files whose goals robots cannot rest at are refused, by every command, with both numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.goals.rest import rest_distances
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.domains.flight.lab.check import spread_out
from robomarl.domains.flight.lab.safety.limits import check_fleet_goals, team_faults
from robomarl.front import cli
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario

HEAD = 'extends = "swap_4"\n'


def sent_to(folder: Path, *places: tuple[float, float, float], more: str = "") -> str:
    """A scenario file in which robots are sent to these places."""
    starts = [[1.5 * (i - 1), -2.0, 1.2] for i in range(len(places))]
    file = folder / "sent.toml"
    goals = json.dumps([list(place) for place in places])
    text = f"{HEAD}count = {len(places)}\n[start]\nplaces_m = {json.dumps(starts)}\n{more}"
    file.write_text(f'{text}[goal]\nkind = "places"\njitter_m = 0.0\nplaces_m = {goals}\n')
    return str(file)


def row(distance_m: float, count: int = 4) -> list[tuple[float, float, float]]:
    return [(distance_m * i - 1, 1.0, 1.2) for i in range(count)]


def needed() -> tuple[float, float]:
    """What two robots of `swap_4` need beside and above each other."""
    scenario = load_scenario("swap_4")
    rest = rest_distances(safety_params(scenario), scenario.radio.latency_s + scenario.period_s)
    assert rest.above_m is not None
    return rest.beside_m, rest.above_m


def test_goals_nearer_than_robots_rest_are_refused_and_others_are_not(tmp_path: Path):
    beside, above = needed()
    with pytest.raises(UserError, match=rf"sent.toml: \[goal\] .* {0.9 * beside:.3g} m apart .* {beside:.3f} m beside"):
        load_scenario(sent_to(tmp_path, *row(0.9 * beside)))
    with pytest.raises(UserError, match=rf"{0.9 * above:.3g} m above each other.*{above:.3f} m above"):
        load_scenario(sent_to(tmp_path, (0, 1, 1.0), (0, 1, 1.0 + 0.9 * above)))
    load_scenario(sent_to(tmp_path, *row(1.01 * beside)))
    load_scenario(sent_to(tmp_path, (0, 1, 1.0), (0, 1, 1.0 + 1.01 * above)))


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ((40, 0, 1), "reaches from 40 to 40 m on axis x, the arena from -3.5 to 3.5"),
        ((0, 0, -5), "reaches from -5 to -5 m on axis z, the arena from 0.1 to 3"),
        ((3.45, 0, 1), "0.05 m from the arena's limit on axis x"),
        ((0, 0, 0.15), "0.05 m from the arena's limit on axis z"),
        ((1, 1.2, 1), "0.1 m from obstacle 'post'"),
    ],
)
def test_a_goal_that_the_filter_keeps_robots_from_is_refused(goal: tuple, words: str, tmp_path: Path):
    post = '{ kind = "capsule", from_m = [1.0, 1.0, 0.0], to_m = [1.0, 1.0, 3.0], radius_m = 0.1, name = "post" }'
    with pytest.raises(UserError) as error:
        load_scenario(sent_to(tmp_path, goal, more=f"[arena]\nobstacles = [{post}]\n"))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("count = 16\n[start]\nmin_spacing_m = 0.35\n", "0.39 m apart"),
        ('[goal]\nkind = "random"\nmin_separation_m = 0.2\n', "0.341 m apart"),
        (
            '[arena]\nobstacles = [{ kind = "sphere", from_m = [1.0, 0.0, 1.2], radius_m = 0.1 }]\n',
            "a goal on the ring, (1, 0, 1.2) is -0.1 m from obstacle 0 (sphere)",
        ),
    ],
)
def test_goals_on_the_ring_are_judged_too(change: str, words: str, tmp_path: Path):
    (tmp_path / "ring.toml").write_text(HEAD + change)
    with pytest.raises(UserError) as error:
        load_scenario(str(tmp_path / "ring.toml"))
    assert words in str(error.value)


def test_commands_refuse_with_status_1_before_anything_is_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    scenario = sent_to(tmp_path, *row(0.34, 2))
    robots = "".join(f"  - {{name: r{i}, index: {i}, folder: {tmp_path}/r{i}}}\n" for i in range(2))
    fleet = tmp_path / "pair.yaml"
    fleet.write_text(f"version: 1\nname: pair\nvehicle: crazyflie_21\nscenario: {scenario}\nrobots:\n{robots}")
    commands = (
        ["check", scenario],
        ["eval", "baseline", "--scenario", scenario],
        ["up", str(fleet)],
        ["up", str(fleet), "--sim", "mujoco", "--flights", "1"],
        ["flash", "swap_4", str(fleet)],
    )
    figures = tmp_path / "figures.json"
    for words in commands:
        assert cli.main([*words, "--json", str(figures)]) == 1, words
        found = json.loads(figures.read_text())
        assert (found["passed"], len(found["problems"])) == (False, 1), words
        said = capsys.readouterr().err
        assert "0.34 m apart" in said and f"{needed()[0]:.3f} m beside" in said, words


def test_goals_of_a_fleet_are_judged_by_the_bounds_of_its_estimator(tmp_path: Path):
    scenario = sent_to(tmp_path, *row(0.8, 2))
    robots = "".join(f"  - {{name: r{i}, index: {i}, folder: {tmp_path}/r{i}}}\n" for i in range(2))
    fleet = tmp_path / "pair.yaml"
    head = f"version: 1\nname: pair\nvehicle: crazyflie_21\nscenario: {scenario}\nrobots:\n{robots}"
    for estimator in ("assumed", "mocap"):
        fleet.write_text(f"{head}estimator: {estimator}\n")
        check_fleet_goals(load_fleet(str(fleet)))
    fleet.write_text(f"{head}estimator: firmware\n")
    with pytest.raises(
        UserError, match="for fleet pair with the estimator firmware: .goal. .* are 0.8 m apart .* 2.841 m"
    ):
        check_fleet_goals(load_fleet(str(fleet)))


def test_engines_are_compared_in_a_scenario_with_places(tmp_path: Path):
    apart = spread_out(load_scenario(sent_to(tmp_path, *row(0.8, 2))), 0.1)
    assert (apart.goal.kind, apart.goal.places_m, apart.start.places_m) == ("far_side", (), ())


def test_a_team_has_faults_of_single_goals_and_of_pairs():
    params = from_vehicle(load_vehicle("crazyflie_21"), 0.02, Arena((-3.5, -3.5, 0.1), (3.5, 3.5, 3.0)))
    first, second = team_faults(params, 0.04, [np.array([40.0, 0, 1]), np.array([0.0, 0, 1]), np.array([0.0, 0.2, 1])])
    assert "the goal of robot 0" in first
    assert "robot 1 and robot 2" in second
