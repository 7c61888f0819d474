"""`CertificateFigures`: the numbers of a vehicle's certificate, worked out from its safety parameters."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from robomarl.core.certificate.tether import Tether
from robomarl.core.config import UserError
from robomarl.core.filter.memory import LARGE
from robomarl.core.filter.model.bodies import Strangers
from robomarl.core.filter.model.constants import Constants, constants_of
from robomarl.core.filter.params import Arena, SafetyParams, without_errors
from robomarl.core.hardware.sections import LimitConfig, SafetyConfig, Vector3

TRACKING_SHARE = 0.75
"""Fraction of the vehicle's `brake_m_s2` that the tracker has; the reference gets the rest of the input box."""
TRACKING_GAIN, GAIN_PERIODS = 2.0, 0.4
"""Factor of the vehicle's `gain_per_s` that the walls about the reference have, and the largest gain times period: a
stiff box is a small one, and no teammate's errors come into it."""
SMOOTH_S = 0.32
"""Time over which the tracked point averages the reference: commands ramp where the reference begins to brake."""
TUBE_SHARE = 1.12
"""Factor of the box's half diagonal in the tube: more than attacks reach (docs/certificate.md, The tube, attacked)."""
SWAY = 1.5
"""With a long delay stiff walls make robots sway, however small disturbances are. So tubes have room for disturbances,
all told, of this times the tracker's brake times the square of the gain times the delay's spread."""
SPEED_SHARE = 0.85
"""Fraction of the vehicle's speed limit that the reference may have; the tracker's corrections come on top."""
STOP_S = 1.1
"""Longest time that a reference may need to stop, where it carries nothing."""
UNTIED = Tether(math.inf, math.inf, math.inf, math.inf, STOP_S)
"""Limits of references that carry nothing."""
LEARNED_BIAS_M_S2 = 0.75
"""From this bound of the bias's error on, on each axis, a robot counts as one that knows its bias."""
CLOCK_OFFSET_S = 0.002
"""Bound of the difference of two robots' clocks."""
WALL_TUBES = 1.8
"""Half sides of the box that references stay from walls: attacks took robots up to 1.7 (docs/certificate.md)."""
FRONT_M = 0.01
"""Distance that the front keeps beyond that of pacts, side by side: anchors are some decisions old."""
FRONT_M_S, FRONT_S, FRONT_SHARE = 0.1, 0.25, 0.08
"""Velocity error [m/s] in the front's rows. It is at most FRONT_S [s] times the reference's largest acceleration and
FRONT_SHARE of its largest speed, because a larger error stops slow robots. The error keeps references off the limit of
the rule, where crowds get stuck, and makes the robot with the smaller gain give way."""
SEGMENT_S = 0.08
"""Longest time between two times at which courses are compared."""
WHOLE = 1e-6
"""Fraction of a period by which two leads may differ from whole periods by rounding."""


@dataclass(frozen=True)
class Tube:
    """Room that a robot needs about its reference."""

    half_m: Vector3
    """Half sides of the box about the tracked point that the robot stays in."""
    radius_m: float
    """Largest distance of the robot from its reference, in the metric of the downwash: `TUBE_SHARE` of the box's half
    diagonal, and what smoothing adds."""
    room_m: float
    """Half of the distance that two such references keep: body radius, tube, and what clocks may be off."""


class CommonFigures(NamedTuple):
    """What robots of unlike vehicles have in common: by it each judges the courses of all."""

    downwash_ratio: float
    """The largest of the fleet, the metric of all; 1 for robots that drive."""
    brake_m_s2: float
    """Largest deceleration of a reference."""
    lead_s: float
    """Shortest time from a decision to the time from which it moves a reference."""
    room_m: float
    """Largest room of a robot that knows its bias, see `Tube`."""


@dataclass(frozen=True)
class CertificateFigures:
    """Numbers of one vehicle's certificate."""

    tracker: Constants
    """Constants of the rows that keep the robot in its tube."""
    front: SafetyParams
    """Parameters of the filter between references, which are exact and without delay."""
    period_s: float
    lead_s: float
    """Time from a decision to the time from which it moves the reference."""
    ahead_s: float
    """Time from the tracked point to the end of the tracker's prediction."""
    smooth_count: int
    """Number of periods that the tracked point averages."""
    accel_m_s2: Vector3
    """Largest acceleration of the reference on each axis, braking included."""
    speed_m_s: float
    """Largest speed of the reference."""
    learned: Tube
    """Tube of a robot that knows its bias."""
    unlearned: Tube
    """Tube of a robot that does not know it yet."""
    squash: Vector3
    """Factors of the metric of the downwash."""
    stop_s: float
    """Longest time that a reference may need to stop."""
    segments: int
    """Number of segments in which courses are compared, after the first period."""
    bend_m: float
    """Bound of the distances of three courses from their chords between two times, summed."""
    low_m: Vector3
    high_m: Vector3
    """Corners of the room in which references come to rest."""
    wall_m: Vector3
    """Distances along each axis that references rest from a wall of the arena."""
    stranger_m: float
    """Distance of a moving reference from where a stranger may be, without its speed: kept distance, errors of both
    places, tube, what clocks may be off, bend; 0 where the robot is told of no strangers."""
    settles_s: float
    """Time from the rest of the reference to that of the tracked point."""
    beside_m: float
    """Farthest that the robot's centre is from its reference."""
    held_s: float
    """Time that words wait at least before they are said: beside a teammate with a shorter lead, anchors would change
    later here than there."""
    position_error_m: float
    """Bound of the error of an estimated position."""
    tether: Tether | None = None
    """Limits that a load sets to the references of its carriers; None: robots carry nothing together."""
    learned_m_s2: float = LEARNED_BIAS_M_S2
    """Bound of the bias's error from which on the robot knows its bias."""

    @property
    def held_back(self) -> int:
        """Number of decisions that words wait where all come on time."""
        return math.ceil(self.held_s / self.period_s - WHOLE)

    @property
    def span_s(self) -> float:
        """Time over which courses are compared; all rest at its end."""
        return self.stop_s + 3 * self.period_s


def uncovered(params: SafetyParams) -> str:
    """Return the name of a parameter of the filter that the certificate has no rule for; "" if there is none."""
    return next((name for name in ("tail", "boards_m") if getattr(params, name)), "")


def common_of(fleet: Sequence[tuple[SafetyParams, float]]) -> CommonFigures:
    """Return what a fleet has in common; `fleet`: safety parameters and body radius of each of its vehicles.

    Raises:
        UserError: they decide at different rates, or some fly and some drive.
    """
    first = fleet[0][0]
    for params, _ in fleet:
        if params.planar != first.planar:
            raise UserError("filter: certificate: all robots of a fleet fly, or all drive; make a fleet of each.")
        if params.period_s != first.period_s:
            hz = f"{1 / first.period_s:g} and {1 / params.period_s:g}"
            raise UserError(f"filter: certificate: robots decide {hz} times a second; train both at one rate_hz.")
    ratio = 1.0 if first.planar else max(params.safety.downwash_ratio for params, _ in fleet)
    each = [figures_of(in_metric(params, ratio), radius_m) for params, radius_m in fleet]
    brake = max(max(f.accel_m_s2) for f in each)
    return CommonFigures(ratio, brake, min(f.lead_s for f in each), max(f.learned.room_m for f in each))


def ruled(params: SafetyParams, figures: CertificateFigures) -> SafetyParams:
    """Return the parameters of rules against deadlock before a certificate: they know the distance and the acceleration
    of its front. They have the vehicle's own speed and clearance, with which robots get around others sooner."""
    front = figures.front
    limits = dataclasses.replace(front.limits, speed_m_s=params.limits.speed_m_s)
    safety = dataclasses.replace(front.safety, clearance_m=params.safety.clearance_m)
    return dataclasses.replace(params, safety=safety, limits=limits, look_ahead_m=0.0)


def figures_of(
    params: SafetyParams, radius_m: float, common: CommonFigures | None = None, tether: Tether | None = None
) -> CertificateFigures:
    """Work out the numbers of a vehicle.

    Args:
        params: safety parameters of the vehicle, with its arena.
        radius_m: radius of its body: bodies touch where two centres are as far apart as both radii together.
        common: of a fleet of unlike vehicles; None: all are of this vehicle.
        tether: of robots that carry a load together.

    Raises:
        UserError: the arena leaves no room for references; says on which axis.
    """
    params = params if common is None else in_metric(params, common.downwash_ratio)
    period, s, bounds = params.period_s, params.safety, tether or UNTIED
    accel, ahead = _reference_accel(params, bounds.accel_m_s2), params.look_ahead_m
    speed = min(SPEED_SHARE * params.limits.speed_m_s, bounds.speed_m_s)
    late, (count, smoothed, swings) = s.delay_s * (1 + s.shortest_share) / 2, _smoothing(params, accel)
    lead = late + (count - 1) * period / 2
    parts = _stretch(params, swings[0]), smoothed, radius_m + ahead + speed * CLOCK_OFFSET_S
    learned, unlearned = (_tube(params, bias, swings, parts) for bias in (LEARNED_BIAS_M_S2, math.inf))
    low, high = _resting_room(params.arena, wall := _wall_m(unlearned, WALL_TUBES * parts[0], ahead))
    segments = math.ceil((STOP_S + 2 * period) / SEGMENT_S)
    shared = common or CommonFigures(0.0, max(accel), lead, learned.room_m)
    beside = TUBE_SHARE * parts[0] * math.hypot(*unlearned.half_m) + smoothed + ahead
    return CertificateFigures(
        tracker=constants_of(_plain(params, _tracking(params))),
        front=_front(params, accel, (speed, learned.room_m + shared.room_m, beside), low, high),
        period_s=period,
        lead_s=lead,
        ahead_s=s.delay_s - late,
        smooth_count=count,
        accel_m_s2=accel,
        speed_m_s=speed,
        learned=learned,
        unlearned=unlearned,
        squash=(1.0, 1.0, 1.0 if params.planar else 1 / s.downwash_ratio),
        stop_s=bounds.stop_s,
        segments=segments,
        bend_m=(bend := _bend(accel, shared.brake_m_s2, period, (bounds.stop_s + 2 * period) / segments)),
        low_m=low,
        high_m=high,
        wall_m=wall,
        stranger_m=_stranger_m(params, params.strangers, speed) + beside + bend if params.strangers else 0.0,
        settles_s=(count - 1) * period / 2,
        beside_m=beside,
        held_s=lead - shared.lead_s,
        tether=tether,
        position_error_m=s.position_error_m,
    )


def in_metric(params: SafetyParams, downwash_ratio: float) -> SafetyParams:
    """Return the parameters with the metric of a fleet; robots that drive have but one."""
    ratio = params.safety.downwash_ratio if params.planar else downwash_ratio
    return dataclasses.replace(params, safety=dataclasses.replace(params.safety, downwash_ratio=ratio))


def _stranger_m(params: SafetyParams, told: Strangers, speed_m_s: float) -> float:
    """Return the distance that a robot at this speed keeps from strangers; errors of clocks and both places count."""
    errors = told.position_error_m + params.safety.position_error_m
    return told.separation_m + errors + (speed_m_s + told.speed_m_s) * CLOCK_OFFSET_S


def _reference_accel(params: SafetyParams, most_m_s2: float) -> Vector3:
    """Return what the input box holds on each axis beyond tracker, bias and disturbance, at most `most_m_s2`: more than
    0, because the box holds all of the brake, and the tracker takes a share."""
    s = params.safety
    need = TRACKING_SHARE * s.brake_m_s2 + s.accel_error_m_s2
    sides = zip(params.limits.accel_min_m_s2, params.limits.accel_max_m_s2, params.bias_m_s2, strict=True)
    x, y, z = (min(min(-low, high) - need - bias, most_m_s2) for low, high, bias in sides)
    return (x, y, 0.0 if params.planar else z)


def _plain(params: SafetyParams, safety: SafetyConfig) -> SafetyParams:
    return dataclasses.replace(params, safety=safety, obstacles=(), strangers=None, tail=None, boards_m=None)


def _tracking(params: SafetyParams) -> SafetyConfig:
    """Return the brake and the gain of the walls about the reference, with all errors of the vehicle."""
    s = params.safety
    gain = max(s.gain_per_s, min(TRACKING_GAIN * s.gain_per_s, GAIN_PERIODS / params.period_s))
    return dataclasses.replace(s, brake_m_s2=TRACKING_SHARE * s.brake_m_s2, gain_per_s=gain)


def _swing(params: SafetyParams, accel_m_s2: float, count: int) -> float:
    """Return the largest disturbance [m/s^2] along an axis of a reference that swings from side to side.

    The tracked point's acceleration has a slope of at most 2 a / T, where T is `count` periods. Commands act between
    the shortest and the longest delay, so what acts may be off by that slope times half of the difference, always to
    one side.
    """
    spread_s = params.safety.delay_s * (1 - params.safety.shortest_share)
    return accel_m_s2 * spread_s / (count * params.period_s)


def _stretch(params: SafetyParams, swing_m_s2: float) -> float:
    """Return the factor, at least 1, by which robots with little disturbance leave their box farther; see `SWAY`."""
    s = _tracking(params)
    angle = s.gain_per_s * s.delay_s * (1 - s.shortest_share)
    more = SWAY * s.brake_m_s2 * angle**2 - s.accel_error_m_s2 - params.bias_m_s2[0]
    return _box(params, s, max(more, swing_m_s2)).hold_m[0] / _box(params, s, swing_m_s2).hold_m[0]


def _tube(params: SafetyParams, bias_m_s2: float, swings_m_s2: tuple[float, ...], parts: Vector3) -> Tube:
    """Return the smallest tube in which opposite walls let a robot rest, given a bound of its bias.

    `swings_m_s2`: disturbance along each axis beyond the vehicle's; `parts`: factor of `_stretch`, what smoothing adds
    to the tube, and what is added to half of the references' distance.
    """
    s, (stretch, smoothed_m, beside_m) = _tracking(params), parts
    level, _, lift = (min(bias, bias_m_s2) for bias in params.bias_m_s2)
    known = dataclasses.replace(s, accel_bias_m_s2=level, lift_bias_m_s2=lift)
    x, y, z = (_box(params, known, swing).hold_m[i] for i, swing in enumerate(swings_m_s2))
    half = (x, y, 0.0 if params.planar else z)
    radius = TUBE_SHARE * stretch * math.hypot(x, y, half[2] / s.downwash_ratio) + smoothed_m
    return Tube(half, radius, radius + beside_m)


def _box(params: SafetyParams, safety: SafetyConfig, swing_m_s2: float) -> Constants:
    """Return the constants of walls with a disturbance that one axis alone has, so the input box is widened for it."""
    (x, y, z), (a, b, c) = params.limits.accel_min_m_s2, params.limits.accel_max_m_s2
    s, lift = swing_m_s2, 0.0 if params.planar else swing_m_s2
    limits = dataclasses.replace(
        params.limits, accel_min_m_s2=(x - s, y - s, z - lift), accel_max_m_s2=(a + s, b + s, c + lift)
    )
    disturbed = dataclasses.replace(safety, accel_error_m_s2=safety.accel_error_m_s2 + s)
    return constants_of(_plain(dataclasses.replace(params, limits=limits), disturbed))


def _smoothing(params: SafetyParams, accel: Vector3) -> tuple[int, float, tuple[float, ...]]:
    """Return how many periods m the tracked point averages, how far the mean of points up to (m - 1) / 2 periods away
    is from a path of bounded acceleration [m], and the swing on each axis."""
    count = max(round(SMOOTH_S / params.period_s), 1)
    off_m = math.hypot(*accel) * (count**2 - 1) * params.period_s**2 / 24
    return count, off_m, tuple(_swing(params, a, count) for a in accel)


def _wall_m(tube: Tube, share: float, ahead_m: float) -> Vector3:
    x, y, z = (share * half for half in tube.half_m)
    return x + ahead_m, y + ahead_m, z


def _bend(accel: Vector3, brake: float, period_s: float, step_s: float) -> float:
    """Return the bound of what three courses bend between two times.

    An arc of acceleration a over the time t is within a t^2 / 8 of its chord, and each of two distances has two arcs.
    In the first period one course has the acceleration of a decision. `brake`: a fleet's largest deceleration [m/s^2].
    """
    most = math.hypot(*accel)
    return max(4 * brake * step_s**2 / 8, 2 * (most + brake) * period_s**2 / 8)


def _resting_room(arena: Arena | None, tube: Vector3) -> tuple[Vector3, Vector3]:
    if arena is None:
        return (-math.inf, -math.inf, -math.inf), (math.inf, math.inf, math.inf)
    (ax, ay, az), (bx, by, bz), (x, y, z) = arena.low_m, arena.high_m, tube
    for axis, low, high, half in zip("xyz", arena.low_m, arena.high_m, tube, strict=True):
        if high - low <= 2 * half:
            raise UserError(
                f"arena: it is {high - low:g} m wide along {axis}, and the certificate keeps {half:.3g} m from each "
                "wall; widen the arena, or declare smaller errors in the vehicle file."
            )
    return (ax + x, ay + y, az + z), (bx - x, by - y, bz - z)


def _front(params: SafetyParams, accel: Vector3, lengths: Vector3, low: Vector3, high: Vector3) -> SafetyParams:
    """Return the parameters of a filter between exact references.

    Args:
        params: safety parameters of the vehicle.
        accel: largest acceleration on each axis.
        lengths: largest speed; distance of two references; tube about a reference and look-ahead, which come on top of
            the clearance to obstacles and strangers.
        low, high: corners of the room in which references rest.
    """
    speed_m_s, apart_m, beside_m = lengths
    safety = dataclasses.replace(
        without_errors(params.safety),
        clearance_m=None if params.safety.clearance_m is None else params.safety.clearance_m + beside_m,
        velocity_error_m_s=min(FRONT_M_S, FRONT_S * max(accel), FRONT_SHARE * speed_m_s),
        separation_m=apart_m + FRONT_M,
        downwash_ratio=params.safety.downwash_ratio * apart_m / (apart_m + FRONT_M),
        brake_m_s2=max(accel),
    )
    # Rows know one brake for all directions. With that of the weakest axis a team of quadrotors would crawl; what the
    # reference can't do is cut off afterwards, and the rule decides.
    x, y, z = (max(accel) if a > 0 else 0.0 for a in accel)
    limits = LimitConfig((-x, -y, -z), (x, y, z), speed_m_s, params.limits.yaw_rate_rad_s)
    if (strangers := params.strangers) is not None:
        kept = _stranger_m(params, strangers, speed_m_s) + beside_m
        strangers = dataclasses.replace(strangers, separation_m=kept, max_age_s=LARGE, answer="stop")
    # A reference is the look-ahead point itself, and what its robot's centre is off is in `apart_m`.
    return dataclasses.replace(
        params,
        safety=safety,
        limits=limits,
        arena=Arena(low, high) if params.arena else None,
        strangers=strangers,
        tail=None,
        boards_m=None,
        min_mates=0,
        look_ahead_m=0.0,
    )
