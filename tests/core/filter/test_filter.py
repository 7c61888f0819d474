"""`SafetyFilter`: batch and single path, fallbacks, limits, and what it must not read."""

import dataclasses

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robomarl.core.filter.filter import Reason, SafetyFilter, SafetyParams
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.view import Plan
from tests.core.filter.views import PARAMS, leaves, make_view, pick, random_carry, random_views, replace_leaf

READ = {
    "own.pos_m",
    "own.vel_m_s",
    "own.age_s",
    "heard.mask",
    "heard.pos_m",
    "heard.vel_m_s",
    "heard.age_s",
    "heard.plan.pos_m",
    "heard.plan.vel_m_s",
    "heard.plan.stop_m",
}
REST = np.zeros(4)


def numbers(tree) -> np.ndarray:
    """All numbers of nested tuples in one vector."""
    return np.concatenate([np.ravel(np.asarray(value, float)) for _, value in leaves(tree)])


@pytest.mark.parametrize("mode", ["qp", "textbook", "off"])
def test_many_robots_at_once_are_filtered_like_each_alone(params: SafetyParams, random, mode):
    safety, num = SafetyFilter(params, mode), 150
    views, carries = random_views(random, num), random_carry(params, random, num)
    nominal = random.uniform(-4, 4, (num, 4))
    nominal[3, 1], views.own.pos_m[7, 0], views.own.vel_m_s[9] = np.nan, np.inf, np.nan
    views.heard.vel_m_s[11, 1], views.heard.age_s[13, 0], views.own.age_s[15] = np.nan, 0.7, 0.3
    together = safety(carries, views, nominal)
    for i in range(num):
        alone = safety(pick(carries, i), pick(views, i), nominal[i])
        np.testing.assert_allclose(numbers(alone), numbers(pick(together, i)), atol=1e-8, rtol=1e-9)
    assert len(set(together[1].reason.tolist())) >= (3 if mode == "qp" else 2)


def test_leading_axes_are_kept(params: SafetyParams, random):
    safety = SafetyFilter(params)
    views, nominal = random_views(random, 12), random.uniform(-4, 4, (12, 4))
    flat = safety(safety.init((12,)), views, nominal)
    folded = fold(views, (3, 4))
    found = safety(safety.init((3, 4)), folded, nominal.reshape(3, 4, 4))
    np.testing.assert_array_equal(found[1].command.reshape(12, 4), flat[1].command)


def fold(tree, lead):
    """The leading axis of every array, folded."""
    if isinstance(tree, tuple):
        return type(tree)(*(fold(part, lead) for part in tree))
    return np.reshape(tree, (*lead, *np.shape(tree)[1:]))


@given(st.lists(st.floats(-50, 50), min_size=4, max_size=4), st.integers(0, 10**6))
def test_input_limits_hold_always(nominal, seed):
    safety, random = SafetyFilter(PARAMS), np.random.default_rng(seed)
    views = random_views(random, 6)
    views.own.vel_m_s[0] *= 20
    views.heard.pos_m[1, 0] = views.own.pos_m[1]
    views.own.pos_m[2] += 10
    _, result = safety(random_carry(PARAMS, random, 6), views, np.array([nominal] * 6))
    low, high = PARAMS.limits.accel_min_m_s2, PARAMS.limits.accel_max_m_s2
    assert (result.command[:, :3] >= np.array(low) - 1e-9).all()
    assert (result.command[:, :3] <= np.array(high) + 1e-9).all()
    assert (np.abs(result.command[:, 3]) <= PARAMS.limits.yaw_rate_rad_s).all()
    assert (np.isfinite(result.slack) & (result.slack >= 0)).all()


def test_a_free_robot_gets_what_it_asks_for(params: SafetyParams):
    safety = SafetyFilter(params)
    asked = np.array([1.0, -2.0, 0.5, 0.3])
    carry, result = safety(safety.init(), make_view((0, 0, 1.5), (0, 0, 0)), asked)
    np.testing.assert_array_equal(result.command, asked)
    assert (result.active, result.reason, result.slack, result.margin_m) == (False, Reason.OK, 0.0, np.inf)
    assert result.solved
    np.testing.assert_array_equal(carry.commands[-1], asked)


def test_yaw_rate_is_clipped_and_reported(params: SafetyParams):
    safety = SafetyFilter(params)
    _, result = safety(safety.init(), make_view((0, 0, 1.5), (0, 0, 0)), np.array([0, 0, 0, 5.0]))
    assert result.command[3] == params.limits.yaw_rate_rad_s
    assert result.active
    assert result.reason == Reason.OK


def spoiled(name, index, value):
    def spoil(view):
        array = np.array(dict(leaves(view))[name], float)
        array[index] = value
        return replace_leaf(view, name, array)

    return spoil


FAULTS = {
    "own position": (spoiled("own.pos_m", 1, np.nan), Reason.NON_FINITE),
    "own velocity": (spoiled("own.vel_m_s", 0, np.inf), Reason.NON_FINITE),
    "own age": (spoiled("own.age_s", (), np.nan), Reason.NON_FINITE),
    "absurd position": (spoiled("own.pos_m", 2, 1e9), Reason.NON_FINITE),
    "mate position": (spoiled("heard.pos_m", (1, 1), np.nan), Reason.NON_FINITE),
    "mate velocity": (spoiled("heard.vel_m_s", (1, 2), -np.inf), Reason.NON_FINITE),
    "mate age": (spoiled("heard.age_s", 1, np.nan), Reason.NON_FINITE),
    "old mate": (spoiled("heard.age_s", 1, 0.51), Reason.STALE),
    "mate from the future": (spoiled("heard.age_s", 1, -0.51), Reason.STALE),
    "old estimate": (spoiled("own.age_s", (), 0.17), Reason.STALE),
}


def full_brake(params: SafetyParams, vel: np.ndarray) -> np.ndarray:
    """At the brake, whatever the error and the bias do, of which nothing is known."""
    way = vel / np.linalg.norm(vel)
    return -(params.safety.brake_m_s2 + params.safety.accel_error_m_s2 + np.abs(way) @ params.bias_m_s2) * way


@pytest.mark.parametrize("name", FAULTS)
def test_faults_brake_by_name_within_one_decision(params: SafetyParams, name: str):
    safety = SafetyFilter(params)
    spoil, reason = FAULTS[name]
    vel = np.array([0.9, -0.2, 0.3])
    view = make_view((0, 0, 1.5), vel, [((2, 0, 1.5), (0, 0, 0)), ((-2, 0, 1.5), (0, 0, 0))])
    _, fine = safety(safety.init(), view, np.array([1.0, 0, 0, 0.5]))
    assert fine.reason == Reason.OK
    carry, result = safety(safety.init(), spoil(view), np.array([1.0, 0, 0, 0.5]))
    assert result.reason == reason
    assert not result.solved
    assert result.active
    expected = np.zeros(3) if name == "own velocity" else full_brake(params, vel)
    np.testing.assert_allclose(result.command, [*expected, 0], atol=1e-9)
    assert np.isfinite(numbers(carry)).all()
    assert carry.ok == 0
    # As soon as the inputs are good again, so is the command.
    assert safety(carry, view, REST)[1].reason == Reason.OK


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_policy_that_answers_nan_keeps_every_constraint_and_its_place(params: SafetyParams, backend: str):
    safety = SafetyFilter(params, backend=backend)  # type: ignore[arg-type]
    near = make_view((0, 0, 1.5), (0, 0, 0), [((2, 0, 1.5), (0, 0, 0)), ((-2, 0, 1.5), (0, 0, 0))])
    carry, result = safety(safety.init(), near, np.full(4, np.nan))
    assert result.reason == Reason.NON_FINITE
    assert carry.place_m == pytest.approx((0, 0, 1.5))
    off = near._replace(own=near.own._replace(pos_m=np.array((0.0, 0.3, 1.5))))
    assert safety(carry, off, np.full(4, np.nan))[1].command[1] < -0.1, "it goes back to its place"
    close = make_view((0, 0, 1.5), (0.6, 0.5, 0), [((0.5, 0, 1.5), (0, 0, 0)), ((-2, 0, 1.5), (0, 0, 0))])
    wish, none = (safety(safety.init(), close, np.full(4, wish))[1] for wish in (0.0, np.nan))
    assert none.command[0] <= wish.command[0] < -1.0, "and has the constraint of its teammate"


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_an_estimate_that_is_nan_is_flown_blind(params: SafetyParams, backend: str):
    """The robot goes on from its plan, alone and among others in a batch."""
    safety, wish = SafetyFilter(params, backend=backend), np.array([0.5, 0, 0, 0])  # type: ignore[arg-type]
    view = make_view((0, 0, 1.5), (0.4, 0, 0), [((0.9, 0, 1.5), (0, 0, 0)), ((-2, 0, 1.5), (0, 0, 0))])
    carry, _ = safety(safety.init(), view, wish)
    spoilt = FAULTS["own position"][0](view)
    after, result = safety(carry, spoilt, wish)
    blind_after, blind = safety.blind(carry, view, np.array(params.safety.delay_s))
    assert result.reason == Reason.NON_FINITE
    np.testing.assert_allclose(result.command, blind, atol=1e-12)
    np.testing.assert_allclose(after.plan.pos_m, blind_after.plan.pos_m, atol=1e-12)
    two = tuple(jax.tree.map(lambda *leaves: np.stack(leaves), *pair) for pair in ((carry, carry), (view, spoilt)))
    both_after, both = safety(*two, np.stack([wish, wish]))  # type: ignore[call-arg]
    assert list(both.reason) == [Reason.OK, Reason.NON_FINITE]
    np.testing.assert_allclose(both.command, [safety(carry, view, wish)[1].command, blind], atol=1e-9)
    np.testing.assert_allclose(both_after.plan.stop_m[1], blind_after.plan.stop_m, atol=1e-12)


@pytest.mark.parametrize("age_s", [0.51, -0.51])
def test_who_fell_silent_has_no_row_and_the_others_keep_theirs(params: SafetyParams, age_s: float):
    """Who is not heard brakes within the rows of those that are; nobody flees from where the silent one may be."""
    safety, brake = SafetyFilter(params), np.array([*full_brake(params, np.array([0.8, 0, 0])), 0])
    both = make_view((0, 0, 1.5), (0.8, 0, 0), [((0.1, 0.8, 1.5), (0, -0.8, 0)), ((0.3, -0.4, 1.5), (0, 0, 0))])
    one = both._replace(heard=both.heard._replace(mask=np.array([True, False])))
    heard, alone = (safety(safety.init(), view, brake)[1].command for view in (both, one))
    assert alone[1] < -0.5, "the first one binds"
    assert heard[1] > alone[1] + 0.1, "and so does the second, while it is heard"
    _, result = safety(safety.init(), spoiled("heard.age_s", 1, age_s)(both), np.array([1.0, 0, 0, 0.5]))
    assert result.reason == Reason.STALE
    np.testing.assert_allclose(result.command, alone, atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_a_nominal_that_is_not_finite_brakes(params: SafetyParams, bad: float):
    safety = SafetyFilter(params)
    _, result = safety(safety.init(), make_view((0, 0, 1.5), (0, 0.9, 0)), np.array([0, 0, 0, bad]))
    assert result.reason == Reason.NON_FINITE
    np.testing.assert_allclose(result.command, [*full_brake(params, np.array([0, 0.9, 0])), 0], atol=1e-9)


def test_too_few_mates_brake(params: SafetyParams):
    safety = SafetyFilter(dataclasses.replace(params, min_mates=2))
    mates = [((2, 0, 1.5), (0, 0, 0)), ((-2, 0, 1.5), (0, 0, 0))]
    both = make_view((0, 0, 1.5), (0, 0, 0), mates)
    assert safety(safety.init(), both, REST)[1].reason == Reason.OK
    one = make_view((0, 0, 1.5), (0, 0, 0), mates, mask=[True, False])
    assert safety(safety.init(), one, REST)[1].reason == Reason.MISSING


def test_a_robot_in_a_vice_breaks_its_rows_least_and_says_infeasible(params: SafetyParams):
    safety = SafetyFilter(params)
    mates = [((0.35, 0.1, 1.5), (0, 0, 0)), ((-0.35, 0.1, 1.5), (0, 0, 0))]
    _, result = safety(safety.init(), make_view((0, 0, 1.5), (0, 0.2, 0), mates), np.array([0, 3.0, 0, 0]))
    assert result.reason == Reason.INFEASIBLE
    assert result.slack > 0
    # They ask for as much to the left as to the right, and both, 7 cm ahead by then, for some braking.
    assert result.command[0] == pytest.approx(0, abs=1e-9)
    assert result.command[1] <= -0.2 / 0.18 * constants_of(params).settle_share, "and goes there from the last command"
    assert result.command[2] == pytest.approx(0, abs=1e-9)
    beside = make_view((0.02, 0, 1.5), (0, 0.2, 0), mates)
    assert safety(safety.init(), beside, np.zeros(4))[1].command[0] < 0, "away from the nearer one"


def test_more_than_the_brake_is_asked_of_nobody_but_reported(params: SafetyParams):
    """A mate that comes from behind, too fast: evade as hard as the brake would, and say by how much it misses."""
    safety = SafetyFilter(params)
    view = make_view((0, 0, 1.5), (0.5, 0, 0), [((0.6, 0, 1.5), (-1.2, 0, 0))])
    _, result = safety(safety.init(), view, np.array([3.0, 0, 0, 0]))
    assert result.reason == Reason.OK
    assert result.command[0] == pytest.approx(full_brake(params, np.array([1.0, 0, 0]))[0], abs=1e-5)
    assert result.slack > 0


def test_mates_that_were_not_heard_do_not_count(params: SafetyParams):
    safety = SafetyFilter(params)
    view = make_view(
        (0, 0, 1.5), (0, 0, 0), [((np.nan, 0, 0), (0, 0, 0)), ((0.1, 0, 1.5), (0, 0, 0))], mask=[False] * 2
    )
    _, result = safety(safety.init(), view, np.array([1.0, 0, 0, 0]))
    assert result.command.tolist() == [1, 0, 0, 0]
    assert result.margin_m == np.inf


def test_nobody_in_a_team_of_one(params: SafetyParams):
    safety = SafetyFilter(params)
    view = random_views(np.random.default_rng(0), 5, mates=0)
    _, result = safety(safety.init((5,)), view, np.zeros((5, 4)))
    assert (result.margin_m == np.inf).all()


@pytest.mark.parametrize("name", sorted({name for name, _ in leaves(random_views(np.random.default_rng(0), 1))} - READ))
def test_what_it_must_not_read_changes_nothing(params: SafetyParams, random, name: str):
    safety, num = SafetyFilter(params), 20
    views, carries, nominal = (
        random_views(random, num),
        random_carry(params, random, num),
        random.uniform(-3, 3, (20, 4)),
    )
    other = replace_leaf(views, name, np.asarray(dict(leaves(views))[name]) + 7)
    np.testing.assert_array_equal(numbers(safety(carries, views, nominal)), numbers(safety(carries, other, nominal)))
    alone = safety(pick(carries, 0), pick(other, 0), nominal[0])
    np.testing.assert_array_equal(numbers(alone), numbers(safety(pick(carries, 0), pick(views, 0), nominal[0])))


def test_rows_that_were_not_heard_change_nothing(params: SafetyParams, random):
    safety = SafetyFilter(params)
    views, nominal = random_views(random, 30), random.uniform(-3, 3, (30, 4))
    silent = ~views.heard.mask
    first = safety(safety.init((30,)), views, nominal)
    for array in (views.heard.pos_m, views.heard.vel_m_s, views.heard.age_s, views.heard.plan.pos_m):
        array[silent] = np.nan
    np.testing.assert_array_equal(numbers(first), numbers(safety(safety.init((30,)), views, nominal)))


def test_it_is_a_pure_function(params: SafetyParams, random):
    safety, num = SafetyFilter(params), 40
    views, carries, nominal = (
        random_views(random, num),
        random_carry(params, random, num),
        random.uniform(-3, 3, (num, 4)),
    )
    before = numbers(views), numbers(carries), nominal.copy()
    first = [safety(pick(carries, i), pick(views, i), nominal[i]) for i in range(num)]
    again = [safety(pick(carries, i), pick(views, i), nominal[i]) for i in reversed(range(num))]
    for one, two in zip(first, reversed(again), strict=True):
        np.testing.assert_array_equal(numbers(one), numbers(two))
    safety(carries, views, nominal)
    for old, new in zip(before, (numbers(views), numbers(carries), nominal), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_plan_gives_room_that_a_bare_state_does_not(params: SafetyParams):
    """A mate that is known to brake may be approached faster than one of which only an old state is known."""
    safety = SafetyFilter(params)
    view = make_view((0, 0, 1.5), (0.5, 0, 0), [((1.2, 0, 1.5), (-0.5, 0, 0))])
    plan = Plan(np.array([[1.145, 0, 1.5]]), np.array([[-0.3, 0, 0]]), np.array([[1.1, 0, 1.5]]))
    planned = view._replace(heard=view.heard._replace(plan=plan))
    asked = np.array([3.0, 0, 0, 0])
    without, with_plan = (safety(safety.init(), v, asked)[1].command[0] for v in (view, planned))
    assert with_plan > without + 0.5


def test_the_committed_plan_is_what_the_robot_then_flies(params: SafetyParams):
    """Steady commands: the plan is the state `horizon + period` later, and the stop point lies beyond it."""
    safety = SafetyFilter(dataclasses.replace(params, arena=None))
    asked = np.array([0.5, 0, 0, 0])
    carry, pos, vel = safety.init()._replace(commands=np.tile(asked, (8, 1))), np.array([0, 0, 1.5]), np.zeros(3)
    for _ in range(20):
        carry, _ = safety(carry, make_view(pos, vel), asked)
        before, before_vel = pos, vel
        pos, vel = pos + vel * 0.02 + asked[:3] * 0.02**2 / 2, vel + asked[:3] * 0.02
    t = 0.16 + 0.02
    np.testing.assert_allclose(carry.plan.pos_m, before + before_vel * t + asked[:3] * t**2 / 2, atol=1e-6)
    np.testing.assert_allclose(carry.plan.vel_m_s, before_vel + asked[:3] * t, atol=1e-6)
    brake = np.linalg.norm(carry.plan.vel_m_s) ** 2 / 3.2
    # Lengths of 0 count as 1 um.
    np.testing.assert_allclose(carry.plan.stop_m - carry.plan.pos_m, np.array([brake, 0, 0]), atol=3e-6)
    assert carry.bias.misfits == 0


def test_good_decisions_are_counted(params: SafetyParams):
    safety = SafetyFilter(params)
    carry, view = safety.init(), make_view((0, 0, 1.5), (0, 0, 0))
    for expected in (1, 2, 3):
        carry, _ = safety(carry, view, REST)
        assert carry.ok == expected
    assert safety(carry, view, REST + np.nan)[0].ok == 0


def test_unknown_modes_are_refused(params: SafetyParams):
    with pytest.raises(ValueError, match="allowed: qp, textbook, off"):
        SafetyFilter(params, "full")  # type: ignore[arg-type]
