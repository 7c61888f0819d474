"""Scenario files that cannot be are refused with the numbers; what a scripted team makes of the others."""

from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.ground.lab.controllers.scripted import ScriptedRobots
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.sim.check import CheckConfig, check_engines
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of


def written(folder: Path, base: str, more: str) -> str:
    path = folder / "mine.toml"
    path.write_text(f'extends = "{base}"\n{more}')
    return str(path)


WEST = "[[zones]]\nname = 'west'\nlow_m = [-1.6, -0.8]\nhigh_m = [-1.2, 0.8]\n"


@pytest.mark.parametrize(
    ("base", "more", "error"),
    [
        (
            "navigation",
            "count = 10",
            r"10 robots need 20 cells, .*, 6 x 3 cells .* has 18",
        ),
        ("navigation", "[start]\nwidth_m = 4.0", r"4 x 1.8 m is larger than the arena, 3.2 x 2 m"),
        ("navigation", "[start]\nspacing_m = 0.1", r"spacing_m = 0.1 must be above 0.135"),
        ("navigation", "[radio]\nrange_m = 2.0", r"range_m = 2 is too short.*3.8"),
        ("navigation", 'vehicle = "crazyflie_21"', r"'crazyflie_21' does not drive"),
        ("navigation", "[[team]]\nrole = 'tagging'\ncount = 3", r"'navigation' has no role 'tagging'; allowed: none"),
        (
            "navigation",
            "[[zones]]\nname = 'here'\nlow_m = [1.0, 0.5]\nhigh_m = [1.5, 1.5]",
            r"zones: here from \(1.0, 0.5\) to \(1.5, 1.5\) is not a rectangle inside the arena, from \(-1.6, -1.0\)",
        ),
        (
            "navigation",
            "[[zones]]\nname = 'here'\nlow_m = [1.0, 0.5]\nhigh_m = [1.5, 0.2]",
            r"zones: here from \(1.0, 0.5\) to \(1.5, 0.2\) is not a rectangle",
        ),
        ("passage_4", "count = 40", r"40: 20 robots start in zone west, 1.6 m long, which holds 3; lower count"),
        ("passage_4", WEST, r"zones: task 'passage' needs two or four, one across from the next, and has 1"),
        (
            "passage_4",
            f"{WEST}[[zones]]\nname = 'east'\nlow_m = [1.2, 0.0]\nhigh_m = [1.6, 0.8]",
            r"zones: east does not lie across from west, as from \(1.2, -0.8\) to \(1.6, 0.8\) would",
        ),
        ("passage_4", "least_gain_per_s = 100.0", r"least_gain_per_s = 100 must be below the vehicle's gain, 4;"),
        ("navigation", "goes_around = true", "goes_around = true is for policies that set gains, and needs least_gain"),
        ("passage_4", "goes_around = true\n[arena]\nobstacles = []", "set gains, and needs arena.obstacles; add it"),
        ("navigation", "time_limit_s = 0.01", r"time_limit_s = 0.01 is no decision: the period is 0.033"),
    ],
)
def test_what_cannot_be_is_refused_with_the_numbers(tmp_path: Path, base: str, more: str, error: str):
    with pytest.raises(UserError, match=error):
        load_scenario(written(tmp_path, base, more))


def test_the_filter_knows_vehicle_and_arena():
    params = safety_params(load_scenario("navigation"))
    assert (params.planar, params.look_ahead_m, params.min_mates) == (True, 0.05, 2)
    assert params.arena is not None
    assert params.arena.low_m[:2] == (-1.6, -1.0)


def test_the_engines_agree_on_omnidirectional_robots_too(tmp_path: Path):
    scenario = load_scenario(written(tmp_path, "navigation", 'vehicle = "ssl_omni"'))
    assert check_engines(scenario, CheckConfig(("fast", "mujoco"), 0.5))["passed"] is True


def test_robots_in_mujoco_do_not_pass_through_each_other():
    scenario = load_scenario("navigation")
    sim = simulation_of(scenario).batch(scenario, "mujoco", 1, 0)
    world = sim.reset()
    place = np.array([[[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.8, 0.0]]], np.float32)
    sim.set_world(world._replace(pos_m=place, quat_wxyz=world.quat_wxyz * 0 + np.array([1, 0, 0, 0], np.float32)))
    command = np.zeros((1, 3, 4), np.float32)
    command[0, 0, 0] = 0.2
    for _ in range(60):
        world = sim.step(command)
    assert world.pos_m[0, 1, 0] > 0.31, "it was pushed"
    assert world.pos_m[0, 1, 0] - world.pos_m[0, 0, 0] > 1.95 * scenario.vehicle_config.body.radius_m


def test_the_scripted_team_arrives_and_nobody_touches(tmp_path: Path):
    scenario = load_scenario(written(tmp_path, "navigation", "time_limit_s = 24.0"))
    row = evaluate(ScriptedRobots(scenario), scenario, EvalConfig("fast", 4, 0, "full"))
    assert (row.figures["success_rate"], row.figures["collisions"]) == (1.0, 0)
    assert (row.figures["metric"], row.figures["metric_mean"]) == ("arrived_share", 1.0)
    assert -12 < row.figures["return_mean"] < -5
