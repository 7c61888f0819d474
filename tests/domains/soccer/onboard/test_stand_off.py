"""Stand-offs at the ball: whose turn it is, that turns change, and that the ball gets free."""

import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.bundle.pilot import Pilot
from robomarl.core.bundle.runtime import open_policy
from robomarl.core.domain.registry import filter_for
from robomarl.core.filter.memory import Reason
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.free_ball import KICK_M_S, OWN_COS, OWN_M, OWN_MOUTH_M, TOUCH_M, freeing
from robomarl.domains.soccer.core.stand_off import (
    ALONE_S,
    ATTACKER_S,
    ATTACKER_WAITS_S,
    AWAY_M,
    BEGINS_S,
    DEFENDER_S,
    DEFENDER_WAITS_S,
    StandOff,
    no_stand_off,
    take_turns,
)
from robomarl.domains.soccer.lab.batch import SoccerSim, make_soccer
from robomarl.domains.soccer.lab.task import action
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.sides import team_view
from tests.domains.soccer.games import APART, Place, ball_at, plain, put, robots_at

SCENARIO = plain()
PARAMS = safety_params(SCENARIO)
FILTER = filter_for(action(SCENARIO), PARAMS)
NOMINAL = np.array([0.3, 0.0, 0.5, 6.0])


def placed(places: list[Place], ball: tuple[float, float]) -> SoccerSim:
    """A game with robots and ball at rest at these places, after all have been seen."""
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    put(sim, robots_at(places), ball_at(*ball))
    for _ in range(3):
        sim.step(np.zeros((1, SCENARIO.players, 4), np.float32))
    return sim


def turns(sim: SoccerSim, side: int, seconds: float, moving_m_s: float = 0.0) -> list[tuple[float, float]]:
    """Time [s] and turn of the first robot of a side, each time that it changes, the world standing still."""
    view: Any = team_view(SCENARIO, sim.views(), side)
    speed = np.array(view.sensed.strangers_vel_m_s)
    speed[..., 0, 0] = moving_m_s
    view = view._replace(sensed=view.sensed._replace(strangers_vel_m_s=speed))
    memory, nominal = no_stand_off(np.zeros((1, SCENARIO.count))), np.tile(NOMINAL, (1, SCENARIO.count, 1))
    found: list[tuple[float, float]] = []
    for step in range(round(seconds / SCENARIO.period_s)):
        memory, command = take_turns(memory, view, nominal, PARAMS)
        turn = float(memory.turn[0, 0])
        if turn != (found[-1][1] if found else 0.0):
            found.append((step * SCENARIO.period_s, turn))
        check_command(turn, command[0, 0], view, memory)
    return found


def check_command(turn: float, command: np.ndarray, view: LocalView, memory: StandOff) -> None:
    """The policy's command where the rule says nothing, away from the ball for one that gives way, else `freeing`."""
    if turn == 0:
        assert (command == NOMINAL).all()
    elif turn < 0:
        away = view.own.pos_m[0, 0] - memory.ball_m[0, 0]
        assert command[:2] @ away[:2] > 0 and command[2] == NOMINAL[2] and command[3] == 0
    else:
        assert (command == freeing(view, memory.ball_m, PARAMS)[0, 0]).all()


def face_to_face(x: float, gap_m: float = 0.2) -> SoccerSim:
    """The ball between the first robots of both teams, on the line between the goals."""
    return placed([(x - gap_m, 0.0, 0.0), APART[1], (x + gap_m, 0.0, math.pi), APART[3]], (x, 0.0))


@pytest.mark.parametrize("x", [0.8, -0.8, 1.5, -1.5, 0.3])
def test_of_two_opponents_the_defender_plays_and_the_attacker_gives_way(x: float):
    sim = face_to_face(x)
    first = [turns(sim, side, 1.0)[0] for side in range(2)]
    assert [turn for _, turn in first] == ([-1.0, 1.0] if x > 0 else [1.0, -1.0])
    assert all(BEGINS_S < begins < BEGINS_S + 0.6 for begins, _ in first)


def test_turns_change_where_nothing_moves_and_sooner_for_the_attacker_to_give_way():
    sim = face_to_face(0.8)
    attacker, defender = turns(sim, 0, 8.0), turns(sim, 1, 8.0)
    assert np.diff([at for at, _ in attacker][:3]) == pytest.approx([ATTACKER_WAITS_S, ATTACKER_S], abs=0.09)
    assert np.diff([at for at, _ in defender][:3]) == pytest.approx([DEFENDER_S, DEFENDER_WAITS_S], abs=0.09)


def test_whatever_they_begin_with_two_players_neither_both_wait_nor_both_insist_for_long():
    """The cycle of each team from every point of it: one plays while the other gives way, within 4 s and for 0.6 s."""
    dt, attacker, defender = 0.02, (ATTACKER_S, ATTACKER_WAITS_S), (DEFENDER_S, DEFENDER_WAITS_S)
    times = np.arange(0.0, 4.0, dt)

    def plays(cycle: tuple[float, float], offset: float) -> np.ndarray:
        return (times + offset) % sum(cycle) < cycle[0]

    for a, b in itertools.product(np.arange(0, sum(attacker), 0.1), np.arange(0, sum(defender), 0.1)):
        alone = plays(attacker, a) != plays(defender, b)
        longest = max((len(list(run)) for key, run in itertools.groupby(alone) if key), default=0)
        assert longest * dt > 0.6, (a, b)


def test_nobody_gives_way_before_the_own_goal_nor_to_one_that_moves():
    assert [turn for _, turn in turns(face_to_face(-2.1, 0.12), 0, 4.0)] == [1.0]
    assert turns(face_to_face(0.8), 0, 4.0, moving_m_s=0.8) == []


def test_of_two_mates_the_farther_one_gives_way_and_alone_the_policy_decides():
    far, near = (0.5, 0.0, 0.0), (0.95, 0.25, 0.0)
    assert turns(placed([far, near, *APART[2:]], (0.8, 0.0)), 0, 1.5)[0][1] == -1
    assert turns(placed([near, far, *APART[2:]], (0.8, 0.0)), 0, 1.5)[0][1] == 1
    assert turns(placed([far, *APART[1:]], (0.8, 0.0)), 0, 1.0) == []


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (0.8, 0.3), (-1.2, -0.6), (0.5, 1.4785)])
def test_two_filtered_teams_that_only_drive_at_the_ball_get_it_free_without_a_contact(x: float, y: float, seed: int):
    """Both press straight at the ball for ever: without the rule they stop on either side of it."""
    down = -0.15 if y > 1.4 else 0.0
    random = np.random.default_rng(seed).uniform(-0.02, 0.02, (2, 2))
    left, right = (x - 0.3 + random[0, 0], y + down + random[0, 1]), (x + 0.3 + random[1, 0], y + down + random[1, 1])
    sim = placed([(*left, 0.0), APART[1], (*right, math.pi), APART[3]], (x, y))
    carries = [FILTER.init((1, SCENARIO.count)) for _ in range(2)]
    moved = hits = 0.0
    for _ in range(150):
        command = np.zeros((1, SCENARIO.players, 4), np.float32)
        for side in range(2):
            view = team_view(SCENARIO, sim.views(), side)
            asked = np.zeros((1, SCENARIO.count, 4))
            ball = np.array([x, y]) * (1 - 2 * side)
            asked[0, 0, :2] = 3 * (ball - view.own.pos_m[0, 0, :2]) - 2 * view.own.vel_m_s[0, 0, :2]
            carries[side], result = FILTER(carries[side], view, asked)
            command[:, side * SCENARIO.count : (side + 1) * SCENARIO.count] = result.command
        world = sim.step(command)
        hits = max(hits, float(world.contacts.impact_m_s.max()))
        moved = max(moved, float(np.hypot(world.ball.x[0] - x, world.ball.y[0] - y)))
        if moved > SCENARIO.rules.stuck_m:
            break
    assert moved > SCENARIO.rules.stuck_m and hits == 0


def test_one_that_gives_way_stays_within_reach_of_the_ball():
    sim = face_to_face(0.8)
    carry, distances = FILTER.init((1, SCENARIO.count)), []
    for _ in range(40):
        command = np.zeros((1, SCENARIO.players, 4), np.float32)
        carry, result = FILTER(carry, team_view(SCENARIO, sim.views(), 0), command[:, : SCENARIO.count])
        command[:, : SCENARIO.count] = result.command
        sim.step(command)
        distances.append(float(np.hypot(sim.world.robots.x[0, 0] - 0.8, sim.world.robots.y[0, 0])))
    assert 0.8 * AWAY_M < max(distances) < 1.2 * AWAY_M


def test_a_ball_at_a_board_or_before_the_own_goal_is_not_kicked_at_the_board_or_the_goal():
    """The direction of the drive, and whether the robot kicks along its heading."""
    side = placed([(0.5, 1.25, math.pi / 2), *APART[1:]], (0.5, 1.4785))
    view = team_view(SCENARIO, side.views(), 0)
    command = freeing(view, np.array([[[0.5, 1.4785, 0.0]] * SCENARIO.count]), PARAMS)[0, 0]
    assert abs(command[0]) > 0.5, "at a board it goes round, for a kick along it"
    own = placed([(-1.6, 0.0, math.pi), *APART[1:]], (-1.8, 0.0))
    view = team_view(SCENARIO, own.views(), 0)
    command = freeing(view, np.array([[[-1.8, 0.0, 0.0]] * SCENARIO.count]), PARAMS)[0, 0]
    assert abs(command[1]) > 0.5 and command[3] == 0
    clear = placed([(0.6, 0.0, 0.0), *APART[1:]], (0.8, 0.0))
    view = team_view(SCENARIO, clear.views(), 0)
    command = freeing(view, np.array([[[0.8, 0.0, 0.0]] * SCENARIO.count]), PARAMS)[0, 0]
    assert command[0] > 0.3 and command[3] == KICK_M_S


def test_numbers_that_are_not_finite_end_nothing():
    view: Any = team_view(SCENARIO, face_to_face(0.8).views(), 0)
    sensed = view.sensed
    bad = sensed._replace(ball_pos_m=sensed.ball_pos_m * np.nan, strangers_pos_m=sensed.strangers_pos_m * np.nan)
    memory, nominal = no_stand_off(np.zeros((1, SCENARIO.count))), np.tile(NOMINAL, (1, SCENARIO.count, 1))
    for seen in (view, view._replace(sensed=bad), view) * 8:
        with np.errstate(invalid="ignore"):
            memory, command = take_turns(memory, seen, nominal, PARAMS)
        assert all(np.isfinite(part).all() for part in memory) and np.isfinite(command).all()


@pytest.mark.parametrize("x", [0.0, -1.0, -1.8, -2.1])
@pytest.mark.parametrize("y", [0.0, 0.5, -1.2])
def test_no_kick_leaves_for_the_own_goal_whatever_the_heading(x: float, y: float):
    """Robots that touch the ball, from any side and with any heading: lines of the kicks that they ask for."""
    random, kicks = np.random.default_rng(0), 0
    view: Any = team_view(SCENARIO, face_to_face(0.8).views(), 0)
    goal, ball = view.goal.pos_m[0, 0, 0], np.array([[[x, y, 0.0]] * SCENARIO.count])
    for _ in range(400):
        side, turned = random.uniform(-math.pi, math.pi, 2)
        place, half = ball - TOUCH_M * np.array([math.cos(side), math.sin(side), 0.0]), turned / 2
        quat = np.zeros((1, SCENARIO.count, 4)) + [math.cos(half), 0.0, 0.0, math.sin(half)]
        own = view.own._replace(pos_m=place, quat_wxyz=quat)
        if freeing(view._replace(own=own), ball, PARAMS)[0, 0, 3] == 0:
            continue
        kicks += 1
        c, s = math.cos(turned), math.sin(turned)
        off = math.remainder(turned - math.atan2(-y, -goal - x), 2 * math.pi)
        assert abs(off) >= math.acos(OWN_COS) - 1e-6 or math.hypot(goal + x, y) > OWN_M
        assert c >= 0 or abs(y + s / c * (-goal - x)) >= OWN_MOUTH_M - 1e-6
    assert kicks > 20


def test_a_command_of_an_operator_is_not_ruled_and_the_rule_begins_anew_after_it():
    """HOLD at a lying ball: the robot neither drives nor kicks, for longer than the rule waits; a policy's would."""
    pilot = Pilot(open_policy(load_bundle("soccer_2v2")), FILTER)
    for ruled in (False, True):
        sim = placed([(0.3, 0.0, 0.0), *APART[1:]], (0.7, 0.0))
        carry, kicks = pilot.init(team_view(SCENARIO, sim.views(), 0)), []
        for _ in range(round(1.5 * ALONE_S / SCENARIO.period_s)):
            view, command = team_view(SCENARIO, sim.views(), 0), np.zeros((1, SCENARIO.players, 4), np.float32)
            hold = np.zeros((1, SCENARIO.count, 4))
            hold[..., :2] = -2 * view.own.vel_m_s[..., :2]
            carry, result = pilot.guard(carry, view, hold, ruled)
            kicks.append(float(result.command[0, 0, 3]))
            command[:, : SCENARIO.count] = result.command
            sim.step(command)
        moved_m = abs(float(sim.world.robots.x[0, 0]) - 0.3)
        assert (max(kicks) > 0) == ruled and (moved_m > 0.02) == ruled
        assert bool(carry.safety.stand) == ruled  # type: ignore[attr-defined]


def test_a_command_that_is_not_finite_stays_for_the_filter_to_fall_back_on():
    sim = face_to_face(0.8)
    view, carry = team_view(SCENARIO, sim.views(), 1), FILTER.init((1, SCENARIO.count))
    for step in range(60):
        nominal = np.full((1, SCENARIO.count, 4), np.nan if step % 2 else 0.0)
        with np.errstate(invalid="ignore"):
            carry, result = FILTER(carry, view, nominal)
        if step % 2:
            assert not result.solved.any() and (result.reason == Reason.NON_FINITE).all()
            assert np.isfinite(result.command).all() and (result.command[..., 3] == 0).all()


@pytest.mark.parametrize(("backend", "compiled"), [(np.asarray, lambda rule: rule), (jnp.asarray, jax.jit)])
def test_without_any_row_of_an_opponent_a_player_plays_the_ball_alone(backend: Any, compiled: Any):
    view: Any = team_view(SCENARIO, placed([(0.5, 0.0, 0.0), *APART[1:]], (0.8, 0.0)).views(), 0)
    sensed = {key: part[..., :0, :] for key, part in view.sensed._asdict().items() if key.startswith("strangers_")}
    sensed["strangers_mask"] = view.sensed.strangers_mask[..., :0]
    view = jax.tree.map(backend, view._replace(sensed=view.sensed._replace(**sensed)))
    step = compiled(lambda memory, view, nominal: take_turns(memory, view, nominal, PARAMS))
    memory, nominal = no_stand_off(backend(np.zeros((1, SCENARIO.count)))), backend(np.zeros((1, SCENARIO.count, 4)))
    for _ in range(round(1.5 * ALONE_S / SCENARIO.period_s)):
        memory, command = step(memory, view, nominal)
    assert memory.turn[0, 0] == 1 and command[0, 0, 3] == KICK_M_S


def test_the_command_is_a_double_whether_it_is_somebodys_turn_or_not():
    """The filter computes the same bits for a team of which one takes a turn and for a robot alone."""
    view: Any = team_view(SCENARIO, face_to_face(0.8).views(), 0)
    memory = no_stand_off(np.zeros((1, SCENARIO.count)))
    nominal = np.tile(NOMINAL, (1, SCENARIO.count, 1)).astype(np.float32)
    found = {}
    for _ in range(round(1.0 / SCENARIO.period_s)):
        memory, command = take_turns(memory, view, nominal, PARAMS)
        found[bool(memory.turn.any())] = command
    assert found[False].dtype == found[True].dtype == np.float64
    assert (found[False] == nominal).all() and (found[True][0, 1] == nominal[0, 1]).all()
