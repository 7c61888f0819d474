"""The filter for one robot, in Python floats: the formulas of `batch`, where numpy's overhead would cost the most.

Decisions in which something is not as it should be, a number that is none, a message that is too old, a mate that is
missing, are made by `batch`, which knows all the reasons.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from robomarl.safety import barriers, look_ahead, motion, qp
from robomarl.safety.barriers import Body
from robomarl.safety.batch import Library, filter_batch
from robomarl.safety.carry import LARGE, UNKNOWN_M_S, FilterCarry, Reason
from robomarl.safety.constants import Constants
from robomarl.safety.kinds import Kind, Shape
from robomarl.safety.mates import Mate, MateRows, read
from robomarl.safety.motion import Floats, Motion, Predicted, Vec3
from robomarl.safety.strangers import strangers_in
from robomarl.types import Array, FilterResult
from robomarl.view import LocalView, Plan

NUMPY = Library(np, partial(qp.project_rows, xp=np, repeat=qp.repeat_open))
Numbers = list[float]
_REASONS = tuple(Reason)
_NO_VELOCITY = [UNKNOWN_M_S] * 3


class Given(NamedTuple):
    """What the filter reads, where all of it is as it should be."""

    own: Motion
    nominal: Numbers
    drift: Vec3
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
    low: Numbers
    high: Numbers
    """Lowest and highest acceleration per axis, not clipped yet; empty without an arena."""
    gap_m: float


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
        c, drift = self._c, given.drift
        own = self._predict(given)
        limits = self._limits(own, given)
        accel, reason = _solve(c, limits, given.nominal)
        if reason is not Reason.OK:
            x, y, z = motion.brake(c, own.motion.vel, Floats)
            accel = (x - drift[0], y - drift[1], z - drift[2])
        u = _in_box(c, accel)
        good = reason is Reason.OK
        yaw = min(max(given.nominal[3], -c.yaw_rate_rad_s), c.yaw_rate_rad_s) if good else 0.0
        command = np.array((*u, yaw))
        active, slack = _differs((*u, yaw), nominal.tolist()), _slack(c, limits, u, good)
        result = FilterResult(command, nominal, active, slack, good, reason, limits.gap_m)
        return self._remember(carry, given, (own.motion, u), command)._replace(
            ok=carry.ok + 1 if good else carry.ok * 0
        ), result

    def _by_batch(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None
    ) -> tuple[FilterCarry, FilterResult]:
        """As a batch of one robot."""
        one = lambda leaf: np.asarray(leaf)[None]  # noqa: E731
        gain = None if gain_per_s is None else np.asarray([gain_per_s], float)
        given = _each(carry, one), as_double(_each(view, one)), np.asarray(nominal, float)[None], gain
        after, found = (_each(part, lambda leaf: leaf[0]) for part in filter_batch(self._c, NUMPY, *given))
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
        pos, vel, drift, expected = (a.tolist() for a in (own.pos_m, own.vel_m_s, carry.drift_m_s2, carry.expected_m_s))
        asked, age = nominal.tolist(), abs(float(own.age_s))
        queue: list[Vec3] = carry.commands.tolist()
        gain = None if gain_per_s is None else float(gain_per_s)
        # A sum of sizes is below a limit only if all of them are, and are numbers.
        numbers: Numbers = [*pos, *vel, *drift, *asked, *chain.from_iterable(queue)]
        fine = sum(map(abs, numbers)) < LARGE and age <= c.max_own_age_s
        state = self._in_plane(view, Motion(pos, vel)) if c.planar else Motion(pos, vel)
        if not fine or state is None or not (gain is None or math.isfinite(gain)):
            return None
        if c.planar:
            asked[2] = 0.0
        if expected == _NO_VELOCITY:
            expected = state.vel
        mates = read(c, view.heard, c.horizon_s - age)
        strangers = _strangers(c, view, c.horizon_s - age)
        if mates is None or strangers is None or not sum(map(abs, expected)) < LARGE:
            return None
        (dx, dy, dz), (vx, vy, vz), (ex, ey, ez), update = drift, state.vel, expected, motion.update_drift
        x, y, z = update(c, dx, vx - ex, Floats), update(c, dy, vy - ey, Floats), update(c, dz, vz - ez, Floats)
        acting = queue[len(queue) - len(c.queue.speed_s) :]
        return Given(state, asked, (x, y, z), gain, acting, mates, strangers)

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
        own = motion.predict(c, given.own, given.acting, given.drift, Floats)
        return own if gain is None else own._replace(keep=1 - min(max(gain, 0.0), c.gain_per_s) * c.step_s)

    def _limits(self, own: Predicted, given: Given) -> Limits:
        """All half-spaces but the input box, on the command: the drift is taken off."""
        c, (dx, dy, dz), normals, bounds = self._c, given.drift, [], []
        gap = self._mate_rows.add(own, given.drift, given.mates, (normals, bounds))
        others = [barriers.pair(c, kind, own, body, Floats, tail) for kind, body, tail in _bodies(c, given)]
        gap = min(gap, *(row.gap_m for row in others)) if others else gap
        for n, bound, _, _ in (barriers.speed_limit(c, own, Floats), *others):
            bound -= n[0] * dx + n[1] * dy + n[2] * dz
            if not bound >= c.loose_m_s2:
                normals.append(n)
                bounds.append(bound)
        return Limits(normals, bounds, *_arena(c, own, given.drift), gap)

    def _remember(
        self, carry: FilterCarry, given: Given, done: tuple[Motion, Vec3], command: np.ndarray
    ) -> FilterCarry:
        """The memory after a decision; `done`: predicted state and acceleration."""
        c, drift, (state, u) = self._c, given.drift, done
        after = motion.advance(c, state, (u[0] + drift[0], u[1] + drift[1], u[2] + drift[2]))
        stop = motion.stop_point(c, after, Floats)
        expected = motion.expected_velocity(c, given.own, [*given.acting, u], drift)
        # One array and views of it: five small arrays cost more than all the rows.
        memory = np.array((*after.pos, *after.vel, *stop, *drift, *expected))
        queue = carry.commands
        if len(queue):
            queue = np.concatenate((queue[1:], command[None]))
        return FilterCarry(queue, Plan(memory[0:3], memory[3:6], memory[6:9]), memory[9:12], memory[12:15], carry.ok)


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
            yield c.tail_mates, Body(Motion(pos, vel), times[0], times[1], line, times[2]), c.tail_m
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


def _arena(c: Constants, own: Predicted, drift: Vec3) -> tuple[Numbers, Numbers]:
    """What `stacked.faces` says, where it may bind; nothing where no wall may."""
    if c.arena is None:
        return [], []
    (pos, vel), near = own.motion, False
    lowest, highest = [-math.inf] * 3, [math.inf] * 3
    for i, (x, v, d, low, high) in enumerate(zip(pos, vel, drift, *c.arena, strict=True)):
        if not barriers.far_from_wall(c, own, x - low, -v):
            lowest[i], near = -barriers.wall(c, own, x - low, -v, Floats)[0] - d, True
        if not barriers.far_from_wall(c, own, high - x, v):
            highest[i], near = barriers.wall(c, own, high - x, v, Floats)[0] - d, True
    return (lowest, highest) if near else ([], [])


def _solve(c: Constants, limits: Limits, nominal: Numbers) -> tuple[Vec3, Reason]:
    """The nearest acceleration that holds all rows, and what became of it."""
    demand, low, high = c.demand_m_s2, c.low, c.high
    if limits.low:
        low = [max(b, min(a, demand)) for a, b in zip(limits.low, low, strict=True)]
        high = [min(b, max(a, -demand)) for a, b in zip(limits.high, high, strict=True)]
    bounds = limits.bounds
    if bounds and min(bounds) < -demand:
        bounds = [max(b, -demand) for b in bounds]
    found = qp.project_one(limits.normals, bounds, nominal[:3], (low, high))
    return found.u, Reason.OK if found.solved else Reason.INFEASIBLE if found.infeasible else Reason.SOLVER


def _in_box(c: Constants, u: Vec3) -> Vec3:
    (lx, ly, lz), (hx, hy, hz) = c.low, c.high
    return (min(max(u[0], lx), hx), min(max(u[1], ly), hy), min(max(u[2], lz), hz))


def _differs(a: tuple[float, float, float, float], b: Numbers) -> bool:
    close = abs(a[0] - b[0]) <= 1e-9 and abs(a[1] - b[1]) <= 1e-9
    return not (close and abs(a[2] - b[2]) <= 1e-9 and abs(a[3] - b[3]) <= 1e-9)


def _slack(c: Constants, limits: Limits, u: Vec3, good: bool) -> float:
    """Worst violation of a row by the command; a solution violates only what had to be clipped."""
    worst, (x, y, z), certain = 0.0, u, -c.demand_m_s2 if good else math.inf
    for n, bound in zip(limits.normals, limits.bounds, strict=True):
        if bound < certain:
            worst = max(worst, n[0] * x + n[1] * y + n[2] * z - bound)
    for value, low, high in zip(u, limits.low, limits.high, strict=False):
        worst = max(worst, low - value, value - high)
    return worst


def as_double(view: LocalView) -> LocalView:
    """What the filter reads, in numpy's double precision."""
    own, heard = view.own, view.heard
    pos, vel, age = (np.asarray(x, float) for x in (own.pos_m, own.vel_m_s, own.age_s))
    mate_pos, mate_vel, mate_age = (np.asarray(x, float) for x in (heard.pos_m, heard.vel_m_s, heard.age_s))
    plan = heard.plan._replace(pos_m=np.asarray(heard.plan.pos_m, float), vel_m_s=np.asarray(heard.plan.vel_m_s, float))
    mask = np.asarray(heard.mask, bool)
    heard = heard._replace(mask=mask, pos_m=mate_pos, vel_m_s=mate_vel, age_s=mate_age, plan=plan)
    return view._replace(own=own._replace(pos_m=pos, vel_m_s=vel, age_s=age), heard=heard)


def _each(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Nested NamedTuples with every array changed."""
    return type(tree)(*(_each(part, change) for part in tree)) if isinstance(tree, tuple) else change(tree)
