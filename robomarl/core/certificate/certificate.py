"""`Certificate`: one decision of certified robots, array-generic: what was heard, the reference, the command."""

from collections.abc import Callable

from robomarl.core.certificate import pact as pacts
from robomarl.core.certificate.course import CommittedCourse, chosen, resting, state_at, with_axis
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
from robomarl.core.certificate.rule import Pair, clearance, watched
from robomarl.core.certificate.solids import room_left
from robomarl.core.certificate.tracker import Point, track
from robomarl.core.filter.checks import Checked, check, split
from robomarl.core.filter.decision import Library, filter_batch
from robomarl.core.filter.memory import FilterCarry, initial_carry
from robomarl.core.filter.model import bias, stacked
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import Array
from robomarl.core.view import Heard, Plan


class Certificate:
    """The certificate of one type of vehicle; a pure function of its arguments, without state of its own."""

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
        course = resting(pos_m, now_s, (max(f.accel_m_s2), f.unlearned.room_m))
        none = xp.zeros((*lead, mates), "int32")
        each = pacts.to_each(course, none)
        memory = initial_carry(self.params, lead, xp, dtype)
        return CertifiedCarry(
            course=course,
            until_s=course.at_s + f.lead_s,
            accels=xp.zeros((*lead, f.smooth_count, 3), pos_m.dtype),
            pact=Pact(none, Pair(each, each), none, Pair(each, each), none > 0, none - 1),
            commands=memory.commands,
            bias=memory.bias,
            front=initial_carry(f.front, lead, xp, dtype),
        )

    def said(self, carry: CertifiedCarry, leads: Array) -> Word:
        """Return the words to each teammate of robots with this memory, [..., K]."""
        return pacts.said(carry.pact, carry.course, leads, self.library.xp)

    def step(self, carry: CertifiedCarry, given: DecisionInputs) -> tuple[CertifiedCarry, Certified]:
        """Decide once."""
        f, c, xp = self.figures, self.figures.tracker, self.library.xp
        at_s, checked = given.now_s + f.lead_s, check(c, given.view, given.nominal, xp)
        accels = caught_up(f, carry.course, (carry.accels, carry.until_s), at_s, xp)
        learned = bias.learn(c, carry.bias, (given.view.own.vel_m_s, checked.age_s, checked.has_own), xp)
        is_sure = (xp.abs(learned.doubt_m_s2) <= f.learned_m_s2).all(-1)
        old = carry.course._replace(room_m=xp.where(is_sure, f.learned.room_m, f.unlearned.room_m))
        start = old._replace(**dict(zip(("pos_m", "vel_m_s"), state_at(old, at_s, xp), strict=True)), at_s=at_s)
        times = times_of(f, at_s, xp)
        keeps = self._judge(start.pos_m, times)
        pact = pacts.hear(carry.pact, given.word, given.leads, lambda pair: keeps(old, pair), xp)
        wanted, front = self._wanted(carry, given, start)
        ways = ways_of(f, start, wanted, xp)
        good = are_allowed(f, ways.course, old, start, xp) & self._agree(ways, pact, given, (start.pos_m, times))
        good = good & self._is_free(ways.course, old, (start.pos_m, times))
        good = good & (checked.has_own & (is_sure | self._has_room(pact, given)))[..., None]
        course, accel = self._chosen(old, start, ways, good)
        pact = pacts.offer(pact, given.word, given.leads & given.present, course, lambda pair: keeps(course, pair), xp)
        tracked, outcome = self._track(carry._replace(accels=accels, bias=learned), (checked, is_sure), start, accel)
        said = pacts.said(pact, course, given.leads, xp)
        after = tracked._replace(course=course, until_s=at_s + f.period_s, pact=pact, front=front)
        return after, outcome._replace(word=said, moves=good.any(-1), vetoed=~good[..., 0])

    def _has_room(self, pact: Pact, given: DecisionInputs) -> Array:
        """[...] bool: all anchors of a robot leave the room that it needs while it does not know its bias."""
        room = self.figures.unlearned.room_m - ROUNDING
        has = (pact.agreed.mine.room_m >= room) & ((pact.offer.mine.room_m >= room) | ~pact.is_open)
        return (has | ~given.present).all(-1)

    def _track(
        self, carry: CertifiedCarry, known: tuple[Checked, Array], start: CommittedCourse, accel: Array
    ) -> tuple[CertifiedCarry, Certified]:
        """Return the memory and the outcome of a decision, as far as the tracker makes them.

        `known`: the checked inputs, and whether the robot knows its bias.
        """
        f, c, xp, (checked, is_sure) = self.figures, self.figures.tracker, self.library.xp, known
        accels = xp.concatenate([carry.accels[..., 1:, :], accel[..., None, :]], -2)
        late = carry.commands.shape[-2] - c.num_acting
        own = stacked.predict(c, checked.own, carry.commands[..., late:, :3], carry.bias, xp, self.library.weigh)
        pos, point = self._point(start, carry.accels, accels)
        half = tuple(xp.where(is_sure, a, b) for a, b in zip(f.learned.half_m, f.unlearned.half_m, strict=True))
        command, error = track(c, own, point, half, checked.has_own, xp)
        yaw = xp.clip(checked.nominal[..., 3], -c.yaw_rate_rad_s, c.yaw_rate_rad_s)
        sent = xp.concatenate([carry.commands, xp.stack([*command, yaw], -1)[..., None, :]], -2)
        expected = bias.expect(c, carry.bias, sent[..., late : late + c.next_count, :3], xp)
        off = xp.stack(error, -1) * xp.asarray(f.squash)
        radius = xp.where(is_sure, f.learned.radius_m, f.unlearned.radius_m)
        unsure = xp.sqrt(sum(x * x for x in own.unsure_m)) + c.own_error_m
        trip = checked.has_own & (xp.sqrt((off * off).sum(-1)) > radius + unsure)
        after = carry._replace(accels=accels, commands=sent[..., 1:, :], bias=expected)
        nothing = self.said(carry, carry.pact.is_open)
        return after, Certified(sent[..., -1, :], nothing, trip, trip, xp.stack(error, -1), trip, pos)

    def _judge(self, start: Array, times: Array) -> Callable[[CommittedCourse, Pair], Array]:
        """Return a function that says of a course [...] and anchors [..., K] whether it keeps clear by them."""
        f, xp = self.figures, self.library.xp
        squash = xp.asarray(f.squash, start.dtype)

        def keeps(course: CommittedCourse, pair: Pair) -> Array:
            path = path_of(start, with_axis(course), times, squash, xp)
            return clearance(path, watched(pair, times, f.bend_m, squash, xp), xp)[..., 0, :] >= 0

        return keeps

    def _agree(self, ways: Ways, pact: Pact, given: DecisionInputs, compared: tuple[Array, Array]) -> Array:
        """[..., C] bool: a way to go keeps clear by all anchors that the robot judges by.

        `compared`: the place [..., 3] where the ways start, and the times [..., M].
        """
        f, xp, (start, times) = self.figures, self.library.xp, compared
        squash = xp.asarray(f.squash, start.dtype)
        path, absent = path_of(start, ways.course, times, squash, xp), ~given.present[..., None, :]
        agreed, offered = (watched(pair, times, f.bend_m, squash, xp) for pair in (pact.agreed, pact.offer))
        good = (clearance(path, agreed, xp) >= 0) & (pact.number > 0)[..., None, :]
        good = good & ((clearance(path, offered, xp) >= 0) | ~pact.is_open[..., None, :])
        return (good | absent).all(-1)

    def _is_free(self, ways: CommittedCourse, old: CommittedCourse, compared: tuple[Array, Array]) -> Array:
        """[..., C] bool: courses stay away from obstacles, or as far as the old one does if that is nearer."""
        f, xp, (start, times) = self.figures, self.library.xp, compared
        both = (path_of(start, course, times, xp.ones(3), xp) for course in (ways, with_axis(old)))
        new, before = (room_left(self._front, path, xp) - f.bend_m for path in both)
        return new >= xp.minimum(before, 0.0) - ROUNDING

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
        front, result = filter_batch(self._front, self.library, carry.front, seen, given.nominal)
        return result.command[..., :3], front

    def _chosen(
        self, old: CommittedCourse, start: CommittedCourse, ways: Ways, good: Array
    ) -> tuple[CommittedCourse, Array]:
        """Return the first way to go that is good, else the old course; and its acceleration [..., 3]."""
        f, xp = self.figures, self.library.xp
        after = state_at(old, ways.course.at_s[..., 0], xp)
        course, accel = old, (after[1] - start.vel_m_s) / f.period_s
        for i in reversed(range(good.shape[-1])):
            way = CommittedCourse(
                *(part[..., i, :] for part in ways.course[:2]), *(part[..., i] for part in ways.course[2:])
            )
            course = chosen(good[..., i], way, course, xp)
            accel = xp.where(good[..., i, None], ways.accel_m_s2[..., i, :], accel)
        return course, accel

    def _point(self, start: CommittedCourse, before: Array, accels: Array) -> tuple[Array, Point]:
        """Return the tracked point's position [..., 3], and the point at the end of the tracker's prediction.

        `before`, `accels`: accelerations [..., m, 3] that led to the start, and with this decision's.
        """
        f, h = self.figures, self.figures.ahead_s
        pos, vel = smoothed(f, (start.pos_m, start.vel_m_s), before)
        mean = accels.mean(-2)
        ahead = (pos + vel * h + mean * (h * h / 2), vel + mean * h, mean)
        return pos, Point(*(split(part) for part in ahead))
