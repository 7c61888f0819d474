"""What `benchmarks.ground.crowds` counts, beside what `robomarl eval` does."""

import dataclasses

import pytest

from benchmarks.ground.crowds import drive
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.evaluate.resolve import resolve_policy


def test_it_flies_the_episodes_of_an_evaluation_and_clocks_that_differ_change_the_ways():
    policy, scenario = resolve_policy("crowd", "crowd_3", kind=GroundScenario)
    grid = dataclasses.replace(scenario.start, width_m=2.0, height_m=1.5)
    scenario = dataclasses.replace(scenario, start=grid, goal_radius_m=1.0)  # they are there within seconds
    whole = evaluate(policy, scenario, EvalConfig("fast", 4, 3, progress=False)).figures
    found, apart = (drive(policy, scenario, 4, 3, apart_s) for apart_s in (0.0, 12.0))
    assert found["succeeded"] == apart["succeeded"] == 4 * whole["success_rate"] == 4
    assert found["arrival_time_s"] == pytest.approx(whole["arrival_time_s"], abs=scenario.period_s)
    assert 0.2 < found["way_over_straight"] < 1.0, "a metre short of the goal is there"
    assert apart["way_over_straight"] != found["way_over_straight"]
