"""Engines against each other, and errors that are planted in one of them."""

import pytest

from robomarl.domains.soccer.lab.engines import fast, mjcf
from robomarl.domains.soccer.lab.physics.contact import mirror
from robomarl.lab.sim.check import CheckConfig, check_engines
from robomarl.lab.sim.scenario import load_scenario

SCENARIO = load_scenario("soccer_2v2")


def test_the_engines_agree():
    figures = check_engines(SCENARIO, CheckConfig())
    assert figures["bounces"] >= 2
    assert figures["ball_diff_m"] <= 0.05
    assert figures["kick_diff"] <= 0.01
    assert figures["position_diff_m"] <= 0.02
    assert figures["kick_back_diff"] <= 0.08
    assert figures["block_diff_rad"] <= 0.15
    assert figures["passed"]


def test_five_percent_in_one_engine_is_found():
    """Each error is found by its own figure."""
    figures = check_engines(SCENARIO, CheckConfig(), {"mujoco": {"kick_scale": 1.05, "accel_scale": 1.05}})
    assert not figures["passed"]
    assert figures["ball_diff_m"] > 0.05
    assert figures["position_diff_m"] > 0.02


@pytest.mark.parametrize("part", ["press", "stay_inside"])
def test_a_board_or_a_ball_that_robots_do_not_feel_is_found(monkeypatch, part):
    """On `fast` boards stopped robots dead, and a ball between them was not felt."""
    dead = {"press": lambda scenario, robot, ball, held: robot, "stay_inside": stopped}
    monkeypatch.setattr(fast, part, dead[part])
    figures = check_engines(SCENARIO, CheckConfig())
    assert figures["kick_back_diff"] > 0.08
    assert not figures["passed"]


def test_a_ball_that_slides_along_the_robot_is_found(monkeypatch):
    """A contact that lasts longer lets more shots by: of 5 ms in place of 2.5."""
    monkeypatch.setattr(mjcf, "CONTACT_STEPS", 2 * mjcf.CONTACT_STEPS)
    figures = check_engines(SCENARIO, CheckConfig())
    assert figures["block_diff_rad"] > 0.15
    assert not figures["passed"]


def stopped(scenario, robot):
    """A robot that the boards across y stop dead."""
    half = scenario.field.width_m / 2 - scenario.robot.body.radius_m
    y, vy = mirror(robot.y, robot.vy, half, 0.0)
    return robot._replace(y=y, vy=vy)
