"""`JumpCheck`: own estimates that lie further from the last one than the vehicle can have moved. No
ROS here.

Another node publishes on the topic, two markers were confused, a filter diverged: the robot cannot
tell which estimate is true. In flight it keeps the last one that it trusts and counts as blind,
until an estimate comes that it can have moved to, and that is nearer to the trusted position than
to the rejected ones. It never gets used to another place. On the ground it may be carried: a jump
is named, and the new place counts from then on. Players are put elsewhere in play, at a kick-off:
if all estimates for a while are of one motion at another place, that place counts.
"""

import math
from dataclasses import dataclass

import numpy as np

from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import GRAVITY_M_S2
from robomarl.ros.io.messages import Estimate


@dataclass(frozen=True)
class Reach:
    """How far apart two estimates of one vehicle may be."""

    speed_m_s: float
    """The vehicle keeps to it; faster only where it said so itself."""
    accel_m_s2: float
    """Largest acceleration in any direction, falling included."""
    position_error_m: float
    """Declared bound, of each estimate."""
    velocity_error_m_s: float
    """Declared bound."""
    axes_m_s2: tuple[float, float, float] | None = None
    """Largest acceleration along each world axis of a vehicle that flies or drives; None: `accel_m_s2`."""
    separation_m: float = 0.2
    """Two vehicles are kept so far apart."""
    planar: bool = False
    """The vehicle drives: it stays upright."""

    def around(self, dt_s: float, velocity_error_m_s: float) -> np.ndarray:
        """Half-widths [3] [m] of the box about its place at constant velocity that holds it after `dt_s`."""
        axes = np.array(self.axes_m_s2 or (self.accel_m_s2,) * 3)
        return 2 * self.position_error_m + velocity_error_m_s * dt_s + axes * dt_s**2 / 2

    def after(self, speed_m_s: float, dt_s: float) -> float:
        """Distance [m] after `dt_s`, from an estimated speed: uniform acceleration, and both estimates err."""
        fastest = max(self.speed_m_s, speed_m_s + self.velocity_error_m_s)
        return 2 * self.position_error_m + (fastest + self.accel_m_s2 * dt_s / 2) * dt_s


def reach_of(params: SafetyParams, position_error_m: float | None = None) -> Reach:
    """Return the reach that follows from the vehicle file's limits and declared errors.

    `position_error_m`: that of the estimates [m], where it is another than the filter reckons with.
    """
    safety, limits = params.safety, params.limits
    sides = np.maximum(np.abs(limits.accel_min_m_s2), np.abs(limits.accel_max_m_s2)) + params.bias_m_s2
    accel = float(np.linalg.norm(sides)) + safety.accel_error_m_s2
    falling = 0.0 if params.planar else GRAVITY_M_S2
    error_m = safety.position_error_m if position_error_m is None else position_error_m
    errors = error_m, safety.velocity_error_m_s
    axes = tuple((sides + safety.accel_error_m_s2).tolist())
    return Reach(limits.speed_m_s, max(accel, falling), *errors, axes, safety.separation_m, params.planar)


class JumpCheck:
    """Memory: the problem of the latest estimate, and the position of the rejected ones."""

    def __init__(self, reach: Reach | None, put_back_s: float = math.inf) -> None:
        """Start without a rejected estimate.

        Args:
            reach: reach of the vehicle; None: everything is trusted.
            put_back_s: time [s] of estimates at only another place after which the robot was put there, in
                flight too.
        """
        self._reach, self._put_back_s = reach, put_back_s
        self.in_flight = False
        """True if the robot moves by itself: it is not carried."""
        self.count = 0
        """Estimates so far that had jumped."""
        self.problem = ""
        """Problem of the latest estimate, in words."""
        self._refused_m: np.ndarray | None = None
        self._elsewhere: tuple[Estimate, float] | None = None
        """The estimate that was refused last, and its time since the one that is trusted."""
        self._since_s = 0.0
        """Time [s] since the trusted estimate of the first rejected one that belongs to one motion with the last."""

    def trusts(self, before: Estimate | None, new: Estimate, dt_s: float) -> bool:
        """Return True if an estimate takes the place of the one that was trusted last.

        Args:
            before: estimate trusted last; None: there was none.
            new: new estimate.
            dt_s: time between the two [s]; +inf if unknown.
        """
        self.problem = ""
        if self._reach is None or before is None or math.isinf(dt_s):
            return True
        far_m = _apart(new.pos_m, before.pos_m)
        most_m = self._reach.after(math.hypot(*before.vel_m_s.tolist()), dt_s)
        of_refused = self._refused_m is not None and _apart(new.pos_m, self._refused_m) < far_m
        if far_m <= most_m and not of_refused:
            self._refused_m = self._elsewhere = None
            return True
        self.count += 1
        self.problem = f"jumped by {far_m:.2f} m in {dt_s:.2f} s, the vehicle moves {most_m:.2f} m at most"
        if far_m <= most_m:
            self.problem = f"jumped by {far_m:.2f} m, to where estimates were refused"
        self._refused_m = new.pos_m if self.in_flight else None
        if self.in_flight:
            if not self._was_put(new, dt_s):
                return False
            self.problem = ""
        self._refused_m = self._elsewhere = None
        return True

    def _was_put(self, new: Estimate, dt_s: float) -> bool:
        """Return True if the recently rejected estimates and this one are the motion of a vehicle that was put
        elsewhere.
        """
        assert self._reach is not None, "nothing is refused without one"
        before, self._elsewhere = self._elsewhere, (new, dt_s)
        if before is None or dt_s < before[1]:
            self._since_s = dt_s
        elif _apart(new.pos_m, before[0].pos_m) > self._reach.after(
            math.hypot(*before[0].vel_m_s.tolist()), dt_s - before[1]
        ):
            self._since_s = dt_s
        return dt_s - self._since_s >= self._put_back_s


def _apart(a_m: np.ndarray, b_m: np.ndarray) -> float:
    return math.dist(a_m.tolist(), b_m.tolist())
