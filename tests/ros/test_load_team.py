"""A team that carries, decision by decision: pick-up, flight, setting down; who falls back, all fall back."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("rclpy")

from robomarl.domains.flight.field.vehicle_failsafe import Mode
from robomarl.domains.flight.lab.payload.follow import pose_errors
from robomarl.ros.robot.decision import Held
from robomarl.ros.robot.state_machine import Order, State
from tests.ros.loadrig import LoadRig, goal

WAY_UP = [State.READY, State.TAKEOFF, State.PICKUP, State.BLEND, State.ACTIVE]


def lifted(bundle: Path) -> LoadRig:
    """A team that has just taken its load over."""
    rig = LoadRig(bundle)
    rig.send(goal(0.0, 0.0, 1.4))
    rig.run(0.5)
    assert rig.order(Order.ARM, Order.ACTIVATE) == [""] * 6
    rig.run_until(State.ACTIVE, 15.0)
    return rig


def test_from_the_ground_to_a_set_point_and_back_to_the_ground(law_bundle: Path):
    rig = LoadRig(law_bundle)
    start = rig.place_m.copy()
    assert start[2] == pytest.approx(0.0, abs=0.01)
    rig.run(0.5)
    assert "goal: none received yet" in rig.order(Order.ARM)[0]
    rig.send(goal(float(start[0]), float(start[1]), 1.0, 0.4))
    rig.run(0.1)
    assert rig.order(Order.ARM, Order.ACTIVATE) == [""] * 6
    rig.run_until(State.PICKUP, 8.0)
    assert rig.load.tension_n.max() == 0  # slack until all of them are up
    assert np.abs(rig.place_m - start).max() < 0.01
    rig.run_until(State.ACTIVE, 8.0)
    assert rig.place_m[2] > 0.4
    assert rig.load.tension_n.min() > 1.0
    rig.run(6.0)
    distance, angle = pose_errors(rig.team.world)
    assert distance[0] < 0.08
    assert angle[0] < np.radians(8)
    assert rig.order(Order.LAND) == [""] * 3
    rig.run_until(State.STOP, 12.0)
    rig.run(1.0)
    assert rig.place_m[2] == pytest.approx(0.0, abs=0.02)
    assert rig.load.tension_n.max() < 0.5
    assert (rig.team.onboard.mode == Mode.LANDED).all()
    assert all(states[:6] == [State.STANDBY, *WAY_UP] for states in rig.states), rig.states
    score = rig.team.score()
    assert not score.failed
    assert score.collisions == 0
    log = rig.team.judge.log()
    assert log is not None
    assert log.load_place_m.shape == (len(log.time_s), 3)
    assert log.tension_n.shape == log.pos_m.shape[:2]
    np.testing.assert_allclose(log.load_goal[-1, :3], [*start[:2], 1.0], atol=1e-6)


@pytest.mark.parametrize("order", [Order.HOLD, Order.LAND])
def test_who_holds_or_lands_takes_the_team_along(law_bundle: Path, order: Order):
    """Nobody brakes alone: the mates follow within one decision of hearing it."""
    rig = lifted(law_bundle)
    wanted = State.HOLD if order is Order.HOLD else State.LAND
    assert rig.robots[1].autopilot.order(order, rig.now) == ""
    rig.run(0.03)
    assert [robot.autopilot.state for robot in rig.robots] == [wanted] * 3
    height = rig.place_m[2]
    rig.run(1.5)
    assert not rig.team.score().failed
    if order is Order.HOLD:
        assert rig.place_m[2] == pytest.approx(height, abs=0.25)
        assert rig.order(Order.ACTIVATE) == [""] * 3  # and from there on again, all of them
        rig.run_until(State.ACTIVE, 2.0)
        rig.run(0.2)
        assert [robot.autopilot.state for robot in rig.robots] == [State.ACTIVE] * 3


def test_who_does_not_know_where_the_load_is_holds_and_so_do_all(law_bundle: Path):
    """A robot can hold without the load's pose: it does not brake blindly as without its own estimate."""
    rig = lifted(law_bundle)
    rig.blind.add(0)
    rig.run(0.3)
    assert [robot.autopilot.state for robot in rig.robots] == [State.HOLD] * 3
    decision = rig.decisions[0]
    assert decision is not None
    assert decision.reason not in list(Held)
    assert [p.source for p in decision.reading.problems] == ["load_pose"]
    rig.blind.clear()
    rig.run(0.3)
    assert [robot.autopilot.state for robot in rig.robots] == [State.HOLD] * 3  # until an operator says so


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 2])
def test_a_lost_vehicle_hangs_and_the_others_keep_the_load_and_set_it_down(law_bundle: Path, lost: int):
    rig = lifted(law_bundle)
    rig.run(5.0)
    before = rig.place_m.copy()
    rig.gone.add(lost)
    rig.run(0.7)
    assert rig.team.onboard.mode[lost] == Mode.OFF  # 0.5 s after its last command
    assert rig.team.truth().pos_m[lost, 2] < before[2] + 1.0  # it falls
    rig.run(0.6)
    assert [rig.robots[i].autopilot.state for i in rig.left] == [State.HOLD] * 2
    lowest = min(_heights(rig, 6.0))
    assert lowest > 0.9
    assert np.linalg.norm((rig.place_m - before)[:2]) < 1.0
    assert rig.order(Order.LAND) == [""] * 2
    rig.run_until(State.STOP, 15.0)
    rig.run(1.0)
    assert rig.place_m[2] < 0.5
    assert rig.load.tension_n.max() < 0.5
    assert rig.team.score().collisions == 0


def _heights(rig: LoadRig, seconds: float) -> list[float]:
    found = []
    for _ in range(round(seconds / 0.1)):
        rig.run(0.1)
        found.append(float(rig.place_m[2]))
    return found
