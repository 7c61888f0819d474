"""The filter for one robot, on Python floats: the same formulas as `batch`, in a fifth of numpy's time."""

import math
from typing import NamedTuple

import numpy as np

from robomarl.safety import barriers, motion, qp
from robomarl.safety.barriers import Mate
from robomarl.safety.carry import LARGE, UNKNOWN_M_S, FilterCarry, Reason
from robomarl.safety.constants import Constants
from robomarl.safety.motion import Floats, Motion, Predicted, Vec3
from robomarl.types import FilterResult
from robomarl.view import LocalView, Plan

Numbers = list[float]
_ZERO = (0.0, 0.0, 0.0)
_NO_VELOCITY = (UNKNOWN_M_S, UNKNOWN_M_S, UNKNOWN_M_S)


class Inputs(NamedTuple):
    """What the filter reads, as plain numbers."""

    own: Motion
    has_vel: bool
    mates: list[Mate]
    """The mates that may be used."""
    nominal: Numbers
    reason: Reason


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
    c: Constants, carry: FilterCarry, view: LocalView, nominal: np.ndarray
) -> tuple[FilterCarry, FilterResult]:
    """One decision of one robot; see `SafetyFilter`."""
    given = read(c, view, nominal)
    drift = _drift(c, carry, given)
    queue = carry.commands.tolist()
    acting = queue[len(queue) - len(c.queue.speed_s) :]
    own = motion.predict(c, given.own, acting, drift, Floats)
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
    active = given.reason is Reason.NON_FINITE or _differs((x, y, z, yaw), given.nominal)
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
    own, heard = view.own, view.heard
    pos, vel, asked = own.pos_m.tolist(), own.vel_m_s.tolist(), nominal.tolist()
    own_age = abs(float(own.age_s))
    has_pos, has_vel, has_nominal = _sane(pos), _sane(vel), _sane(asked) and abs(asked[3]) < LARGE
    own_ok = has_pos and has_vel and own_age < LARGE
    finite = own_ok and has_nominal
    stale = own_ok and own_age > c.max_own_age_s
    since = c.horizon_s - own_age if own_ok else c.horizon_s
    mates, count = [], 0
    states = zip(heard.mask.tolist(), heard.pos_m.tolist(), heard.vel_m_s.tolist(), heard.age_s.tolist(), strict=True)
    plans = zip(heard.plan.pos_m.tolist(), heard.plan.vel_m_s.tolist(), strict=True)
    for (there, mate_pos, mate_vel, age), plan in zip(states, plans, strict=True):
        if not there:
            continue
        count += 1
        # A stamp from the future is as doubtful as one from the past.
        age = abs(age)
        if not (age < LARGE and _sane(mate_pos) and _sane(mate_vel)):
            finite = False
            continue
        stale = stale or age > c.max_age_s
        state = Motion(mate_pos, mate_vel)
        if c.mode == "qp":
            mates.append(barriers.mate_of(c, state, Motion(*plan), max(age + since, 0.0), Floats))
        else:
            mates.append(Mate(state, 0.0, 0.0))
    reason = Reason.MISSING if count < c.min_mates else Reason.STALE if stale else Reason.OK
    return Inputs(
        own=Motion(pos if has_pos else _ZERO, vel if has_vel else _ZERO),
        has_vel=has_vel,
        mates=mates,
        nominal=asked if has_nominal else [0.0] * 4,
        reason=reason if finite else Reason.NON_FINITE,
    )


def limits_of(c: Constants, own: Predicted, given: Inputs, drift: Vec3) -> Limits:
    """All half-spaces but the input box, on the command: the drift is taken off."""
    if c.mode == "off":
        return Limits([], [], [], [], math.inf)
    gap, found = math.inf, [barriers.speed_limit(c, own, Floats)]
    for mate in given.mates:
        if c.mode == "textbook":
            row = barriers.pair_textbook(c, own.motion, mate.motion, Floats)
        else:
            row = barriers.pair(c, own, mate, Floats)
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


def _sane(v: Numbers) -> bool:
    return -LARGE < v[0] < LARGE and -LARGE < v[1] < LARGE and -LARGE < v[2] < LARGE
