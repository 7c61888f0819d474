"""Engines against each other, and errors that are planted in one of them."""

from robomarl.sim.check import CheckConfig, check_engines
from robomarl.sim.scenario import load_scenario

SCENARIO = load_scenario("soccer_2v2")


def test_the_engines_agree():
    figures = check_engines(SCENARIO, CheckConfig())
    assert figures["bounces"] >= 2
    assert figures["ball_diff_m"] <= 0.05
    assert figures["kick_diff"] <= 0.05
    assert figures["position_diff_m"] <= 0.02
    assert figures["passed"]


def test_five_percent_in_one_engine_is_found():
    """Each error is found by its own figure."""
    figures = check_engines(SCENARIO, CheckConfig(), {"mujoco": {"kick_scale": 1.05, "accel_scale": 1.05}})
    assert not figures["passed"]
    assert figures["ball_diff_m"] > 0.05
    assert figures["position_diff_m"] > 0.02
