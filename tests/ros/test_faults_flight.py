"""Faults of sensors, radio, machine and disk in flight, over real DDS, in real processes.

One team flies, one fault after the other. Limits in ticks are held against the ticks that the robots report.
`fault` says what each test holds; `docs/faults.md` is made of that.
"""

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.filter.filter import Reason
from robomarl.core.view import Goal, Plan
from robomarl.ros import topics
from robomarl.ros.io.fast_messages import BroadcastWriter
from robomarl.ros.io.node_base import publisher
from robomarl.ros.robot.inbox import Broadcast
from robomarl.ros.robot.state_machine import Order, State
from tests.ros.faultrig import LEFT, ROBOTS, FaultRig, accelerations, blind, fault

pytestmark = [pytest.mark.ros, pytest.mark.alone]
STALE_S = 0.16
"""The vehicle's `delay_s`: older estimates are not flown on."""
MATE_STALE_S = 0.5
"""The vehicle's `max_age_s`."""


def returns_to_the_policy(rig: FaultRig) -> None:
    rig.set(sensor=[""], cut=[""], delay_s=0.0)
    rig.forget()
    rig.wait_for_rows("left", lambda row: row["state"] == State.ACTIVE and row["reason"] == Reason.OK)


@fault(
    "The sensor fails: old values under new stamps, the same message again, stamps 10 s ahead or behind, NaN, silence, "
    "another place a metre off",
    "blind brake; it flies on when the sensor is back before `silent_after_s`",
    "1 tick after the limit (`frozen_after_s` for old values, `delay_s` for age, at once for NaN, the future and "
    "what is further off than the vehicle can move)",
    "policy_node: `odometry: ...` says which; `estimates_jumped` counts",
)
@pytest.mark.parametrize(
    ("fault", "words"),
    [("frozen", "has not changed in any bit"), ("nan", "is not finite"), ("jump", "jumped by"),
     *(pytest.param(fault, words, marks=pytest.mark.slow) for fault, words in (
         ("same", "s old, last delivered"), ("future", "in the future"), ("late", "s old, last delivered"),
         ("silent", "s old, last delivered")))],
)  # fmt: skip
def test_sensor(flying: FaultRig, fault: str, words: str):
    flying.set(sensor=[f"left={fault}"])
    rows = flying.wait_for_rows("left", blind, 5)
    flying.wait_for_words(LEFT, "odometry", words)
    assert np.isfinite(accelerations(rows)).all()
    for name in ("right", *(["left"] if fault in ("same", "late", "silent") else [])):
        # What its age says is what it does, at every single tick.
        active = [row for row in flying.rows[name] if row["active"]]
        ages = np.array([max(row["odometry.source_age_s"], row["odometry.delivery_age_s"]) for row in active])
        np.testing.assert_array_equal([blind(row) for row in active], ages > STALE_S)
    returns_to_the_policy(flying)


@fault(
    "A team-mate is not heard any more, and comes back",
    "the filter brakes; then the fleet's rule (here: hold), and it stays so when the mate is back, until an "
    "operator activates",
    "1 tick after `max_age_s`; the rule 1 tick after `robot_lost_after_s`",
    "policy_node: `HOLD`, `right: ... s old`",
)
def test_neighbour_drops_out_and_comes_back(flying: FaultRig):
    flying.set(cut=["right>left"])
    flying.wait_for_state(State.HOLD, "left")
    rows = [row for row in flying.rows["left"] if row["state"] == State.ACTIVE]
    ages = np.array([max(row["right.source_age_s"], row["right.delivery_age_s"]) for row in rows])
    braked = np.array([row["reason"] != Reason.OK for row in rows])
    assert braked[ages > MATE_STALE_S].all()
    assert (ages > MATE_STALE_S).any()
    flying.wait_for_words(LEFT, "HOLD")
    flying.set(cut=[""])
    flying.forget()
    flying.wait_for_rows("left", lambda row: row["right.source_age_s"] < 0.2)
    flying.wait_for_state(State.HOLD, "left")
    assert flying.order(Order.ACTIVATE, "left") == ""
    flying.wait_for_state(State.ACTIVE, "left")


@fault(
    "A team-mate's messages come 0.8 s late, one after the other",
    "the filter brakes, because the source age counts; it flies on when they are fresh",
    "1 tick after `max_age_s`",
    "policy_node: `right: 0.8 s old, last delivered 0.0 s ago`",
)
@pytest.mark.slow
def test_neighbour_sends_late(flying: FaultRig):
    flying.set(delay_s=0.8)
    rows = flying.wait_for_rows("left", lambda row: row["reason"] in (Reason.STALE, Reason.MISSING), 5)
    assert all(row["right.source_age_s"] > MATE_STALE_S for row in rows[2:])
    flying.wait_for_words(LEFT, "right", "s old, last delivered")
    returns_to_the_policy(flying)


@fault(
    "30 % of all radio messages are lost; nobody hears anybody for 200 ms",
    "the flight goes on",
    "-",
    "link: `lost`; policy_node: `messages_lost`",
)
def test_loss_of_30_percent_and_a_short_partition(flying: FaultRig):
    flying.set(loss=0.3)
    flying.wait_for_rows("left", lambda row: True, 60)
    flying.wait_for_words("/link", "lost")
    flying.set(loss=0.0, cut=["left"])
    begin = len(flying.rows["left"])
    flying.wait(lambda: len(flying.rows["left"]) >= begin + 10, "10 ticks, which is 200 ms")
    flying.set(cut=[""])
    flying.wait_for_rows("left", lambda row: True, 80)
    for name in ROBOTS:
        assert {row["state"] for row in flying.rows[name]} == {State.ACTIVE}
    lost = [int(values["lost"]) for _, values in flying.said["/link"]]
    assert lost[-1] > 5


@fault(
    "A tick takes far longer than its period (the process stands still for a while)",
    "missed ticks are left out, not made up for; memories start again",
    "the next tick",
    "policy_node: `ticks_skipped`",
)
def test_overrun(flying: FaultRig):
    before = flying.wait_for_rows("left", lambda row: True)[-1]["skipped"]
    flying.send(signal.SIGSTOP, LEFT)
    flying.wait_for_rows("right", lambda row: row["left.delivery_age_s"] > 0.15, 1)
    flying.send(signal.SIGCONT, LEFT)
    rows = flying.wait_for_rows("left", lambda row: row["skipped"] > before + 3, 20)
    stamps = np.array([row["stamp_s"] for row in rows])
    assert (np.diff(stamps) < 0.25 * 0.02).sum() <= 1  # no burst; the stamp is taken a little after a tick's start

    def said() -> bool:
        counts = [int(values["ticks_skipped"]) for _, values in flying.said.get(LEFT, [])]
        return bool(counts) and counts[-1] > before + 3

    flying.wait(said, "the diagnostic to say so")


@fault(
    "A robot is told a goal outside the arena or that is not a number, or a goal too near to a team-mate's",
    "it stays where it is, or flies on to the goal of before, and goes on with the next good goal; the monitor tells "
    "of two goals that are too near to each other",
    "at once; diagnostics each second",
    "policy_node: `goal: refused, ...` or `refused /left/goal`; monitor: `the goals of left and right are ... m "
    "apart`; level WARN",
)
def test_goals_that_robots_cannot_rest_at(flying: FaultRig):
    right = flying.goals["right"]

    def tell(x: float, y: float, z: float) -> None:
        flying.console.send_goals({"left": Goal(np.array([x, y, z]), right.quat_wxyz)})

    flying.forget()
    for place, words in (((40.0, 0.0, 1.0), "-3.5 to 3.5 m"), ((0.5, 0.5, -5.0), "0.1 to 3 m")):
        tell(*place)
        flying.wait_for_words(LEFT, "ACTIVE: does not go to its goal", f"{place[0]:g}", words)
        flying.forget()
        flying.wait_for_rows("left", lambda row: True, 50)
        away_m = [[value for name, value in row.items() if "goal_error" in name] for row in flying.rows["left"]]
        assert np.shape(away_m)[1] == 3
        assert np.linalg.norm(away_m, axis=1).max() < 0.5  # from where it was when it was told
    tell(float("nan"), 0.0, 1.0)
    flying.wait_for_words(LEFT, "refused /left/goal", "is not finite")
    flying.forget()
    tell(*(right.pos_m + [0.0, 0.34, 0.0]))
    flying.wait_for_words("/monitor: goals", "left and right are 0.34 m apart", "robots rest no nearer than")
    flying.wait_for_words(LEFT, "ACTIVE: ok")


@fault(
    "A team-mate sends what is not a number: beside its true messages, and in place of them",
    "such a message is none: beside true ones nothing changes; without them the team-mate ages, and the filter brakes",
    "1 tick after `max_age_s`",
    "policy_node: `messages_refused`, `refused TOPIC` with sender and field; `right: ... s old ...; refused since`",
)
def test_neighbour_sends_what_is_not_a_number(flying: FaultRig):
    name = topics.linked(topics.STATE_AND_PLAN, "left", "right")
    liar = publisher(flying.node, topics.STATE_AND_PLAN, name)
    flying.console.wait(lambda: liar.get_subscription_count() > 0, 10, "its reader")
    write, nothing = BroadcastWriter("right"), np.full(3, np.nan)
    plan = Plan(np.zeros(3), np.zeros(3), nothing)  # all but the plan's end could be meant
    said = Broadcast(np.zeros(3), np.zeros(3), plan)

    def lies() -> None:
        flying.listen()
        liar.publish(write(said, flying.node.get_clock().now().nanoseconds * 1e-9, (0.2, 0.2)))

    flying.forget()
    flying.console.wait(lambda: lies() or len(flying.rows["left"]) >= 100, 30, "100 ticks")
    assert {row["state"] for row in flying.rows["left"]} == {State.ACTIVE}
    assert Reason.NON_FINITE not in {row["reason"] for row in flying.rows["left"]}
    flying.wait_for_words(LEFT, "refused", "points[2].transforms[0].translation.x is not finite: nan")
    assert any(int(values["messages_refused"]) > 0 for _, values in flying.said[LEFT])
    flying.set(cut=["right>left"])
    flying.forget()

    def ages() -> bool:
        lies()
        return any(row["reason"] != Reason.OK for row in flying.rows["left"]) and "refused since" in str(flying.said)

    flying.console.wait(ages, 30, "the filter to brake")
    rows = [row for row in flying.rows["left"] if row["state"] == State.ACTIVE]
    old = np.array([max(row["right.source_age_s"], row["right.delivery_age_s"]) for row in rows]) > MATE_STALE_S
    reasons = np.array([row["reason"] for row in rows])
    assert old.any()
    assert (reasons[old] != Reason.OK).all()
    assert Reason.NON_FINITE not in reasons
    assert np.isfinite(accelerations(rows)).all()
    flying.node.destroy_publisher(liar)


@fault(
    "The disk is full while recording",
    "recording ends, what was written can be read; nobody else notices",
    "-",
    "recorder: `recording stopped`",
)
def test_disk_full(flying: FaultRig):
    bag = max(flying.files.folder.glob("bag/*.mcap"), key=lambda path: path.stat().st_mtime)
    flying.limit_file_size("/recorder", bag.stat().st_size + 4096)
    flying.wait_for_words("/recorder", "recording stopped")
    flying.forget()
    flying.wait_for_rows("left", lambda row: row["state"] == State.ACTIVE, 20)
    flying.team.processes.check()  # the recorder is still there, and says so
