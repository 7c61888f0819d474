"""`Constants`: the numbers that the rows need, as plain floats, computed once before the first decision.

The margins are those of `docs/safety.md`, sections 4 and 5.
"""

import dataclasses
import math
from itertools import pairwise
from typing import Literal, NamedTuple

from robomarl.core.filter.model.body_kinds import Kind, Solid, keep_of, kinds_of, reach_of, slope_of
from robomarl.core.filter.params import SafetyParams, without_errors
from robomarl.core.hardware.sections import Vector3

Mode = Literal["qp", "textbook", "off"]

SUDDEN_KEEP = 0.9
"""Share of h that must be left when a command that asks for more than the last one takes effect early."""
FORGET_S = 20.0
"""The bias changes by its bound in this time at the fastest: a battery that sags, a wind that turns."""
BOUND_SPAN = 2.0
"""Right-hand sides are clipped at this many times the longest vector of the input box: such a row cannot bind."""
ROUNDING_M_S2 = 1e-6
"""Margin [m/s^2] on the brake: if it takes the whole input box, rounding must not put it outside."""
ROUNDING_S = 1e-9
"""Shorter stretches of time are rounding."""
LARGE_M = 1e6
"""Distance [m] that nothing exceeds."""
BISECTIONS = 80
"""Number of bisections from `LARGE_M` down to rounding."""
SETTLE_S = 0.09
"""Time constant of a command where no command holds all rows."""
TEXTBOOK_STEP_S = 1e-3
"""Look-ahead of the rows in textbook mode: they become the derivatives of the continuous formulas."""


class Queue(NamedTuple):
    """The time before the decision takes effect, in stretches: which commands may be in force in each.

    Commands are counted from 0, the oldest that is on its way.
    """

    oldest: tuple[int, ...]
    newest: tuple[int, ...]
    speed_s: tuple[float, ...]
    """Change of the velocity, per m/s^2."""
    way_s2: tuple[float, ...]
    """Change of the position, per m/s^2."""


class Constants(NamedTuple):
    """Numbers of one filter."""

    mode: Mode
    mates: Kind
    tail_mates: Kind | None
    """Kind of the mates' tails for our tail."""
    strangers: Kind | None
    tail_strangers: Kind | None
    solids: tuple[Solid, ...]
    tail_m: Vector3 | None
    """Our tail, from the centre."""
    planar: bool
    look_ahead_m: float
    blind_m_s: float
    """Bound of a look-ahead point's speed against its robot's centre, where a message has no plan."""
    brake_m_s2: float
    gain_per_s: float
    step_s: float
    """Time over which a row looks ahead: the policy's period."""
    keep: float
    """Share of h that must be left after one step, 1 - gain * step."""
    slope_per_s: float
    """Largest slope of the allowed closing speed over distance; also how fast the speed limit is approached."""
    horizon_s: float
    """Longest time from the stamp of the own estimate to the decision's effect."""
    own_error_m: float
    """Bound of the own predicted position's error, and of the arc within one step; bias and delay aside."""
    own_error_m_s: float
    """Bound of the own predicted velocity's error; bias and delay aside."""
    plan_reach_m: float
    plan_reach_m_s: float
    """How far a plan can be from the state it came with, extrapolated."""
    speed_m_s: float
    """Largest own speed."""
    velocity_error_m_s: float
    """Bound of the estimate's error."""
    accel_error_m_s2: float
    reach_m_s2: Vector3
    """Largest command along each axis."""
    bias_m_s2: Vector3
    """Bound of the constant part of the acceleration error along each axis."""
    forget_m_s2: Vector3
    """Growth of the uncertainty of that bias in a period."""
    sudden_keep: float
    """Share of h that must be left where a command takes effect early."""
    sudden_share: float
    """Fraction of an increase over the last command that is granted within the period; the rest may take effect
    early."""
    spend_per_s: float
    """Decay rate [1/s] of the clearance between two mates by the decisions of one robot: each decision
    uses up at most 1 - keep^2 of the clearance, with the smaller keep of the two that a row has."""
    spread_s: float
    """Longest minus shortest delay."""
    half_s: float
    """Change of the velocity at the end of a plan, per m/s^2 beyond the last command, in the middle of the
    range that the delay allows; the error can be as large."""
    half_way_s2: float
    """Change of the position at the end of a plan, per m/s^2 beyond the last command, as for `half_s`."""
    next_count: int
    """How many commands, the oldest on their way first, may be in force until the next estimate; the new one counts."""
    floor_m_s2: float
    """No row asks for less of the acceleration that the vehicle really makes than this: its brake."""
    loose_m_s2: float
    """Right-hand side of a row that cannot bind."""
    clear_m_s: float
    """Allowed speed beyond the own one from which on a wall cannot bind; see `far_from_wall`."""
    settle_share: float
    """Fraction of the step from the last command that is taken per period if no command satisfies all
    rows. Estimation errors make that command jump between periods, and the delay could favour one side."""
    hold_m: Vector3
    """Half-widths of the box in which a robot stays that does not receive its teammates: as small as the errors
    allow."""
    slow_m_s: float
    """Speed from which braking stays within that box."""
    max_own_age_s: float
    min_mates: int
    arena: tuple[Vector3, Vector3] | None
    """Lowest and highest corner."""
    low: Vector3
    high: Vector3
    """Input box, m/s^2, world frame."""
    yaw_rate_rad_s: float
    brake_gain_per_s: float
    """Deceleration per speed close to rest, low enough that the brake neither reverses nor amplifies noise."""
    period_s: float
    num_acting: int
    """How many commands are on their way when a decision is made."""
    queue: Queue


def constants_of(params: SafetyParams, mode: Mode = "qp") -> Constants:
    """Work out the numbers of a filter."""
    if mode == "qp":
        return _robust(params)
    plain = dataclasses.replace(params, safety=without_errors(params.safety))
    c = _robust(plain)
    return c._replace(
        mode=mode,
        mates=c.mates._replace(max_age_s=math.inf, error_m=0.0),
        strangers=c.strangers and c.strangers._replace(max_age_s=math.inf),
        step_s=TEXTBOOK_STEP_S,
        keep=1 - params.safety.gain_per_s * TEXTBOOK_STEP_S,
        own_error_m=0.0,
        max_own_age_s=math.inf,
        min_mates=0,
        arena=None if mode == "off" else _corners(params),
    )


def _robust(params: SafetyParams) -> Constants:
    s, box, period = params.safety, params.limits, params.period_s
    reach, bias, slope = reach_of(params), params.bias_m_s2, slope_of(s.gain_per_s)
    shortest = s.shortest_share * s.delay_s
    most = math.hypot(*reach) + math.hypot(*bias)
    arc, late = most * period**2 / 2, _of_delay(params, most)  # what acceleration bends in a period
    return Constants(
        "qp",
        *kinds_of(params, arc),
        **late,
        next_count=_in_force(shortest, period, params.queue_length),
        num_acting=params.queue_length,
        queue=_queue((shortest, s.delay_s), period, params.queue_length),
        planar=params.planar,
        look_ahead_m=params.look_ahead_m,
        blind_m_s=box.speed_m_s,
        brake_m_s2=s.brake_m_s2,
        gain_per_s=s.gain_per_s,
        step_s=period,
        keep=keep_of(s.gain_per_s, period),
        slope_per_s=slope,
        speed_m_s=box.speed_m_s,
        **_of_errors(params, arc),
        reach_m_s2=reach,
        bias_m_s2=bias,
        forget_m_s2=(bias[0] * period / FORGET_S, bias[1] * period / FORGET_S, bias[2] * period / FORGET_S),
        sudden_keep=SUDDEN_KEEP,
        spend_per_s=-2 * math.log(min(SUDDEN_KEEP, keep_of(s.gain_per_s, period))) / period,
        floor_m_s2=ROUNDING_M_S2 - s.brake_m_s2,
        loose_m_s2=BOUND_SPAN * math.hypot(*reach),
        hold_m=_hold(params, arc),
        clear_m_s=_clear(most + s.accel_error_m_s2 + s.brake_m_s2, late["sudden_share"], params),
        min_mates=params.min_mates,
        arena=_corners(params),
        low=box.accel_min_m_s2,
        high=box.accel_max_m_s2,
        # The heading of a differential drive follows from the acceleration of its look-ahead point.
        yaw_rate_rad_s=0.0 if params.look_ahead_m else box.yaw_rate_rad_s,
        period_s=period,
    )


def _of_errors(params: SafetyParams, arc_m: float) -> dict[str, float]:
    """Return the constants that the errors of the estimate decide; `arc_m` is bent by acceleration in a period."""
    place, speed = _own_error(params, arc_m)
    return {
        "own_error_m": place,
        "own_error_m_s": speed,
        "velocity_error_m_s": params.safety.velocity_error_m_s,
        "accel_error_m_s2": params.safety.accel_error_m_s2,
        "slow_m_s": math.sqrt(params.safety.brake_m_s2 * min(_hold(params, arc_m))),
    }


def _of_delay(params: SafetyParams, most_m_s2: float) -> dict[str, float]:
    """The constants that the delay decides, but for counts and queue."""
    delay, period, ahead = params.safety.delay_s, params.period_s, params.look_ahead_m
    spread, slope = delay - params.safety.shortest_share * delay, slope_of(params.safety.gain_per_s)
    lead, turn = delay + period, params.limits.yaw_rate_rad_s  # `lead`: a plan's reference
    return {
        "horizon_s": delay,
        "plan_reach_m": most_m_s2 * lead**2 / 2 + 1e-3 + ahead * (1 + turn * lead),
        "plan_reach_m_s": most_m_s2 * lead + 1e-3 + ahead * turn,
        "sudden_share": period / (period + spread * (1 + slope * (spread / 2 + period))),
        "spread_s": spread,
        "half_s": spread / 2,
        "half_way_s2": (spread * period + spread**2 / 2) / 2,
        "max_own_age_s": max(delay, period),
        "brake_gain_per_s": 1 / lead,
        "settle_share": 1 - math.exp(-period / SETTLE_S),  # the delay takes one side of what flips
    }


def _own_error(params: SafetyParams, arc_m: float) -> tuple[float, float]:
    """Return the error bounds of the predicted position [m] and velocity [m/s]."""
    s, t = params.safety, params.safety.delay_s
    far = s.position_error_m + s.velocity_error_m_s * t + s.accel_error_m_s2 * t**2 / 2 + arc_m
    return far, s.velocity_error_m_s + s.accel_error_m_s2 * t


def _hold(params: SafetyParams, arc_m: float) -> Vector3:
    """Return the distance of two opposite walls from the middle at which both let a robot rest there,
    despite its errors."""
    far, fast = _own_error(params, arc_m)
    t, w = params.safety.delay_s, params.safety.accel_error_m_s2
    x, y, z = (far + b * t**2 / 2 + _leeway(params, fast + b * t, w + b) for b in params.bias_m_s2)
    return (x, y, z)


def _leeway(params: SafetyParams, seems_m_s: float, lost_m_s2: float) -> float:
    """Least clearance [m] at which a wall's row allows 0 [m/s^2] to a robot that seems to come at a speed."""
    gain, brake, step = params.safety.gain_per_s, params.safety.brake_m_s2, params.period_s
    knee = brake / slope_of(gain)

    def speed(x: float) -> float:
        return slope_of(gain) * x if slope_of(gain) * x < knee else math.sqrt(2 * brake * x - knee**2)

    low, high = 0.0, LARGE_M
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        ahead, now = speed(middle - seems_m_s * step) - seems_m_s, speed(middle) - seems_m_s
        low, high = (low, middle) if ahead - keep_of(gain, step) * now >= lost_m_s2 * step else (middle, high)
    return 1.001 * high  # beyond rounding


def _clear(accel_m_s2: float, share: float, params: SafetyParams) -> float:
    gain = params.safety.gain_per_s
    sudden = (accel_m_s2 + 2 * math.hypot(*reach_of(params)) / share) * params.period_s / (1 - SUDDEN_KEEP)
    return max(accel_m_s2 / gain, sudden, 4 * gain * params.limits.speed_m_s * params.period_s)


def _corners(params: SafetyParams) -> tuple[Vector3, Vector3] | None:
    """The arena for the commanded point, a look-ahead within the walls; in the plane it has no floor or ceiling."""
    if params.arena is None:
        return None
    (ax, ay, az), (bx, by, bz), ahead = params.arena.low_m, params.arena.high_m, params.look_ahead_m
    if params.planar:
        az, bz = -LARGE_M, LARGE_M
    return (ax + ahead, ay + ahead, az), (bx - ahead, by - ahead, bz)


def _queue(delays_s: tuple[float, float], period_s: float, count: int) -> Queue:
    """Return the stretches in which each command takes over from the one before, between its shortest and
    longest delay."""
    shortest, delay_s = delays_s
    decided = [-k * period_s for k in range(count, 0, -1)]
    turns = {min(max(t + after, 0.0), delay_s) for t in decided for after in (shortest, delay_s)}
    ends = sorted({0.0, delay_s, *turns}) if count else []
    stretches: list[tuple[int, int, float, float]] = []
    for start, end in pairwise(ends):
        middle = (start + end) / 2
        if end - start > ROUNDING_S:
            due = sum(t + delay_s < middle for t in decided), sum(t + shortest < middle for t in decided)
            stretches.append((due[0] - 1, due[1] - 1, end - start, (end - start) * (delay_s - middle)))
    oldest, newest, speed, way = zip(*stretches, strict=True) if stretches else ((), (), (), ())
    return Queue(oldest, newest, speed, way)


def _in_force(shortest_s: float, period_s: float, count: int) -> int:
    """How many of `count` commands on their way and the new one may be in force within the next period."""
    newest = math.ceil((period_s - shortest_s) / period_s - 1e-6) - 1
    return min(count, count + newest) + 1
