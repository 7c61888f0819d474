"""The referee's rules, by balls that are put somewhere by hand, and against the referee of training."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("mujoco")

from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.game import whistle
from robomarl.domains.soccer.lab.physics.ball import Ball
from robomarl.domains.soccer.lab.placement import PLACE_DRAWS
from robomarl.domains.soccer.ros.referee import Phase, Referee, RefereeCall, Rules
from robomarl.lab.sim.scenario import load_scenario

RULES = Rules(half_length_m=2.25, ball_radius_m=0.02, stuck_m=0.15, stuck_s=3.0, match_s=60.0)


def playing(rules: Rules = RULES) -> Referee:
    referee = Referee(rules)
    assert referee.start() == ""
    assert referee.see(np.zeros(2), 100.0) is None
    return referee


def at(x: float, y: float = 0.0) -> np.ndarray:
    return np.array([x, y])


def test_a_goal_is_the_whole_ball_behind_the_line():
    referee = playing()
    assert referee.see(at(2.269), 100.04) is None
    verdict = referee.see(at(2.271), 100.08)
    assert verdict is not None
    assert (verdict.kick_off, verdict.stops) == (-1, False)  # who got it kicks off
    assert referee.said.goals == (1, 0)
    assert referee.see(at(2.5), 100.12) is None  # the same ball, until it has been put back
    assert referee.see(at(0.0), 100.16) is None
    second = referee.see(at(-2.3), 100.20)
    assert second is not None
    assert (second.kick_off, referee.said.goals, referee.said.kick_offs) == (1, (1, 1), 2)


def test_without_a_simulator_a_goal_stops_the_game():
    referee = playing(RULES._replace(puts_back=False))
    assert referee.see(at(2.3), 100.04) == RefereeCall("goal for the first team, 1 : 0", -1, stops=True)
    assert referee.said.phase is Phase.STOPPED
    assert referee.start() == ""
    assert referee.said.goals == (1, 0)


def test_a_ball_that_is_stuck_is_put_back_in_turn():
    referee, first = playing(), []
    for step in range(1, 801):
        place = at(1.0 + 0.05 * np.sin(step)) if step < 400 else at(0.002 * (step - 400))
        if verdict := referee.see(place, 100 + 0.01 * step):
            first.append((round(0.01 * step, 2), verdict.kick_off))
    assert [kick_off for _, kick_off in first] == [1]
    assert 3.0 <= first[0][0] <= 3.1
    assert referee.said.goals == (0, 0)


def test_time_is_counted_while_the_game_is_on_and_then_it_is_over():
    referee = playing(RULES._replace(match_s=2.0))
    for step in range(10):
        assert referee.see(at(0.1 * step), 100.0 + 0.1 * step) is None
    referee.stop()
    assert referee.see(at(3.0), 105.0) is None  # a ball behind the line counts nothing then
    assert referee.said.time_s == pytest.approx(0.9)
    assert referee.start() == ""
    referee.see(at(0.0), 300.0)
    assert referee.said.time_s == pytest.approx(0.9)
    found = [referee.see(None, 300.0 + 0.1 * step) for step in range(1, 13)]
    verdict = next(v for v in found if v)
    assert (verdict.stops, verdict.why, referee.said.phase) == (True, "time is up", Phase.OVER)
    assert "reset it first" in referee.start()
    assert referee.reset() == ""
    assert (referee.said.goals, referee.said.phase, referee.said.time_s) == ((0, 0), Phase.WAITING, 0.0)


def test_a_clock_that_jumps_does_not_end_the_match():
    referee = playing()
    referee.see(at(0.0), 90.0)
    referee.see(at(0.0), 1e6)
    assert referee.said.time_s <= 1.0


def test_a_goal_by_hand_is_for_who_attacks_that_half():
    referee = Referee(RULES)
    assert referee.award(at(1.0)) == (None, "the match is WAITING")
    referee.start()
    assert referee.reset() == "the match is PLAYING; stop it first"
    verdict, refused = referee.award(at(-0.4))
    assert verdict is not None
    assert (verdict.kick_off, refused, referee.said.goals) == (1, "", (0, 1))


def test_the_referee_of_training_says_the_same():
    """Balls on a walk that goes into both goals, and stands still for long now and then."""
    scenario = load_scenario("soccer_2v2")
    stuck_s = scenario.rules.stuck_s - scenario.period_s / 2  # not on a decision, where rounding would tell
    scenario = dataclasses.replace(scenario, rules=dataclasses.replace(scenario.rules, stuck_s=stuck_s))
    referee = Referee(
        Rules(scenario.field.length_m / 2, scenario.ball.radius_m, scenario.rules.stuck_m, stuck_s, match_s=1e4)
    )
    game = make_soccer(scenario, "fast", 1, 0).reset()
    referee.start()
    random, now_s, place, speed = np.random.default_rng(1), 0.0, np.zeros(2), np.zeros(2)
    referee.see(place, now_s)
    draws = np.full((1, scenario.players, PLACE_DRAWS), 0.5, np.float32)
    restarts = 0
    for step in range(4000):
        if step % 40 == 0:
            speed = random.choice([0.0, 1.0]) * random.uniform([-2.5, -0.3], [2.5, 0.3])
        now_s += scenario.period_s
        place = np.clip(place + speed * scenario.period_s, [-2.6, -1.2], [2.6, 1.2])
        x, y = (np.full(1, part, np.float32) for part in place)
        game = whistle(scenario, game._replace(ball=Ball(x, y, *(np.zeros_like(x),) * 4)), draws)
        verdict = referee.see(place, now_s)
        begun = int(game.referee.restarts[0]) > restarts
        restarts = int(game.referee.restarts[0])
        assert bool(verdict) is begun, step
        assert tuple(int(goals[0]) for goals in game.referee.goals) == referee.said.goals
        if verdict:
            attacker = game.robots.x[0, [0, scenario.count]]  # who kicks off stands nearer to the middle
            assert verdict.kick_off == (1 if abs(attacker[0]) < abs(attacker[1]) else -1)
            place = np.zeros(2)
            referee.see(place, now_s)
    assert referee.said.goals[0] > 2
    assert referee.said.goals[1] > 2
    assert restarts > sum(referee.said.goals)
