"""The rule: what it lets through keeps clear at all times, whatever the two robots of a pair do."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.core.certificate.course import CommittedCourse, places
from robomarl.core.certificate.rule import Pair, clearance, parts_from, watched

ROOM_M, SPAN_S, SEGMENTS, BRAKE = 0.25, 1.2, 15, 1.3
BEND_M = 4 * BRAKE * (SPAN_S / SEGMENTS) ** 2 / 8
SQUASH = np.array([1.0, 1.0, 0.5])
TIMES = np.linspace(0.0, SPAN_S, SEGMENTS + 1)
MANY = np.linspace(0.0, SPAN_S, 2001)


def drawn(random: np.random.Generator, count: int, near: np.ndarray) -> CommittedCourse:
    """Courses near a place, moving at up to 1.3 m/s, begun at up to 0.5 s before."""
    way = random.normal(size=(count, 3))
    vel = way / np.linalg.norm(way, axis=-1, keepdims=True) * random.uniform(0, 1.3, (count, 1))
    at_s = random.uniform(-0.5, 0.0, count)
    return CommittedCourse(
        near + random.normal(size=(count, 3)) * 0.3, vel, at_s, np.full(count, BRAKE), np.full(count, ROOM_M)
    )


def over_all_times(mine: CommittedCourse, own: CommittedCourse, mate: CommittedCourse) -> np.ndarray:
    """[count] least |z - B| - |z - A| - D on a fine grid."""
    z, a, b = (places(each, np.broadcast_to(MANY, (len(each.at_s), len(MANY))), np) for each in (mine, own, mate))
    f = np.linalg.norm((z - b) * SQUASH, axis=-1) - np.linalg.norm((z - a) * SQUASH, axis=-1)
    return f.min(-1) - 2 * ROOM_M


def by_rule(mine: CommittedCourse, own: CommittedCourse, mate: CommittedCourse) -> np.ndarray:
    """[count] what the rule finds."""
    one = [CommittedCourse(*(part[:, None] for part in each)) for each in (own, mate)]
    times = np.broadcast_to(TIMES, (len(mine.at_s), len(TIMES)))
    path = places(mine, times, np)[:, None] * SQUASH
    return clearance(path, watched(Pair(*one), times, BEND_M, SQUASH, np), np)[:, 0, 0]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31))
def test_the_rule_never_finds_more_than_there_is(seed: int):
    """Chords and one direction a segment are a lower bound, and lose little."""
    random = np.random.default_rng(seed)
    mine, own = drawn(random, 200, np.zeros(3)), drawn(random, 200, np.zeros(3))
    mate = drawn(random, 200, np.array([1.2, 0.3, 0.2]))
    found, true = by_rule(mine, own, mate), over_all_times(mine, own, mate)
    assert (found <= true + 1e-9).all()
    assert np.median(true - found) < 0.02


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31))
def test_two_that_keep_the_rule_keep_their_distance(seed: int):
    """Both draw new courses by the same anchors and know nothing of each other's: none comes nearer than D."""
    random = np.random.default_rng(seed)
    a, b = drawn(random, 400, np.zeros(3)), drawn(random, 400, np.array([1.0, 0.0, 0.0]))
    mine, its = drawn(random, 400, a.pos_m * 0.5), drawn(random, 400, b.pos_m)
    good = (by_rule(mine, a, b) >= 0) & (by_rule(its, b, a) >= 0)
    there, here = (places(each, np.broadcast_to(MANY, (400, len(MANY))), np) for each in (its, mine))
    apart = np.linalg.norm((here - there) * SQUASH, axis=-1).min(-1)
    assert (apart[good] >= 2 * ROOM_M - 1e-9).all()


def at_rest(place_m: float) -> CommittedCourse:
    """One course that rests on the x axis."""
    one = np.ones(1)
    return CommittedCourse(np.array([[place_m, 0, 0]]), np.zeros((1, 3)), 0 * one, BRAKE * one, ROOM_M * one)


def test_without_its_own_change_the_rule_has_a_hole():
    """Two that only look at each other's old course meet: |z - B| >= D alone promises nothing."""
    a, b, mine, its = map(at_rest, (0.0, 1.01, 0.504, 0.506))
    for new, old in ((mine, b), (its, a)):
        assert np.linalg.norm(new.pos_m - old.pos_m) >= 2 * ROOM_M
    assert np.linalg.norm(mine.pos_m - its.pos_m) < 0.01
    assert by_rule(mine, a, b)[0] < 0 and by_rule(its, b, a)[0] < 0


def test_an_anchor_that_still_moves_at_the_end_lets_nothing_through():
    """Courses are compared up to rest and no farther."""
    a = at_rest(0.0)
    far = a._replace(pos_m=np.array([[50.0, 0, 0]]), vel_m_s=np.array([[3.0, 0, 0]]))
    assert by_rule(a, a, far)[0] == -np.inf


vectors = st.tuples(*[st.floats(-1, 1)] * 3).map(np.array)


@settings(max_examples=300, deadline=None)
@given(vectors, vectors, vectors, vectors, st.booleans())
def test_a_way_that_parts_never_comes_nearer(
    away: np.ndarray, vel: np.ndarray, accel: np.ndarray, rests: np.ndarray, out: bool
):
    """Sampled over the first period and the brake to rest, in the metric of the downwash."""
    squash, period_s = np.array([1.0, 1.0, 0.5]), 0.5  # a long period, so that the velocity turns within it
    vel = np.abs(vel) * np.sign(away) if out else vel
    start = CommittedCourse(rests + away, vel, np.array(0.0), np.array(1.3), np.array(0.25))
    after = vel + accel * period_s
    way = CommittedCourse(
        *(part[None] for part in (start.pos_m + vel * period_s + accel * period_s**2 / 2, after)),
        *(np.array([value]) for value in (period_s, 1.3, 0.25)),
    )
    if not parts_from(start, way, rests[None], squash, np)[0, 0]:
        return
    times = np.linspace(0, period_s, 40)[:, None]
    arc = start.pos_m + vel * times + accel * times**2 / 2
    brake = places(way, np.linspace(period_s, period_s + 3, 60)[None], np)[0]
    distance = np.linalg.norm((np.concatenate([arc, brake]) - rests) * squash, axis=-1)
    assert (np.diff(distance) >= -1e-12).all()
