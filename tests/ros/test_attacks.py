"""A stranger on the network of a flying team: what it sends must not end a loop. Real processes, real DDS."""

import time
from collections.abc import Callable

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.ros import topics
from robomarl.ros.io.node_base import publisher
from robomarl.ros.robot.state_machine import Order, State
from robomarl.ros.topics import linked
from tests.ros.faultrig import LEFT, ROBOTS, FaultRig
from tests.ros.malformed import FAR, TEN, attackers, far_away, far_stamp, stream

pytestmark = pytest.mark.ros
RATE_HZ = 400.0
"""Of malformed messages, over all topics: queues must have room for what is real."""

LISTEN_EVERY = 40


def assert_flies_on(rig: FaultRig) -> None:
    """All processes live, and every robot goes on to tick, to fly, and to say so."""
    rig.forget()
    for name in ROBOTS:
        rig.wait_for_rows(name, lambda row: row["state"] == State.ACTIVE, 30)
        rig.wait_for_words(f"/{name}/policy_node", "ACTIVE")
    assert not rig.team.processes.dead()
    assert not [line for line in rig._lines if "tick failed" in line or "Traceback" in line]


def test_ten_bytes_on_any_topic_end_no_loop(flying: FaultRig):
    made = attackers(flying.node, ROBOTS)
    flying.console.wait(lambda: all(out.get_subscription_count() for t, out in made if t is not topics.CLOCK), 30,
                        "somebody to listen")  # fmt: skip
    for _ in range(3):
        for topic, out in made:
            if topic not in (topics.ESTOP, topics.CLOCK):  # of which ten zeros are one: released, and the epoch
                out.publish(TEN)
        flying.console.poll(0.05)
    assert_flies_on(flying)
    for _, out in made:
        flying.node.destroy_publisher(out)


def test_a_stamp_beyond_any_clock_ends_no_loop(flying: FaultRig):
    """Own estimates are told on under their own stamp."""
    own = topics.ODOMETRY
    out = publisher(flying.node, own, linked(own, "left", "left"))
    flying.console.wait(lambda: out.get_subscription_count() > 0, 30, "left to listen")
    for _ in range(3):
        out.publish(far_stamp(own))
        flying.console.poll(0.3)
    assert_flies_on(flying)
    flying.node.destroy_publisher(out)


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        (topics.GOAL, topics.GOAL.of("left")),
        (topics.STATE_AND_PLAN, linked(topics.STATE_AND_PLAN, "left", "right")),
    ],
)
def test_places_that_are_none_end_no_flight(flying: FaultRig, topic: topics.Topic, name: str):
    """The last one stays the newest for as long as a robot would need to give up."""
    out = publisher(flying.node, topic, name)
    flying.console.wait(lambda: out.get_subscription_count() > 0, 30, "left to listen")
    for far_m in FAR:
        out.publish(far_away(topic, far_m))
        flying.console.poll(0.1)
    flying.forget()
    end_s = time.monotonic() + 2.0
    while time.monotonic() < end_s:
        flying.console.poll(0.05)
        flying.listen()
    assert {State(int(row["state"])) for row in flying.rows["left"]} == {State.ACTIVE}
    assert_flies_on(flying)
    flying.node.destroy_publisher(out)


@pytest.mark.parametrize("count", [3000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_malformed_messages_on_every_topic_end_no_loop(flying: FaultRig, count: int):
    made = attackers(flying.node, ROBOTS)
    senders = [(out, stream(topic, seed)) for seed, (topic, out) in enumerate(made)]
    begin_s = time.monotonic()
    for number in range(count):
        out, messages = senders[number % len(senders)]
        out.publish(next(messages))
        if number % LISTEN_EVERY == 0:  # on a machine that is too slow for the rate, too
            flying.console.poll(0.0)
            flying.listen()
        while time.monotonic() - begin_s < number / RATE_HZ:
            flying.console.poll(0.005)
            flying.listen()
    states = {name: {State(int(row["state"])) for row in flying.rows[name]} for name in ROBOTS}
    assert states == dict.fromkeys(ROBOTS, {State.ACTIVE})
    assert_flies_on(flying)
    for out, _ in senders:
        flying.node.destroy_publisher(out)


@pytest.mark.parametrize(
    ("topic", "name", "source"),
    [
        (topics.ODOMETRY, linked(topics.ODOMETRY, "left", "left"), "odometry"),
        (topics.STATE_AND_PLAN, linked(topics.STATE_AND_PLAN, "left", "right"), "right"),
        (topics.ANNOUNCE, "/right/announce", "right"),
        (topics.COMMAND, "/left/command", "this robot"),
    ],
)
def test_a_second_publisher_is_named_and_keeps_the_robot_on_the_ground(
    rig: FaultRig, topic: topics.Topic, name: str, source: str
):
    second = publisher(rig.node, topic, name)
    told = f"{source}: {name} has several publishers: "

    def speaks(says: Callable[[], bool]) -> Callable[[], bool]:
        def spoke() -> bool:
            second.publish(second.msg_type())
            return says()

        return spoke

    rig.order(Order.STOP, "left")
    rig.order(Order.RESET, "left")
    rig.wait(speaks(lambda: any(told in text for text, _ in rig.said.get(LEFT, []))), "the second one to be named")
    assert any(f"{told}/" in text and "/robomarl_console; stop all" in text for text, _ in rig.said[LEFT])
    if source != "this robot":  # what it says itself it does not hear: that is looked at when it is activated
        rig.wait(speaks(lambda: told in rig.order(Order.ARM, "left")), "the order to be refused")
    rig.node.destroy_publisher(second)
    rig.forget()
    rig.wait(lambda: any("several" not in text for text, _ in rig.said.get(LEFT, [])), "the stranger to be forgotten")
