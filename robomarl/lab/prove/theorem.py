"""The inequalities behind the certificate, checked by z3 over the numbers of a vehicle file.

Each claim is the negation of what z3 is asked for: it holds if no real numbers break it. The numbers
are rational, as the file writes them, so nothing is rounded. The check takes the figures that the robot
flies with and the words of the vehicle file: a term that is left out, or figures of another file, make a
claim fail. Formulas of the filter's own walls (`hold_m`) are taken from it. `docs/certificate.md` has the theorem.

Not claimed here: that the tracker keeps the robot in its tube. That is measured, and monitored in
flight (`Certified.trip`).
"""

# pyright: reportOperatorIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false
# z3 declares every result as a union of all its kinds of terms.

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import z3

from robomarl.core.certificate.figures import (
    CLOCK_OFFSET_S,
    TUBE_SHARE,
    WALL_TUBES,
    CertificateFigures,
    CommonFigures,
    Tube,
)
from robomarl.core.certificate.reach import RadioReach
from robomarl.core.config import UserError
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.params import SafetyParams
from robomarl.core.hardware.sections import LimitConfig, Vector3
from robomarl.lab.prove.tube import smoothing_m

ROUNDING = Fraction(1, 10**9)
"""Allowance for the rounding of sums and roots in double precision."""
AXES = "xyz"


class Claim(NamedTuple):
    """An inequality of the proof."""

    name: str
    holds: bool
    slack: float
    """How much is left; below 0: missing. In the unit of the inequality."""
    text: str
    """The inequality in words, with its numbers."""


class Given(NamedTuple):
    """Vehicle and figures to check."""

    params: SafetyParams
    """Safety parameters from the vehicle file."""
    radius_m: float
    """Radius of the vehicle's body."""
    figures: CertificateFigures
    """Numbers that the robot flies with."""
    common: CommonFigures | None = None
    """Of a fleet of unlike vehicles."""
    reach: RadioReach | None = None
    """Stated range of the radio; None: all robots hear each other."""

    @property
    def ratio(self) -> float:
        """Downwash ratio that distances are divided by."""
        if self.params.planar:
            return 1.0
        return self.common.downwash_ratio if self.common else self.params.safety.downwash_ratio


def claims_of(given: Given) -> tuple[Claim, ...]:
    """Every inequality of the proof, proved or not."""
    return tuple(claim for part in PARTS for claim in part(given))


def check_theorem(given: Given, name: str) -> tuple[Claim, ...]:
    """The claims.

    Raises:
        UserError: one does not hold; says which, and by how much.
    """
    claims = claims_of(given)
    for claim in claims:
        if not claim.holds:
            raise UserError(f"{name}.yaml: the certificate's {claim.name} fails by {-claim.slack:.3g}: {claim.text}.")
    return claims


def exact(value: float) -> z3.ArithRef:
    """Return a number as the rational that it is."""
    return z3.RealVal(str(Fraction(value)))


def is_proved(hypotheses: list[z3.BoolRef], claim: z3.BoolRef) -> bool:
    """Return True if no numbers keep the hypotheses and break the claim."""
    solver = z3.Solver()
    solver.add(*hypotheses, z3.Not(claim))
    return solver.check() == z3.unsat


def at_least(name: str, has: float, parts: dict[str, float], unit: str) -> Claim:
    """The claim that a number is at least a sum."""
    whole = z3.Sum([exact(value) for value in parts.values()])
    words = " + ".join(f"{label} {value:.4g}" for label, value in parts.items())
    slack = has - sum(parts.values())
    holds = is_proved([], exact(has) + z3.RealVal(str(ROUNDING)) >= whole)
    return Claim(name, holds, slack, f"{has:.4g} {unit} >= {words}")


def same(name: str, has: float, wanted: float, unit: str, of: str = "the vehicle file") -> Claim:
    """The claim that a number is the one that the vehicle file gives, or another robot's."""
    off = exact(has) - exact(wanted)
    most = z3.RealVal(str(ROUNDING))
    holds = is_proved([], z3.And(off <= most, -off <= most))
    return Claim(name, holds, -abs(has - wanted), f"{has:.4g} {unit} is {wanted:.4g} {unit} of {of}")


def _pairs(given: Given) -> Iterator[Claim]:
    """Two references that keep to one pair of anchors keep their distance."""
    own, mate, own_mate, mate_own, apart = map(z3.Real, ("own", "mate", "own_mate", "mate_own", "apart"))
    kept = exact(2 * given.figures.learned.room_m)
    # own = |z - A|, own_mate = |z - B|, mate = |z' - B|, mate_own = |z' - A|, apart = |z - z'|.
    triangles = [own_mate <= apart + mate, mate_own <= apart + own]
    rules = [own_mate >= kept + own, mate_own >= kept + mate]
    text = "|z - B| >= D + |z - A| and |z' - A| >= D + |z' - B| give |z - z'| >= D"
    yield Claim("pair lemma", is_proved(triangles + rules, apart >= kept), 0.0, text)


def _bodies(given: Given) -> Iterator[Claim]:
    """Bodies do not touch where their references keep their distance."""
    figures, params = given.figures, given.params
    for name, tube in (("distance", figures.learned), ("distance while the bias is unknown", figures.unlearned)):
        clocks = figures.speed_m_s * CLOCK_OFFSET_S
        ahead = 2 * params.look_ahead_m
        parts = {"bodies": 2 * given.radius_m, "look-ahead": ahead, "tubes": 2 * tube.radius_m, "clocks": clocks}
        yield at_least(name, 2 * tube.room_m, parts, "m")
        yield _box_in_tube(name, given, tube)


def _box_in_tube(name: str, given: Given, tube: Tube) -> Claim:
    """The tube's radius holds the share of the box and what smoothing adds, in the metric of the downwash."""
    ratio, smooth_m = given.ratio, smoothing_m(given.figures)
    x, y, z = map(z3.Real, AXES)
    half = [exact(side) for side in tube.half_m]
    left = exact(tube.radius_m - smooth_m)
    inside = [z3.And(-h <= v, v <= h) for v, h in zip((x, y, z), half, strict=True)]
    squares = exact(TUBE_SHARE**2) * z3.Sum(x * x, y * y, z * z * exact(1 / ratio**2))
    slack = tube.radius_m - smooth_m - TUBE_SHARE * _norm(tube, ratio)
    # The box's corner is on the sphere to the last bit: rounding of the square root must not decide.
    holds = is_proved([*inside, left >= 0], squares <= left * left + z3.RealVal(str(ROUNDING)))
    text = f"radius {tube.radius_m:.4g} m >= {TUBE_SHARE:g} half diagonals and smoothing"
    return Claim(f"tube ({name})", holds, slack, text)


def _norm(tube: Tube, ratio: float) -> float:
    x, y, z = tube.half_m
    return float((x * x + y * y + (z / ratio) ** 2) ** 0.5)


def _walls(given: Given) -> Iterator[Claim]:
    """Opposite walls of both boxes let a robot rest, with all errors of the file, the bias that each box is for, and
    the disturbance of a reference that swings."""
    f, params = given.figures, given.params
    spread_s = params.safety.delay_s * (1 - params.safety.shortest_share)
    for name, tube, bound in (("learned", f.learned, f.learned_m_s2), ("unlearned", f.unlearned, math.inf)):
        biases = [min(bias, bound) for bias in params.bias_m_s2]
        for axis in range(2 if params.planar else 3):
            swing = f.accel_m_s2[axis] * spread_s / (f.smooth_count * f.period_s)
            needed = _walls_need(given, (biases[0], biases[2]), swing)[axis]
            yield at_least(f"{name} box along {AXES[axis]}", tube.half_m[axis], {"walls": needed}, "m")
    for axis in range(3):
        wide, small = f.unlearned.half_m[axis], f.learned.half_m[axis]
        yield at_least(f"unlearned beside learned {AXES[axis]}", wide, {"learned": small}, "m")


def _walls_need(given: Given, bias_m_s2: tuple[float, float], swing_m_s2: float) -> Vector3:
    """Half sides of the box that the walls of the tracker need, with biases beside and along the lift."""
    tracker, s = given.figures.tracker, given.params.safety
    level, lift = bias_m_s2
    gains = replace(s, brake_m_s2=tracker.brake_m_s2, gain_per_s=tracker.gain_per_s)
    safety = replace(
        gains, accel_bias_m_s2=level, lift_bias_m_s2=lift, accel_error_m_s2=s.accel_error_m_s2 + swing_m_s2
    )
    plain = replace(given.params, obstacles=(), strangers=None, tail=None)
    return constants_of(replace(plain, safety=safety, limits=_widened(plain, swing_m_s2))).hold_m


def _widened(params: SafetyParams, by_m_s2: float) -> LimitConfig:
    """The input box, wider: it holds a disturbance that one axis alone has."""
    by = (by_m_s2, by_m_s2, 0.0 if params.planar else by_m_s2)
    low, high = params.limits.accel_min_m_s2, params.limits.accel_max_m_s2
    return replace(
        params.limits,
        accel_min_m_s2=tuple(a - b for a, b in zip(low, by, strict=True)),
        accel_max_m_s2=tuple(a + b for a, b in zip(high, by, strict=True)),
    )


def _file(given: Given) -> Iterator[Claim]:
    """The figures are those of this vehicle file: metric, times and tracker."""
    f, s, period = given.figures, given.params.safety, given.params.period_s
    late = s.delay_s * (1 + s.shortest_share) / 2
    yield same("metric of the downwash", f.squash[2], 1 / given.ratio, "")
    if not given.params.planar:
        yield at_least("downwash ratio", given.ratio, {"file": s.downwash_ratio}, "")
    for axis in range(2):
        yield same(f"metric along {AXES[axis]}", f.squash[axis], 1.0, "")
    yield same("period", f.period_s, period, "s")
    yield same("lead", f.lead_s, late + (f.smooth_count - 1) * period / 2, "s")
    yield same("prediction", f.ahead_s, s.delay_s - late, "s")
    yield same("tracker's horizon", f.tracker.horizon_s, s.delay_s, "s")
    yield same("tracker's velocity error", f.tracker.velocity_error_m_s, s.velocity_error_m_s, "m/s")
    yield same("tracker's disturbance", f.tracker.accel_error_m_s2, s.accel_error_m_s2, "m/s^2")
    yield at_least("brake of the tracker", s.brake_m_s2, {"tracker": f.tracker.brake_m_s2}, "m/s^2")


def _chords(given: Given) -> Iterator[Claim]:
    """The margin for bent courses holds the arcs between two compared times."""
    f = given.figures
    step, brake = (f.span_s - f.period_s) / f.segments, max(f.accel_m_s2)
    most = sum(a * a for a in f.accel_m_s2) ** 0.5
    yield at_least("bend of braking courses", f.bend_m, {"four arcs": 4 * brake * step**2 / 8}, "m")
    yield at_least("bend of the first period", f.bend_m, {"arcs": 2 * (most + brake) * f.period_s**2 / 8}, "m")
    yield at_least("span", f.span_s, {"stop": f.stop_s, "two periods": 2 * f.period_s}, "s")


def _boxes(given: Given) -> Iterator[Claim]:
    """The input box holds reference, tracker, bias and disturbance on every axis."""
    params, f = given.params, given.figures
    for axis in range(2 if params.planar else 3):
        side = min(-params.limits.accel_min_m_s2[axis], params.limits.accel_max_m_s2[axis])
        parts = {
            "reference": f.accel_m_s2[axis],
            "tracker": f.tracker.brake_m_s2,
            "accel_error_m_s2": params.safety.accel_error_m_s2,
            "bias": params.bias_m_s2[axis],
        }
        yield at_least(f"input box along {AXES[axis]}", side, parts, "m/s^2")


def _room(given: Given) -> Iterator[Claim]:
    """The arena holds the tube about every place where a reference may rest."""
    arena = given.params.arena
    if arena is None:
        return
    for axis in range(2 if given.params.planar else 3):
        half = WALL_TUBES * given.figures.unlearned.half_m[axis]
        for low, high in (
            (arena.low_m[axis], given.figures.low_m[axis]),
            (-arena.high_m[axis], -given.figures.high_m[axis]),
        ):
            yield at_least(f"arena along {AXES[axis]}", high - low, {"tube": half}, "m")


def _obstacles(given: Given) -> Iterator[Claim]:
    """The distance of references from obstacles holds the clearance and the tube."""
    clearance_m, kept_m = given.params.safety.clearance_m, given.figures.front.safety.clearance_m
    if given.params.obstacles and clearance_m is not None and kept_m is not None:
        half = sum(side * side for side in given.figures.unlearned.half_m) ** 0.5
        yield at_least("obstacles", kept_m, {"clearance_m": clearance_m, "tube": half}, "m")


def _strangers(given: Given) -> Iterator[Claim]:
    """The distance of a moving reference from where a stranger may be holds all but that one's own motion."""
    f, params = given.figures, given.params
    if (told := params.strangers) is None:
        return
    step = (f.span_s - f.period_s) / f.segments
    parts = {
        "kept": told.separation_m,
        "place of the stranger": told.position_error_m,
        "place of who saw it": params.safety.position_error_m,
        "tube": TUBE_SHARE * math.hypot(*f.unlearned.half_m) + smoothing_m(f),
        "look-ahead": params.look_ahead_m,
        "clocks": (f.speed_m_s + told.speed_m_s) * CLOCK_OFFSET_S,
        "arc": max(f.accel_m_s2) * step**2 / 8,
    }
    yield at_least("strangers", f.stranger_m, parts, "m")
    yield at_least("rest before strangers", f.settles_s, {"smoothing": (f.smooth_count - 1) * f.period_s / 2}, "s")
    speeds = ("speed", "speed_m_s"), ("acceleration", "accel_m_s2"), ("velocity error", "velocity_error_m_s")
    for name, key in speeds:
        has = getattr(f.front.strangers, key, 0.0)
        yield at_least(f"strangers' {name}", has, {"declared": getattr(told, key)}, "m, s")


def _tether(given: Given) -> Iterator[Claim]:
    """Two references of carriers that keep to one pair of anchors are no farther apart than the load lets them."""
    f = given.figures
    if f.tether is None:
        return
    own, mate, apart, most = *map(z3.Real, ("own", "mate", "apart")), exact(f.tether.apart_m)
    # own = |z - (A + B) / 2|, mate = |z' - (A + B) / 2|, apart = |z - z'|.
    halves = [own <= most / 2, mate <= most / 2, apart <= own + mate]
    text = "|z - (A + B) / 2| <= L / 2 and |z' - (A + B) / 2| <= L / 2 give |z - z'| <= L"
    yield Claim("tether lemma", is_proved(halves, apart <= most), 0.0, text)
    step, stretch = (f.span_s - f.period_s) / f.segments, float(f.tether.stretch.max())
    # The course's own arc, and the mean of both anchors'.
    arcs = {"two arcs": 2 * stretch * max(f.accel_m_s2) * step**2 / 8}
    yield at_least("bend under a tether", stretch * f.bend_m, arcs, "m")
    yield at_least("tether", f.tether.apart_m, {"distance": 2 * f.learned.room_m, "bend": 2 * stretch * f.bend_m}, "m")
    for axis in range(3):
        yield at_least(
            f"reference of a carrier along {AXES[axis]}",
            f.tether.accel_m_s2,
            {"reference": f.accel_m_s2[axis]},
            "m/s^2",
        )
    yield at_least("speed of a carrier's reference", f.tether.speed_m_s, {"reference": f.speed_m_s}, "m/s")
    yield at_least("time to stop of a carrier", f.tether.stop_s, {"reference": f.stop_s}, "s")


Part = Callable[[Given], Iterator[Claim]]
PARTS: tuple[Part, ...] = (
    _pairs,
    _bodies,
    _walls,
    _file,
    _chords,
    _boxes,
    _room,
    _obstacles,
    _strangers,
    _tether,
)
