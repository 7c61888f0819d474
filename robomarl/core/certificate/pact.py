"""Pacts: which pair of anchors both robots of a pair judge by, and how messages move them.

Of each pair one robot leads, the one with the lower number. It offers a new pair of anchors under a
new number and keeps to both pairs until it hears whether the other one took it. The follower takes a
pair only if its own course keeps clear by it, and judges by the taken pair alone. So at any time the
follower judges by one of the pairs that the leader keeps to, however many messages are lost,
repeated or out of order. Array-generic; [..., K] are the teammates of each robot.
"""

from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from robomarl.core.certificate.course import CommittedCourse, chosen, rests_at_s, with_axis
from robomarl.core.certificate.rule import Pair
from robomarl.core.types import Array

Clear = Callable[[Pair], Array]
"""Anchors [..., K] -> bool [..., K]: the robot's present course keeps clear by them."""


class Pact(NamedTuple):
    """Anchors that a robot has agreed on with each teammate, [..., K] each."""

    number: Array
    """int: the pair that is in force; 0: none has been yet."""
    agreed: Pair
    """The pair in force."""
    offered: Array
    """int: number of the newest offer, made (leader) or heard (follower)."""
    offer: Pair
    """The leader's offer."""
    is_open: Array
    """bool: the leader has not heard yet what became of its offer, and keeps to both pairs."""
    refused: Array
    """int: number of the last offer that the follower did not take."""


class Word(NamedTuple):
    """The newest message heard from each teammate, [..., K] each; what a robot says, [..., K] to each teammate."""

    course: CommittedCourse
    """The sender's course."""
    number: Array
    """int: number of the pair in force at the sender; below 0: nothing was heard yet."""
    offered: Array
    """int: number of its newest offer; 0: there is none."""
    offer: Pair
    """That offer, `mine` being the sender's anchor."""
    refused: Array
    """int: number of the last offer that the sender did not take."""


def swapped(pair: Pair) -> Pair:
    """Return the pair with the robot and its teammate exchanged."""
    return Pair(pair.theirs, pair.mine)


def picked(where: Array, yes: Pair, no: Pair, xp: ModuleType) -> Pair:
    """The pair `yes` where the condition [..., K] holds, else `no`."""
    return Pair(chosen(where, yes.mine, no.mine, xp), chosen(where, yes.theirs, no.theirs, xp))


def to_each(course: CommittedCourse, mates: Array) -> CommittedCourse:
    """The course [...] repeated for each teammate, [..., K]; `mates` is any array of that shape."""
    none, one = mates * 0.0, with_axis(course)
    return CommittedCourse(*(part + none[..., None] for part in one[:2]), *(part + none for part in one[2:]))


def hear(pact: Pact, word: Word, leads: Array, clear: Clear, xp: ModuleType) -> Pact:
    """The pacts after the newest messages, which may be old ones.

    Args:
        pact: what was agreed before.
        word: newest message of each teammate.
        leads: [..., K] bool: the robot leads the pair.
        clear: whether its present course keeps clear by a pair.
        xp: numpy or jax.numpy.
    """
    took = leads & pact.is_open & (word.number == pact.offered)
    declined = leads & pact.is_open & (word.refused == pact.offered)
    is_new = ~leads & (word.number >= 0) & (word.offered > pact.offered)
    theirs = swapped(word.offer)
    takes = is_new & clear(theirs)
    agreed = picked(takes, theirs, picked(took, pact.offer, pact.agreed, xp), xp)
    return Pact(
        number=xp.where(takes, word.offered, xp.where(took, pact.offered, pact.number)),
        agreed=agreed,
        offered=xp.where(is_new, word.offered, pact.offered),
        offer=pact.offer,
        is_open=pact.is_open & ~took & ~declined,
        refused=xp.where(is_new & ~takes, word.offered, pact.refused),
    )


def offer(
    pact: Pact, word: Word, leads: Array, new: tuple[CommittedCourse, Array], clear: Clear, xp: ModuleType
) -> Pact:
    """The pacts with new offers where none is open: the robot's course and the newest course heard of the teammate.

    Args:
        pact: after `hear`.
        word: newest message of each teammate.
        leads: [..., K] bool.
        new: the robot's new course [...], and the least number [..., 1] of an offer: it grows with time, so that a
            robot that has forgotten its offers takes no number again.
        clear: whether its new course keeps clear by a pair.
        xp: numpy or jax.numpy.
    """
    mine = to_each(new[0], pact.number)
    pair = Pair(mine, word.course)
    # A teammate that rests sends one course for ever: then the robot's own course is what is new.
    since, before = word.course.at_s, pact.agreed.theirs.at_s
    is_newer = (since > before) | ((since == before) & (mine.at_s > pact.agreed.mine.at_s)) | (pact.number == 0)
    makes = leads & ~pact.is_open & (word.number >= 0) & is_newer & clear(pair)
    return pact._replace(
        offered=xp.where(makes, xp.maximum(pact.offered + 1, new[1]), pact.offered),
        offer=picked(makes, pair, pact.offer, xp),
        is_open=pact.is_open | makes,
    )


def waits(word: Word, at_s: Array, xp: ModuleType) -> Array:
    """[..., K] bool: a teammate without a pact with the robot rests at times [...], and may not move before."""
    return (word.number == 0) & (rests_at_s(word.course, xp) <= at_s[..., None])


def bound(pact: Pact, present: Array) -> Array:
    """[..., K] bool: a robot has to agree with this teammate before it moves; a pact once made is never left."""
    return present | (pact.number > 0) | pact.is_open


def said(pact: Pact, own: CommittedCourse, leads: Array, xp: ModuleType) -> Word:
    """Return the words of a robot to its teammates, [..., K]."""
    offered = xp.where(leads & pact.is_open, pact.offered, 0)
    return Word(to_each(own, pact.number), pact.number, offered, pact.offer, pact.refused)
