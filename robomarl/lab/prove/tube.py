"""A proof that a robot stays in its tube, where its delay is constant, by outer-approximated reachability.

The walls of the tracker are along the axes, so each axis is a matter of its own. Along one, let e and v be place and
speed of the error at the time at which the newest command begins to act, but for the disturbance until then. If the
delay is constant, they follow from what is known up to the errors of the estimate, and one period T makes of them

    v' = v + T (u + w),  y' = y + T v + T w delay,  y = e - T v / 2,

with the disturbance w within its bound, and the command u, bias added, below the largest one that the walls allow for
any errors of estimate and bias. The set of all (y, v) that can be reached from rest is covered by bins of y, with the
largest v in each; the smallest v is its mirror image. Images are rounded outwards, and the cover grows until it holds
its own image. Bins and speeds are finite in number, so it comes to an end. The farthest e in it is the bound.

With a delay that varies nothing is proved: the command that acts may be any of several, and where errors of the
estimate alternate, stiff walls let them differ by nearly twice the brake.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.certificate.tracker import PLACE_PER_S2, SPEED_PER_S
from robomarl.core.filter.model.barriers import braking_speed
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import Array

QUANTUM_M_S = 1e-5
"""Speeds are rounded up to multiples of this."""
SLACK = 1e-9
"""Allowance for the rounding of doubles, in bins."""
SPAN = 2.0
"""Half sides of the box within which a bound is looked for."""


@dataclass(frozen=True)
class CoverMesh:
    """Fineness of the cover: finer ones give smaller bounds, and all of them are bounds."""

    bins: int = 1500
    """Bins of y."""
    levels: int = 40
    """Stretches of v in a bin."""
    pieces: int = 8
    """Stretches of the disturbance."""


@dataclass(frozen=True)
class TubeAxis:
    """Numbers of one axis."""

    c: Constants
    half_m: float
    """Half side of the box."""
    off_m: float
    """Largest error of the predicted place by the estimate alone."""
    off_m_s: float
    push_m_s2: float
    """Largest disturbance."""
    doubt_m_s2: float
    """Largest error of the bias."""
    ramp_m_s2: float
    """Largest change of the tracked point's acceleration in a period."""
    start_m: float
    """Largest error of the place at which the robot takes its reference."""


class Proof(NamedTuple):
    """Bounds that a robot provably keeps from its tracked point and its reference."""

    bounds_m: tuple[float, ...]
    """Largest error along x, y and z; infinite where nothing is proved."""
    radius_m: float
    """Largest distance from the reference, in the metric of the downwash; infinite where nothing is proved."""
    declared_m: float

    @property
    def holds(self) -> bool:
        """True if the declared tube is proved."""
        return self.radius_m <= self.declared_m


def prove_tube(params: SafetyParams, figures: CertificateFigures, mesh: CoverMesh = CoverMesh()) -> Proof:
    """Bound the distance of a robot that knows its bias from its reference.

    Args:
        params: safety parameters of the vehicle file.
        figures: numbers that the robot flies with.
        mesh: fineness.
    """
    axes = range(2 if params.planar else 3)
    numbers = [axis_of(params, figures, axis) for axis in axes]
    found = {one: bound_m(one, mesh) for one in dict.fromkeys(numbers)}  # x and y often have the same
    bounds = tuple(found[one] for one in numbers)
    corner_m = math.hypot(*(bound * q for bound, q in zip(bounds, figures.squash, strict=False)))
    return Proof(bounds, corner_m + smoothing_m(figures), figures.learned.radius_m)


def smoothing_m(figures: CertificateFigures) -> float:
    """Return how far [m] the mean of m points at equal times T is from a path of bounded acceleration a: at most
    a T^2 (m^2 - 1) / 24 from its middle."""
    return math.hypot(*figures.accel_m_s2) * (figures.smooth_count**2 - 1) * figures.period_s**2 / 24


def axis_of(params: SafetyParams, figures: CertificateFigures, axis: int) -> TubeAxis:
    """Return the numbers of an axis."""
    s = params.safety
    return TubeAxis(
        c=figures.tracker,
        half_m=figures.learned.half_m[axis],
        off_m=s.position_error_m + s.velocity_error_m_s * s.delay_s,
        off_m_s=s.velocity_error_m_s,
        push_m_s2=s.accel_error_m_s2,
        doubt_m_s2=min(params.bias_m_s2[axis], figures.learned_m_s2),
        ramp_m_s2=2 * figures.accel_m_s2[axis] / figures.smooth_count,
        start_m=s.position_error_m,
    )


def bound_m(a: TubeAxis, mesh: CoverMesh) -> float:
    """Return the largest error [m] along an axis; infinite where the delay varies, or no set within `SPAN` holds its
    own image."""
    stiff = (a.c.slope_per_s + a.c.gain_per_s) * a.c.step_s
    if a.c.spread_s > SLACK or stiff >= 1:  # below 1, v' grows with v
        return math.inf
    cover = Cover.at_start(a, mesh)
    last_m_s2 = a.c.brake_m_s2 + a.c.accel_error_m_s2 + 2 * a.doubt_m_s2
    while cover is not None:
        command = largest_command(a, cover, last_m_s2 + a.ramp_m_s2)
        most = max(last_m_s2, float(command.max()))
        after = cover.grown(a, command, mesh)
        if after is not None and np.array_equal(after.top, cover.top) and most == last_m_s2:
            return cover.farthest_m(a, most)
        cover, last_m_s2 = after, most
    return math.inf


@dataclass(frozen=True)
class Cover:
    """Bins of y with the largest speed in each, and the stretches of speed that they are cut into."""

    top: Array
    """[bins] largest v [m/s]; minus infinity where the bin is empty."""
    wide_m: float
    """Width of a bin; the middle of all is at 0."""
    levels: int

    @staticmethod
    def at_start(a: TubeAxis, mesh: CoverMesh) -> "Cover":
        """Return the cover of a robot at rest that took its reference where it seemed to be."""
        wide_m = 2 * SPAN * a.half_m / mesh.bins
        low = (np.arange(mesh.bins) - mesh.bins / 2) * wide_m
        inside = (low <= a.start_m) & (low + wide_m >= -a.start_m)
        return Cover(np.where(inside, 0.0, -np.inf), wide_m, mesh.levels)

    @property
    def _used(self) -> Array:
        return np.flatnonzero(self.top >= -self.top[::-1])

    @property
    def low_m(self) -> Array:
        """[n, 1] lower ends of the bins that are not empty."""
        return (self._used[:, None] - len(self.top) / 2) * self.wide_m

    def speeds(self) -> tuple[Array, Array]:
        """Return the ends [n, levels] each of the stretches of v, which are shorter near the top."""
        top, low = (part[self._used, None] for part in (self.top, -self.top[::-1]))
        left = (1 - np.arange(self.levels + 1) / self.levels) ** 2
        ends = top - (top - low) * left
        return ends[:, :-1], ends[:, 1:]

    def grown(self, a: TubeAxis, command: Array, mesh: CoverMesh) -> "Cover | None":
        """Return the cover with its image under commands of at most `command` [n, levels]; None: it leaves the span."""
        (slow, fast), t = self.speeds(), a.c.step_s
        top, ahead, uneven_m = self.top.copy(), a.c.horizon_s * t, a.push_m_s2 * t * t / 4
        for i in range(mesh.pieces):
            least, most = (a.push_m_s2 * (2 * k / mesh.pieces - 1) for k in (i, i + 1))
            speed = np.ceil((fast + (command + most) * t) / QUANTUM_M_S + SLACK) * QUANTUM_M_S
            begin = (self.low_m + slow * t + least * ahead - uneven_m) / self.wide_m + len(top) / 2
            end = (self.low_m + self.wide_m + fast * t + most * ahead + uneven_m) / self.wide_m + len(top) / 2
            first, final = (np.floor(x).astype(int) for x in (begin - SLACK, end + SLACK))
            if first.min() < 0 or final.max() >= len(top):
                return None
            for more in range(int((final - first).max()) + 1):
                np.maximum.at(top, np.minimum(first + more, final).ravel(), speed.ravel())
        return dataclasses.replace(self, top=top)

    def farthest_m(self, a: TubeAxis, most_m_s2: float) -> float:
        """Return the largest error: the disturbance until the command acts comes on top, and the arc in a period."""
        t, delay = a.c.step_s, a.c.horizon_s
        place = self.low_m[:, 0] + self.wide_m + np.maximum(self.top[self._used], 0.0) * t / 2
        arc = (most_m_s2 + a.push_m_s2) * t * t / 8
        return float(place.max()) + a.push_m_s2 * delay * delay / 2 + arc


def largest_command(a: TubeAxis, cover: Cover, last_m_s2: float) -> Array:
    """Return the largest command [n, levels], true bias added, in each cell.

    Estimate and bias err as far as they may to the lower side, and the last command was `last_m_s2`. As in
    `tracker.track` high is the wall in front, low the one behind, and where they contradict each other their middle
    counts.
    """
    c, delay, b = a.c, a.c.horizon_s, a.doubt_m_s2
    (slow, fast), t = cover.speeds(), a.c.step_s
    least_m, greatest_m = cover.low_m + slow * t / 2, cover.low_m + cover.wide_m + fast * t / 2
    far, speed, lean = c.own_error_m - a.off_m, fast + c.own_error_m_s - a.off_m_s, b * delay * delay
    front = a.half_m - greatest_m - c.own_error_m - a.off_m - lean, a.half_m - least_m - far
    bound = allowed(c, front, speed, 1)
    sudden = np.maximum(bound, (_speed(c, front[1] - speed * t) - speed) / t) - c.accel_error_m_s2
    slowly = np.where(sudden > last_m_s2, last_m_s2 + c.sudden_share * (sudden - last_m_s2), np.inf)
    floor = -c.brake_m_s2 - c.accel_error_m_s2
    high = np.maximum(np.minimum(bound - c.accel_error_m_s2, slowly), floor)
    behind = a.half_m + least_m - c.own_error_m - a.off_m - lean, a.half_m + greatest_m - far
    lost = c.accel_error_m_s2 + 2 * b
    back = lost - allowed(c, behind, -fast + c.own_error_m_s + a.off_m_s + 2 * b * delay, -1)
    low = np.minimum(np.maximum(back, last_m_s2 + c.sudden_share * (back - last_m_s2)), c.brake_m_s2 + lost)
    free = b - PLACE_PER_S2 * (least_m - a.off_m - lean / 2) - SPEED_PER_S * (fast - a.off_m_s - b * delay)
    # The input box holds the brake (`theorem`), so it cuts off no command that brakes as much.
    return np.maximum(np.where(high >= low, np.minimum(high, np.maximum(free, low)), (high + low) / 2), floor)


def allowed(c: Constants, clearance_m: tuple[Array, Array], speed_m_s: Array, side: int) -> Array:
    """Return a bound of what a wall's row allows [m/s^2] at a closing speed, over an interval of clearances.

    It is an upper bound with `side` 1, and a lower one with -1.

    The allowed speed is concave in the clearance, so what it changes by in a period falls with it where the wall comes
    nearer, and grows with it where the robot moves away.
    """
    near, far = clearance_m
    here, there = (far, near) if side > 0 else (near, far)
    way = speed_m_s * c.step_s
    change = np.where(
        speed_m_s >= 0, _speed(c, here - way) - _speed(c, here), _speed(c, there - way) - _speed(c, there)
    )
    return change / c.step_s + c.gain_per_s * (_speed(c, here) - speed_m_s)


def _speed(c: Constants, clearance_m: Array) -> Array:
    """Return the speed [m/s] from which a clearance suffices to brake."""
    return braking_speed(c.slope_per_s, clearance_m, c.brake_m_s2, np)
