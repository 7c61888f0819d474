"""`Certificate`: one decision of certified robots, array-generic: what was heard, the reference, the command."""

from collections.abc import Callable

from robomarl.core.certificate import pact as pacts
from robomarl.core.certificate.course import CommittedCourse, chosen, resting, state_at, stop_of, with_axis
from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.certificate.memory import Certified, CertifiedCarry, DecisionInputs
from robomarl.core.certificate.pact import Pact, Word
from robomarl.core.certificate.reference import (
    ROUNDING,
    Ways,
    are_allowed,
    caught_up,
    path_of,
    smoothed,
    times_of,
    ways_of,
)
from robomarl.core.certificate.rule import Pair, clearance, parts_from, watched
from robomarl.core.certificate.solids import room_left
from robomarl.core.certificate.state_box import DIAGONAL, anywhere, commanded, middle_of, narrowed
from robomarl.core.certificate.strangers import later, least_left
from robomarl.core.certificate.tracker import Point, track
from robomarl.core.filter.checks import Checked, check, split
from robomarl.core.filter.decision import Library, filter_batch
from robomarl.core.filter.memory import LARGE, FilterCarry, initial_carry
from robomarl.core.filter.model import bias, stacked
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.model.strangers import strangers_in
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import SENT, Array, divided
from robomarl.core.view import Heard, Plan

PART_M_S, PART_PER_S = 0.4, 2.0
"""Speed with which a robot leads away from a teammate that waits, and acceleration per speed that is missing."""
EARLY_SHARE = 0.45
"""Fraction of a period by which a decision may come too early."""


class Certificate:
    """The certificate of one type of vehicle; a pure function of its arguments, without state of its own."""

    note: str = ""
    """Why it is not the one in C, where that was asked for: `kernel.certificate_of`."""

    def __init__(self, params: SafetyParams, figures: CertificateFigures, library: Library) -> None:
        """Keep the numbers.

        Args:
            params: safety parameters of the vehicle.
            figures: of `figures_of`.
            library: arrays and solver of the front.
        """
        self.params, self.figures, self.library = params, figures, library
        self._front = constants_of(figures.front)

    def init(self, pos_m: Array, mates: int, now_s: Array) -> CertifiedCarry:
        """The memory of robots that rest at positions [..., 3] and have agreed on nothing yet with K teammates."""
        f, xp, lead, dtype = self.figures, self.library.xp, pos_m.shape[:-1], str(pos_m.dtype)
        placed = (xp.abs(pos_m) < LARGE).all(-1)
        course = resting(xp.where(placed[..., None], pos_m, 0.0), now_s, (max(f.accel_m_s2), f.unlearned.room_m))
        none = xp.zeros((*lead, mates), int)  # 64 bits in numpy: numbers grow with the time
        each = pacts.to_each(course, none)
        memory = initial_carry(self.params, lead, xp, dtype)
        return CertifiedCarry(
            course=course,
            placed=placed,
            trip=~placed & placed,
            until_s=course.at_s + f.lead_s,
            accels=xp.zeros((*lead, f.smooth_count, 3), pos_m.dtype),
            pact=Pact(none, Pair(each, each), none, Pair(each, each), none > 0, none - 1),
            commands=memory.commands,
            bias=memory.bias,
            box=anywhere(f.tracker, memory.bias.estimate_m_s2, memory.bias.misfits, xp),
            front=initial_carry(f.front, lead, xp, dtype),
        )

    def said(self, carry: CertifiedCarry, leads: Array) -> Word:
        """Return the words of robots with this memory to each teammate, [..., K]; none before they know a place."""
        word, xp = pacts.said(carry.pact, carry.course, leads, self.library.xp), self.library.xp
        return word._replace(number=xp.where(carry.placed[..., None], word.number, -1))

    def step(self, carry: CertifiedCarry, given: DecisionInputs) -> tuple[CertifiedCarry, Certified]:
        """Decide once. Decisions come once a period; one that comes much too early moves no reference."""
        f, c, xp = self.figures, self.figures.tracker, self.library.xp
        checked = check(c, given.view._replace(sensed=()), given.nominal[..., :SENT], xp)
        carry = self._settled(carry, checked, given.now_s)
        early_s = xp.maximum(carry.course.at_s - given.now_s - f.lead_s, 0.0)
        at_s = given.now_s + f.lead_s + early_s
        accels = caught_up(f, carry.course, (carry.accels, carry.until_s), at_s, xp)
        seen = xp.stack(checked.own.vel, -1), checked.age_s, checked.has_own
        learned = bias.learn(c, carry.bias, seen, xp)
        stamp = given.now_s - checked.age_s, checked.has_own
        box = narrowed(c, carry.box, (xp.stack(checked.own.pos, -1), seen[0]), stamp, (learned, f.position_error_m), xp)
        checked = checked._replace(own=middle_of(box))
        is_sure = (xp.abs(learned.doubt_m_s2) <= f.learned_m_s2).all(-1)
        old = carry.course._replace(room_m=xp.where(is_sure, f.learned.room_m, f.unlearned.room_m))
        start = old._replace(**dict(zip(("pos_m", "vel_m_s"), state_at(old, at_s, xp), strict=True)), at_s=at_s)
        known = checked, is_sure, early_s
        pact, way, front = self._reference(carry, given, (old, start), known)
        course, accel, good = way
        tracked, (command, error, point) = self._track(carry._replace(accels=accels, bias=learned), known, start, accel)
        box = commanded(c, box, command[..., :3], given.now_s, xp)
        after = tracked._replace(course=course, until_s=at_s + f.period_s, pact=pact, box=box, front=front)
        return after, Certified(
            command=command,
            word=self.said(after, given.leads),
            moves=good.any(-1),
            vetoed=~good[..., 0],
            error_m=error,
            trip=after.trip,
            point_m=point,
        )

    def _settled(self, carry: CertifiedCarry, checked: Checked, now_s: Array) -> CertifiedCarry:
        """Return the memory of robots that take their places with their first estimate."""
        f, xp = self.figures, self.library.xp
        there = resting(xp.stack(checked.own.pos, -1), now_s, (max(f.accel_m_s2), f.unlearned.room_m))
        takes = ~carry.placed & checked.has_own
        return carry._replace(course=chosen(takes, there, carry.course, xp), placed=carry.placed | takes)

    def _reference(
        self,
        carry: CertifiedCarry,
        given: DecisionInputs,
        courses: tuple[CommittedCourse, CommittedCourse],
        known: tuple[Checked, Array, Array],
    ) -> tuple[Pact, tuple[CommittedCourse, Array, Array], FilterCarry]:
        """Return the pacts, the course with its acceleration [..., 3] and which ways were good, and the front's memory.

        Args:
            carry: memory.
            given: inputs of the decision.
            courses: the old course, and its state now.
            known: checked inputs, whether the robot knows its bias, and how early the decision comes [s].
        """
        f, xp, (old, start), (checked, is_sure, early_s) = self.figures, self.library.xp, courses, known
        times = times_of(f, start.at_s, xp)
        keeps, able = self._judge(start.pos_m, times), carry.placed[..., None]

        def takes(pair: Pair) -> Array:
            has_room = is_sure[..., None] | (pair.mine.room_m >= f.unlearned.room_m - ROUNDING)
            return keeps(old, pair) & has_room & able

        pact = pacts.hear(carry.pact, given.word, given.leads, takes, xp)
        present = pacts.bound(pact, given.present)
        wanted, front = self._wanted(carry, given, start)
        waits = self._waiting(pact, given, start) & present
        wanted = self._parting(wanted, start, given, waits)
        ways = ways_of(f, start, wanted, xp)
        agree = self._agree(ways, pact, (given.word, present, waits), (start, times))
        good = are_allowed(f, ways.course, old, start, xp) & agree
        good = good & self._is_free(ways.course, old, (start.pos_m, times))
        if (seen := strangers_in(self._front, given.view)) is not None:
            good = good & (least_left(f, start, ways.course, seen, given.now_s, xp) >= 0)
        fit = carry.placed & checked.has_own & ~carry.trip & (early_s <= EARLY_SHARE * f.period_s)
        good = good & (fit & (is_sure | self._has_room(pact, present)))[..., None]
        course, accel = self._chosen(old, start, ways, good)
        number = xp.asarray(xp.floor(given.now_s / f.period_s), pact.offered.dtype)[..., None]
        makes = given.leads & present & able
        pact = pacts.offer(pact, given.word, makes, (course, number), lambda pair: keeps(course, pair), xp)
        return pact, (course, accel, good), front

    def _has_room(self, pact: Pact, present: Array) -> Array:
        """[...] bool: all anchors of a robot leave the room that it needs while it does not know its bias."""
        room = self.figures.unlearned.room_m - ROUNDING
        has = (pact.agreed.mine.room_m >= room) & ((pact.offer.mine.room_m >= room) | ~pact.is_open)
        return (has | ~present).all(-1)

    def _track(
        self, carry: CertifiedCarry, known: tuple[Checked, Array, Array], start: CommittedCourse, accel: Array
    ) -> tuple[CertifiedCarry, tuple[Array, Array, Array]]:
        """Return the memory after a decision; and the command [..., 4], the predicted error and the tracked point
        [..., 3]. `known` as for `_reference`."""
        f, c, xp, (checked, is_sure, early_s) = self.figures, self.figures.tracker, self.library.xp, known
        accels = xp.concatenate([carry.accels[..., 1:, :], accel[..., None, :]], -2)
        late = carry.commands.shape[-2] - c.num_acting
        own = stacked.predict(c, checked.own, carry.commands[..., late:, :3], carry.bias, xp, self.library.weigh)
        pos, point = self._point(start, (carry.accels, accels), early_s[..., None])
        half = tuple(xp.where(is_sure, a, b) for a, b in zip(f.learned.half_m, f.unlearned.half_m, strict=True))
        command, error = track(c, own, point, half, checked.has_own, xp)
        yaw = xp.clip(checked.nominal[..., 3], -c.yaw_rate_rad_s, c.yaw_rate_rad_s)
        sent = xp.concatenate([carry.commands, xp.stack([*command, yaw], -1)[..., None, :]], -2)
        expected = bias.expect(c, carry.bias, sent[..., late : late + c.next_count, :3], xp)
        off = xp.stack(error, -1) * xp.asarray(f.squash)
        radius = xp.where(is_sure, f.learned.radius_m, f.unlearned.radius_m)
        unsure = xp.sqrt(sum(x * x for x in own.unsure_m)) + c.own_error_m + (DIAGONAL - 1) * f.position_error_m
        trip = checked.has_own & (xp.sqrt((off * off).sum(-1)) > radius + unsure)
        after = carry._replace(accels=accels, commands=sent[..., 1:, :], bias=expected, trip=trip)
        return after, (sent[..., -1, :], xp.stack(error, -1), pos)

    def _judge(self, start: Array, times: Array) -> Callable[[CommittedCourse, Pair], Array]:
        """Return a function that says of a course [...] and anchors [..., K] whether it keeps clear by them."""
        xp = self.library.xp
        return lambda course, pair: self._keeps(path_of(start, with_axis(course), times, xp), pair, times)[..., 0, :]

    def _keeps(self, path: Array, pair: Pair, times: Array) -> Array:
        """[..., C, K] bool: a path [..., C, M, 3] keeps clear by anchors [..., K], and within reach of a load that the
        robot carries with its teammates."""
        f, xp = self.figures, self.library.xp
        squash = xp.asarray(f.squash, path.dtype)
        clear = clearance(path * squash, watched(pair, times, f.bend_m, squash, xp), xp) >= 0
        return clear if f.tether is None else clear & (f.tether.left_m(path, pair, (times, f.bend_m), xp) >= 0)

    def _agree(
        self, ways: Ways, pact: Pact, known: tuple[Word, Array, Array], compared: tuple[CommittedCourse, Array]
    ) -> Array:
        """[..., C] bool: a way to go keeps clear by all anchors that the robot judges by.

        `known`: words, which teammates there are, and which wait; `compared`: where the ways start, and times [..., M].
        """
        f, xp, (word, present, waits), (start, times) = self.figures, self.library.xp, known, compared
        squash = xp.asarray(f.squash, start.pos_m.dtype)
        path, absent = path_of(start.pos_m, ways.course, times, xp), ~present[..., None, :]
        agreed, offered = (self._keeps(path, pair, times) for pair in (pact.agreed, pact.offer))
        good = agreed & (pact.number > 0)[..., None, :]
        good = good | (parts_from(start, ways.course, stop_of(word.course, xp), squash, xp) & waits[..., None, :])
        good = good & (offered | ~pact.is_open[..., None, :])
        return (good | absent).all(-1)

    def _waiting(self, pact: Pact, given: DecisionInputs, start: CommittedCourse) -> Array:
        """[..., K] bool: a teammate rests until the robot has led away from it, and both have made a pact."""
        waits = pacts.waits(given.word, start.at_s, self.library.xp) & given.leads & ~(pact.number > 0)
        return waits & (self.figures.tether is None)  # a carrier alone leads away from nobody

    def _parting(self, wanted: Array, start: CommittedCourse, given: DecisionInputs, waits: Array) -> Array:
        """Return the acceleration [..., 3] away from teammates that wait, else the wanted one."""
        f, xp, dtype = self.figures, self.library.xp, wanted.dtype
        squash, most = xp.asarray(f.squash, dtype), xp.asarray(f.accel_m_s2, dtype)
        away = (start.pos_m[..., None, :] - stop_of(given.word.course, xp)) * squash
        away = away / xp.sqrt((away * away).sum(-1) + ROUNDING**2)[..., None]
        speed = PART_M_S * xp.where(waits[..., None], away, 0.0).sum(-2)
        parts = xp.clip(PART_PER_S * (speed - start.vel_m_s), -most, most)
        return xp.where(waits.any(-1)[..., None], parts, wanted)

    def _is_free(self, ways: CommittedCourse, old: CommittedCourse, compared: tuple[Array, Array]) -> Array:
        """[..., C] bool: courses stay away from obstacles; of a robot that is too near, no nearer than the old one."""
        f, xp, (start, times) = self.figures, self.library.xp, compared
        both = (path_of(start, course, times, xp) for course in (ways, with_axis(old)))
        new, before = (room_left(self._front, path, xp) - f.bend_m for path in both)
        here = room_left(self._front, xp.stack([start, start], -2)[..., None, :, :], xp)
        return (new >= 0) | ((here < 0) & (new >= before))

    def _wanted(
        self, carry: CertifiedCarry, given: DecisionInputs, start: CommittedCourse
    ) -> tuple[Array, FilterCarry]:
        """Return the acceleration [..., 3] that rows between exact references let through, and their memory."""
        word, xp, view = given.word, self.library.xp, given.view
        pos, vel = state_at(word.course, xp.maximum(start.at_s[..., None], word.course.at_s), xp)
        none = xp.zeros_like(pos)
        known = (word.number >= 0) & given.present
        heard = Heard(known, pos, vel, none[..., 0], Plan(none, none, none))
        own = view.own._replace(pos_m=start.pos_m, vel_m_s=start.vel_m_s, age_s=start.at_s * 0.0)
        seen = view._replace(own=own, heard=heard)
        if (met := strangers_in(self._front, view)) is not None:
            seen = seen._replace(sensed=later(self.figures, met, start.at_s - given.now_s, xp))
        front, result = filter_batch(self._front, self.library, carry.front, seen, *divided(given.nominal))
        most = xp.asarray(self.figures.accel_m_s2, start.pos_m.dtype)
        return xp.clip(result.command[..., :3], -most, most), front

    def _chosen(
        self, old: CommittedCourse, start: CommittedCourse, ways: Ways, good: Array
    ) -> tuple[CommittedCourse, Array]:
        """Return the first way to go that is good, else the old course; and its acceleration [..., 3]."""
        f, xp = self.figures, self.library.xp
        after = state_at(old, ways.course.at_s[..., 0], xp)
        course, accel = old, (after[1] - start.vel_m_s) / f.period_s
        for i in reversed(range(good.shape[-1])):
            pos, vel, *rest = ways.course
            way = CommittedCourse(pos[..., i, :], vel[..., i, :], *(part[..., i] for part in rest))
            course = chosen(good[..., i], way, course, xp)
            accel = xp.where(good[..., i, None], ways.accel_m_s2[..., i, :], accel)
        return course, accel

    def _point(self, start: CommittedCourse, accels: tuple[Array, Array], early_s: Array) -> tuple[Array, Point]:
        """Return the tracked point's position [..., 3], and the point at the end of the tracker's prediction.

        Args:
            start: state of the reference.
            accels: accelerations [..., m, 3] that led there, and with this decision's.
            early_s: [..., 1] how much later than this decision's time that state is.
        """
        f, h = self.figures, self.figures.ahead_s
        pos, vel = smoothed(f, (start.pos_m, start.vel_m_s), accels[0])
        pos, mean = pos - vel * early_s, accels[1].mean(-2)
        ahead = (pos + vel * h + mean * (h * h / 2), vel + mean * h, mean)
        return pos, Point(*(split(part) for part in ahead))
