"""The robot that hits next has right of way: its mates alone give way, before the filter; the net is a wall."""

import jax
import numpy as np
import pytest

from robomarl.core.bundle.pilot import load_pilot
from robomarl.core.bundle.runtime import load_policy
from robomarl.core.domain.registry import domain_of_task, filter_for
from robomarl.core.view import LocalView, blank_view
from robomarl.domains.volleyball.core.match.sensed import MatchSensed
from robomarl.domains.volleyball.core.right_of_way import WIDER_M, RightOfWay, hits_next
from robomarl.domains.volleyball.core.sensed import VolleySensed
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario

PARAMS = safety_params(load_scenario("volley_bump_pass"))
APART_M = PARAMS.safety.separation_m + WIDER_M
DT_S = 0.02
NOTHING = MatchSensed(np.zeros(3), np.zeros(3), np.zeros(4), np.zeros(2), np.zeros(3), np.zeros((3, 3)))


def pair(places: np.ndarray, speeds: np.ndarray, turn: int) -> list[LocalView]:
    """Views of two robots; `turn`: which hits next, 2 for nobody."""
    flags = np.eye(3)[turn][:2]
    views = []
    for own, mate in ((0, 1), (1, 0)):
        sensed = VolleySensed(np.array([4.5, 0.0, 3.0]), np.zeros(3), np.full(4, 0.8), flags)
        view = blank_view(1, sensed)
        view.own.pos_m[:], view.own.vel_m_s[:] = places[own], speeds[own]
        view.heard.mask[:], view.heard.pos_m[:], view.heard.vel_m_s[:] = True, places[mate], speeds[mate]
        views.append(view._replace(role=np.int32(own)))
    return views


def asked(view: LocalView, nominal: np.ndarray) -> np.ndarray:
    rules = RightOfWay(PARAMS)
    return rules(rules.init(np.zeros(())), view, nominal)[1]


@pytest.mark.parametrize("turn", [0, 1])
def test_the_hitter_flies_as_it_wants_and_its_mate_gives_way(turn: int):
    views = pair(np.array([[4.5, 0.0, 2.0], [4.5, 1.0, 2.0]]), np.zeros((2, 3)), turn)
    nominal = np.zeros(4)
    np.testing.assert_array_equal(asked(views[turn], nominal), nominal)
    moved = asked(views[1 - turn], nominal)
    away = (1.0 if turn == 0 else -1.0) * moved[1]
    assert away > 0.5 and abs(moved[0]) < 1e-6 and moved[3] == 0


def test_nobody_gives_way_to_a_mate_that_is_far_or_has_no_turn():
    far, near = (np.array([[4.5, 0.0, 2.0], [4.5, gap, 2.0]]) for gap in (3.0, 1.0))
    for places, turn in ((far, 0), (near, 2)):
        np.testing.assert_array_equal(asked(pair(places, np.zeros((2, 3)), turn)[1], np.zeros(4)), np.zeros(4))


def test_a_mate_on_its_way_through_a_hitter_that_hovers_never_comes_near():
    places, speeds = np.array([[4.5, 0.0, 2.0], [4.5, 4.0, 2.1]]), np.array([[0.0, 0, 0], [0, -3.0, 0]])
    least = np.inf
    for _ in range(200):
        command = asked(pair(places, speeds, 0)[1], np.array([0.0, -4.0, 0.0, 0.0]))
        speeds[1] += DT_S * command[:3]
        places[1] += DT_S * speeds[1]
        least = min(least, float(np.linalg.norm(places[0] - places[1])))
    assert least > PARAMS.safety.separation_m >= 0.8


def match_view(index: int, may_not: tuple[int, ...], ball: tuple, speed: tuple, here: bool) -> LocalView:
    places = np.array([[2.0, -1.5, 2.0], [2.0, 1.5, 2.0], [5.0, 0.0, 2.0]])
    own_side = np.array([1.0, 0.0]) if here else np.array([0.0, 1.0])
    sensed = MatchSensed(
        np.array(ball, float), np.array(speed, float), np.full(4, 0.8), own_side, np.array(may_not, float),
        np.zeros((3, 3)),
    )  # fmt: skip
    view = blank_view(2, sensed)
    view.own.pos_m[:], view.heard.mask[:] = places[index], True
    view.heard.pos_m[:] = [places[(index + 1) % 3], places[(index + 2) % 3]]
    return view._replace(role=np.int32(index))


@pytest.mark.parametrize(
    ("may_not", "ball", "speed", "here", "hitter"),
    [
        ((0, 0, 0), (4.0, 0.1, 4.0), (1.0, 0, 0), True, 2),
        ((0, 0, 1), (4.0, 0.1, 4.0), (-3.0, -1.0, 3.0), True, 0),
        ((1, 0, 1), (2.0, -1.5, 4.0), (0.0, 0.0, 0.0), True, 1),
        ((1, 1, 1), (-3.0, 0.0, 3.0), (10.0, 0.0, 3.0), False, 2),
        ((1, 1, 1), (-3.0, 0.0, 3.0), (-1.0, 0.0, 3.0), False, None),
    ],
)
def test_in_a_match_the_eligible_robot_at_the_coming_ball_hits_next(
    may_not: tuple[int, ...], ball: tuple, speed: tuple, here: bool, hitter: int | None
):
    for index in range(3):
        found = hits_next(match_view(index, may_not, ball, speed, here))
        expected = [(index + k) % 3 == hitter for k in range(3)]
        np.testing.assert_array_equal(found, expected)


def test_rules_are_the_domains_and_alike_in_jax():
    scenario = load_scenario("volley_bump_pass")
    rules = domain_of_task(scenario.task).onboard.rules(PARAMS)
    assert isinstance(rules, RightOfWay)
    view = pair(np.array([[4.5, 0.0, 2.0], [4.4, 1.0, 2.2]]), np.array([[0.1, 0, 0], [0, -1.0, 0]]), 0)[1]
    nominal = np.array([0.5, -1.0, 0.2, 0.1], np.float32)
    compiled = jax.jit(lambda v, n: rules(rules.init(np.zeros(())), v, n)[1])(view, nominal)
    np.testing.assert_allclose(compiled, asked(view, nominal), atol=1e-5)


@pytest.mark.parametrize("bundle", ["volley_3v3", "volley_bump_pass"])
def test_a_pilot_has_the_rules(bundle: str):
    assert isinstance(load_pilot(bundle).rules, RightOfWay)


def test_the_net_is_a_wall_for_robots():
    """A command into the net with all that the vehicle has ends before it, as the filter of the bundle has it."""
    contract = load_policy("volley_3v3").contract
    safety = filter_for(contract.action, contract.safety)
    memory, place, speed, least = safety.init(()), np.array([3.0, 0.0, 2.0]), np.array([-3.0, 0, 0]), np.inf
    for _ in range(150):
        view = blank_view(2, NOTHING)
        view.own.pos_m[:], view.own.vel_m_s[:] = place, speed
        view.heard.mask[:], view.heard.pos_m[:] = True, [[6.0, 3, 2], [6.0, -3, 2]]
        view.heard.plan.pos_m[:] = view.heard.plan.stop_m[:] = view.heard.pos_m
        memory, result = safety(memory, view, np.array([-12.0, 0.0, 0.0, 0.0]))
        speed = speed + DT_S * result.command[:3]
        place = place + DT_S * speed
        least = min(least, float(place[0]))
    assert 0.25 < least < 1.0 and abs(speed[0]) < 0.05
