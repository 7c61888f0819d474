"""The reach of radios: a teammate that is not heard is far away, so a robot may move without a pact with it.

Two robots that are nearer than the range receive, within a stated time, a message that the other one sent in that time.
So a teammate that was not heard for so long was outside the range since then. Each robot then forgets the pact for
itself. From the first word on that it hears again it takes no new course before both have agreed anew.
`docs/certificate.md` has the proof that they are still far enough apart by then.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robomarl.core.certificate.course import CommittedCourse, state_at
from robomarl.core.certificate.figures import CLOCK_OFFSET_S, CertificateFigures
from robomarl.core.config import UserError

MESSAGES = 3
"""Least number of messages in the time of silence: two of them may be lost."""
ON_AIR_S = 0.04
"""Longest time that a message which arrives may be on its way."""


class RadioReach(NamedTuple):
    """Assumption A11 of `docs/certificate.md`: range, time of silence, and period of the messages."""

    range_m: float
    """Robots that are nearer than this hear each other."""
    within_s: float
    """Time within which they do."""
    every_s: float = 0.0
    """Time from one message of a robot to its next; 0: it sends one with each decision."""


def least_within_s(one: CertificateFigures, every_s: float) -> float:
    """Return the least time of silence after which a robot may take another one for far away.

    In that time `MESSAGES` are said and arrive, wait in the inbox, and are read with a decision.
    """
    return MESSAGES * max(every_s, one.period_s) + ON_AIR_S + CLOCK_OFFSET_S + one.period_s


def least_range_m(one: CertificateFigures, mate: CertificateFigures, within_s: float) -> float:
    """Return the least range with which two robots may forget each other.

    They have to rest, apart, once both know of each other again. Until then each may go on for the time of silence,
    once before a robot forgets, and once before its teammate knows. Words wait in the inbox at the end of both, and
    before a robot brakes by them.
    """
    both = one, mate
    apart = (one.unlearned.room_m + mate.unlearned.room_m + max(f.bend_m for f in both)) / one.squash[2]
    unheard_s = 2 * within_s + 3 * CLOCK_OFFSET_S + _late_s(both)
    gone = sum(f.speed_m_s * (unheard_s + f.period_s + f.lead_s + f.stop_s / 2) for f in both)
    return apart + sum(f.beside_m for f in both) + gone


def _late_s(both: Sequence[CertificateFigures]) -> float:
    """Return the longest time until words are said: the first decision from which they have waited long enough."""
    return max(f.held_s + f.period_s if f.held_back else 0.0 for f in both)


def check_reach(reach: RadioReach, fleet: Sequence[CertificateFigures]) -> None:
    """Refuse a range that is too short, and a time of silence in which too few messages are sent.

    Raises:
        UserError: one of both; says which one would do.
    """
    within_s = max(least_within_s(one, reach.every_s) for one in fleet)
    if reach.within_s < within_s:
        every_s = max(reach.every_s, fleet[0].period_s)
        raise UserError(
            f"radio: within_s = {reach.within_s:g} is too short for filter: certificate: a message comes every "
            f"{every_s:g} s, and {MESSAGES} of them need {within_s:.3f} s to arrive; raise within_s or rate_hz."
        )
    least = max(least_range_m(one, mate, reach.within_s) for one in fleet for mate in fleet)
    if reach.range_m < least:
        raise UserError(
            f"radio: range_m = {reach.range_m:g} is too short for filter: certificate: robots that hear each other "
            f"within {reach.within_s:g} s need {least:.2f} m until they rest apart; fly slower robots, or leave it out."
        )


Courses = tuple[CommittedCourse, CommittedCourse]


def is_too_near(reach: RadioReach, fleet: Sequence[CertificateFigures], courses: Courses, now_s: float) -> bool:
    """Return True if a teammate that is heard anew is nearer than its silence allowed, so the radio reaches less far.

    `courses`: the robot's and the heard one; by now the teammate may have changed its own.
    """
    one, other = (state_at(course, np.maximum(course.at_s, now_s), np)[0] for course in courses)
    speed, beside = (max(getattr(f, name) for f in fleet) for name in ("speed_m_s", "beside_m"))
    unseen_s = reach.within_s + CLOCK_OFFSET_S + 2 * max(f.period_s + f.lead_s for f in fleet)
    return float(np.linalg.norm(one - other)) < reach.range_m - 2 * beside - 2 * speed * unseen_s
