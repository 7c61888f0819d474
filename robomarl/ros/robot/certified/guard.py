"""`CertifiedRobot`: the certificate as the filter of one robot, with its words to and from teammates. No ROS here.

A robot that begins to move begins a *session*: it remembers nothing of before. Its messages carry
the session, and the sessions of its teammates as it knows them. A teammate that hears of a new
session forgets its pact with the robot, and takes no new course before both have agreed again, but
to move away. Words that were meant for a session of before count as none, so a process may die and
start again in flight.
`docs/certificate.md` has the assumptions.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from robomarl.core.certificate.course import rests_at_s, stop_of
from robomarl.core.certificate.figures import CertificateFigures, common_of, figures_of, uncovered
from robomarl.core.certificate.kernel import certificate_of
from robomarl.core.certificate.memory import (
    ELSEWHERE_TUBES,
    Certified,
    CertifiedCarry,
    DecisionInputs,
    at_reference,
    tubes_off,
)
from robomarl.core.certificate.pact import Word
from robomarl.core.config import UserError
from robomarl.core.domain.onboard import CertifiedCommand
from robomarl.core.filter.filter import SAME
from robomarl.core.filter.memory import LARGE, Reason
from robomarl.core.filter.model.bias import Bias, unanchored
from robomarl.core.filter.params import SafetyParams
from robomarl.core.tree import Branch, Tree, each, new_tuple
from robomarl.core.types import SENT, Array, FilterResult
from robomarl.core.view import LocalView, Plan, blank_view
from robomarl.ros.robot.certified.words import AddressedWord, rows_of

MOST_HZ = 250.0
"""Largest rate of decisions: numbers of pacts grow with it, and messages have no room for more."""
LATER_S = 1e-3
"""A session that has to be later than one that teammates know is later by this."""


class RobotCarry(NamedTuple):
    """Memory of one certified robot among K teammates."""

    robot: CertifiedCarry
    heard: Word
    """[K] newest words of the teammates; a number below 0: none of this session."""
    now_s: float
    """Time of this decision, on the team's clock."""
    session_s: float
    """When this session began; 0: no decision was made yet."""
    sessions_s: np.ndarray
    """[K] sessions of the teammates; 0: none is known."""
    waits: bool = False
    """True from a jump of the clock on until the reference rests: then the time of its course means nothing."""
    worn: tuple[object, ...] = ()
    """Memory of commands of another kind, see `CertifiedCommand`."""
    decided_s: float = 0.0
    """Time of the decision that `worn` is of, on the team's clock; 0: there was none."""
    rows: tuple[np.ndarray, ...] = ()
    """What the robot would have said after its last decisions, the oldest first: words wait `held_back` decisions."""

    @property
    def plan(self) -> Plan:
        """The course, as a plan, [3] each."""
        course = self.robot.course
        return Plan(course.pos_m, course.vel_m_s, stop_of(course, np))

    @property
    def bias(self) -> Bias:
        """Estimate of the constant part of the acceleration error."""
        return self.robot.bias

    @property
    def commands(self) -> Array:
        """[Q, 4] commands that have not taken effect for sure yet."""
        return self.robot.commands


@runtime_checkable
class Ageing(Protocol):
    """Memory of commands of another kind that holds something seen, which is older after a late decision."""

    def aged(self, by_s: float) -> tuple[object, ...]:
        """Return the memory where that much more time than a period passed since its decision; below 0: less."""
        ...


class Doubts(NamedTuple):
    """Reasons why a certified robot takes no new course."""

    unagreed: tuple[int, ...]
    """Rows of teammates without a pact."""
    trip: bool
    """The robot is outside its tube: a bound of the vehicle file does not hold."""
    waits: bool
    """The clock was set, and the reference does not rest yet."""


class CertifiedRobot:
    """Filter of one robot; a pure function of its arguments, with the interface of `SafetyFilter`."""

    def __init__(
        self,
        params: SafetyParams,
        radius_m: float,
        seat: tuple[int, Sequence[int]],
        is_gained: bool = False,
        way: CertifiedCommand | None = None,
        beside: Sequence[tuple[SafetyParams, float]] = (),
    ) -> None:
        """Work out the numbers.

        Args:
            params: safety parameters of the vehicle, with its arena.
            radius_m: radius of its body.
            seat: index of this robot, and those of its teammates [K] in the order of its view.
            is_gained: True if its policy sets a gain as well.
            way: how commands of another kind go through the certificate; None: they are acceleration and yaw rate.
            beside: parameters and body radius of teammates of other vehicles, once for each vehicle.

        Raises:
            UserError: the certificate does not cover what the parameters have, or such teammates; names it.
        """
        if params.period_s < 1 / MOST_HZ:
            raise UserError(
                f"rate_hz = {1 / params.period_s:g} is too fast for filter: certificate, which decides at most "
                f"{MOST_HZ:g} times a second; write filter: qp into the fleet file."
            )
        if name := uncovered(params):
            raise UserError(f"the certificate does not cover {name} yet; fly with filter: qp.")
        self.params, (index, mates) = params, seat
        fleet = ((params, radius_m), *beside)
        common = common_of(fleet) if beside else None
        self.figures: CertificateFigures = figures_of(params, radius_m, common)
        self._fleet = [figures_of(*one, common) for one in fleet]
        self.certificate, self._is_gained, self._way = certificate_of(params, self.figures), is_gained, way
        self._leads = np.array([index < mate for mate in mates], bool)
        self._present = np.ones(len(mates), bool)
        self._lost = blank_view(len(mates)).own._replace(pos_m=np.full(3, np.nan))

    def init(self, batch: tuple[int, ...] = ()) -> RobotCarry:
        """The memory before the first decision, at which the robot takes its place and its session begins."""
        count = len(self._leads)
        robot = self.certificate.init(np.full((*batch, 3), np.nan), count, np.zeros(batch))
        said = self.certificate.said(robot, self._leads)
        none = np.full((*batch, count), -1)
        return RobotCarry(robot, said._replace(number=none), 0.0, 0.0, np.zeros(count))

    def hear(self, carry: RobotCarry, told: Sequence[AddressedWord | None], now_s: float) -> RobotCarry:
        """Return the memory for a decision at that time, with the newest words of each teammate [K].

        `told` is None where a teammate has said nothing yet; words of a session that ended count as none.
        """
        carry = self._renewed(carry._replace(now_s=now_s, session_s=carry.session_s or now_s), told)
        taken = {k: s for k, s in enumerate(told) if s is not None and s.session_s >= carry.sessions_s[k]}
        for k, said in taken.items():
            if said.session_s > carry.sessions_s[k]:
                carry = self._forgotten(carry, k, said.session_s)
        words = {k: _word_for(said, carry.session_s) for k, said in taken.items()}
        return carry._replace(heard=with_rows(carry.heard, words))

    def _renewed(self, carry: RobotCarry, told: Sequence[AddressedWord | None]) -> RobotCarry:
        """Begin the session anew, later, where a teammate takes it for one of before: the clock went back since then.

        Such a teammate knows a later session of this robot, or holds a pact that this session never made.
        """
        pact = carry.robot.pact
        last_s = carry.session_s
        for k, said in enumerate(told):
            if said is None or said.known_s < carry.session_s:
                continue
            made = int(max(pact.number[k], pact.offered[k]))
            if said.known_s > carry.session_s or int(said.word.number) > made:
                last_s = max(last_s, said.known_s + LATER_S)
        if last_s == carry.session_s:
            return carry
        fresh, robot = self.init(), carry.robot
        robot = robot._replace(pact=fresh.robot.pact)
        return carry._replace(robot=robot, heard=fresh.heard, session_s=last_s, sessions_s=fresh.sessions_s)

    def _forgotten(self, carry: RobotCarry, k: int, session_s: float) -> RobotCarry:
        """Return the memory without the pact with teammate k, which began a session and remembers none."""
        sessions, fresh = np.array(carry.sessions_s), each(self.init().robot.pact, lambda part: np.asarray(part)[k])
        sessions[k] = session_s
        robot = carry.robot._replace(pact=with_rows(carry.robot.pact, {k: fresh}))
        return carry._replace(robot=robot, sessions_s=sessions)

    def clock_jumped(self, carry: RobotCarry, by_s: float) -> RobotCarry:
        """Return the memory after the clock was set by this time [s].

        The robot goes on along its course in its own time, and takes no other one before it rests.
        """
        robot, course = carry.robot, carry.robot.course
        robot = robot._replace(course=course._replace(at_s=course.at_s + by_s), until_s=robot.until_s + by_s)
        decided_s = carry.decided_s + by_s if carry.decided_s else 0.0
        return carry._replace(robot=robot, waits=True, decided_s=decided_s)

    def doubts(self, carry: RobotCarry) -> Doubts:
        """Return the reasons why the robot takes no new course."""
        robot, has = carry.robot, self._present
        return Doubts(tuple(np.flatnonzero(has & (robot.pact.number == 0)).tolist()), bool(robot.trip), carry.waits)

    def said(self, carry: RobotCarry) -> np.ndarray | None:
        """[1 + 2 K, 15] what the robot says to its teammates, see `words.rows_of`; None before it has a place."""
        if not self.figures.held_back:
            return self._rows(carry)
        return carry.rows[0] if len(carry.rows) > self.figures.held_back else None

    def _rows(self, carry: RobotCarry) -> np.ndarray | None:
        if not carry.robot.placed:
            return None
        word = self.certificate.said(carry.robot, self._leads)
        return rows_of(word, (carry.session_s, carry.sessions_s))

    def __call__(
        self, carry: RobotCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[RobotCarry, FilterResult]:
        """(memory, view, nominal [4], or [5] with a gain) -> (memory, result), at the time of the last `hear`; a gain
        has no meaning here."""
        if self._way is None:
            return self._decided(carry, view, nominal)
        if self._is_elsewhere(carry, view, ELSEWHERE_TUBES):
            carry = self._pushed(carry)
        after, result = self._way(self._decided, self._aged(carry), view, nominal)
        return after._replace(decided_s=carry.now_s), result

    def _begun(self, carry: RobotCarry) -> RobotCarry:
        """Return the memory of a session that begins now, with the sightings of the one before."""
        return self.hear(self.init(), (), carry.now_s)._replace(worn=carry.worn, decided_s=carry.decided_s)

    def _pushed(self, carry: RobotCarry) -> RobotCarry:
        """Begin a session at this time; the sent commands are still on their way, and the bias is what it was.

        What the push did to the velocity is no bias, so its anchor goes.
        """
        fresh, robot = self._begun(carry), carry.robot
        robot = fresh.robot._replace(commands=robot.commands, bias=unanchored(robot.bias))
        return fresh._replace(robot=robot, waits=carry.waits)

    def _aged(self, carry: RobotCarry) -> RobotCarry:
        """Return the memory with sightings as old as they are: blind ticks, rest and a hung node decide nothing."""
        if not (carry.decided_s and isinstance(carry.worn, Ageing)):
            return carry
        passed_s = max(carry.now_s - carry.decided_s, 0.0)
        return carry._replace(worn=carry.worn.aged(passed_s - self.params.period_s))

    def _decided(self, carry: RobotCarry, view: LocalView, nominal: Array) -> tuple[RobotCarry, FilterResult]:
        """Decide about acceleration and yaw rate."""
        wanted = np.asarray(nominal, float)[:SENT]
        after, found = self._step(carry, view, wanted)
        away = np.asarray(view.heard.pos_m, float) - np.asarray(view.own.pos_m, float)
        gap = np.linalg.norm(away, axis=-1)[np.asarray(view.heard.mask, bool)].min(initial=np.inf)
        return after, FilterResult(
            command=found.command,
            nominal=self._with_gain(np.asarray(nominal)),
            active=not bool((np.abs(found.command - wanted) <= SAME).all()),
            slack=0.0,
            solved=not bool(found.vetoed),
            reason=Reason.OK if _is_sound(view) else Reason.NON_FINITE,
            margin_m=float(gap) - self.params.safety.separation_m,
        )

    def _with_gain(self, nominal: np.ndarray) -> np.ndarray:
        """The nominal command; where a policy sets a gain and another source made the command, with the file's."""
        short = self._is_gained and len(nominal) == SENT
        return np.append(nominal, self.params.safety.gain_per_s) if short else nominal

    def blind(self, carry: RobotCarry, view: LocalView, since_s: Array) -> tuple[RobotCarry, np.ndarray]:
        """A tick without an estimate: the reference brakes and rests, the robot makes its acceleration.

        Args:
            carry: memory.
            view: as ever; of its own state nothing is read.
            since_s: age of the last estimate, which is not read.
        """
        after, found = self._step(carry, view._replace(own=self._lost), np.zeros(4))
        return after, found.command

    def rest(self, carry: RobotCarry, view: LocalView) -> RobotCarry:
        """Return the memory after a tick in which no command is sent: the robot goes on to agree with its teammates.

        A robot that is somewhere else than its reference, because its vehicle moves by itself or somebody carries it,
        begins a session where it is.
        """
        if self._is_elsewhere(carry, view, 1.0):
            return self._step(self._begun(carry), view, np.zeros(4))[0]
        return self.blind(carry, view, np.array(np.inf))[0]

    def _is_elsewhere(self, carry: RobotCarry, view: LocalView, tubes: float) -> bool:
        """Return True if the robot is this many radii of its tube away from its reference."""
        if not (_is_sound(view) and carry.robot.placed):
            return False
        ahead_m, now_s = self.params.look_ahead_m, np.array(carry.now_s)
        return float(tubes_off(carry.robot, view, self.figures, ahead_m, now_s)) > tubes

    def resumed(self, carry: RobotCarry, queue: Array) -> RobotCarry:
        """Return the memory after a gap, with the commands [Q, 4] that were sent meanwhile."""
        robot = carry.robot._replace(commands=queue, bias=unanchored(carry.robot.bias))
        return carry._replace(robot=robot)

    def seen(self, carry: RobotCarry, view: LocalView) -> LocalView:
        """Return the view that the policy decides on: the robot is where its reference is."""
        return at_reference(carry.robot, view, self.params.look_ahead_m) if carry.robot.placed else view

    def _step(self, carry: RobotCarry, view: LocalView, nominal: np.ndarray) -> tuple[RobotCarry, Certified]:
        given = DecisionInputs(view, carry.heard, self._leads, self._present, nominal, np.array(carry.now_s))
        before = carry.robot
        waits = carry.waits and bool(rests_at_s(before.course, np) > carry.now_s + self.figures.lead_s)
        if waits:  # as one outside its tube: its reference comes to rest
            before = before._replace(trip=np.array(True))
        robot, found = self.certificate.step(before, given)
        after = carry._replace(robot=robot, waits=waits)
        if (wait := self.figures.held_back) and (rows := self._rows(after)) is not None:
            after = after._replace(rows=(*carry.rows[-wait:], rows))
        return after, found

    @property
    def mark(self) -> str:
        """Eight digits that are equal for robots that know the same figures of all vehicles of their fleet: only such
        robots fly a certificate together."""
        shared = [
            (f.period_s, f.lead_s, f.learned, f.unlearned, f.squash, f.accel_m_s2, f.speed_m_s, f.stop_s, f.bend_m)
            for f in self._fleet
        ]
        return hashlib.sha256(repr(sorted(map(repr, shared))).encode()).hexdigest()[:8]


def _word_for(said: AddressedWord, session_s: float) -> Word:
    """The word [] of a teammate; without its pact if that is with another session of the robot than this one."""
    if said.known_s == session_s:
        return said.word
    none = np.array(-1)
    return said.word._replace(number=none, offered=none + 1, refused=none)


def with_rows(many: Branch, rows: Mapping[int, Branch]) -> Branch:
    """Return arrays [K] with the rows k that are given, arrays [] each."""
    parts = [_with_parts(part, {k: one[i] for k, one in rows.items()}) for i, part in enumerate(many)]
    return new_tuple(type(many), parts)


def _with_parts(many: Tree, rows: Mapping[int, Tree]) -> Array:
    if isinstance(many, tuple):
        return with_rows(many, {k: one for k, one in rows.items() if isinstance(one, tuple)})
    made = np.array(many)
    for k, value in rows.items():
        made[k] = value
    return made


def _is_sound(view: LocalView) -> bool:
    own = view.own
    return bool((np.abs(own.pos_m) < LARGE).all() and (np.abs(own.vel_m_s) < LARGE).all())
