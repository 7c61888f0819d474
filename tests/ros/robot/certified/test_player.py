"""Certified players: sightings grow old in ticks without a decision, and a push forgets only what it has to."""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from robomarl.core.filter.model.strangers import Strangers
from robomarl.core.tree import each
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.certified_player import CertifiedPlayer, PlayerMemory
from robomarl.domains.soccer.core.features import SoccerSensed
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.sides import team_view
from robomarl.ros.robot.certified.carry import RobotCarry, TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot
from tests.domains.soccer.games import APART, ball_at, plain, put, robots_at

SCENARIO = plain()
WAY = CertifiedPlayer(safety_params(SCENARIO))
GUARD = CertifiedRobot(WAY.params, SCENARIO.robot.body.radius_m, TeamSeat(0, [1]), way=WAY)
PERIOD_S, SEEN_S = WAY.params.period_s, 0.04
START_S = 100.0
TICKS = 5


@pytest.fixture(scope="module")
def view() -> LocalView:
    """Of the first robot of a team, at rest."""
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    put(sim, robots_at(APART), ball_at(0.0, -1.2))
    return each(team_view(SCENARIO, sim.views(), 0), lambda part: np.asarray(part)[0, 0])


def sees(view: LocalView, is_seen: bool) -> LocalView:
    """The first opponent 1.5 m away, as it was `SEEN_S` ago; or nobody."""
    sensed = cast(SoccerSensed, view.sensed)
    mask, pos = np.zeros_like(sensed.strangers_mask), np.array(sensed.strangers_pos_m)
    mask[0], pos[0] = is_seen, view.own.pos_m + np.array([1.5, 0.0, 0.0])
    age = np.full_like(sensed.strangers_age_s, SEEN_S)
    return view._replace(sensed=sensed._replace(strangers_mask=mask, strangers_pos_m=pos, strangers_age_s=age))


def moved(view: LocalView, by_m: float) -> LocalView:
    return view._replace(own=view.own._replace(pos_m=view.own.pos_m + np.array([by_m, 0.0, 0.0])))


def decided(carry: RobotCarry, view: LocalView, now_s: float) -> RobotCarry:
    return GUARD(GUARD.hear(carry, [None], now_s), view, np.zeros(4))[0]


def sighting(carry: RobotCarry) -> tuple[bool, float]:
    """Whether the first opponent is remembered, and the age of what was seen."""
    assert isinstance(carry.worn, PlayerMemory) and isinstance(carry.worn.seen, Strangers)
    return bool(carry.worn.seen.mask[0]), float(carry.worn.seen.age_s[0])


def blind(carry: RobotCarry, view: LocalView) -> RobotCarry:
    return GUARD.blind(carry, view, np.array(1.0))[0]


def carried(carry: RobotCarry, view: LocalView) -> RobotCarry:
    return GUARD.rest(carry, moved(view, 0.3))


@pytest.mark.parametrize("tick", [blind, GUARD.rest, carried, lambda carry, view: carry])
def test_a_sighting_grows_old_in_ticks_without_a_decision(
    tick: Callable[[RobotCarry, LocalView], RobotCarry], view: LocalView
):
    carry, later_s = decided(GUARD.init(), sees(view, True), START_S), START_S
    for _ in range(TICKS):
        later_s += PERIOD_S
        carry = tick(GUARD.hear(carry, [None], later_s), sees(view, False))
    carry = decided(carry, sees(view, False), later_s + PERIOD_S)
    assert sighting(carry) == (True, pytest.approx(SEEN_S + (TICKS + 1) * PERIOD_S, abs=1e-5))


@pytest.mark.parametrize("by_s", [-50.0, 7.0])
def test_a_clock_that_is_set_makes_no_sighting_older_or_newer(by_s: float, view: LocalView):
    carry = GUARD.clock_jumped(decided(GUARD.init(), sees(view, True), START_S), by_s)
    carry = decided(carry, sees(view, False), START_S + by_s + 2 * PERIOD_S)
    assert sighting(carry) == (True, pytest.approx(SEEN_S + 2 * PERIOD_S, abs=1e-5))


def test_a_sighting_is_forgotten_after_a_long_time_without_decisions(view: LocalView):
    strangers = WAY.params.strangers
    assert strangers is not None and strangers.remember_s
    carry = decided(GUARD.init(), sees(view, True), START_S)
    assert not sighting(decided(carry, sees(view, False), START_S + strangers.remember_s + PERIOD_S))[0]


def test_a_pushed_player_knows_its_bias_and_its_commands_on_the_way(view: LocalView):
    carry = decided(GUARD.init(), view, START_S)
    robot, bias = carry.robot, carry.robot.bias
    known = bias._replace(estimate_m_s2=np.array([0.02, 0.0, 0.0]), doubt_m_s2=np.full(3, 0.01))
    sent = np.arange(robot.commands.size, dtype=float).reshape(robot.commands.shape) / 10
    carry = carry._replace(robot=robot._replace(bias=known, commands=sent))
    after = decided(carry, moved(view, 0.4), START_S + PERIOD_S)
    assert after.session_s == START_S + PERIOD_S
    assert np.array_equal(after.robot.commands[:-1], sent[1:])
    assert after.robot.bias.estimate_m_s2 == pytest.approx(known.estimate_m_s2, abs=1e-3)
    assert (after.robot.bias.doubt_m_s2[:2] < 0.012).all()
