"""The filter for one robot, on Python floats: the same formulas as `batch`, in a fifth of numpy's time."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from robomarl.safety import barriers, look_ahead, motion, qp
from robomarl.safety.barriers import Body, Row
from robomarl.safety.carry import LARGE, UNKNOWN_M_S, FilterCarry, Reason, forget
from robomarl.safety.constants import Constants
from robomarl.safety.kinds import Kind, Shape
from robomarl.safety.motion import Floats, Motion, Predicted, Vec3
from robomarl.safety.strangers import strangers_in
from robomarl.safety.twins import is_twin
from robomarl.types import FilterResult
from robomarl.view import LocalView, Plan

Numbers = list[float]
_ZERO = (0.0, 0.0, 0.0)
_NO_VELOCITY = (UNKNOWN_M_S, UNKNOWN_M_S, UNKNOWN_M_S)


class Inputs(NamedTuple):
    """What the filter reads, as plain numbers."""

    own: Motion
    has_vel: bool
    mates: list[Body]
    """The mates that may be used."""
    strangers: list[Body]
    """The others that may be used."""
    nominal: Numbers
    reason: Reason


class Company(NamedTuple):
    """Bodies that were heard or seen."""

    bodies: list[Body]
    """Those that may be used."""
    count: int
    fresh: bool
    """None is too old."""
    finite: bool
    """Of none a number is unusable."""


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


def filter_one(
    c: Constants, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: float | None = None
) -> tuple[FilterCarry, FilterResult]:
    """One decision of one robot; see `SafetyFilter`."""
    given = read(c, view, nominal)
    if not _is_memory(carry):
        carry, given = forget(carry), given._replace(reason=Reason.NON_FINITE)
    drift = _drift(c, carry, given)
    queue = carry.commands.tolist()
    acting = queue[len(queue) - len(c.queue.speed_s) :]
    own = motion.predict(c, given.own, acting, drift, Floats)
    if gain_per_s is not None:
        gain = float(gain_per_s)
        if not math.isfinite(gain):
            given, gain = given._replace(reason=Reason.NON_FINITE), 0.0
        own = own._replace(keep=1 - min(max(gain, 0.0), c.gain_per_s) * c.step_s)
    limits = limits_of(c, own, given, drift)
    accel, reason = given.nominal, given.reason
    if reason is Reason.OK:
        accel, reason = _solve(c, limits, given.nominal)
    good = reason is Reason.OK
    if not good:
        accel = _fallback(c, own.motion, given, drift)
    x, y, z = u = _in_box(c, accel)
    yaw = min(max(given.nominal[3], -c.yaw_rate_rad_s), c.yaw_rate_rad_s) if good else 0.0
    command = np.array((x, y, z, yaw))
    active = _differs((x, y, z, yaw), nominal.tolist())
    slack = _slack(c, limits, u, good)
    result = FilterResult(command, nominal, active, slack, good, reason, limits.gap_m)
    after = motion.advance(c, own.motion, (x + drift[0], y + drift[1], z + drift[2]))
    stop = motion.stop_point(c, after, Floats)
    expected = motion.expected_velocity(c, given.own, [*acting, u], drift) if given.has_vel else _NO_VELOCITY
    # One array and views of it: five small arrays cost more than all the rows.
    memory = np.array((*after.pos, *after.vel, *stop, *drift, *expected))
    return FilterCarry(
        commands=np.concatenate((carry.commands, command[None]))[1:] if queue else carry.commands,
        plan=Plan(memory[0:3], memory[3:6], memory[6:9]),
        drift_m_s2=memory[9:12],
        expected_m_s=memory[12:15],
        ok=carry.ok + 1 if good else carry.ok * 0,
    ), result


def read(c: Constants, view: LocalView, nominal: np.ndarray) -> Inputs:
    """Test everything that the filter reads, and nothing else."""
    own = view.own
    pos, vel, asked = own.pos_m.tolist(), own.vel_m_s.tolist(), nominal.tolist()
    own_age = abs(float(own.age_s))
    has_pos, has_vel, has_nominal = _sane(pos), _sane(vel), _sane(asked) and abs(asked[3]) < LARGE
    own_ok = has_pos and has_vel and own_age < LARGE
    state = Motion(pos if has_pos else _ZERO, vel if has_vel else _ZERO)
    if c.planar:
        own_ok, state = _in_plane(c, view, own_ok, state)
        asked = [*asked[:2], 0.0, asked[3]] if has_nominal else asked
    since = c.horizon_s - own_age if own_ok else c.horizon_s
    mates, others = _mates(c, view, since), _strangers(c, view, since)
    stale = not (mates.fresh and others.fresh) or (own_ok and own_age > c.max_own_age_s)
    reason = Reason.MISSING if mates.count < c.min_mates else Reason.STALE if stale else Reason.OK
    return Inputs(
        own=state,
        has_vel=has_vel,
        mates=mates.bodies,
        strangers=others.bodies,
        nominal=asked if has_nominal else [0.0] * 4,
        reason=reason if own_ok and has_nominal and mates.finite and others.finite else Reason.NON_FINITE,
    )


def _in_plane(c: Constants, view: LocalView, ok: bool, state: Motion) -> tuple[bool, Motion]:
    """The state without its vertical motion; of a differential drive, that of its look-ahead point."""
    (px, py, pz), (vx, vy, _) = state
    state = Motion((px, py, pz), (vx, vy, 0.0))
    if not (c.look_ahead_m and ok):
        return ok, state
    quat, omega = view.own.quat_wxyz.tolist(), view.own.omega_rad_s.tolist()
    if not (_sane(quat) and abs(quat[3]) < LARGE and _sane(omega)):
        return False, state
    return True, look_ahead.point_of(state, quat, omega[2], c.look_ahead_m, Floats)


def _mates(c: Constants, view: LocalView, since: float) -> Company:
    """The mates that were heard, each counted once."""
    heard, bodies, count, fresh, finite = view.heard, [], 0, True, True
    places: list[Numbers] = []
    states = zip(heard.mask.tolist(), heard.pos_m.tolist(), heard.vel_m_s.tolist(), heard.age_s.tolist(), strict=True)
    plans = zip(heard.plan.pos_m.tolist(), heard.plan.vel_m_s.tolist(), strict=True)
    for (there, pos, vel, age), plan in zip(states, plans, strict=True):
        if not there:
            continue
        count += 1
        # A stamp from the future is as doubtful as one from the past.
        age = abs(age)
        if not (age < LARGE and _sane(pos) and _sane(vel)):
            finite = False
            continue
        fresh = fresh and age <= c.mates.max_age_s
        state = Motion(pos, vel)
        if c.min_mates > 1:
            here = [p + v * age for p, v in zip(pos, vel, strict=True)]
            count -= is_twin(c, here, places)
            places.append(here)
        if c.mode == "qp":
            bodies.append(barriers.mate_of(c, state, Motion(*plan), max(age + since, 0.0), Floats))
        else:
            bodies.append(Body(state, 0.0, 0.0))
    return Company(bodies, count, fresh, finite)


def _strangers(c: Constants, view: LocalView, since: float) -> Company:
    """Those who were seen and do not run the filter."""
    found, bodies, fresh, finite = strangers_in(c, view), [], True, True
    if found is None or c.strangers is None:
        return Company([], 0, True, True)
    for there, pos, vel, age in zip(*(a.tolist() for a in found), strict=True):
        if not there:
            continue
        age = abs(age)
        if not (age < LARGE and _sane(pos) and _sane(vel)):
            finite = False
            continue
        fresh = fresh and age <= c.strangers.max_age_s
        wait = max(age + since, 0.0) if c.mode == "qp" else 0.0
        bodies.append(Body(Motion(pos, vel), wait, wait))
    return Company(bodies, len(bodies), fresh, finite)


def limits_of(c: Constants, own: Predicted, given: Inputs, drift: Vec3) -> Limits:
    """All half-spaces but the input box, on the command: the drift is taken off."""
    if c.mode == "off":
        return Limits([], [], [], [], math.inf)
    gap, found = math.inf, [barriers.speed_limit(c, own, Floats)]
    for kind, body, tail in _bodies(c, given):
        row = _row(c, kind, own, body, tail)
        gap = min(gap, row.gap_m)
        found.append(row)
    dx, dy, dz = drift
    normals, bounds = [], []
    for n, bound, _, _ in found:
        bound -= n[0] * dx + n[1] * dy + n[2] * dz
        if not bound >= c.loose_m_s2:
            normals.append(n)
            bounds.append(bound)
    return Limits(normals, bounds, *_arena(c, own, drift), gap)


def _bodies(c: Constants, given: Inputs) -> Iterator[tuple[Kind, Body, Vec3 | None]]:
    """Everything to keep clear of: its kind, its state, and our tail where that is meant."""
    for mate in given.mates:
        yield c.mates, mate, None
        if c.tail_mates:
            yield c.tail_mates, mate._replace(shape=Shape(line=c.tail_m)), c.tail_m
    if c.strangers:
        for body in given.strangers:
            yield c.strangers, body, None
            if c.tail_strangers:
                yield c.tail_strangers, body, c.tail_m
    for solid in c.solids:
        body = Body(Motion(solid.place_m, _ZERO), 0.0, 0.0, solid.shape)
        yield solid.kind, body, None
        if solid.tail_kind:
            yield solid.tail_kind, body, c.tail_m


def _row(c: Constants, kind: Kind, own: Predicted, body: Body, tail: Vec3 | None) -> Row:
    if c.mode == "textbook":
        return barriers.pair_textbook(c, kind, own.motion, body, Floats, tail)
    return barriers.pair(c, kind, own, body, Floats, tail)


def _arena(c: Constants, own: Predicted, drift: Vec3) -> tuple[Numbers, Numbers]:
    """What `barriers.arena_bounds` says, where it may bind."""
    if c.arena is None:
        return [], []
    lowest, highest = [], []
    for x, v, d, low, high in zip(*own.motion, drift, *c.arena, strict=True):
        far = barriers.far_from_wall(c, own, x - low, -v)
        lowest.append(-math.inf if far else -barriers.wall(c, own, x - low, -v, Floats)[0] - d)
        far = barriers.far_from_wall(c, own, high - x, v)
        highest.append(math.inf if far else barriers.wall(c, own, high - x, v, Floats)[0] - d)
    return lowest, highest


def _solve(c: Constants, limits: Limits, nominal: Numbers) -> tuple[Vec3, Reason]:
    """The nearest acceleration that holds all rows, and what became of it."""
    demand, low, high = c.demand_m_s2, c.low, c.high
    if limits.low:
        low = [max(b, min(a, demand)) for a, b in zip(limits.low, low, strict=True)]
        high = [min(b, max(a, -demand)) for a, b in zip(limits.high, high, strict=True)]
    bounds = [max(b, -demand) for b in limits.bounds]
    found = qp.project_one(limits.normals, bounds, nominal[:3], (low, high))
    return found.u, Reason.OK if found.solved else Reason.INFEASIBLE if found.infeasible else Reason.SOLVER


def _drift(c: Constants, carry: FilterCarry, given: Inputs) -> Vec3:
    dx, dy, dz = carry.drift_m_s2.tolist()
    expected = carry.expected_m_s.tolist()
    if not (given.has_vel and _sane(expected)):
        expected = given.own.vel
    (vx, vy, vz), (ex, ey, ez), update = given.own.vel, expected, motion.update_drift
    return update(c, dx, vx - ex, Floats), update(c, dy, vy - ey, Floats), update(c, dz, vz - ez, Floats)


def _fallback(c: Constants, own: Motion, given: Inputs, drift: Vec3) -> Vec3:
    """Brake; without a velocity there is no direction to brake in."""
    if not given.has_vel:
        return _ZERO
    x, y, z = motion.brake(c, own.vel, Floats)
    return (x - drift[0], y - drift[1], z - drift[2])


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


def _is_memory(carry: FilterCarry) -> bool:
    numbers = carry.commands.ravel().tolist() + carry.drift_m_s2.tolist()
    return -LARGE < min(numbers) and max(numbers) < LARGE and not math.isnan(sum(numbers))


def _sane(v: Numbers) -> bool:
    return -LARGE < v[0] < LARGE and -LARGE < v[1] < LARGE and -LARGE < v[2] < LARGE
