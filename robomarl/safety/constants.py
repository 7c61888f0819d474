"""`Constants`: what the rows need, as plain floats, worked out once before the first decision.

The margins are those of `docs/safety.md`, sections 4 and 5.
"""

import dataclasses
import math
from typing import Literal, NamedTuple

from robomarl.hardware_configs.vehicle import Vector3
from robomarl.safety.kinds import Kind, Solid, keep_of, kinds_of, reach_of, slope_of
from robomarl.safety.params import SafetyParams

Mode = Literal["qp", "textbook", "off"]

DELAY_SPREAD = 0.5
"""Shortest over longest delay: what is between sensor and effect takes at least this share of `delay_s`."""
BOUND_SPAN = 2.0
"""Right-hand sides are clipped at this many times the longest vector of the input box: such a row cannot bind."""
LARGE_M = 1e6
"""As far away as anything can be."""
TEXTBOOK_STEP_S = 1e-3
"""Look-ahead of the rows in textbook mode: they become the derivatives of the continuous formulas."""


class Queue(NamedTuple):
    """What each queued command does before the decision takes effect, oldest first, per m/s^2."""

    speed_s: tuple[float, ...]
    """Change of the velocity."""
    way_s2: tuple[float, ...]
    """Change of the position."""
    speed_doubt_s: tuple[float, ...]
    """By how much the first can be wrong, as the delay is only known to lie in a range."""
    way_doubt_s2: tuple[float, ...]
    """The same for the second."""
    next_s: tuple[float, ...]
    """Change of the velocity until the next estimate, with one more entry for the new command."""


class Constants(NamedTuple):
    """Numbers of one filter."""

    mode: Mode
    mates: Kind
    tail_mates: Kind | None
    """What the mates' tails are to our tail."""
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
    """From the stamp of the own estimate to the decision's effect, in the middle of what is possible."""
    own_error_m: float
    """Bound of the own predicted position's error, and of the arc within one step."""
    own_error_m_s: float
    """Bound of the own predicted velocity's error."""
    plan_reach_m: float
    plan_reach_m_s: float
    """How far a plan can be from the state it came with, extrapolated."""
    speed_m_s: float
    """Largest own speed."""
    accel_error_m_s2: float
    drift_m_s2: float
    """Bound of the estimate of the slow part of the acceleration error; 0 switches it off."""
    demand_m_s2: float
    """Most that one row asks for: what the fallback would do along it at best."""
    loose_m_s2: float
    """Right-hand side of a row that cannot bind."""
    clear_m_s: float
    """Allowed speed beyond the own one from which on a wall cannot bind; see `far_from_wall`."""
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
    queue: Queue


def constants_of(params: SafetyParams, mode: Mode = "qp") -> Constants:
    """Work out the numbers of a filter."""
    if mode == "qp":
        return _robust(params)
    exact = dict.fromkeys(
        ("delay_s", "position_error_m", "velocity_error_m_s", "accel_error_m_s2", "accel_bias_m_s2"), 0.0
    )
    plain = dataclasses.replace(params, safety=dataclasses.replace(params.safety, **exact))
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
    reach = reach_of(params)
    most = math.hypot(*reach) + s.accel_bias_m_s2 * math.sqrt(3)
    delay, lag, horizon = s.delay_s, s.accel_error_m_s2, s.delay_s * (1 + DELAY_SPREAD) / 2
    lead, arc = horizon + period, most * period**2 / 2  # a plan's reference; what acceleration bends in a period
    return Constants(
        mode="qp",
        **kinds_of(params, arc)._asdict(),
        planar=params.planar,
        look_ahead_m=params.look_ahead_m,
        blind_m_s=box.speed_m_s,
        brake_m_s2=s.brake_m_s2,
        gain_per_s=s.gain_per_s,
        step_s=period,
        keep=keep_of(s.gain_per_s, period),
        slope_per_s=slope_of(s.gain_per_s),
        horizon_s=horizon,
        own_error_m=s.position_error_m + s.velocity_error_m_s * delay + lag * delay**2 / 2 + arc,
        own_error_m_s=s.velocity_error_m_s + lag * delay,
        plan_reach_m=most * lead**2 / 2 + 1e-3 + params.look_ahead_m * (1 + box.yaw_rate_rad_s * lead),
        plan_reach_m_s=most * lead + 1e-3 + params.look_ahead_m * box.yaw_rate_rad_s,
        speed_m_s=box.speed_m_s,
        accel_error_m_s2=lag,
        drift_m_s2=s.accel_bias_m_s2,
        demand_m_s2=s.brake_m_s2 + lag,
        loose_m_s2=BOUND_SPAN * math.hypot(*reach),
        clear_m_s=_clear(most + lag + s.brake_m_s2, params),
        max_own_age_s=max(delay, period),
        min_mates=params.min_mates,
        arena=_corners(params),
        low=box.accel_min_m_s2,
        high=box.accel_max_m_s2,
        # The heading of a differential drive follows from the acceleration of its look-ahead point.
        yaw_rate_rad_s=0.0 if params.look_ahead_m else box.yaw_rate_rad_s,
        brake_gain_per_s=1 / (delay + period),
        period_s=period,
        queue=_queue(delay, period, params.queue_length),
    )


def _clear(accel_m_s2: float, params: SafetyParams) -> float:
    gain = params.safety.gain_per_s
    return max(accel_m_s2 / gain, 4 * gain * params.limits.speed_m_s * params.period_s)


def _corners(params: SafetyParams) -> tuple[Vector3, Vector3] | None:
    """The arena for the commanded point, a look-ahead within the walls; in the plane it has no floor or ceiling."""
    if params.arena is None:
        return None
    (ax, ay, az), (bx, by, bz), ahead = params.arena.low_m, params.arena.high_m, params.look_ahead_m
    if params.planar:
        az, bz = -LARGE_M, LARGE_M
    return (ax + ahead, ay + ahead, az), (bx - ahead, by - ahead, bz)


def _queue(delay_s: float, period_s: float, count: int) -> Queue:
    """The middle and half the difference of what the shortest and the longest delay make of each command."""
    shortest, longest = (_effect(d, d, period_s, count) for d in (DELAY_SPREAD * delay_s, delay_s))
    middle = [[(a + b) / 2 for a, b in zip(*pair, strict=True)] for pair in zip(shortest, longest, strict=True)]
    doubt = [[abs(a - b) / 2 for a, b in zip(*pair, strict=True)] for pair in zip(shortest, longest, strict=True)]
    coming = [_effect(d, period_s, period_s, count)[0] for d in (DELAY_SPREAD * delay_s, delay_s)]
    soon = [(a + b) / 2 for a, b in zip(*coming, strict=True)]
    return Queue(
        speed_s=tuple(middle[0][:-1]),
        way_s2=tuple(middle[1][:-1]),
        speed_doubt_s=tuple(doubt[0][:-1]),
        way_doubt_s2=tuple(doubt[1][:-1]),
        next_s=tuple(soon),
    )


def _effect(delay_s: float, until_s: float, period_s: float, count: int) -> tuple[list[float], list[float]]:
    """Speed [s] and way [s^2] at a time, per m/s^2 of each of `count` queued commands and of the new one."""
    speed, way = [], []
    for k in range(count, -1, -1):
        start = min(max(delay_s - k * period_s, 0.0), until_s)
        end = min(max(delay_s - (k - 1) * period_s, 0.0), until_s)
        speed.append(end - start)
        way.append((end - start) * (until_s - (start + end) / 2))
    return speed, way
