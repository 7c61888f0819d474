# pyright: reportArgumentType=false
"""Messages in, view out; what is missing or stale is named."""

import numpy as np
import pytest

from robomarl.core.view import Goal, Plan, blank_view
from robomarl.ros.io.messages import Detections
from robomarl.ros.robot.certified.words import NUMBERS, TeamWords
from robomarl.ros.robot.inbox import Broadcast, Estimate, Inbox, InboxLimits, InputSnapshot, Now

TEAM = ("a", "b", "c")
UP = np.array([1.0, 0, 0, 0])
LIMITS = InboxLimits(own_age_s=0.08, mate_age_s=0.5)


def estimate(x: float = 0.0) -> Estimate:
    return Estimate(np.array([x, 0, 1.0]), UP, np.full(3, 0.1), np.full(3, 0.2))


def said(x: float = 0.0) -> Broadcast:
    return Broadcast(np.array([x, 1, 1]), np.full(3, 0.3), Plan(np.full(3, 1.0), np.full(3, 2.0), np.full(3, x)))


def full(index: int = 1, limits: InboxLimits = LIMITS, stamp_s: float = 100.0) -> Inbox:
    """Of robot b, everything at 100 s by the stamps' clock and 5 s by the steady one."""
    inbox = Inbox(TEAM, index, limits)
    inbox.put_own(estimate(), stamp_s, 5.0)
    inbox.put_goal(Goal(np.full(3, 3.0), UP))
    for number, name in enumerate(inbox.mates):
        inbox.put_mate(name, said(number), stamp_s, 5.0)
    return inbox


def read(inbox: Inbox, after_s: float = 0.02, stamp_after_s: float | None = None) -> InputSnapshot:
    return inbox.read(Now(100.0 + (after_s if stamp_after_s is None else stamp_after_s), 5.0 + after_s))


def names(reading: InputSnapshot) -> list[str]:
    return [problem.source for problem in reading.problems]


def test_rows_follow_the_index_as_in_the_simulator():
    assert full(0).mates == ("b", "c")
    assert full(1).mates == ("c", "a")
    assert full(2).mates == ("a", "b")


def test_a_full_inbox_is_a_view_without_problems():
    reading = read(full())
    view = reading.view
    assert reading.problems == ()
    assert reading.own_ok
    np.testing.assert_array_equal(view.own.pos_m, estimate().pos_m)
    assert view.own.age_s == pytest.approx(0.02)
    np.testing.assert_array_equal(view.heard.mask, [True, True])
    np.testing.assert_array_equal(view.heard.pos_m, [said(0).pos_m, said(1).pos_m])
    np.testing.assert_array_equal(view.heard.plan.stop_m, [said(0).plan.stop_m, said(1).plan.stop_m])
    np.testing.assert_allclose(view.heard.age_s, 0.02)
    np.testing.assert_array_equal(view.goal.pos_m, [3, 3, 3])


def test_the_view_has_the_shapes_of_all_views():
    view, blank = read(full()).view, blank_view(2)

    def shapes(value):
        return [s for part in value for s in shapes(part)] if hasattr(value, "_fields") else [np.shape(value)]

    assert shapes(view) == shapes(blank)


def test_an_empty_inbox_names_everything():
    reading = Inbox(TEAM, 1, LIMITS).read(Now(100.0, 5.0))
    assert names(reading) == ["odometry", "goal", "c", "a"]
    assert not reading.own_ok
    assert not reading.view.heard.mask.any()
    assert not reading.view.heard.pos_m.any()
    assert np.isinf(reading.source_age_s).all()


@pytest.mark.parametrize(("after_s", "stale"), [(0.07, False), (0.09, True)])
def test_an_old_estimate_is_stale(after_s: float, stale: bool):
    reading = read(full(), after_s)
    assert reading.own_ok is not stale
    assert names(reading) == (["odometry"] if stale else [])


def test_a_silent_mate_is_a_problem_but_stays_in_the_view_with_its_age():
    inbox = full()
    inbox.put_own(estimate(1), 100.6, 5.6)
    inbox.put_mate("a", said(1), 100.6, 5.6)
    reading = inbox.read(Now(100.61, 5.61))
    assert names(reading) == ["c"]
    assert reading.own_ok
    assert reading.view.heard.mask.all()
    np.testing.assert_allclose(reading.view.heard.age_s, [0.61, 0.01])


def test_the_larger_of_source_and_delivery_age_counts():
    late_delivery = read(full(), after_s=0.01, stamp_after_s=0.2)  # stamped long ago, arrived now
    frozen_receiver = read(full(), after_s=0.2, stamp_after_s=0.01)  # fresh stamp, but nothing arrives
    for reading in (late_delivery, frozen_receiver):
        assert names(reading) == ["odometry"]
        assert reading.view.own.age_s == pytest.approx(0.2)
    assert (late_delivery.source_age_s[0], late_delivery.delivery_age_s[0]) == pytest.approx((0.2, 0.01))


def test_a_stamp_from_the_future_is_not_used():
    inbox = full()
    inbox.put_mate("a", said(), 101.0, 5.0)
    reading = read(inbox)
    assert names(reading) == ["a"]
    assert "in the future" in str(reading.problems[0])
    np.testing.assert_array_equal(reading.view.heard.mask, [True, False])
    inbox.put_own(estimate(2), 101.0, 5.0)
    assert not read(inbox).own_ok


def test_a_small_clock_difference_is_none():
    inbox = full(stamp_s=100.03)
    reading = read(inbox, 0.0)
    assert reading.problems == ()
    assert reading.view.own.age_s == 0


def test_late_samples_do_not_replace_newer_ones():
    inbox = full()
    inbox.put_own(estimate(9), 99.9, 5.01)
    inbox.put_mate("a", said(9), 100.0, 5.01)
    view = read(inbox).view
    assert view.own.pos_m[0] == 0
    assert view.heard.plan.stop_m[1, 0] == 1


def test_a_clock_that_was_set_back_does_not_deafen_for_ever():
    inbox = full()
    inbox.put_own(estimate(9), 90.0, 5.2)
    assert inbox.read(Now(90.01, 5.21)).view.own.pos_m[0] == 9


def test_an_estimate_that_never_changes_is_stale_although_its_stamps_advance():
    inbox = full()
    for step in range(1, 60):
        inbox.put_own(estimate(), 100 + 0.02 * step, 5 + 0.02 * step)
    reading = inbox.read(Now(101.19, 6.19))
    assert names(reading)[0] == "odometry"
    assert "has not changed in any bit" in str(reading.problems[0])
    inbox.put_own(estimate(1e-9), 101.2, 6.2)
    assert inbox.read(Now(101.21, 6.21)).own_ok


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e7, -1e300])
def test_what_is_not_finite_is_not_flown_on(bad: float):
    inbox = full()
    inbox.put_own(estimate(bad), 100.01, 5.01)
    assert not read(inbox).own_ok


def broken_parts() -> list[tuple[str, Broadcast]]:
    """What a team-mate says with one part that can't be meant; its state is sound where the plan is not."""
    good, far = said(), np.array([0.0, np.nan, 0.0])
    parts = [("state", good._replace(pos_m=far)), ("state", good._replace(vel_m_s=far))]
    parts += [("plan", good._replace(plan=good.plan._replace(**{name: far}))) for name in Plan._fields]
    seen = Detections(("ball",), far[None], np.zeros((1, 3)), 0.1)
    return [*parts, ("seen", good._replace(seen=seen)), ("seen", good._replace(seen=seen._replace(pos_m=-far[None])))]


@pytest.mark.parametrize("at", range(len(broken_parts())))
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39])
def test_what_a_mate_can_not_mean_is_no_message_and_the_mate_ages(at: int, bad: float):
    inbox, (_, broken) = full(), broken_parts()[at]
    broken = fill(broken, bad)
    before = read(inbox).view
    why = inbox.put_mate("a", broken, 100.4, 5.4)
    assert "a number is" in why
    inbox.put_own(estimate(1), 100.41, 5.41)
    reading = inbox.read(Now(100.41, 5.41))
    assert reading.problems == (), "the last good message still counts"
    np.testing.assert_allclose(reading.view.heard.age_s, 0.41)
    np.testing.assert_array_equal(reading.view.heard.pos_m, before.heard.pos_m)
    inbox.put_own(estimate(2), 100.6, 5.6)
    reading = inbox.read(Now(100.6, 5.6))
    assert names(reading) == ["c", "a"]
    assert "0.60 s old" in reading.problems[1].text
    assert reading.problems[1].text.endswith(f"refused since: {why}")
    inbox.put_mate("a", said(), 100.6, 5.6)
    assert names(inbox.read(Now(100.6, 5.6))) == ["c"]


def fill(tree, bad: float):
    """NaN becomes `bad`."""
    if isinstance(tree, tuple):
        parts = [fill(part, bad) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    return np.where(np.isnan(tree), bad, tree) if isinstance(tree, np.ndarray) else tree


def test_a_mate_that_never_said_anything_sound_is_named():
    inbox = Inbox(TEAM, 1, LIMITS)
    inbox.put_mate("a", fill(broken_parts()[2][1], np.nan), 100.0, 5.0)
    problems = {problem.source: problem.text for problem in inbox.read(Now(100.0, 5.0)).problems}
    assert problems["a"] == "nothing received yet; refused: a number is not finite: nan"
    assert problems["c"] == "nothing received yet"


def test_a_stamp_ahead_of_the_clock_is_no_message():
    """It took the place of what had come before, and shut out all that came after it until it was old."""
    inbox = full()
    inbox.now_s = 100.01
    assert "in the future" in inbox.put_mate("a", said(9), 103.0, 5.01)
    reading = read(inbox)
    assert reading.problems == ()
    assert reading.view.heard.mask.all()
    inbox.now_s = 100.03
    assert inbox.put_mate("a", said(7), 100.03, 5.03) == ""
    assert read(inbox, 0.04).view.heard.plan.stop_m[1, 0] == 7


def test_an_own_estimate_that_its_reader_refused_is_named_at_once():
    inbox = full()
    inbox.refuse("odometry", "pose.pose.position.x is not finite: nan")
    reading = read(inbox)
    assert not reading.own_ok
    assert str(reading.problems[0]) == "odometry: refused: pose.pose.position.x is not finite: nan"
    inbox.put_own(estimate(1), 100.02, 5.02)
    assert read(inbox).own_ok


def test_a_stranger_counts_as_not_heard():
    inbox = full()
    inbox.expect_bundle("f" * 64)
    assert names(read(inbox)) == ["c", "a"]
    inbox.put_bundle("a", "f" * 64)
    inbox.put_bundle("c", "0" * 64)
    reading = read(inbox)
    assert names(reading) == ["c"]
    assert "flies bundle 000000000000" in str(reading.problems[0])
    np.testing.assert_array_equal(reading.view.heard.mask, [False, True])
    inbox.expect_bundle("f" * 64, {"c": "carrier_600"})
    np.testing.assert_array_equal(read(inbox).view.heard.mask, [True, True])


def test_words_wait_until_they_are_older_than_clocks_differ():
    """A message of 1 ms ago may, by this robot's clock, not be said yet: the words of before still count. Messages that
    come 1 ms before each tick are read one tick later each."""
    inbox, mate, found = full(), full().mates.index("a"), []
    for tick in range(5):
        words = TeamWords(("b",), np.full((3, NUMBERS), tick + 1.0))
        inbox.put_mate("a", said(tick)._replace(words=words), 100.001 + 0.02 * tick, 5.019 + 0.02 * tick)
        reading = read(inbox, 0.02 + 0.02 * tick)
        assert reading.view.heard.pos_m[mate, 0] == tick, "the state counts at once"
        told = reading.told[mate]
        found.append(None if told is None else float(told.word.course.brake_m_s2))
        again = read(inbox, 0.0205 + 0.02 * tick).told[mate]
        assert again is told, "half a millisecond later it is no older"
    assert found == [None, 1, 2, 3, 4]
    told = read(inbox, 0.1015).told[mate]
    assert told is not None and told.word.course.brake_m_s2 == 5
