"""The rows against hand-computed values, finite differences and simulated periods."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robomarl.core.filter.filter import SafetyParams
from robomarl.core.filter.model import barriers, pairs
from robomarl.core.filter.model.barriers import Bound, Row
from robomarl.core.filter.model.constants import Constants, constants_of
from robomarl.core.filter.model.motion import NOWHERE, Floats, Motion, Predicted
from robomarl.core.filter.model.pairs import Body
from tests.core.filter.views import EXACT, PARAMS

UNSURE = (0.03, 0.02, 0.05), (0.1, 0.05, 0.2)
"""Along each axis, of place and velocity."""
SILENT_S = constants_of(PARAMS).spread_s
"""How much earlier a mate that fell silent may have turned to something new."""
coordinate = st.floats(-1.5, 1.5)
vector = st.tuples(coordinate, coordinate, coordinate)


def certain(pos, vel) -> Predicted:
    return Predicted(Motion(tuple(pos), tuple(vel)), NOWHERE, NOWHERE)


def fresh(pos, vel) -> Body:
    return Body(Motion(tuple(pos), tuple(vel)), 0.0, 0.0)


def bare(params: SafetyParams, period_s: float = 0.02) -> Constants:
    """Without any margin, the arc of a period included; all of what is asked for is granted at once."""
    c = constants_of(dataclasses.replace(params, period_s=period_s))
    return c._replace(own_error_m=0.0, mates=c.mates._replace(error_m=0.0), sudden_share=1.0, sudden_keep=0.0)


def pair(c: Constants, own: Predicted, body: Body, xp) -> Row:
    """The row between team-mates."""
    return pairs.pair(c, c.mates, own, body, xp)


def numbers(row: Row) -> list:
    return [*row.normal, *row.bound, row.value, row.gap_m]


KNEE_M_S = 1.6 / 8
"""Speed at which the line (slope 8 per s) meets the root (1.6 m/s^2); it costs KNEE^2 / (2 a) = 12.5 mm."""


def test_head_on_by_hand(exact: SafetyParams):
    # 2.2 m apart, 1 m/s each: 2 m of clearance, of which the mate needs 1 / (2 * 1.6) to brake.
    row = pair(bare(exact), certain((0, 0, 1), (1, 0, 0)), fresh((2.2, 0, 1), (-1, 0, 0)), Floats)
    allowed = np.sqrt(2 * 1.6 * (2.0 - 1 / 3.2) - KNEE_M_S**2)
    assert row.value == pytest.approx(allowed - 1)
    assert row.gap_m == pytest.approx(2.0)
    assert row.normal == pytest.approx((1, 0, 0))
    # One period ahead the own way is 2 cm shorter, the mate's approach is balanced by its shorter braking distance.
    later = np.sqrt(2 * 1.6 * (2.0 - 0.02 - 1 / 3.2) - KNEE_M_S**2) - 1
    assert row.bound.most == pytest.approx((later - (1 - 4 * 0.02) * (allowed - 1)) / 0.02)


def test_two_that_brake_from_the_boundary_stop_at_the_safety_distance(exact: SafetyParams):
    c = bare(exact)
    for fast, slow in ((1.0, 1.0), (1.4, 0.0), (1.2, 0.5)):
        apart = 0.2 + (fast**2 + slow**2 + KNEE_M_S**2) / 3.2
        row = pair(c, certain((0, 0, 1), (fast, 0, 0)), fresh((apart, 0, 1), (-slow, 0, 0)), Floats)
        assert row.value == pytest.approx(0.0, abs=1e-9)


def test_above_each_other_the_distance_is_longer_by_the_downwash_ratio(exact: SafetyParams):
    c = bare(exact)
    row = pair(c, certain((0, 0, 1), (0, 0, 0)), fresh((0, 0, 1.4), (0, 0, 0)), Floats)
    assert row.gap_m == pytest.approx(0.0, abs=1e-9)
    assert row.normal == pytest.approx((0, 0, 1), abs=1e-6)
    # From 0.4 + x apart, braking at 1.6 needs v^2 / 3.2 = x of it; there the line meets the root at half the speed.
    apart = 0.4 + (0.8**2 + (2 * KNEE_M_S / 2) ** 2) / 3.2
    row = pair(c, certain((0, 0, 1), (0, 0, 0.8)), fresh((0, 0, 1 + apart), (0, 0, 0)), Floats)
    assert row.value == pytest.approx(0.0, abs=1e-9)


def stepped(c: Constants, pos, vel, accel):
    t = c.step_s
    return pos + vel * t + accel * t * t / 2, vel + accel * t


@given(vector, vector, vector)
def test_on_the_row_the_barrier_decays_as_the_gain_says(offset, vel, aside):
    """Finite difference, mate at rest: dh/dt = -gain h for every acceleration on the row."""
    c = bare(EXACT, 1e-5)
    offset, vel = np.array(offset), np.array(vel)
    if np.linalg.norm(offset * [1, 1, 0.5]) < 0.3:
        return
    mate = fresh((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    row = pair(c, certain(offset, vel), mate, Floats)
    normal = np.array(row.normal)
    accel = row.bound.most * normal + np.cross(normal, aside)
    after = pair(c, certain(*stepped(c, offset, vel, accel)), mate, Floats)
    rate = (after.value - row.value) / c.step_s
    assert rate == pytest.approx(-c.gain_per_s * row.value, abs=2e-2)


@given(vector, vector, vector)
def test_over_a_whole_period_no_more_is_lost(offset, vel, mate_vel):
    """Both at the most that their rows allow towards each other: h stays above what the gain leaves."""
    c = bare(EXACT)
    offset, vel, mate_vel = np.array(offset), np.array(vel), np.array(mate_vel)
    if np.linalg.norm(offset * [1, 1, 0.5]) < 0.35:
        return
    origin = np.zeros(3)
    mine = pair(c, certain(offset, vel), fresh(origin, mate_vel), Floats)
    other = pair(c, certain(origin, mate_vel), fresh(offset, vel), Floats)
    if min(mine.value, other.value) < 0:
        return
    one = stepped(c, offset, vel, np.array(mine.normal) * min(mine.bound.most, 3.0))
    two = stepped(c, origin, mate_vel, np.array(other.normal) * min(other.bound.most, 3.0))
    after = pair(c, certain(*one), fresh(*two), Floats)
    allowed = (1 - 2 * c.gain_per_s * c.step_s) * mine.value
    # 5 mm: the arc within a period, which the errors of both cover outside this test.
    arc = 2 * 3 * np.sqrt(3) * c.step_s**2 / 2
    assert after.value >= allowed - c.slope_per_s * arc - 0.06


@given(vector, vector, vector, vector, st.floats(0, 0.5), st.sampled_from([0.0, SILENT_S]))
def test_floats_and_arrays_agree(pos, vel, mate_pos, mate_vel, age, early):
    c = constants_of(PARAMS)
    known = (0.3, -0.2, 0.5), (0.1, 0.2, 0.3), (1.0, -2.0, 0.5)  # bias, its doubt, last command
    own = Predicted(Motion(pos, vel), *UNSURE, *known)
    mate = Body(Motion(mate_pos, mate_vel), age - 0.02, age, early_s=early)
    arrays = [tuple(np.array([x]) for x in v) for v in (pos, vel, mate_pos, mate_vel)]
    ages = np.array([age])
    array_own = Predicted(Motion(*arrays[:2]), *(tuple(np.array([x]) for x in v) for v in (*UNSURE, *known)))  # type: ignore[arg-type]
    for row, rows in (
        (
            pair(c, own, mate, Floats),
            pair(c, array_own, Body(Motion(*arrays[2:]), ages - 0.02, ages, early_s=np.array([early])), np),
        ),
        (
            pairs.pair_textbook(c, c.mates, own.motion, mate, Floats),
            pairs.pair_textbook(c, c.mates, array_own.motion, Body(Motion(*arrays[2:]), ages, ages), np),
        ),
        (barriers.speed_limit(c, own, Floats), barriers.speed_limit(c, array_own, np)),
    ):
        np.testing.assert_allclose(numbers(row), [x[0] for x in numbers(rows)], rtol=1e-12)


@given(vector, vector, vector, st.sampled_from([0.0, SILENT_S]))
def test_older_messages_only_take_room_away(pos, vel, mate_pos, early):
    c = constants_of(PARAMS)
    still = (0.0, 0.0, 0.0)  # a mate at rest is in the same place for every age
    own = Predicted(Motion(pos, vel), *UNSURE)
    bodies = [Body(Motion(mate_pos, still), t, t, early_s=early) for t in (0, 0.1, 0.3, 0.5)]
    values = [pair(c, own, body, Floats).value for body in bodies]
    assert all(a >= b - 1e-12 for a, b in zip(values, values[1:], strict=False))


@pytest.mark.parametrize("toward", [1.0, 0.3, 0.0, -0.5])
def test_a_silent_mate_brakes_towards_us_from_its_plan_on(exact: SafetyParams, toward: float):
    """By then it has come no nearer than braking from the plan takes, and what its decisions have used up; and than
    it may have turned, as its place across is not known."""
    c, own, wait = bare(exact), certain((0, 0, 1), (1, 0, 0)), 0.4
    plan = Body(Motion((2.2, 0, 1), (-toward, 0, 0)), wait, wait)
    row = pair(c._replace(spend_per_s=0.0), own, plan._replace(early_s=SILENT_S), Floats)
    late, way = wait + 2 * SILENT_S, wait**2 / 2 + 2 * SILENT_S * wait + SILENT_S**2
    turn = min(3 * way, (1.5 - toward) * (wait + SILENT_S)) / (2.2 - toward * wait)
    side = min(turn, 1.0) * np.linalg.norm(c.mates.reach_m_s2)
    # Away from us its way does not count: it may have stopped at once.
    nearer, faster = 2.2 - side * way, max(toward, 0.0) + side * late
    expected = pair(c, own, fresh((nearer, 0, 1), (-faster, 0, 0)), Floats)
    assert numbers(row)[:-1] == pytest.approx(numbers(expected)[:-1], abs=2e-6)
    assert row.gap_m == pytest.approx(2.0 - wait * toward), "as far as it seems"
    rates = 0.0, c.spend_per_s / 10, c.spend_per_s, np.inf
    values = [pair(c._replace(spend_per_s=r), own, plan._replace(early_s=SILENT_S), Floats).value for r in rates]
    assert values == sorted(values, reverse=True), "the more each decision uses up, the less is left"
    assert values[0] > values[2]


@given(vector, vector, vector, st.floats(0.1, 0.5))
def test_a_silent_mate_is_looked_for_where_its_way_leads(pos, mate_pos, mate_vel, wait):
    """Across the line of sight nobody brakes for us: whether it is silent or not, its row has the same direction."""
    c, own = constants_of(PARAMS), Predicted(Motion(pos, (0.5, -0.3, 0.2)), *UNSURE)
    body = Body(Motion(mate_pos, mate_vel), wait, wait)
    silent, heard = (pair(c, own, body._replace(early_s=early), Floats) for early in (SILENT_S, 0.0))
    assert silent.normal == pytest.approx(heard.normal, abs=1e-12)
    assert silent.gap_m == pytest.approx(heard.gap_m, abs=1e-12)
    apart = np.array(mate_pos) + wait * np.array(mate_vel) - np.array(pos)
    assert silent.gap_m == pytest.approx(np.linalg.norm(apart * [1, 1, 0.5]) - 0.2, abs=1e-5)


@pytest.mark.parametrize("brake", [0.8, 1.6, 3.2])
def test_following_the_allowed_speed_never_takes_more_than_the_brake(params: SafetyParams, brake: float):
    c = constants_of(params)
    x = np.linspace(-0.1, 3, 20001)
    s = barriers.braking_speed(c.slope_per_s, x, brake, np)
    demand = s * np.gradient(s, x)
    assert demand.max() <= brake * (1 + 1e-3)
    assert np.gradient(s, x).max() <= c.slope_per_s * (1 + 1e-6)
    np.testing.assert_allclose(s[x <= 0], c.slope_per_s * x[x <= 0])  # who is too near backs off
    assert (s[x > 0] ** 2 <= 2 * brake * x[x > 0] + 1e-12).all()


def test_textbook_row_by_hand(exact: SafetyParams):
    c = constants_of(exact, "textbook")
    row = pairs.pair_textbook(
        c, c.mates, Motion((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)), fresh((2.2, 0.0, 1.0), (-1.0, 0.5, 0.0)), Floats
    )
    root = np.sqrt(2 * 3.2 * 2.0)
    assert row.value == pytest.approx(root - 2)
    assert row.bound.most == pytest.approx(0.5 * (-3.2 * 2 / root + 0.25 / 2.2 + 4 * (root - 2)))


def test_a_wall_stops_the_robot_in_front_of_it(exact: SafetyParams):
    c = bare(exact)
    gap, speed = 2.0, 1.2
    for _ in range(400):
        accel = min(barriers.wall(c, certain((0, 0, 0), (speed, 0, 0)), (0, 1.0), gap, Floats)[0].most, 3.0)
        gap, speed = gap - speed * c.step_s - accel * c.step_s**2 / 2, speed + accel * c.step_s
        assert gap > -1e-3
        assert accel > -1.61
    assert gap < 0.02


@given(st.floats(-0.5, 6), st.floats(-3, 3), st.floats(0, 0.4))
def test_far_from_a_wall_it_cannot_bind(gap, speed, error):
    c = constants_of(PARAMS)
    for bias, doubt, last in ((0.0, 0.0, 0.0), (0.5, 0.5, 3.0), (-0.5, 0.5, -3.0), (0.0, 0.9, -3.0)):
        known = ((bias, 0.0, 0.0), (doubt, 0.0, 0.0), (last, 0.0, 0.0))
        unsure = 0.05 + doubt * c.horizon_s**2 / 2, error + doubt * c.horizon_s
        own = Predicted(Motion((0, 0, 0), (speed, 0, 0)), (unsure[0], 0.1, 0.0), (unsure[1], 0.0, 0.1), *known)
        if barriers.far_from_wall(c, own, gap, speed):
            assert barriers.wall(c, own, (0, 1.0), gap, Floats)[0].most >= max(c.mates.reach_m_s2)


def test_a_plan_is_used_only_if_it_is_one(params: SafetyParams):
    c = constants_of(params)
    lead = c.horizon_s + c.period_s
    state = Motion((1.0, 0.0, 1.0), (0.5, 0.0, 0.0))
    real = Motion((1.0 + 0.5 * lead + 0.005, 0.0, 1.0), (0.6, 0.0, 0.0))
    stop = (real.pos[0] + 0.6**2 / (2 * c.brake_m_s2) + 0.02, 0.0, 1.0)
    found = pairs.mate_of(c, state, (real, stop), 0.2, Floats)
    assert found.motion == real
    assert (found.wait_s, found.since_s) == pytest.approx((0.2 - lead, 0.2))
    assert found.late_m == pytest.approx(0.02)
    assert found.early_s == c.spread_s, "older than its plan: it may have turned to a newer one that early"
    assert pairs.mate_of(c, state, (real, stop), lead, Floats).early_s == 0
    for fake, rest in (
        (state, stop),
        (Motion((0.0,) * 3, (0.0,) * 3), (0.0,) * 3),
        (Motion(real.pos, (5.0, 0.0, 0.0)), stop),
        (Motion((float("nan"),) * 3, real.vel), stop),
        (real, (real.pos[0] + 0.1, 0.0, 1.0)),  # nearer than it can brake: 0.11 m
        (real, (float("nan"),) * 3),
    ):
        found = pairs.mate_of(c, state, (fake, rest), 0.2, Floats)
        assert found.motion == state
        assert (found.wait_s, found.late_m, found.early_s) == (0.2, 0.0, 0.0)


def test_right_hand_sides_are_clipped_to_what_is_useful(params: SafetyParams):
    """From below at the acceleration that brakes for sure, error, bias and doubt taken off; never below the box."""
    c, normal, s = constants_of(params), (0.0, 0.0, 1.0), params.safety
    for bias, doubt in ((0.0, 0.0), (0.4, 0.1), (0.0, params.bias_m_s2[2])):
        own = certain((0, 0, 1), (0, 0, 0))._replace(bias=(0.0, 0.0, bias), doubt=(0.0, 0.0, doubt))
        hard = barriers.on_command(c, own, normal, (-50.0, -50.0), Floats)
        sure = s.brake_m_s2 + s.accel_error_m_s2 + bias + doubt
        assert barriers.clip(c, hard, Floats) == pytest.approx(-sure, abs=2e-6)
        assert barriers.clip(c, hard, Floats) >= c.low[2]
    assert barriers.clip(c, Bound(1.0, -1.9), Floats) == 1.0
    corner = np.linalg.norm(c.mates.reach_m_s2)
    assert barriers.clip(c, Bound(np.inf, -1.9), Floats) >= corner


def test_what_is_asked_for_beyond_the_last_command_is_granted_in_part(params: SafetyParams):
    """It may be in force for the spread of the delay longer than a period; what takes less than the last, at once."""
    c, normal = constants_of(params), (1.0, 0.0, 0.0)
    own = certain((0, 0, 1), (0, 0, 0))._replace(last=(0.5, 0.0, 0.0))
    error = params.safety.accel_error_m_s2
    more = barriers.on_command(c, own, normal, (2.0, 2.0), Floats).most
    assert more == pytest.approx(0.5 + (2.0 - error - 0.5) * c.sudden_share)
    assert barriers.on_command(c, own, normal, (0.6, 0.6), Floats).most == pytest.approx(0.6 - error)
    assert 0 < c.sudden_share <= c.period_s / (c.period_s + c.spread_s)
