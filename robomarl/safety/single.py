"""The filter for one robot, in Python floats: the formulas of `decision`, where numpy's overhead would cost the most.

Decisions in which something is not as it should be are made by `decision`, which knows all the reasons.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from robomarl.safety.decision import Library, filter_batch
from robomarl.safety.learned import Learned, learn_one
from robomarl.safety.leaves import as_double, each
from robomarl.safety.mates import Mate, MateRows, read
from robomarl.safety.memory import FilterCarry, Reason
from robomarl.safety.model import barriers, look_ahead, motion
from robomarl.safety.model.bias import LARGE, Bias
from robomarl.safety.model.body_kinds import Kind, Shape
from robomarl.safety.model.constants import Constants
from robomarl.safety.model.hold import NOWHERE_M
from robomarl.safety.model.motion import Floats, Motion, Predicted, Vec3
from robomarl.safety.model.pairs import Body, pair
from robomarl.safety.model.strangers import strangers_in
from robomarl.safety.qp import least, projection
from robomarl.types import Array, FilterResult
from robomarl.view import LocalView, Plan

NUMPY = Library(np, partial(projection.project_rows, xp=np, repeat=projection.repeat_open))
Numbers = list[float]
_FREE = barriers.Bound(math.inf, -math.inf, math.inf)
_REASONS = tuple(Reason)


class Given(NamedTuple):
    """What the filter reads, where all of it is as it should be."""

    own: Motion
    nominal: Numbers
    learned: Learned
    gain_per_s: float | None
    acting: list[Vec3]
    """Commands on their way, oldest first."""
    mates: list[Mate]
    strangers: list[Body]


class Limits(NamedTuple):
    """The half-spaces of one decision that may bind, without the input box, on the command."""

    normals: list[Vec3]
    """Unit vectors."""
    bounds: Numbers
    """Right-hand sides, not clipped yet."""
    floors: Numbers
    """What each is clipped at."""
    calms: Numbers
    """What each is where they are at odds: see `barriers.Bound`."""
    low: list[barriers.Bound]
    high: list[barriers.Bound]
    """Of the command down and up each axis; empty without an arena."""
    gap_m: float
    slow: least.Half
    """The speed limit."""
    pressed: float
    """By how many brakes a mate's row asks for more than braking."""


class SingleFilter:
    """The filter of one type of vehicle for one robot; see `SafetyFilter`.

    Args:
        constants: of the filter.
    """

    def __init__(self, constants: Constants) -> None:
        """Prepare what does not change."""
        self._c, self._mate_rows = constants, MateRows(constants)

    def __call__(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """One decision."""
        given = self._read(carry, view, nominal, gain_per_s) if self._c.mode == "qp" else None
        if given is None:
            return self._by_batch(carry, view, nominal, gain_per_s)
        c, own = self._c, self._predict(given)
        limits = self._limits(own, given)
        accel, reason = _solve(c, limits, self._wanted(own, limits, given))
        if reason is not Reason.OK:
            accel = motion.brake(c, own, Floats)
            accel = _least(c, limits, accel) if reason is Reason.INFEASIBLE else accel
        u = _in_box(c, accel)
        good = reason is Reason.OK
        yaw = min(max(given.nominal[3], -c.yaw_rate_rad_s), c.yaw_rate_rad_s) if good else 0.0
        command = np.array((*u, yaw))
        active, slack = _differs((*u, yaw), nominal.tolist()), _slack(limits, u, good)
        result = FilterResult(command, nominal, active, slack, good, reason, limits.gap_m)
        return self._remember(carry, given, (own, u), command)._replace(
            ok=carry.ok + 1 if good else carry.ok * 0
        ), result

    def _wanted(self, own: Predicted, limits: Limits, given: Given) -> Numbers:
        """The nominal command, or towards the brake; see `batch`."""
        if not (share := min(limits.pressed, 1.0)) > 0.0:
            return given.nominal
        brake = _in_box(self._c, motion.brake(self._c, own, Floats))
        return [(1 - share) * a + share * b for a, b in zip(given.nominal, brake, strict=False)]

    def _by_batch(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None
    ) -> tuple[FilterCarry, FilterResult]:
        """As a batch of one robot."""
        one = lambda leaf: np.asarray(leaf)[None]  # noqa: E731
        gain = None if gain_per_s is None else np.asarray([gain_per_s], float)
        given = each(carry, one), as_double(each(view, one)), np.asarray(nominal, float)[None], gain
        after, found = (each(part, lambda leaf: leaf[0]) for part in filter_batch(self._c, NUMPY, *given))
        return after, FilterResult(
            command=found.command,
            nominal=nominal,
            active=bool(found.active),
            slack=float(found.slack),
            solved=bool(found.solved),
            reason=_REASONS[int(found.reason)],
            margin_m=float(found.margin_m),
        )

    def _read(self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None) -> Given | None:
        """What there is; None where something is not as it should be."""
        c, own = self._c, view.own
        pos, vel = own.pos_m.tolist(), own.vel_m_s.tolist()
        asked, age = nominal.tolist(), abs(float(own.age_s))
        queue: list[Vec3] = carry.commands.tolist()
        gain = None if gain_per_s is None else float(gain_per_s)
        # A sum of sizes is below a limit only if all of them are, and are numbers.
        numbers: Numbers = [*pos, *vel, *asked, *chain.from_iterable(queue)]
        fine = sum(map(abs, numbers)) < LARGE and age <= c.max_own_age_s
        state = self._in_plane(view, Motion(pos, vel)) if c.planar else Motion(pos, vel)
        if not fine or state is None or not (gain is None or math.isfinite(gain)):
            return None
        if c.planar:
            asked[2] = 0.0
        mates = read(c, view.heard, c.horizon_s - age)
        strangers = _strangers(c, view, c.horizon_s - age)
        learned = learn_one(c, carry.bias, state.vel, age)
        if mates is None or strangers is None or learned is None:
            return None
        acting = queue[len(queue) - c.num_acting :]
        return Given(state, asked, learned, gain, acting, mates, strangers)

    def _in_plane(self, view: LocalView, state: Motion) -> Motion | None:
        """The state without its vertical motion; of a differential drive, that of its look-ahead point."""
        state = state._replace(vel=(*state.vel[:2], 0.0))
        if not self._c.look_ahead_m:
            return state
        quat, omega = view.own.quat_wxyz.tolist(), view.own.omega_rad_s.tolist()
        if not sum(map(abs, quat + omega)) < LARGE:
            return None
        return look_ahead.point_of(state, quat, omega[2], self._c.look_ahead_m, Floats)

    def _predict(self, given: Given) -> Predicted:
        """The robot when its decision takes effect."""
        c, gain = self._c, given.gain_per_s
        own = motion.predict(c, given.own, given.acting, given.learned[:2])
        return own if gain is None else own._replace(keep=1 - min(max(gain, 0.0), c.gain_per_s) * c.step_s)

    def _limits(self, own: Predicted, given: Given) -> Limits:
        """All half-spaces but the input box, on the command."""
        c, normals, bounds, floors, calms = self._c, [], [], [], []
        gap, pressed = self._mate_rows.add(own, given.mates, (normals, bounds, floors, calms))
        bodies = list(_bodies(c, given))
        others = [pair(c, kind, own, body, Floats, tail) for kind, body, tail in bodies]
        gap = min(gap, *(row.gap_m for row in others)) if others else gap
        more = [r.bound.floor - r.bound.most for r, body in zip(others, bodies, strict=True) if body[0].yields]
        pressed = max([pressed, *(asked / c.brake_m_s2 for asked in more)])
        for n, (most, floor, calm), _, _ in (limit := barriers.speed_limit(c, own, Floats), *others):
            if not most >= c.loose_m_s2:
                normals.append(n)
                bounds.append(most)
                floors.append(floor)
                calms.append(calm)
        slow = (*limit.normal, max(limit.bound.most, limit.bound.floor))
        return Limits(normals, bounds, floors, calms, *_arena(c, own), gap, slow, pressed)

    def _remember(
        self, carry: FilterCarry, given: Given, done: tuple[Predicted, Vec3], command: np.ndarray
    ) -> FilterCarry:
        """The memory after a decision; `done`: predicted state and acceleration."""
        c, learned, (own, u) = self._c, given.learned, done
        after, stop = motion.committed(c, own, u, Floats)
        columns = list(zip(*[a[:3] for a in (*given.acting, u)][: c.next_count], strict=True))
        ends, half = [(max(column), min(column)) for column in columns], c.period_s / 2
        made = [before + (high + low) * half for before, (high, low) in zip(learned.made, ends, strict=True)]
        unsure = [before + (high - low) * half for before, (high, low) in zip(learned.unsure, ends, strict=True)]
        # One array and views of it: many small arrays cost more than all the rows.
        plan = (*after.pos, *after.vel, *stop)
        memory = np.array((*plan, *learned.estimate, *learned.doubt, *learned.anchor, *made, *unsure))
        queue = carry.commands
        if len(queue):
            queue = np.concatenate((queue[1:], command[None]))
        p, q, r, estimate, doubt, anchor, made_now, unsure_now = (memory[i : i + 3] for i in range(0, 24, 3))
        misfits = carry.bias.misfits + 1 if learned.misfit else carry.bias.misfits
        return FilterCarry(
            queue,
            Plan(p, q, r),
            np.full(3, NOWHERE_M),
            Bias(estimate, doubt, anchor, made_now, unsure_now, np.float64(learned.since_s + c.period_s), misfits),
            carry.ok,
        )


def _strangers(c: Constants, view: LocalView, since_s: float) -> list[Body] | None:
    """Those who were seen and do not run the filter; None where one needs a closer look."""
    found, bodies = strangers_in(c, view), []
    if found is None or c.strangers is None:
        return bodies
    for there, pos, vel, age in zip(*(a.tolist() for a in found), strict=True):
        if not there:
            continue
        if not (sum(map(abs, pos + vel)) < LARGE and abs(age) <= c.strangers.max_age_s):
            return None
        wait = max(abs(age) + since_s, 0.0)
        bodies.append(Body(Motion(pos, vel), wait, wait))
    return bodies


def _bodies(c: Constants, given: Given) -> Iterator[tuple[Kind, Body, Vec3 | None]]:
    """What to keep clear of besides the mates' centres: its kind, its state, and our tail where that is meant."""
    if c.tail_mates:
        line = Shape(line=c.tail_m)
        for pos, vel, *times in given.mates:
            yield c.tail_mates, Body(Motion(pos, vel), times[0], times[1], line, *times[2:]), c.tail_m
    if c.strangers:
        for body in given.strangers:
            yield c.strangers, body, None
            if c.tail_strangers:
                yield c.tail_strangers, body, c.tail_m
    for solid in c.solids:
        body = Body(Motion(solid.place_m, (0.0, 0.0, 0.0)), 0.0, 0.0, solid.shape)
        yield solid.kind, body, None
        if solid.tail_kind:
            yield solid.tail_kind, body, c.tail_m


def _arena(c: Constants, own: Predicted) -> tuple[list[barriers.Bound], list[barriers.Bound]]:
    """What `stacked.faces` says, where it may bind; nothing where no wall may."""
    if c.arena is None:
        return [], []
    (pos, vel), near = own.motion, False
    lowest, highest = [_FREE] * 3, [_FREE] * 3
    for i, (x, v, low, high) in enumerate(zip(pos, vel, *c.arena, strict=True)):
        if not barriers.far_from_wall(c, own, x - low, -v):
            lowest[i], near = barriers.wall(c, own, (i, -1.0), x - low, Floats)[0], True
        if not barriers.far_from_wall(c, own, high - x, v):
            highest[i], near = barriers.wall(c, own, (i, 1.0), high - x, Floats)[0], True
    return (lowest, highest) if near else ([], [])


def _solve(c: Constants, limits: Limits, nominal: Numbers) -> tuple[Vec3, Reason]:
    """The nearest acceleration that holds all rows, and what became of it."""
    bounds = [a if a > b else b for a, b in zip(limits.bounds, limits.floors, strict=True)]
    found = projection.project_one(limits.normals, bounds, nominal[:3], _box(c, limits))
    return found.u, Reason.OK if found.solved else Reason.INFEASIBLE if found.infeasible else Reason.SOLVER


def _least(c: Constants, limits: Limits, start: Vec3) -> Vec3:
    """The command that breaks the rows least; see `least`."""
    rows = [(*n, max(bound, -c.loose_m_s2)) for n, bound in zip(limits.normals, limits.calms, strict=True)]
    return least.least_violation(rows, start, _box(c, limits), limits.slow)


def _box(c: Constants, limits: Limits) -> tuple[Sequence[float], Sequence[float]]:
    """The input box, cut by the arena."""
    if not limits.low:
        return c.low, c.high
    low = [max(b, -max(a.most, a.floor)) for a, b in zip(limits.low, c.low, strict=True)]
    return low, [min(b, max(a.most, a.floor)) for a, b in zip(limits.high, c.high, strict=True)]


def _in_box(c: Constants, u: Vec3) -> Vec3:
    (lx, ly, lz), (hx, hy, hz) = c.low, c.high
    return (min(max(u[0], lx), hx), min(max(u[1], ly), hy), min(max(u[2], lz), hz))


def _differs(a: tuple[float, float, float, float], b: Numbers) -> bool:
    close = abs(a[0] - b[0]) <= 1e-9 and abs(a[1] - b[1]) <= 1e-9
    return not (close and abs(a[2] - b[2]) <= 1e-9 and abs(a[3] - b[3]) <= 1e-9)


def _slack(limits: Limits, u: Vec3, good: bool) -> float:
    """Worst violation of a row by the command; a solution violates only what had to be clipped."""
    worst, (x, y, z) = 0.0, u
    for n, bound, floor in zip(limits.normals, limits.bounds, limits.floors, strict=True):
        if bound < floor or not good:
            worst = max(worst, n[0] * x + n[1] * y + n[2] * z - bound)
    for value, low, high in zip(u, limits.low, limits.high, strict=False):
        worst = max(worst, -low.most - value, value - high.most)
    return worst
