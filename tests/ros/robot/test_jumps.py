"""Estimates that a vehicle can have moved to are trusted, all of them; one that it can't have moved to is not."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robomarl.core.filter.params import from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.types import GRAVITY_M_S2
from robomarl.core.view import Goal
from robomarl.ros.robot.inbox import Estimate, Inbox, InboxLimits, Now
from robomarl.ros.robot.jumps import JumpCheck, Reach, reach_of

UP = np.array([1.0, 0, 0, 0])
REACH = Reach(speed_m_s=1.5, accel_m_s2=10.0, position_error_m=0.02, velocity_error_m_s=0.05)
PERIOD_S = 0.02


def estimate(pos: np.ndarray | float, vel: np.ndarray | float = 0.0) -> Estimate:
    return Estimate(np.zeros(3) + pos, UP, np.zeros(3) + vel, np.zeros(3))


def empty() -> Inbox:
    """Of a robot that has its goal."""
    inbox = Inbox(("a",), 0, InboxLimits(0.16, 0.5, reach=REACH))
    inbox.put_goal(Goal(np.zeros(3), UP))
    return inbox


def direction(random: np.random.Generator) -> np.ndarray:
    found = random.normal(size=3)
    return found / np.linalg.norm(found)


def flight(seed: int, count: int = 60) -> list[tuple[Estimate, float]]:
    """Estimates and the times before them, of a vehicle that does all it may, with errors at their bounds.

    Between two messages it accelerates one way; it is as fast as it may be, or falls beyond that. Messages are lost.
    """
    random = np.random.default_rng(seed)
    pos, vel, made = random.normal(size=3), direction(random) * REACH.speed_m_s, []
    for _ in range(count):
        dt_s = PERIOD_S * random.choice([0.5, 1.0, 1.0, 2.0, 20.0])
        accel = direction(random) * REACH.accel_m_s2
        pos, vel = pos + vel * dt_s + accel * dt_s**2 / 2, vel + accel * dt_s
        errs = direction(random) * REACH.position_error_m, direction(random) * REACH.velocity_error_m_s
        made.append((estimate(pos + errs[0], vel + errs[1]), dt_s))
    return made


@given(st.integers(0, 2**32 - 1))
def test_whatever_a_vehicle_does_within_its_bounds_is_trusted(seed: int):
    check, before = JumpCheck(REACH), None
    check.in_flight = True
    for new, dt_s in flight(seed):
        assert check.trusts(before, new, dt_s) and not check.problem
        before = new
    assert check.count == 0


@given(st.integers(0, 2**32 - 1), st.floats(1.001, 100.0), st.integers(1, 50))
def test_in_flight_a_jump_is_never_got_used_to_and_the_true_place_is_trusted_at_once(
    seed: int, beyond: float, count: int
):
    """As long as another source speaks, at its own place, and the robot is where it was when its own speaks again."""
    random, check = np.random.default_rng(seed), JumpCheck(REACH)
    check.in_flight = True
    here = estimate(random.normal(size=3), direction(random))
    assert check.trusts(None, here, math.inf)
    off = direction(random) * beyond * REACH.after(1.0, PERIOD_S)
    for i in range(1, count + 1):
        wrong = estimate(here.pos_m + off, 0.0)
        assert not check.trusts(here, wrong, i * PERIOD_S)
        assert check.problem.startswith("jumped by")
    assert check.count == count
    assert check.trusts(here, estimate(here.pos_m + 0.01, 0.0), (count + 1) * PERIOD_S)
    assert check.problem == ""


@given(st.integers(0, 2**32 - 1), st.floats(0.2, 100.0))
def test_of_two_sources_that_take_turns_only_the_first_is_flown_on(seed: int, apart_m: float):
    random, check = np.random.default_rng(seed), JumpCheck(REACH)
    check.in_flight = True
    here, there = estimate(0.0), estimate(direction(random) * apart_m)
    assert check.trusts(None, here, math.inf)
    for i in range(100):
        assert check.trusts(here, there, PERIOD_S / 2) is False, i
        assert check.trusts(here, here, PERIOD_S) is True, i
    assert check.count == 100


def test_a_player_that_is_put_elsewhere_plays_on_from_there_and_one_of_two_sources_is_still_not_believed():
    check, moves = JumpCheck(REACH, put_back_s=0.1), 0.02
    check.in_flight = True
    here = estimate(0.0)
    trusted = [check.trusts(here, estimate(2.0 + i * moves, 1.0), (i + 1) * 0.04) for i in range(4)]
    assert trusted == [False, False, False, True] and not check.problem
    there = estimate(2.1)
    assert check.trusts(there, estimate(2.12), 0.04)
    other = [check.trusts(there, estimate(0.0 if i % 2 else 5.0), (i + 1) * 0.01) for i in range(20)]
    assert not any(other), "two places that take turns are no motion"
    for i in range(100):
        assert check.trusts(there, estimate(5.0), 0.02) is False, i
        assert check.trusts(there, there, 0.04) is True, i


def test_on_the_ground_a_robot_may_be_carried_and_it_is_said():
    check, inbox = JumpCheck(REACH), empty()
    assert check.trusts(estimate(0.0), estimate(3.0), PERIOD_S) and check.problem and check.count == 1
    assert check.trusts(estimate(3.0), estimate(3.01), PERIOD_S) and not check.problem
    for i, place in enumerate((0.0, 3.0, 3.01)):
        inbox.put_own(estimate(place), 100 + i * PERIOD_S, 5 + i * PERIOD_S)
        reading = inbox.read(Now(100 + i * PERIOD_S, 5 + i * PERIOD_S))
        assert [p.source for p in reading.problems] == ["odometry"] * (i == 1)
    assert reading.jumps == 1 and reading.view.own.pos_m[0] == 3.01


def test_in_flight_a_robot_that_jumped_is_blind_at_once_and_keeps_the_last_estimate_that_it_trusts():
    inbox = empty()
    inbox.put_own(estimate(0.0), 100.0, 5.0)
    inbox.jumps.in_flight = True
    inbox.put_own(estimate(1.0), 100.02, 5.02)
    reading = inbox.read(Now(100.02, 5.02))
    assert not reading.own_ok and reading.jumps == 1
    assert "odometry: jumped by 1.73 m in 0.02 s, the vehicle moves 0.07 m at most" in map(str, reading.problems)
    assert reading.view.own.pos_m[0] == 0 and inbox.own_stamp_s == 100.0
    inbox.put_own(estimate(0.01), 100.04, 5.04)
    assert inbox.read(Now(100.04, 5.04)).own_ok


def test_a_source_that_hung_and_speaks_again_has_not_jumped():
    """It said the same under new stamps, and meanwhile the robot went on."""
    inbox = empty()
    for i in range(51):
        inbox.put_own(estimate(0.0), 100.0 + i * PERIOD_S, 5.0 + i * PERIOD_S)
        inbox.jumps.in_flight = True
    inbox.put_own(estimate(0.8), 101.02, 6.02)
    assert inbox.read(Now(101.02, 6.02)).own_ok and inbox.jumps.count == 0
    inbox.put_own(estimate(1.6), 101.04, 6.04)
    assert inbox.jumps.count == 1


def test_a_clock_that_is_set_back_is_no_jump():
    """How long it was since is then told by this machine's steady clock."""
    inbox = empty()
    inbox.put_own(estimate(0.0), 100.0, 5.0)
    inbox.jumps.in_flight = True
    inbox.put_own(estimate(0.2), 90.0, 5.3)
    assert inbox.read(Now(90.0, 5.3)).own_ok and inbox.jumps.count == 0
    inbox.put_own(estimate(9.0), 80.0, 5.6)
    assert inbox.jumps.count == 1


@pytest.mark.parametrize("name", ["crazyflie_21", "carrier_600", "ssl_omni", "turtlebot3_burger"])
def test_every_vehicle_says_how_far_it_moves(name: str):
    """Off the ground it falls as fast as anything does; a metre between two messages is beyond each of them."""
    vehicle = load_any_vehicle(name)
    params = from_vehicle(vehicle, PERIOD_S, None, 0)
    reach = reach_of(params)
    assert reach.accel_m_s2 >= (0 if params.planar else GRAVITY_M_S2)
    assert 2 * reach.position_error_m < reach.after(0.0, PERIOD_S) < 0.5
    assert JumpCheck(reach).trusts(estimate(0.0), estimate(0.0), PERIOD_S)


def test_an_estimate_that_comes_late_reaches_no_tracker():
    """A tracker of pictures would start anew at it, in play, and forget what it saw."""
    placed: list[float] = []

    def noted(value: Estimate, stamp_s: float) -> Estimate:
        placed.append(stamp_s)
        return value

    inbox = empty()
    inbox.task = dataclasses.replace(inbox.task, placed=noted)
    for stamp_s in (100.0, 100.02, 100.01, 100.02, 100.04):
        inbox.put_own(estimate(0.0), stamp_s, stamp_s - 95.0)
    assert placed == [100.0, 100.02, 100.04]


def test_the_odometry_of_a_robot_that_sees_jumps_no_farther_than_its_vehicle_file_says():
    """The bundle's bound of the place is for pictures."""
    params = from_vehicle(load_any_vehicle("ssl_omni"), 0.02)
    loose = dataclasses.replace(params, safety=dataclasses.replace(params.safety, position_error_m=0.4))
    assert reach_of(loose, 0.02) == reach_of(params) and reach_of(loose).position_error_m == 0.4
