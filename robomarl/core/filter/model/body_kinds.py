"""Properties of each kind of body that the rows need: teammates, strangers, obstacles, and their tails."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from robomarl.core.filter.model.bodies import Obstacle, Strangers
from robomarl.core.filter.params import SafetyParams
from robomarl.core.hardware.sections import Vector3
from robomarl.core.types import Array


class Shape(NamedTuple):
    """Extent of a body from its reference point; with neither field it is that point alone."""

    line: Sequence[Array] | None = None
    """A straight line to this offset [m]."""
    box: Sequence[Array] | None = None
    """A box from the reference point, its lowest corner, to this offset [m], each at least 0."""


POINT = Shape()
NO_BIAS = (0.0, 0.0, 0.0)

SOON_S = 1.2
"""Largest stopping time of teammates whose motion away from the robot counts as room (`Kind.recedes`)."""


class Kind(NamedTuple):
    """One kind of body: teammates, strangers, obstacles."""

    separation_m: float
    """Distance kept between nearest points."""
    squash: float
    """Factor on z that turns the separation ellipsoid into a sphere: 1 / downwash_ratio; 0 in the plane."""
    error_m: float
    """Bound of its position's error at the stamp, and of its arc within one step."""
    error_m_s: float
    """Bound of its velocity's error at the stamp."""
    drift_m_s2: float
    """Growth rate of that error afterwards, beside its bias and its acceleration on purpose."""
    bias_m_s2: Vector3
    """Bound of its own bias along each axis: it compensates the part that it has learned, we count on nothing."""
    reach_m_s2: Vector3
    """Largest acceleration on purpose along each axis."""
    speed_m_s: float
    """Largest speed."""
    yields: bool
    """True if it runs the filter, and brakes its own approach in time. No other body is trusted to."""
    evade: bool = False
    """True if the robot flees from a body that does not yield; else it is enough to be at rest."""
    brake_share: float = 1.0
    """Share of the own brake that its acceleration leaves."""
    lost_share: float = 0.0
    """Share of its approach that the own speed has to make up for."""
    max_age_s: float = math.inf
    """Maximum age of its message or sighting; older ones stop the vehicle."""
    keep: float = 0.0
    """Share of h that must be left after one step, 1 - gain * step."""
    slope_per_s: float = 0.0
    """Largest slope of the allowed closing speed over distance."""
    recedes: bool = False
    """True if it stops no sooner than by the brake, and its place is known: going away, it leaves room for our stop."""


class Solid(NamedTuple):
    """An obstacle."""

    place_m: Vector3
    shape: Shape
    kind: Kind
    tail_kind: Kind | None
    """Kind of the obstacle for our tail."""


class Kinds(NamedTuple):
    """All that a vehicle keeps clear of; names as in `Constants`."""

    mates: Kind
    tail_mates: Kind | None
    strangers: Kind | None
    tail_strangers: Kind | None
    solids: tuple[Solid, ...]
    tail_m: Vector3 | None


def kinds_of(params: SafetyParams, arc_m: float) -> Kinds:
    """Compute the kinds.

    Args:
        params: parameters of the vehicle.
        arc_m: deviation that a mate's acceleration causes in a period.
    """
    s, tail, ahead, strangers = params.safety, params.tail, params.look_ahead_m, params.strangers
    mates = Kind(
        # Between two look-ahead points; their centres are as far apart as separation_m at least then.
        separation_m=s.separation_m + 2 * ahead,
        squash=0.0 if params.planar else 1 / s.downwash_ratio,
        error_m=s.position_error_m + arc_m,
        error_m_s=s.velocity_error_m_s,
        drift_m_s2=s.accel_error_m_s2,
        bias_m_s2=params.bias_m_s2,
        reach_m_s2=reach_of(params),
        speed_m_s=params.limits.speed_m_s,
        yields=True,
        max_age_s=s.max_age_s,
        keep=keep_of(s.gain_per_s, params.period_s),
        slope_per_s=slope_of(s.gain_per_s),
        recedes=not (s.delay_s or s.position_error_m)
        and max(reach_of(params)) <= s.brake_m_s2 >= params.limits.speed_m_s / SOON_S,
    )
    flat = 0.0 if params.planar else 1.0
    away = stranger_of(params, strangers, strangers.separation_m + ahead) if strangers else None
    return Kinds(
        mates=mates,
        tail_mates=mates._replace(separation_m=tail.separation_m, squash=flat) if tail else None,
        strangers=away,
        tail_strangers=away._replace(separation_m=tail.clearance_m) if away and tail else None,
        solids=tuple(_solid(params, o) for o in params.obstacles),
        tail_m=tail.to_m if tail else None,
    )


def reach_of(params: SafetyParams) -> Vector3:
    """Largest acceleration [m/s^2] along each axis that the input box has."""
    low, high = params.limits.accel_min_m_s2, params.limits.accel_max_m_s2
    return (max(-low[0], high[0]), max(-low[1], high[1]), max(-low[2], high[2]))


def keep_of(gain_per_s: float, period_s: float) -> float:
    """`keep` of a class-K gain."""
    return 1 - gain_per_s * period_s


def slope_of(gain_per_s: float) -> float:
    """`slope_per_s` of a class-K gain."""
    return 2 * gain_per_s


def stranger_of(params: SafetyParams, strangers: Strangers, separation_m: float) -> Kind:
    """Return the kind of a body that does not run the filter.

    With b our brake and a their acceleration: to be at rest before they can be there, v^2 (1 + a / b) /
    (2 b) + v v' / b must be in the clearance, which is braking at b b / (b + a) with a start of v' b /
    (b + a). To be faster away than they come, (v + v')^2 / (2 (b - a)).
    """
    brake, theirs, evade = params.safety.brake_m_s2, strangers.accel_m_s2, strangers.answer == "evade"
    gain = strangers.gain_per_s or params.safety.gain_per_s
    share = (brake - theirs) / brake if evade else brake / (brake + theirs)
    return Kind(
        separation_m=separation_m,
        squash=0.0 if params.planar else 1.0,
        error_m=strangers.position_error_m + theirs * params.period_s**2 / 2,
        error_m_s=strangers.velocity_error_m_s,
        drift_m_s2=0.0,
        bias_m_s2=NO_BIAS,
        reach_m_s2=(theirs, theirs, theirs),
        speed_m_s=strangers.speed_m_s,
        yields=False,
        evade=evade,
        brake_share=share,
        lost_share=1.0 if evade else share,
        max_age_s=strangers.max_age_s,
        keep=keep_of(gain, params.period_s),
        slope_per_s=slope_of(gain),
    )


def _solid(params: SafetyParams, obstacle: Obstacle) -> Solid:
    (x, y, z), far = obstacle.from_m, obstacle.to_m
    beyond = (far[0] - x, far[1] - y, far[2] - z) if far else None
    shape = POINT if beyond is None else Shape(box=beyond) if obstacle.kind == "box" else Shape(line=beyond)
    clearance = (params.safety.clearance_m or math.inf) + params.look_ahead_m + obstacle.radius_m
    kind = Kind(
        separation_m=clearance,
        squash=0.0 if params.planar else 1.0,
        error_m=0.0,
        error_m_s=0.0,
        drift_m_s2=0.0,
        bias_m_s2=NO_BIAS,
        reach_m_s2=(0.0, 0.0, 0.0),
        speed_m_s=0.0,
        yields=False,
        keep=keep_of(params.safety.gain_per_s, params.period_s),
        slope_per_s=slope_of(params.safety.gain_per_s),
    )
    tail = kind._replace(separation_m=params.tail.clearance_m + obstacle.radius_m) if params.tail else None
    return Solid((x, y, z), shape, kind, tail)
