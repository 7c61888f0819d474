"""Words of the certificate in a robot's message: its course, and its pacts with each teammate. No ROS here.

A message carries them as rows of 15 numbers, one for each course: position (3), velocity (3), two
integers of the pact in halves (see `halves`), and what else a course has. Both ends judge by equal
anchors, so every number arrives with all its bits. No number of a row exceeds 1e6, the largest that
readers take for meant.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.certificate.course import CommittedCourse
from robomarl.core.certificate.pact import Word
from robomarl.core.certificate.rule import Pair

HALF = float(2**19)
"""Base in which large numbers are told: times since the epoch, and numbers of pacts that grow with them."""
NUMBERS = 15
"""Numbers of a row, see `_row`."""
_BRAKE, _ROOM, _SPARE = 9, 10, 14
"""Places of deceleration and room in a row, and of half of the session."""
LEAST_BRAKE_M_S2 = 1e-3
"""Least deceleration of a course: with less the reference would not come to rest."""


class TeamWords(NamedTuple):
    """Words of one robot to its whole team, as its message carries them."""

    names: tuple[str, ...]
    """[K] teammates that it tells."""
    rows: np.ndarray
    """[1 + 2 K, 15] its own course; its own anchors; its teammates' anchors."""


class AddressedWord(NamedTuple):
    """Words of one robot to one teammate."""

    session_s: float
    """Time at which the sender began to move, or forgot the receiver: it remembers nothing of before."""
    known_s: float
    """The receiver's session as the sender knows it; 0: none."""
    word: Word
    """The word, [] each, from the sender's view: `offer.mine` is the sender's anchor."""


def halves(value: float) -> tuple[float, float]:
    """Return a number as (high, low) with high * 2**19 + low equal to it in every bit, |high|, low < 1e6."""
    high, low = divmod(value, HALF)
    return high, low


def whole(high: float, low: float) -> float:
    """Return the number that `halves` has divided."""
    return high * HALF + low


def rows_of(word: Word, sessions_s: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """[1 + 2 K, 15] what a robot says to its teammates.

    Args:
        word: [K] of `Certificate.said`.
        sessions_s: the robot's session with each teammate [K], and theirs [K] as it knows them.
    """
    mates, own = range(len(word.number)), [halves(float(since)) for since in sessions_s[0]]
    rows = [_row(_at(word.course, 0), (0.0, 0.0), 0.0)]
    rows += [_row(_at(word.offer.mine, k), (float(word.number[k]), float(word.offered[k])), own[k][0]) for k in mates]
    last = [(float(word.refused[k]), float(sessions_s[1][k])) for k in mates]
    rows += [_row(_at(word.offer.theirs, k), last[k], own[k][1]) for k in mates]
    return np.array(rows)


def told_to(words: TeamWords | None, name: str) -> AddressedWord | None:
    """Return what a robot tells the teammate of this name; None if it tells it nothing."""
    if words is None or name not in words.names:
        return None
    k, count = words.names.index(name), len(words.names)
    own, mine, theirs = words.rows[[0, 1 + k, 1 + count + k]]
    session_s = whole(float(mine[_SPARE]), float(theirs[_SPARE]))
    (own, _), (mine, numbers), (theirs, last) = map(_read, (own, mine, theirs))
    number, offered, refused = (np.array(int(value)) for value in (*numbers, last[0]))
    return AddressedWord(session_s, last[1], Word(own, number, offered, Pair(mine, theirs), refused))


def fault_in_words(words: TeamWords) -> str:
    """Return why words cannot be meant; "" if they can. Whether numbers are sound is not looked at."""
    if not (words.rows[:, _BRAKE] >= LEAST_BRAKE_M_S2).all() or not (words.rows[:, _ROOM] >= 0).all():
        return "a course does not brake, or has no room"
    return ""


def _row(course: CommittedCourse, pair: tuple[float, float], spare: float) -> list[float]:
    (a, b), (c, d), (high, low) = halves(pair[0]), halves(pair[1]), halves(float(course.at_s))
    motion = [*course.pos_m.tolist(), *course.vel_m_s.tolist()]
    return [*motion, a, b, c, float(course.brake_m_s2), float(course.room_m), d, high, low, spare]


def _read(row: np.ndarray) -> tuple[CommittedCourse, tuple[float, float]]:
    a, b, c, brake, room, d, high, low, _ = row[6:].tolist()
    at_s, brake_m_s2, room_m = (np.array(value) for value in (whole(high, low), brake, room))
    return CommittedCourse(row[:3], row[3:6], at_s, brake_m_s2, room_m), (whole(a, b), whole(c, d))


def _at(courses: CommittedCourse, k: int) -> CommittedCourse:
    return CommittedCourse(*(part[k] for part in courses))
