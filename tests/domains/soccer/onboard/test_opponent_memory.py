"""What a player's filter makes of opponents out of sight and of boards: hand-computed, and what robots then do."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from robomarl.domains.registry import filter_for
from robomarl.domains.soccer.batch import make_soccer
from robomarl.domains.soccer.onboard.opponent_memory import SLOWS_S, STOPS_S, at_boards, recall
from robomarl.domains.soccer.task import action
from robomarl.sim.filter_params import safety_params
from robomarl.sim.sides import team_view
from robomarl.view import LocalView
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


def seeing(view: Any, row: tuple[float, float, float, float] | None) -> Any:
    """The view with the first opponent at x, y, with the velocity vx, vy and an age of 0.04 s; None: nobody seen."""
    none = np.zeros((1, SCENARIO.count, SCENARIO.count))
    mask, pos, vel = none > 0, np.zeros((*none.shape, 3)), np.zeros((*none.shape, 3))
    if row:
        mask[..., 0], pos[..., 0, :2], vel[..., 0, :2] = True, row[:2], row[2:]
    fields = {"mask": mask, "pos_m": pos, "vel_m_s": vel, "age_s": np.where(mask, 0.04, 0.0)}
    return view._replace(sensed=view.sensed._replace(**{f"strangers_{name}": part for name, part in fields.items()}))


def remembered(view: Any, row: tuple[float, float, float, float]) -> list[tuple[float, float, float]]:
    """x, vx and age of the opponent that was seen once, as our first robot's rows read it at each decision after."""
    _, known = recall(PARAMS, (), seeing(view, row))
    found = []
    for _ in range(60):
        told, known = recall(PARAMS, known, view)
        sensed: Any = told.sensed
        if not sensed.strangers_mask[0, 0, 0]:
            break
        x, vx = sensed.strangers_pos_m[0, 0, 0, 0], sensed.strangers_vel_m_s[0, 0, 0, 0]
        found.append((float(x), float(vx), float(sensed.strangers_age_s[0, 0, 0])))
    return found


def test_an_opponent_behind_the_robot_goes_on_as_it_went_and_slows_down():
    """Seen at 0.04 s: rows of 0.08 to 0.28 s as it was seen, then steps of 0.04 s along its way, until 1 s."""
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


@pytest.mark.parametrize(("bearing", "decisions"), [(0.8, 6), (0.9, 23)])
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


def moving(view: LocalView, x: float, y: float, vx: float, vy: float) -> LocalView:
    """The view with our first robot somewhere else, at this velocity."""
    pos, vel = view.own.pos_m.copy(), view.own.vel_m_s.copy()
    pos[0, 0, :2], vel[0, 0, :2] = (x, y), (vx, vy)
    return view._replace(own=view.own._replace(pos_m=pos, vel_m_s=vel))


def test_boards_leave_the_velocity_that_gets_a_robot_there_in_time():
    """Half of 3.0 m, less the radius of 0.09 m: a robot at y = -1.35 m is 0.06 m from where the board stops it."""
    assert PARAMS.boards_m == pytest.approx((2.16, 1.41))
    view = view_of(APART)
    for y, vy, left in [(-1.35, -1.0, -0.06 / STOPS_S), (-1.35, 1.0, 1.0), (0.0, -1.0, -1.0), (-1.43, -0.5, 0.0)]:
        own = at_boards(PARAMS, moving(view, 0.0, y, 0.7, vy)).own
        assert own.vel_m_s[0, 0].tolist() == pytest.approx([0.7, left, 0.0], abs=1e-6)
        alone = at_boards(
            PARAMS, view._replace(own=type(own)(*(part[0, 0] for part in moving(view, 0.0, y, 0.7, vy).own)))
        )
        np.testing.assert_allclose(alone.own.vel_m_s, own.vel_m_s[0, 0], atol=1e-6)
    free = dataclasses.replace(PARAMS, boards_m=None)
    assert at_boards(free, view) is view


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e9])
def test_boards_do_not_hide_a_velocity_that_is_no_number(bad: float):
    guard, view = filter_for(action(SCENARIO), PARAMS), moving(view_of(APART), 0.0, 0.0, 0.0, bad)
    _, result = guard(guard.init((1, SCENARIO.count)), view, np.ones((1, SCENARIO.count, 4)))
    assert (result.solved[0, 0], result.solved[0, 1]) == (False, True)


def test_who_backs_away_to_a_board_brakes_along_it():
    """At 1 m/s away from the opponent and 0.6 m/s along the board, whose stop would leave 0.6 m/s towards it."""
    view = seeing(moving(view_of(APART), 0.0, -1.35, 0.6, -1.0), (0.35, -1.2, -0.5, 0.0))
    nothing, accel = np.zeros((1, SCENARIO.count, 4)), []
    for params in (PARAMS, dataclasses.replace(PARAMS, boards_m=None)):
        guard = filter_for(action(SCENARIO), params)
        _, result = guard(guard.init((1, SCENARIO.count)), view, nothing)
        accel.append(float(result.command[0, 0, 0]))
    assert accel[0] < -1.0
    assert accel[1] == pytest.approx(0.0, abs=1e-6)
