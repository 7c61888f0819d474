"""Stand-offs at the ball: which robot draws back, after which time, and before whom none does."""

import math
from typing import Any

import numpy as np
import pytest

from robomarl.core.domain.registry import filter_for
from robomarl.domains.soccer.core.stand_off import ATTACKER_S, AWAY_M, DEFENDER_S, MATE_S, no_stand_off, yielding
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.task import action
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.sides import team_view
from tests.domains.soccer.games import APART, Place, ball_at, plain, put, robots_at

SCENARIO = plain()
FILTER = filter_for(action(SCENARIO), safety_params(SCENARIO))
NOMINAL = np.array([0.3, 0.0, 0.5, 6.0])


def view_of(places: list[Place], ball: tuple[float, float], moving_m_s: float = 0.0) -> Any:
    """Our team's view [1, 2], robots at rest at these places but the first opponent, once all have been seen."""
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    put(sim, robots_at(places), ball_at(*ball))
    for _ in range(3):
        sim.step(np.zeros((1, SCENARIO.players, 4), np.float32))
    view: Any = team_view(SCENARIO, sim.views(), 0)
    speed = np.array(view.sensed.strangers_vel_m_s)
    speed[..., 0, 0] = moving_m_s
    return view._replace(sensed=view.sensed._replace(strangers_vel_m_s=speed))


def yields_after_s(view: Any) -> float:
    """Time [s] after which our first robot yields, the world standing still; inf: it does not in 4 s."""
    memory, nominal = no_stand_off(np.zeros((1, SCENARIO.count))), np.tile(NOMINAL, (1, SCENARIO.count, 1))
    for step in range(1, 101):
        memory, command = yielding(memory, view, nominal, SCENARIO.period_s)
        if memory.yields_s[0, 0] > 0:
            assert command[0, 0, 0] < -0.5 and abs(command[0, 0, 1]) < 0.1, "it goes away from the ball"
            assert command[0, 0, 2] == 0.5 and command[0, 0, 3] == 0, "turns as its policy wants, and does not kick"
            return step * SCENARIO.period_s
        assert (command[0, 0] == NOMINAL).all()
    return math.inf


@pytest.mark.parametrize(
    ("x", "speed_m_s", "expected_s"),
    [(0.8, 0.0, ATTACKER_S), (-0.5, 0.0, DEFENDER_S), (-1.8, 0.0, math.inf), (0.8, 0.8, math.inf)],
)
def test_who_attacks_yields_first_nobody_before_the_own_goal_and_nobody_to_one_that_moves(
    x: float, speed_m_s: float, expected_s: float
):
    places = [(x - 0.2, 0.0, 0.0), APART[1], (x + 0.2, 0.0, math.pi), APART[3]]
    found = yields_after_s(view_of(places, (x, 0.0), speed_m_s))
    assert found == pytest.approx(expected_s + SCENARIO.period_s, abs=1e-6) or found == expected_s


def test_of_two_mates_the_farther_one_yields_and_alone_nobody_does():
    far, near = (0.5, 0.0, 0.0), (0.95, 0.25, 0.0)
    assert yields_after_s(view_of([far, near, *APART[2:]], (0.8, 0.0))) == pytest.approx(MATE_S + SCENARIO.period_s)
    assert yields_after_s(view_of([near, far, *APART[2:]], (0.8, 0.0))) == math.inf
    assert yields_after_s(view_of([far, *APART[1:]], (0.8, 0.0))) == math.inf


def test_behind_the_filter_it_draws_back_until_the_opponent_has_room_and_comes_again():
    places = [(0.6, 0.0, 0.0), APART[1], (1.0, 0.0, math.pi), APART[3]]
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    put(sim, robots_at(places), ball_at(0.8, 0.0))
    carry, distances = FILTER.init((1, SCENARIO.count)), []
    for _ in range(70):
        command = np.zeros((1, SCENARIO.players, 4), np.float32)
        carry, result = FILTER(carry, team_view(SCENARIO, sim.views(), 0), command[:, : SCENARIO.count])
        command[:, : SCENARIO.count] = result.command
        sim.step(command)
        distances.append(float(np.hypot(sim.world.robots.x[0, 0] - 0.8, sim.world.robots.y[0, 0])))
    assert distances[10] == pytest.approx(0.2, abs=0.03)
    assert 0.8 * AWAY_M < max(distances) < 1.2 * AWAY_M


def test_numbers_that_are_not_finite_end_nothing():
    view = view_of([(0.6, 0.0, 0.0), APART[1], (1.0, 0.0, math.pi), APART[3]], (0.8, 0.0))
    nan = view._replace(sensed=view.sensed._replace(ball_pos_m=view.sensed.ball_pos_m * np.nan))
    memory, nominal = no_stand_off(np.zeros((1, SCENARIO.count))), np.tile(NOMINAL, (1, SCENARIO.count, 1))
    for seen in (view, nan, view):
        with np.errstate(invalid="ignore"):
            memory, command = yielding(memory, seen, nominal, SCENARIO.period_s)
        assert np.isfinite(memory.waits_s).all() and (command == nominal).all()
