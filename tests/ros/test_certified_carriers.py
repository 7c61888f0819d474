"""Certified carriers, decision by decision: from the ground to the ground, together, attacked, and with one lost."""

from dataclasses import replace

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("rclpy")

from robomarl.core.certificate.kernel import certificate_of
from robomarl.core.paths import bundles_dir
from robomarl.domains.flight.field.vehicle_failsafe import Mode
from robomarl.domains.flight.lab.payload.follow import pose_errors
from robomarl.ros.robot.assembly import assemble
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.startup import load_pilot
from robomarl.ros.robot.state_machine import Order, State
from tests.ros.carrierrig import AttackedCarriers, bodies_m, distances, tube_m
from tests.ros.loadrig import goal

BUNDLE = bundles_dir() / "lift_3"


def lifted(rig: AttackedCarriers) -> AttackedCarriers:
    """The team has just taken its load over; its goal is beside it and above."""
    start = rig.place_m
    rig.send(goal(float(start[0]) + 0.3, float(start[1]), 1.1, 0.3))
    rig.run(0.5)
    assert rig.order(Order.ARM, Order.ACTIVATE) == [""] * 6
    rig.run_until(State.ACTIVE, 15.0)
    return rig


def assert_kept(rig: AttackedCarriers) -> None:
    """References kept D and the tether, nobody in the air left its tube or said so, and nothing touched."""
    flown, figures = rig.flown, rig.figures
    in_air = flown.true_m[..., 2] > 0.25  # references of a landing lead into the ground
    near, far = distances(flown, figures)
    assert near > 1 - 1e-6 and far < 1 + 1e-6
    assert tube_m(flown, figures)[in_air].max() < figures.learned.radius_m and not flown.outside.any()
    assert rig.team.score().collisions == 0 and bodies_m(flown) > 2 * 0.17


def test_from_the_ground_to_a_goal_through_hold_and_back_to_the_ground():
    """References begin on the ground; who holds or lands takes the team along, and its references."""
    rig = lifted(AttackedCarriers(BUNDLE))
    rig.run(6.0)
    assert pose_errors(rig.team.world)[0][0] < 0.25
    assert rig.robots[1].autopilot.order(Order.HOLD, rig.now) == ""
    rig.run(1.0)
    assert [robot.autopilot.state for robot in rig.robots] == [State.HOLD] * 3
    assert rig.order(Order.ACTIVATE) == [""] * 3
    rig.run_until(State.ACTIVE, 2.0)
    assert rig.robots[2].autopilot.order(Order.LAND, rig.now) == ""
    rig.run_until(State.STOP, 15.0)
    assert (rig.team.onboard.mode == Mode.LANDED).all() and rig.load.tension_n.max() < 0.5
    assert rig.place_m[2] == pytest.approx(0.0, abs=0.02)
    assert_kept(rig)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["near", "far", "pump"])
def test_a_hostile_policy_parts_no_team_while_messages_are_lost_in_bursts(attack: str):
    rig = lifted(AttackedCarriers(BUNDLE, 1, attack, 0.3))
    rig.run(12.0)
    assert [robot.autopilot.state for robot in rig.robots] == [State.ACTIVE] * 3
    assert_kept(rig)
    near, far = distances(rig.flown, rig.figures)
    assert near < 1.1 or far > 0.95 or attack == "pump", "it was attacked"


@pytest.mark.slow
def test_without_a_tether_a_hostile_policy_parts_the_team():
    rig = AttackedCarriers(BUNDLE, 1, "far")
    for robot in rig.robots:
        guard = robot.loaded.pilot.safety
        assert isinstance(guard, CertifiedRobot)
        guard.certificate = certificate_of(guard.params, replace(guard.figures, tether=None))
    lifted(rig).run(8.0)
    assert distances(rig.flown, rig.figures)[1] > 1.02


@pytest.mark.slow
def test_a_lost_carrier_joins_nobody_in_the_air_and_the_others_set_the_load_down():
    rig = lifted(AttackedCarriers(BUNDLE))
    rig.run(3.0)
    rig.gone.add(1)
    rig.run(2.0)
    assert [rig.robots[i].autopilot.state for i in rig.left] == [State.HOLD] * 2
    settings = rig.robots[1].settings
    rig.gone.clear()
    rig.robots[1] = assemble(settings, load_pilot(settings))
    rig.send(goal(0.0, 0.0, 1.0))
    rig.run(1.5)
    again = rig.robots[1].autopilot
    assert again.order(Order.ARM, rig.now) == ""
    assert "can't join them in the air; land them first" in again.order(Order.ACTIVATE, rig.now)
    rig.gone.add(1)
    assert rig.order(Order.LAND) == [""] * 2
    rig.run_until(State.STOP, 15.0)
    assert rig.load.tension_n.max() < 0.5 and rig.place_m[2] < 0.5
    assert rig.team.score().collisions == 0
