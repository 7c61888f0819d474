"""What a player's filter makes of opponents out of sight and of boards: hand-computed, and what robots then do."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from robomarl.core.domain.registry import filter_for
from robomarl.core.filter.params import Arena, SafetyParams
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.features import MatesSeen, Picture, sensed_of
from robomarl.domains.soccer.core.opponent_memory import BEHIND_M, GOES_M_S, GOES_M_S2, SLOWS_S, before_boards, recall
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.evaluation.match import STANDING_M_S
from robomarl.domains.soccer.lab.task import action
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.sides import team_view
from tests.domains.soccer.games import APART, Place, ball_at, plain, put, robots_at

SCENARIO = plain()
PARAMS = safety_params(SCENARIO)
ASSUMED: Any = PARAMS.strangers


def view_of(places: list[Place]) -> Any:
    """Our team's view [1, N] with robots at these places, without a glimpse of an opponent."""
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    put(sim, robots_at(places), ball_at(0.0, 1.0))
    for _ in range(3):  # until mates have heard each other
        sim.step(np.zeros((1, SCENARIO.players, 4), np.float32))
    return seeing(team_view(SCENARIO, sim.views(), 0), None)


def seeing(view: Any, row: tuple[float, float, float, float] | None, own: bool = True) -> Any:
    """The view with the first opponent at x, y, with the velocity vx, vy and an age of 0.04 s; None: nobody seen.

    Without `own` a teammate has reported it.
    """
    none = np.zeros((1, SCENARIO.count, SCENARIO.count))
    mask, pos, vel = none > 0, np.zeros((*none.shape, 3)), np.zeros((*none.shape, 3))
    if row:
        mask[..., 0], pos[..., 0, :2], vel[..., 0, :2] = True, row[:2], row[2:]
    fields = {"mask": mask, "pos_m": pos, "vel_m_s": vel, "age_s": np.where(mask, 0.04, 0.0)}
    fields["seen"] = mask if own else none > 0
    return view._replace(sensed=view.sensed._replace(**{f"strangers_{name}": part for name, part in fields.items()}))


def remembered(view: Any, row: tuple[float, float, float, float]) -> list[tuple[float, float, float]]:
    """x, vx and age of the opponent that was seen once, as our first robot's rows read it at each decision after."""
    _, known = recall(PARAMS, (), seeing(view, row))
    found = []
    for _ in range(80):
        told, known = recall(PARAMS, known, view)
        sensed: Any = told.sensed
        if not sensed.strangers_mask[0, 0, 0]:
            break
        x, vx = sensed.strangers_pos_m[0, 0, 0, 0], sensed.strangers_vel_m_s[0, 0, 0, 0]
        found.append((float(x), float(vx), float(sensed.strangers_age_s[0, 0, 0])))
    return found


def test_an_opponent_behind_the_robot_goes_on_as_it_went_and_slows_down():
    """Seen at 0.04 s: rows of 0.08 to 0.28 s as it was seen, then steps of 0.04 s; nobody knows the ball."""
    found, period = remembered(view_of([(0.0, 0.0, 0.0), *APART[1:]]), (-0.5, 0.0, 0.4, 0.0)), SCENARIO.period_s
    assert [x for x, _, _ in found[:6]] == [-0.5] * 6
    assert [age for *_, age in found[:6]] == pytest.approx([0.08, 0.12, 0.16, 0.2, 0.24, 0.28])
    keep = 1 - period / SLOWS_S
    steps = len(found) - 6
    assert [x for x, *_ in found[6:]] == pytest.approx(
        [-0.5 + 0.4 * period * (1 - keep**k) / (1 - keep) for k in range(1, steps + 1)]
    )
    assert [v for _, v, _ in found[6:]] == pytest.approx([0.4 * keep**k for k in range(1, steps + 1)])
    assert [age for *_, age in found[6:]] == pytest.approx([ASSUMED.max_age_s] * steps, rel=2e-3), "it gets no vaguer"
    assert 0.04 + len(found) * period == pytest.approx(ASSUMED.remember_s, abs=period)


def test_an_opponent_out_of_sight_goes_for_the_ball_that_the_robot_sees():
    """From 1.5 m behind the robot to the ball a metre before it: by 2.3 m/s^2, at most 1.6 m/s, and it stops there."""
    view = view_of([(0.0, 0.0, 0.0), *APART[1:]])
    sees = np.ones((1, SCENARIO.count), bool)
    ball = np.tile([1.0, 0.0, 0.0], (1, SCENARIO.count, 1))
    view = view._replace(sensed=view.sensed._replace(ball_mask=sees, ball_pos_m=ball))
    found = remembered(view, (-1.5, 0.0, 0.0, 0.0))
    x, v = np.array(found)[:, :2].T
    assert np.diff(v).max() <= GOES_M_S2 * SCENARIO.period_s + 1e-6
    assert 1.4 < v.max() <= GOES_M_S
    assert x[-1] > -0.2


@pytest.mark.parametrize(("bearing", "decisions"), [(0.8, 6), (0.9, 61)])
def test_where_the_robot_looks_and_sees_nobody_there_is_nobody(bearing: float, decisions: int):
    """0.84 rad of each side, 0.8 of the field of view, are clear; 0.3 s pass first, for pictures come late."""
    row = (0.5 * np.cos(bearing), 0.5 * np.sin(bearing), 0.0, 0.0)
    assert len(remembered(view_of([(0.0, 0.0, 0.0), *APART[1:]]), row)) in (decisions, decisions + 1)


def test_a_robot_does_not_back_into_whom_it_saw_half_a_second_ago():
    guard = filter_for(action(SCENARIO), PARAMS)
    view = view_of([(0.0, 0.0, 0.0), *APART[1:]])
    forgets = dataclasses.replace(PARAMS, strangers=dataclasses.replace(ASSUMED, remember_s=None))
    backs = np.tile(np.array([-2.0, 0.0, 0.0, 0.0]), (1, SCENARIO.count, 1))
    for one, moves in ((guard, False), (filter_for(action(SCENARIO), forgets), True)):
        carry, result = one(one.init((1, SCENARIO.count)), seeing(view, (-0.22, 0.0, 0.0, 0.0)), backs)
        for _ in range(12):
            carry, result = one(carry, view, backs)
        assert (result.command[0, 0, 0] < -1.9) == moves


def unsure(error_m: float) -> SafetyParams:
    """The parameters of a robot that knows its place to within this error."""
    return dataclasses.replace(PARAMS, safety=dataclasses.replace(PARAMS.safety, position_error_m=error_m))


def first_command(error_m: float, view: LocalView, wish: float) -> float:
    """The acceleration along x [m/s^2] of our first robot, which knows its place to within this error."""
    guard = filter_for(action(SCENARIO), unsure(error_m))
    asks = np.tile([wish, 0.0, 0.0, 0.0], (1, SCENARIO.count, 1))
    return float(guard(guard.init((1, SCENARIO.count)), view, asks)[1].command[0, 0, 0])


@pytest.mark.parametrize("ahead_m", [0.25, 0.4, 0.6, 0.85, 1.2])
@pytest.mark.parametrize("speed_m_s", [0.0, 1.0])
def test_an_error_of_the_own_place_is_in_no_distance_to_whom_the_robot_sees(ahead_m: float, speed_m_s: float):
    """Within the error that changes it is. What a teammate reports keeps all of it, also nearer than it."""
    view, row = moving(view_of([(0.0, 0.0, 0.0), *APART[1:]]), 0.0, 0.0, speed_m_s, 0.0), (ahead_m, 0.0, 0.0, 0.0)
    known, seen = (first_command(error_m, seeing(view, row), 2.0) for error_m in (0.02, 0.4))
    assert seen == pytest.approx(known, abs=1e-3)
    assert first_command(0.4, seeing(view, row, own=False), 2.0) <= seen + 1e-6


def test_a_report_that_is_fresher_than_the_own_picture_is_a_report():
    one = np.ones((1, 1, 1), bool)
    own = Picture(np.ones((1, 2), bool), np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), np.full((1, 2), 0.3))
    nobody, nowhere = np.zeros((1, 1), bool), np.zeros((1, 1, 3))
    none = MatesSeen(Picture(nobody, nowhere, nowhere, np.zeros((1, 1))), nobody, nowhere)
    for age_s, is_own in ((0.08, False), (0.3, True), (0.5, True)):
        told = Picture(
            np.ones((1, 1, 2), bool), np.ones((1, 1, 2, 3)), np.zeros((1, 1, 2, 3)), one * age_s + np.zeros(2)
        )
        sensed = sensed_of(own, told, np.zeros(1), none)
        assert sensed.strangers_seen[0, 0] == is_own
        assert sensed.strangers_pos_m[0, 0, 0] == (0.0 if is_own else 1.0)


def test_what_is_remembered_counts_the_error_of_the_own_place():
    """The belief is corrected by 0.35 m after the sighting, so the opponent's place is off by as much then."""
    view, guard = view_of([(0.0, 0.0, 0.0), *APART[1:]]), filter_for(action(SCENARIO), unsure(0.4))
    backs = np.tile([-2.0, 0.0, 0.0, 0.0], (1, SCENARIO.count, 1))
    row = (-0.45, 0.0, 0.0, 0.0)
    carry, _ = guard(guard.init((1, SCENARIO.count)), seeing(view, row), 0 * backs)
    assert guard(carry, moved(view, 0.35), backs)[1].command[0, 0, 0] > -1.0


@pytest.mark.parametrize("off_m", [-0.3, 0.3])
def test_a_robot_whose_place_is_off_moves_no_opponent_that_it_sees(off_m: float):
    """It drives at one that stands, with its own place and that of the sighting equally wrong, and stops before it."""
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    put(sim, robots_at([(0.0, 0.0, 0.0), APART[1], (0.9, 0.0, np.pi), *APART[3:]]), ball_at(0.0, 1.2))
    guard = filter_for(action(SCENARIO), unsure(0.3))
    carry, least = guard.init((1, SCENARIO.count)), np.inf
    for _ in range(60):
        view, robots = moved(team_view(SCENARIO, sim.views(), 0), off_m), sim.world.robots
        foe = (float(robots.x[0, 2]) + off_m, float(robots.y[0, 2]), 0.0, 0.0)
        carry, result = guard(carry, seeing(view, foe), np.tile([2.0, 0.0, 0.0, 0.0], (1, SCENARIO.count, 1)))
        command = np.zeros((1, SCENARIO.players, 4), np.float32)
        command[:, 0] = result.command[:, 0]
        robots = sim.step(command).robots
        least = min(least, float(np.hypot(robots.x[0, 0] - robots.x[0, 2], robots.y[0, 0] - robots.y[0, 2])))
    assert 2 * SCENARIO.robot.body.radius_m - 0.005 < least < 0.45


def moved(view: LocalView, by_m: float) -> LocalView:
    """The view of robots that believe to be this far along x of where they are."""
    return view._replace(own=view.own._replace(pos_m=view.own.pos_m + np.array([by_m, 0.0, 0.0])))


def moving(view: LocalView, x: float, y: float, vx: float, vy: float) -> LocalView:
    """The view with our first robot somewhere else, at this velocity."""
    pos, vel = view.own.pos_m.copy(), view.own.vel_m_s.copy()
    pos[0, 0, :2], vel[0, 0, :2] = (x, y), (vx, vy)
    return view._replace(own=view.own._replace(pos_m=pos, vel_m_s=vel))


def test_the_arena_ends_a_little_behind_the_boards():
    """Half of 4.5 and of 3.0 m, less the radius of 0.09 m."""
    assert PARAMS.boards_m == pytest.approx((2.16, 1.41))
    arena = before_boards(PARAMS).arena
    assert arena is not None
    beyond = BEHIND_M + PARAMS.safety.position_error_m
    assert arena.high_m[:2] == pytest.approx((2.16 + beyond, 1.41 + beyond))
    assert arena.low_m == pytest.approx([-x for x in arena.high_m])
    smaller = Arena((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
    assert before_boards(dataclasses.replace(PARAMS, arena=smaller)).arena == smaller, "the owner's limits hold"
    free = dataclasses.replace(PARAMS, boards_m=None)
    assert before_boards(free) is free


@pytest.mark.parametrize("lies", [False, True], ids=["board", "ball at it"])
def test_what_drives_at_a_board_comes_back_as_slowly_as_what_counts_as_standing(lies: bool):
    """At full acceleration from a metre away, on `mujoco`, so that what throws it back is MuJoCo's."""
    sim, guard = make_soccer(SCENARIO, "mujoco", 8, 0), filter_for(action(SCENARIO), PARAMS)
    robots = robots_at([(0.0, 0.3, np.pi / 2), *APART[1:]], num=8)
    x = robots.x + np.linspace(0, 0.002, 8, dtype=np.float32)[:, None] * [0, 1, 1, 1]
    y = robots.y + np.linspace(0, 0.02, 8, dtype=np.float32)[:, None]
    put(sim, robots._replace(x=x.astype(np.float32), y=y), ball_at(0.0, 1.478 if lies else -1.0, num=8))
    carry, speeds = guard.init((8, SCENARIO.count)), []
    for _ in range(75):
        drives = np.tile(np.array([0.0, 2.0, 0.0, 0.0]), (8, SCENARIO.count, 1))
        carry, result = guard(carry, team_view(SCENARIO, sim.views(), 0), drives)
        command = np.zeros((8, SCENARIO.players, 4), np.float32)
        command[:, 0] = result.command[:, 0]
        speeds.append(sim.step(command).robots.vy[:, 0])
    assert max(v.max() for v in speeds) > 0.8
    assert min(v.min() for v in speeds) < 0
    assert -min(v.min() for v in speeds) < STANDING_M_S


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e9])
def test_boards_do_not_hide_a_velocity_that_is_no_number(bad: float):
    guard, view = filter_for(action(SCENARIO), PARAMS), moving(view_of(APART), 0.0, 0.0, 0.0, bad)
    _, result = guard(guard.init((1, SCENARIO.count)), view, np.ones((1, SCENARIO.count, 4)))
    assert (result.solved[0, 0], result.solved[0, 1]) == (False, True)
