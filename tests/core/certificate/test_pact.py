"""The handshake under a radio that loses, repeats and reorders everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.core.certificate import pact as pacts
from robomarl.core.certificate.course import CommittedCourse, resting
from robomarl.core.certificate.pact import Pact, Word
from robomarl.core.certificate.rule import Pair


class Robot:
    """One of a pair; its courses are told apart by their place."""

    def __init__(self, leads: bool, at_m: float) -> None:
        """At rest, with nothing agreed."""
        self.leads, self.at_m, self.ticks, self.number = np.array([leads]), at_m, 0, 0
        none = np.zeros(1, "int32")
        each = pacts.to_each(self.course, none)
        self.pact = Pact(none, Pair(each, each), none, Pair(each, each), none > 0, none - 1)

    @property
    def course(self) -> CommittedCourse:
        """The present course."""
        return resting(np.array([self.at_m, 0, 0]), float(self.ticks), (1.0, 0.2))

    def decide(self, word: Word, takes: bool) -> None:
        """Hear a word, take what it offers or not, move, and offer."""
        self.ticks += 1
        self.pact = pacts.hear(self.pact, word, self.leads, lambda pair: np.array([takes]), np)
        self.at_m += 1.0
        new = self.course, np.array([self.number])
        self.pact = pacts.offer(self.pact, word, self.leads, new, lambda pair: np.array([True]), np)

    def says(self) -> Word:
        """To the other one."""
        return pacts.said(self.pact, self.course, self.leads, np)

    def kept(self) -> list[tuple[float, float]]:
        """Pairs (leader's place, follower's place) that it judges by."""
        pairs = [self.pact.agreed] if self.pact.number[0] else []
        pairs += [self.pact.offer] if self.leads[0] and self.pact.is_open[0] else []
        places = [(float(p.mine.pos_m[0, 0]), float(p.theirs.pos_m[0, 0])) for p in pairs]
        return places if self.leads[0] else [(b, a) for a, b in places]


def unheard(word: Word) -> Word:
    """Before the first message."""
    return word._replace(number=word.number * 0 - 1)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_the_leader_keeps_what_the_follower_judges_by(steps: list):
    """Each robot hears any of the last eight words, old ones again too, and decides in any order."""
    lead, follow = Robot(True, 0.0), Robot(False, 1000.0)
    from_lead, from_follow = [unheard(lead.says())], [unheard(follow.says())]
    for heard_by_lead, heard_by_follow, takes, lead_first in steps:
        order = [(lead, from_follow, from_lead, heard_by_lead), (follow, from_lead, from_follow, heard_by_follow)]
        for robot, inbox, outbox, back in order if lead_first else reversed(order):
            robot.decide(inbox[-1 - min(back, len(inbox) - 1)], takes)
            outbox.append(robot.says())
            assert not follow.kept() or follow.kept()[0] in lead.kept()


def test_anchors_move_on_in_a_few_messages():
    """Without loss a new pair is in force on both sides every second decision or so."""
    lead, follow = Robot(True, 0.0), Robot(False, 1000.0)
    to_lead, to_follow = unheard(follow.says()), unheard(lead.says())
    for _ in range(20):
        lead.decide(to_lead, True)
        follow.decide(to_follow, True)
        to_lead, to_follow = follow.says(), lead.says()
    assert int(follow.pact.number[0]) >= 5 and follow.kept()[0][1] > 1010


def test_a_refused_offer_is_dropped():
    """And the next one may be taken."""
    lead, follow = Robot(True, 0.0), Robot(False, 1000.0)
    lead.decide(follow.says(), True)
    follow.decide(lead.says(), False)
    assert follow.pact.refused[0] == 1 and follow.pact.number[0] == 0
    lead.decide(follow.says(), True)
    assert lead.pact.is_open[0] and lead.pact.offered[0] == 2
    follow.decide(lead.says(), True)
    assert follow.pact.number[0] == 2


def test_beside_a_teammate_that_rests_anchors_move_on():
    """It sends one course for ever; the leader's own course is what is new."""
    lead, follow = Robot(True, 0.0), Robot(False, 1000.0)
    follow_says = follow.says()
    for _ in range(12):
        lead.decide(follow_says._replace(number=follow.pact.number, refused=follow.pact.refused), True)
        follow.pact = pacts.hear(follow.pact, lead.says(), follow.leads, lambda pair: np.array([True]), np)
    assert int(follow.pact.number[0]) >= 3


def test_a_leader_that_forgot_takes_no_old_answer_for_a_new_one():
    """Numbers of offers grow with time: what its teammate said before does not agree to anything now."""
    lead, follow = Robot(True, 0.0), Robot(False, 1000.0)
    lead.decide(follow.says(), True)
    follow.decide(lead.says(), True)
    answer = follow.says()
    again = Robot(True, 500.0)
    again.number = 50
    again.decide(answer, True)
    again.decide(answer, True)
    assert again.pact.is_open[0] and again.pact.number[0] == 0


LEADS = st.tuples(st.integers(0, 5), st.integers(0, 5))


def judged(leads: tuple[int, int], waits: tuple[int, int], steps: list) -> bool:
    """Whether at each time the leader keeps to the pair that the follower judges by; a decision is about the time one
    lead later, and words wait before they are said."""
    robots = Robot(True, 0.0), Robot(False, 1000.0)
    said = [[unheard(robot.says())] * 12 for robot in robots]
    by: tuple[dict, dict] = {}, {}
    for tick, (to_lead, to_follow, takes) in enumerate(steps):
        heard = said[1][-1 - waits[1] - to_lead], said[0][-1 - waits[0] - to_follow]
        for robot, word, kept, lead, out in zip(robots, heard, by, leads, said, strict=True):
            robot.decide(word, takes)
            kept[tick + lead] = robot.kept()
            out.append(robot.says())
    return all(not pairs or pairs[0] in by[0][at] for at, pairs in by[1].items() if at in by[0])


def held_back(leads: tuple[int, int]) -> tuple[int, int]:
    """Ticks that each one's words wait."""
    return max(leads[0] - leads[1], 0), max(leads[1] - leads[0], 0)


STEPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), min_size=20, max_size=60)


@settings(max_examples=60, deadline=None)
@given(LEADS, STEPS)
def test_robots_with_unlike_leads_change_their_anchors_in_one_order(leads: tuple[int, int], steps: list):
    assert judged(leads, held_back(leads), steps)


@pytest.mark.parametrize("leads", [(4, 0), (0, 4)])
def test_without_holding_words_back_they_do_not(leads: tuple[int, int]):
    steps = [(0, 0, True)] * 40
    assert judged(leads, held_back(leads), steps) and not judged(leads, (0, 0), steps)
