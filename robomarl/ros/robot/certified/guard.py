"""`CertifiedRobot`: the certificate as the filter of one robot, with its words to and from teammates. No ROS here.

A robot that begins to move begins a *session*: it remembers nothing of before. Its messages carry
the session, and the sessions of its teammates as it knows them. A teammate that hears of a new
session forgets its pact with the robot, and takes no new course before both have agreed again, but
to move away. Words that were meant for a session of before count as none, so a process may die and
start again in flight. A robot of a fleet with a stated range of the radio forgets a teammate that it
has not heard for long: it begins a session with that one alone, see `robomarl.core.certificate.reach`.
`docs/certificate.md` has the assumptions.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple

import numpy as np

from robomarl.core.certificate.course import rests_at_s
from robomarl.core.certificate.figures import WHOLE, CertificateFigures, common_of, figures_of, uncovered
from robomarl.core.certificate.kernel import certificate_of
from robomarl.core.certificate.memory import (
    ELSEWHERE_TUBES,
    Certified,
    DecisionInputs,
    at_reference,
    tubes_off,
)
from robomarl.core.certificate.pact import Word
from robomarl.core.certificate.reach import check_reach, is_too_near
from robomarl.core.certificate.state_box import anywhere, shifted
from robomarl.core.config import UserError
from robomarl.core.domain.onboard import CertifiedCommand
from robomarl.core.filter.filter import SAME
from robomarl.core.filter.memory import LARGE, Reason
from robomarl.core.filter.model.bias import unanchored
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.model.strangers import strangers_in
from robomarl.core.filter.params import SafetyParams
from robomarl.core.tree import Branch, Tree, each, new_tuple
from robomarl.core.types import SENT, Array, FilterResult
from robomarl.core.view import LocalView, blank_view
from robomarl.ros.robot.certified.bare import rounded
from robomarl.ros.robot.certified.carry import Ageing, Doubts, RobotCarry, TeamSeat
from robomarl.ros.robot.certified.stranger_watch import strayed
from robomarl.ros.robot.certified.words import AddressedWord, rows_of

MOST_HZ = 250.0
"""Largest rate of decisions: numbers of pacts grow with it, and messages have no room for more."""
LATER_S = 1e-3
"""A session that has to be later than one that teammates know is later by this."""


class CertifiedRobot:
    """Filter of one robot; a pure function of its arguments, with the interface of `SafetyFilter`."""

    def __init__(
        self,
        params: SafetyParams,
        radius_m: float,
        seat: TeamSeat,
        is_gained: bool = False,
        way: CertifiedCommand | None = None,
    ) -> None:
        """Work out the numbers.

        Args:
            params: safety parameters of the vehicle, with its arena.
            radius_m: radius of its body.
            seat: place of this robot in its team.
            is_gained: True if its policy sets a gain as well.
            way: how commands of another kind go through the certificate; None: they are acceleration and yaw rate.

        Raises:
            UserError: the certificate does not cover what the parameters have, such teammates or such a radio; names
                it.
        """
        if params.period_s < 1 / MOST_HZ:
            raise UserError(
                f"rate_hz = {1 / params.period_s:g} is too fast for filter: certificate, which decides at most "
                f"{MOST_HZ:g} times a second; write filter: qp into the fleet file."
            )
        if name := uncovered(params):
            raise UserError(f"the certificate does not cover {name} yet; fly with filter: qp.")
        self.params, (index, mates, beside, self._reach) = params, seat
        fleet = ((params, radius_m), *beside)
        common = common_of(fleet) if beside else None
        tether = way.tether if way else None
        self.figures: CertificateFigures = figures_of(params, radius_m, common, tether)
        self._fleet = [figures_of(*one, common, tether) for one in fleet]
        if self._reach:
            check_reach(self._reach, self._fleet)
        self.certificate, self._is_gained, self._way = certificate_of(params, self.figures), is_gained, way
        self._front = constants_of(self.figures.front)
        self._leads = np.array([index < mate for mate in mates], bool)
        self._lost = blank_view(len(mates)).own._replace(pos_m=np.full(3, np.nan))

    def init(self, batch: tuple[int, ...] = ()) -> RobotCarry:
        """The memory before the first decision, at which the robot takes its place and its session begins."""
        count = len(self._leads)
        robot = self.certificate.init(np.full((*batch, 3), np.nan), count, np.zeros(batch))
        said = self.certificate.said(robot, self._leads)
        none, zero, false = np.full((*batch, count), -1), np.zeros(count), np.zeros(count, bool)
        unheard = np.full(count, -np.inf)
        return RobotCarry(robot, said._replace(number=none), 0.0, 0.0, zero, zero, unheard, ~false, false)

    def hear(self, carry: RobotCarry, told: Sequence[AddressedWord | None], now_s: float) -> RobotCarry:
        """Return the memory for a decision at that time, with the newest words of each teammate [K].

        `told` is None where a teammate has said nothing yet; words of a session that ended count as none.
        """
        if not carry.session_s:
            carry = carry._replace(session_s=now_s, listens_s=now_s, pairs_s=np.full(len(self._leads), now_s))
        carry = self._renewed(carry._replace(now_s=now_s), told)
        taken = {k: s for k, s in enumerate(told) if s is not None and s.session_s >= carry.sessions_s[k]}
        for k, said in taken.items():
            if said.session_s > carry.sessions_s[k]:
                carry = self._forgotten(carry, k, said.session_s)
        carry = self._reached(carry, tuple(told)) if self._reach else carry
        words = {k: _word_for(said, carry.pairs_s[k]) for k, said in taken.items()}
        return carry._replace(heard=with_rows(carry.heard, words))

    def _reached(self, carry: RobotCarry, told: tuple[AddressedWord | None, ...]) -> RobotCarry:
        """Return the memory with the teammates that are within reach; those that are out of it are forgotten."""
        reach, now_s, before = self._reach, carry.now_s, carry.told or (None,) * len(self._leads)
        assert reach is not None, "it is stated"
        told = told or before
        new = np.array([one is not None and one is not last for one, last in zip(told, before, strict=True)], bool)
        heard_s = np.where(new, now_s, carry.heard_s)
        present = (now_s - heard_s <= reach.within_s) | (now_s - carry.listens_s <= reach.within_s)
        near = [
            bool(carry.robot.placed) and is_too_near(reach, self._fleet, (carry.robot.course, said.word.course), now_s)
            if said is not None and present[k] and not carry.present[k]
            else bool(carry.too_near[k] and carry.robot.pact.number[k] == 0)
            for k, said in enumerate(told)
        ]
        carry = carry._replace(heard_s=heard_s, told=told, too_near=np.array(near, bool))
        return self._among(carry, present)

    def _among(self, carry: RobotCarry, present: np.ndarray) -> RobotCarry:
        """Return the memory of a robot among the teammates that are `present` [K]; others are forgotten."""
        gone = np.flatnonzero(carry.present & ~present)
        for k in gone:
            carry = self._forgotten(carry, int(k), float(carry.sessions_s[k]))
        pairs_s = np.array(carry.pairs_s)
        pairs_s[gone] = np.maximum(carry.now_s, pairs_s[gone] + LATER_S)
        number = np.array(carry.heard.number)
        number[gone] = -1  # the last word of one that is silent now is of a session that ended
        return carry._replace(present=present, pairs_s=pairs_s, heard=carry.heard._replace(number=number))

    def without(self, carry: RobotCarry, gone: Sequence[int]) -> RobotCarry:
        """Return the memory of a robot that lands while the teammates of the rows `gone` fly no more.

        A carrier forgets them, because it must not stop with its load in the air. Another robot keeps their pacts.
        """
        if self.figures.tether is None or not gone:
            return carry
        present = np.array(carry.present)
        present[list(gone)] = False
        return self._among(carry, present)

    def _renewed(self, carry: RobotCarry, told: Sequence[AddressedWord | None]) -> RobotCarry:
        """Begin the session anew, later, where a teammate takes it for one of before: the clock went back since then.

        Such a teammate knows a later session of this robot, or holds a pact that this session never made.
        """
        pact = carry.robot.pact
        known_s = [
            said.known_s
            for k, said in enumerate(told)
            if said is not None
            and said.known_s >= carry.pairs_s[k]
            and (said.known_s > carry.pairs_s[k] or int(said.word.number) > int(max(pact.number[k], pact.offered[k])))
        ]
        if not known_s:
            return carry
        last_s = float(max(*known_s, *carry.pairs_s)) + LATER_S
        fresh, robot = self.init(), carry.robot
        robot = robot._replace(pact=fresh.robot.pact)
        pairs_s = np.full(len(self._leads), last_s)
        return carry._replace(
            robot=robot, heard=fresh.heard, session_s=last_s, sessions_s=fresh.sessions_s, pairs_s=pairs_s
        )

    def _forgotten(self, carry: RobotCarry, k: int, session_s: float) -> RobotCarry:
        """Return the memory without the pact with teammate k, which began this session and remembers none."""
        sessions, fresh = np.array(carry.sessions_s), each(self.init().robot.pact, lambda part: np.asarray(part)[k])
        sessions[k] = session_s
        robot = carry.robot._replace(pact=with_rows(carry.robot.pact, {k: fresh}))
        return carry._replace(robot=robot, sessions_s=sessions)

    def clock_jumped(self, carry: RobotCarry, by_s: float) -> RobotCarry:
        """Return the memory after the clock was set by this time [s].

        The robot goes on along its course in its own time, and takes no other one before it rests.
        """
        robot, course = carry.robot, carry.robot.course
        moved = {"until_s": robot.until_s + by_s, "box": shifted(robot.box, by_s)}
        robot = robot._replace(course=course._replace(at_s=course.at_s + by_s), **moved)
        decided_s = carry.decided_s + by_s if carry.decided_s else 0.0
        rows = tuple((at_s + by_s, said) for at_s, said in carry.rows)
        times = {"decided_s": decided_s, "heard_s": carry.heard_s + by_s, "listens_s": carry.listens_s + by_s}
        return carry._replace(robot=robot, waits=True, rows=rows, **times)

    def doubts(self, carry: RobotCarry) -> Doubts:
        """Return the reasons why the robot takes no new course."""
        robot = carry.robot
        unagreed = np.flatnonzero(carry.present & (robot.pact.number == 0))
        near = np.flatnonzero(carry.too_near)
        return Doubts(tuple(unagreed.tolist()), bool(robot.trip), carry.waits, tuple(near.tolist()), carry.strays)

    def said(self, carry: RobotCarry) -> np.ndarray | None:
        """[1 + 2 K, 15] what the robot says to its teammates, see `words.rows_of`; None before it has a place."""
        if not self.figures.held_back:
            return self._rows(carry)
        return carry.rows[0][1] if carry.rows and self._may_say(carry.rows[0][0], carry.now_s) else None

    def _may_say(self, at_s: float, now_s: float) -> bool:
        """Return True if words of a decision at that time have waited long enough."""
        return now_s - at_s >= self.figures.held_s - WHOLE * self.params.period_s

    def _rows(self, carry: RobotCarry) -> np.ndarray | None:
        if not carry.robot.placed:
            return None
        word = self.certificate.said(carry.robot, self._leads)
        return rows_of(word, (carry.pairs_s, carry.sessions_s))

    def __call__(
        self, carry: RobotCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[RobotCarry, FilterResult]:
        """(memory, view, nominal [4], or [5] with the front's gain) -> (memory, result), at the time of the last
        `hear`."""
        if self._way is None:
            return self._decided(carry, view, nominal)
        # A carrier that a load pulls aside comes back: where it is now its teammates could not agree to.
        if self.figures.tether is None and self._is_elsewhere(carry, view, ELSEWHERE_TUBES):
            carry = self._pushed(carry)
        after, result = self._way(self._decided, self._aged(carry), view, nominal)
        return after._replace(decided_s=carry.now_s), result

    def _begun(self, carry: RobotCarry) -> RobotCarry:
        """Return the memory of a session that begins now, with the sightings and misfits of the one before."""
        fresh, misfits = self.hear(self.init(), (), carry.now_s), carry.robot.box.misfits
        robot = fresh.robot._replace(box=fresh.robot.box._replace(misfits=misfits))
        return fresh._replace(robot=robot, worn=carry.worn, decided_s=carry.decided_s)

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
        wanted = np.asarray(nominal, float)
        after, found = self._step(carry, view, wanted)
        away = np.asarray(view.heard.pos_m, float) - np.asarray(view.own.pos_m, float)
        gap = np.linalg.norm(away, axis=-1)[np.asarray(view.heard.mask, bool)].min(initial=np.inf)
        return after, FilterResult(
            command=found.command,
            nominal=self._with_gain(np.asarray(nominal)),
            active=not bool((np.abs(found.command - wanted[:SENT]) <= SAME).all()),
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
        """Return the memory after a gap, with the commands [Q, 4] that were sent meanwhile; when, nobody tells."""
        robot = carry.robot
        box = anywhere(self.figures.tracker, np.zeros(3), robot.box.misfits, np)
        robot = robot._replace(commands=queue, bias=unanchored(robot.bias), box=box)
        return carry._replace(robot=robot)

    def seen(self, carry: RobotCarry, view: LocalView) -> LocalView:
        """Return the view that the policy decides on: the robot is where its reference is, and a load that it carries
        as far ahead."""
        if not carry.robot.placed:
            return view
        led = at_reference(carry.robot, view, self.params.look_ahead_m)
        return self._way.seen(view, led) if self._way else led

    def _step(self, carry: RobotCarry, view: LocalView, nominal: np.ndarray) -> tuple[RobotCarry, Certified]:
        given = DecisionInputs(view, carry.heard, self._leads, carry.present, nominal, np.array(carry.now_s))
        before = carry.robot
        moves = bool(rests_at_s(before.course, np) > carry.now_s + self.figures.lead_s)
        waits, strays = carry.waits and moves, (carry.strays and moves) or self._sees_stray(carry, view)
        if waits or strays:  # as one outside its tube: its reference comes to rest
            before = before._replace(trip=np.array(True))
        robot, found = self.certificate.step(before, given)
        after = carry._replace(robot=robot, waits=waits, strays=strays)
        if self.figures.held_back and (rows := self._rows(after)) is not None:
            old = sum(self._may_say(at_s, carry.now_s) for at_s, _ in carry.rows)  # of which the newest is said
            after = after._replace(rows=(*carry.rows[max(old - 1, 0) :], (carry.now_s, rows)))
        return after, found

    def _sees_stray(self, carry: RobotCarry, view: LocalView) -> bool:
        """Return True if a sighting breaks A10."""
        if not carry.robot.placed or (seen := strangers_in(self._front, view)) is None:
            return False
        own_error_m, now_s = self.params.safety.position_error_m, np.array(carry.now_s)
        return bool(strayed(self.figures, carry.robot.course, seen, now_s, own_error_m).any())

    @property
    def mark(self) -> str:
        """Eight digits that are equal for robots that know the same figures of all vehicles of their fleet: only such
        robots fly a certificate together."""
        shared = [
            (f.period_s, f.lead_s, *map(astuple, (f.learned, f.unlearned)), f.squash)
            + (f.accel_m_s2, f.speed_m_s, f.stop_s, f.bend_m)
            + (astuple(f.tether) if f.tether else ())
            for f in self._fleet
        ]
        return hashlib.sha256(repr(sorted(repr(rounded(one)) for one in shared)).encode()).hexdigest()[:8]


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
