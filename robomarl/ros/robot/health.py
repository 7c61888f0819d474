"""Reports of a policy node on itself: a line in the log when something changes, diagnostics once a second. No ROS."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robomarl.core.filter.filter import Reason
from robomarl.core.filter.model.bias import Bias
from robomarl.ros.intake.refusals import Refusals
from robomarl.ros.recording.tick_record import Timing
from robomarl.ros.robot.autopilot import Autopilot
from robomarl.ros.robot.decision import Decision, Held
from robomarl.ros.robot.inbox import Count, Problem
from robomarl.ros.robot.state_machine import POLICY, State

OK, WARN, ERROR = 0, 1, 2
"""Levels of diagnostic_msgs/DiagnosticStatus."""
FALLBACKS = (State.HOLD, State.LAND)
WELL = (Reason.OK, Held.INACTIVE, Held.LANDED)
"""Reasons of ticks in which nothing was wrong."""
UNDECLARED = "; moves otherwise than the vehicle file's safety section and its bounds of the estimator {} allow"
BEFORE_FIRST = -100
"""No reason yet."""


class DiagnosticEntry(NamedTuple):
    """One entry of `/diagnostics`."""

    name: str
    level: int
    message: str
    values: dict[str, str]


class Assumptions(NamedTuple):
    """Assumptions of a bundle about its robot, as diagnostics name them."""

    estimator: str
    """Name of the state estimator whose bounds the safety filter assumes."""
    needs_inner_loop: str
    """Kind of control that its commands need; "" for any."""


class Health:
    """Watches the ticks of one policy node."""

    def __init__(self, node: str, bundle: str, bundle_id: str, rate_hz: float, assumes: Assumptions) -> None:
        """Start a new second."""
        self._name, self._bundle, self._id, self._assumes = node, bundle, bundle_id, assumes
        self._period_us = 1e6 / rate_hz
        self._rate = max(round(rate_hz), 1)
        self._reason, self._problems, self._state = BEFORE_FIRST, frozenset(), State.STANDBY
        self._why, self._ordered = "", False
        self._timings: list[Timing] = []
        self._filtered = 0
        self._fallbacks: Counter[int] = Counter()
        """Ticks so far by reason, those in which all was well left out."""
        self._doubts = ""
        """Reasons why a certified robot takes no new course."""
        self._last: tuple[Decision, str] | None = None
        self._bias: Bias | None = None
        self._misfits = 0
        """`Bias.misfits` at the end of the second before."""

    def note(self, decision: Decision, autopilot: Autopilot, timing: Timing) -> Iterator[tuple[bool, str]]:
        """Take one tick in; yields (is it bad?, line) for the log where something changed."""
        self._timings.append(timing)
        self._filtered += decision.filtered
        self._fallbacks[decision.reason] += decision.reason not in WELL
        self._last, self._bias = (decision, autopilot.error), autopilot.bias
        yield from self._doubted(autopilot.doubts)
        sources = frozenset(p.source for p in decision.reading.problems)
        if autopilot.state != self._state:
            bad = autopilot.state in (State.STOP, State.ESTOP) or self._state in POLICY and autopilot.state in FALLBACKS
            why = f": {autopilot.why}" if autopilot.why else ""
            yield bad and not autopilot.ordered, f"{self._state.name} -> {autopilot.state.name}{why}."
        self._state, self._why, self._ordered = autopilot.state, autopilot.why, autopilot.ordered
        if autopilot.active and sources - self._problems:
            for problem in decision.reading.problems:
                yield True, f"input lost: {problem}."
        self._problems = sources
        if decision.reason != self._reason and self._reason != BEFORE_FIRST:
            bad, line = self._change(decision.reason, autopilot.error)
            yield bad and not (autopilot.ordered and decision.reason == Held.SILENT), line
        self._reason = decision.reason

    def _doubted(self, doubts: str) -> Iterator[tuple[bool, str]]:
        """Note why a certified robot takes no new course; yield a line where that begins."""
        before, self._doubts = self._doubts, doubts
        if doubts and (not before or ("tube" in doubts) > ("tube" in before)):
            yield "tube" in doubts, f"takes no new course: {doubts}."

    def is_due(self) -> bool:
        """Return True if the ticks of one second have been collected."""
        return len(self._timings) >= self._rate

    def summary(
        self, counts: list[Count], wrong: Sequence[Problem] = (), refused: Refusals | None = None
    ) -> DiagnosticEntry:
        """Return the report on the past second; start the next one.

        Args:
            counts: messages of every source so far.
            wrong: problems that prevent activation.
            refused: rejected messages of the whole node; None: there were none.
        """
        news = (refused := refused or Refusals()).news()
        latency = np.array([timing.latency_us for timing in self._timings])
        late = np.array([timing.late_us for timing in self._timings])
        decision, error = self._last or (None, "")
        misfits = 0 if self._bias is None else int(self._bias.misfits)
        problems = dict.fromkeys([*(decision.reading.problems if decision else ()), *wrong])
        more = {"takes_no_new_course": self._doubts, "error": error}
        values = {
            "bundle": self._bundle,
            "bundle_id": self._id,
            "state": self._state.name,
            "why": self._why,
            "reason": reason_name(self._reason),
            "latency_p50_us": f"{np.median(latency):.0f}",
            "latency_max_us": f"{latency.max():.0f}",
            "late_max_us": f"{late.max():.0f}",
            "ticks_skipped": str(self._timings[-1].skipped),
            "filtered_share": f"{self._filtered / len(latency):.3f}",
            "fallbacks": ", ".join(f"{reason_name(r)} {n}" for r, n in sorted(self._fallbacks.items()) if n),
            "bias_doubt_m_s2": _numbers(self._bias),
            "bias_misfits": str(misfits),
            **self._assumes._asdict(),
            "estimates_jumped": str(decision.reading.jumps if decision else 0),
            "messages_lost": str(sum(count.lost for count in counts)),
            "messages_refused": str(refused.total),
            "messages_received": str(sum(count.received for count in counts)),
            **{f"input {p.source}": p.text for p in problems},
            **refused.values(),
            **{name: text for name, text in more.items() if text},
        }
        slow, broken = latency.max() > self._period_us, misfits > self._misfits
        level = self._level(bool(problems or slow or broken or news))
        self._timings, self._filtered, self._misfits = [], 0, misfits
        said = self._said(list(problems), news) + ("; slower than its period" if slow else "")
        said += UNDECLARED.format(self._assumes.estimator) if broken else ""
        return DiagnosticEntry(self._name, level, said, values)

    def _level(self, is_doubtful: bool) -> int:
        """Return the level of the past second; `is_doubtful` says that something was wrong with inputs or timing."""
        stopped = self._state is State.STOP and not self._ordered
        if self._reason in (Held.FAILED, Held.RAISED, Held.BLIND) or stopped or self._state is State.ESTOP:
            return ERROR
        return WARN if is_doubtful or self._doubts or self._reason > 0 else OK

    def _said(self, problems: Sequence[Problem], news: int) -> str:
        """Return state and reason, problems of the inputs, and the number of messages rejected in this second."""
        why = f" ({self._why})" if self._why else ""
        strays = self._reason == Reason.OK and any(problem.source == "goal" for problem in problems)
        reason = "does not go to its goal" if strays else reason_name(self._reason)
        refused = [f"refused {news} messages"] if news else []
        doubts = [self._doubts] if self._doubts else []
        return "; ".join([f"{self._state.name}{why}: {reason}", *map(str, problems), *refused, *doubts])

    def stopped(self, why: str) -> DiagnosticEntry:
        """A node that does not tick any more."""
        state = {"bundle": self._bundle, "bundle_id": self._id, "state": State.STOP.name}
        return DiagnosticEntry(self._name, ERROR, f"{State.STOP.name}: {why}", state)

    @staticmethod
    def _change(reason: int, error: str) -> tuple[bool, str]:
        why = f": {error}" if error and reason in (Held.FAILED, Held.RAISED) else ""
        return reason not in WELL, f"now: {reason_name(reason)}{why}."


def _numbers(bias: Bias | None) -> str:
    """How uncertain the bias is along each axis; all that the vehicle file declares, before anything is learned."""
    return "not known yet" if bias is None else " ".join(f"{x:.2f}" for x in np.asarray(bias.doubt_m_s2))


def reason_name(reason: int) -> str:
    """Return the name of a decision's reason."""
    known = {**{r.value: r.name for r in Held}, **{r.value: r.name for r in Reason}}
    return known.get(reason, str(reason)).lower()
