"""Rules of a match, each by a situation made by hand."""

import numpy as np
import pytest

from robomarl.domains.volleyball.front.page import fault_in_words
from robomarl.domains.volleyball.lab.match.rules import FAULTS, MatchCourt, Situation, faults, points

COURT = MatchCourt(length_m=12.0, width_m=6.0, net_m=2.43, ball_m=0.1, out_at_once=False)
PLACES = np.array([[3, -1.5, 2], [3, 1.5, 2], [6, 0, 2]], float)
BOTH = np.stack([PLACES, PLACES * [-1, -1, 1]])
NONE = np.zeros((2, 3), bool)


def by(side: int, robot: int) -> np.ndarray:
    """[2, 3] bool: one robot."""
    flags = NONE.copy()
    flags[side, robot] = True
    return flags


def seen(ball: tuple[float, float, float] = (3, 0, 4), last_side: int = 0, **more: np.ndarray) -> Situation:
    now = Situation(NONE, NONE, NONE, np.array(last_side), np.array(ball, float), BOTH)
    return now._replace(**more)


def named(now: Situation, court: MatchCourt = COURT) -> list[set[str]]:
    """Names of the faults of both sides."""
    return [{FAULTS[i] for i in np.flatnonzero(row)} for row in faults(court, now)]


def moved(side: int, robot: int, place: tuple[float, float, float]) -> np.ndarray:
    drones = BOTH.copy()
    drones[side, robot] = place
    return drones


def test_a_ball_in_the_air_is_no_fault():
    assert named(seen()) == [set(), set()]
    assert points(faults(COURT, seen())) == 0.5


@pytest.mark.parametrize("side", [0, 1])
def test_a_hit_out_of_turn_loses_the_rally(side: int):
    hit = by(side, 1)
    assert named(seen(racket=hit))[side] == set()
    found = named(seen(racket=hit, may_not=by(side, 1)))
    assert found[side] == {"wrong_turn"} and found[1 - side] == set()
    assert named(seen(racket=hit, may_not=by(side, 2)))[side] == set(), "another robot of the team has hit"


def test_a_hit_with_the_body_loses_the_rally():
    assert named(seen(body=by(0, 2))) == [{"body"}, set()]
    assert named(seen(body=by(0, 2), racket=by(0, 2))) == [set(), set()]


@pytest.mark.parametrize(("side", "x"), [(0, -0.01), (1, 0.01)])
def test_a_drone_beyond_the_net_loses_the_rally(side: int, x: float):
    found = named(seen(drones_m=moved(side, 0, (x, 0, 4))))
    assert found[side] == {"crossing"} and found[1 - side] == set()
    assert named(seen(drones_m=moved(side, 0, (-x, 0, 4)))) == [set(), set()]


@pytest.mark.parametrize(("x", "loser"), [(2.0, 0), (-2.0, 1)])
@pytest.mark.parametrize("last_side", [0, 1])
def test_a_ball_on_the_ground_loses_the_rally_for_that_half(x: float, loser: int, last_side: int):
    assert named(seen((x, 0, 0.21), last_side)) == [set(), set()]
    found = named(seen((x, 0, 0.19), last_side))
    assert found[loser] == {"landed"} and found[1 - loser] == set()


@pytest.mark.parametrize("ball", [(6.1, 0, 0.1), (-6.1, 0, 0.1), (2, 3.1, 0.1), (-2, -3.1, 0.1)])
@pytest.mark.parametrize("last_side", [0, 1])
def test_a_ball_outside_loses_the_rally_for_the_side_that_hit_it(ball: tuple[float, float, float], last_side: int):
    found = named(seen(ball, last_side))
    assert found[last_side] == {"out"} and found[1 - last_side] == set()


def test_a_ball_outside_in_the_air_is_out_only_between_single_robots():
    now, single = seen((6.1, 0, 3.0)), COURT._replace(out_at_once=True)
    assert named(now) == [set(), set()]
    assert named(now, single) == [{"out"}, set()]


@pytest.mark.parametrize("last_side", [0, 1])
def test_a_ball_in_the_net_loses_the_rally_for_the_side_that_hit_it(last_side: int):
    found = named(seen((0.29, 2.9, 2.42), last_side))
    assert found[last_side] == {"net"} and found[1 - last_side] == set()
    for free in ((0.31, 0, 2.0), (0.0, 0, 2.44), (0.0, 3.01, 2.0)):
        assert named(seen(free, last_side)) == [set(), set()]


def test_a_drone_near_the_ground_loses_the_rally():
    assert named(seen(drones_m=moved(1, 2, (-6, 0, 0.31)))) == [set(), set()]
    assert named(seen(drones_m=moved(1, 2, (-6, 0, 0.29)))) == [set(), {"fallen"}]


def test_mates_closer_than_80_cm_lose_the_rally_and_opponents_do_not():
    assert named(seen(drones_m=moved(0, 1, (3, -0.69, 2)))) == [set(), set()]
    assert named(seen(drones_m=moved(0, 1, (3, -0.71, 2)))) == [{"too_close"}, set()]
    near = moved(0, 1, (0.1, 0, 3))
    near[1, 1] = (-0.1, 0, 3)
    assert named(seen(drones_m=near)) == [set(), set()]


def test_faults_of_both_sides_in_one_decision_are_a_draw():
    both = seen(racket=by(0, 0), may_not=by(0, 0), drones_m=moved(1, 2, (-6, 0, 0.2)))
    assert named(both) == [{"wrong_turn"}, {"fallen"}]
    assert points(faults(COURT, both)) == 0.5


@pytest.mark.parametrize(("ball", "last_side", "expected"), [((-2, 0, 0.1), 0, 1.0), ((2, 0, 0.1), 1, 0.0)])
def test_a_fault_is_the_other_sides_point(ball: tuple[float, float, float], last_side: int, expected: float):
    assert points(faults(COURT, seen(ball, last_side))) == expected


def test_the_rules_are_the_same_in_jax():
    import jax

    random = np.random.default_rng(0)
    balls, drones = random.uniform([-7, -4, 0], [7, 4, 3], (500, 3)), BOTH + random.normal(0, 2, (500, 2, 3, 3))
    flags = random.random((3, 500, 2, 3)) < 0.1
    now = Situation(flags[0], flags[1], flags[2], random.integers(0, 2, 500), balls, drones)
    found = faults(COURT, now)
    assert found.reshape(-1, len(FAULTS)).any(0).all(), "each fault is among them"
    np.testing.assert_array_equal(found, jax.jit(lambda n: faults(COURT, n))(now))


def test_pages_name_each_fault_of_the_rules_with_its_team():
    words = [fault_in_words(100 * side + which) for side in (0, 1) for which in range(len(FAULTS))]
    assert words[0] == "wrong turn (first team)" and words[-1] == "too close (second team)"
    assert len(set(words)) == 2 * len(FAULTS) and fault_in_words(-1) == "-"
