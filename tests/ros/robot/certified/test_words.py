"""Words of the certificate on the wire: every number arrives with all its bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message

from robomarl.core.certificate.course import CommittedCourse
from robomarl.core.certificate.pact import Word
from robomarl.core.certificate.rule import Pair
from robomarl.core.tree import leaves
from robomarl.core.view import Plan
from robomarl.ros import convert
from robomarl.ros.intake.sound import MessageError
from robomarl.ros.io.away_frame import turned_broadcast
from robomarl.ros.io.fast_messages import KIND, BroadcastWriter, broadcast_reader
from robomarl.ros.io.messages import Broadcast, Detections, fault_in
from robomarl.ros.robot.certified.words import TeamWords, halves, rows_of, told_to, whole

MATES = ("b", "c", "d")
STILL = np.zeros(3)


def courses(random: np.random.Generator, *lead: int) -> CommittedCourse:
    pos, vel = random.normal(size=(2, *lead, 3))
    at_s = 1.79e9 + random.uniform(0, 1e6, lead)
    return CommittedCourse(pos, vel, at_s, random.uniform(0.1, 3, lead), random.uniform(0, 1, lead))


def word(seed: int) -> Word:
    random = np.random.default_rng(seed)
    own = CommittedCourse(*(np.broadcast_to(part, (3, *np.shape(part))) for part in courses(random)))
    number, offered = random.integers(0, 10**11, (2, 3))
    pair = Pair(courses(random, 3), courses(random, 3))
    return Word(own, number, offered, pair, random.integers(-1, 10**11, 3))


def said(seed: int) -> tuple[Broadcast, Word, np.ndarray]:
    made, sessions = word(seed), 1.79e9 + np.random.default_rng(seed).uniform(0, 1e6, 3)
    words = TeamWords(MATES, rows_of(made, (1.7912345678e9 + np.arange(3) / 7, sessions)))
    return Broadcast(STILL, STILL, Plan(STILL, STILL, STILL), words=words), made, sessions


@given(st.one_of(st.integers(-1, 2**38), st.floats(0, 2**38)))
def test_halves_are_sound_and_keep_every_bit(value: float):
    high, low = halves(float(value))
    assert whole(high, low) == value and abs(high) < 1e6 and 0 <= low < 1e6


@pytest.mark.parametrize("seed", range(5))
def test_bytes_and_objects_carry_the_same_words(seed: int):
    broadcast, made, sessions = said(seed)
    assert fault_in(broadcast) == ""
    data = BroadcastWriter("a", MATES)(broadcast, 12.5, (0.1, 0.2))
    message = convert.broadcast_from(broadcast, 12.5, "a", (0.1, 0.2))
    assert deserialize_message(data, KIND) == message  # bytes between fields, which fill up, may be any
    assert len(data) == len(serialize_message(message))
    read = broadcast_reader("a")
    first, again = read(data), read(data)  # the second one in place
    slow = convert.broadcast_to(deserialize_message(data, KIND), "a")
    for found, stamp_s in (first, again, slow):
        assert stamp_s == 12.5 and found.words is not None and found.words.names == MATES
        for k, name in enumerate(MATES):
            told = told_to(found.words, name)
            assert told is not None and told.session_s == 1.7912345678e9 + k / 7 and told.known_s == sessions[k]
            wanted = dict(leaves(made))
            for leaf, value in leaves(told.word):
                assert np.array_equal(value, wanted[leaf][k]), leaf
    assert told_to(first[0].words, "nobody") is None and told_to(None, "b") is None


def test_a_certified_player_tells_what_it_sees_as_well():
    """In the frame of the away team, too: there what it sees is turned, and its words are as its team thinks."""
    broadcast, _, _ = said(3)
    seen = Detections(("ball", "opponent"), np.arange(6.0).reshape(2, 3), np.ones((2, 3)), 0.04)
    told = turned_broadcast(broadcast._replace(seen=seen))
    data = BroadcastWriter("a", MATES)(told, 12.5, (0.1, 0.2))
    found, _ = broadcast_reader("a")(data)
    assert found.words is not None and broadcast.words is not None and found.seen is not None
    assert found.words.names == MATES and np.array_equal(found.words.rows, broadcast.words.rows)
    assert found.seen.kinds == seen.kinds and np.array_equal(found.seen.pos_m[:, 0], -seen.pos_m[:, 0])
    assert found.seen.age_s == pytest.approx(0.04)


def test_a_certified_team_of_one_tells_its_course():
    """It has no teammate to name; with what it sees, and without."""
    alone = TeamWords((), np.eye(1, 15, 9))
    seen = Detections(("ball",), np.ones((1, 3)), np.ones((1, 3)), 0.04)
    for sighted in (None, seen):
        broadcast = Broadcast(STILL, STILL, Plan(STILL, STILL, STILL), sighted, alone)
        data, read = BroadcastWriter("a", ())(broadcast, 12.5, (0.1, 0.2)), broadcast_reader("a")
        for found, _ in (read(data), read(data), convert.broadcast_to(deserialize_message(data, KIND), "a")):
            assert found.words is not None and found.words.names == () and np.array_equal(found.words.rows, alone.rows)
            assert (found.seen is None) == (sighted is None)
    message = convert.broadcast_from(broadcast._replace(seen=None), 12.5, "a", (0.1, 0.2))
    message.joint_names = ["a", "b"]
    with pytest.raises(MessageError, match="three points"):
        convert.broadcast_to(message, "a")


def test_other_layouts_are_refused():
    broadcast, _, _ = said(0)
    message = convert.broadcast_from(broadcast, 12.5, "a", (0.1, 0.2))
    convert.points_of(message)[5].accelerations.pop()
    with pytest.raises(MessageError, match="two anchors"):
        convert.broadcast_to(message, "a")
    message = convert.broadcast_from(broadcast, 12.5, "a", (0.1, 0.2))
    convert.points_of(message).pop()
    with pytest.raises(MessageError, match="three points"):
        convert.broadcast_to(message, "a")


@pytest.mark.parametrize(("column", "value"), [(9, 0.0), (9, -1.0), (10, -0.1)])
def test_a_course_that_does_not_brake_is_refused(column: int, value: float):
    broadcast, _, _ = said(0)
    assert broadcast.words is not None
    read = broadcast_reader("a")
    read(BroadcastWriter("a", MATES)(broadcast, 12.5, (0.1, 0.2)))
    broadcast.words.rows[4, column] = value
    data = BroadcastWriter("a", MATES)(broadcast, 12.5, (0.1, 0.2))
    assert "brake" in fault_in(broadcast)
    for reader in (read, broadcast_reader("a")):
        with pytest.raises(MessageError, match="does not brake"):
            reader(data)
