"""`CorrectedStream`: a vehicle's estimates as they come in, corrected. No ROS.

It needs half a second of estimates without a hole, each with an accelerometer's value of its time. Until then, and
after a hole again, it has no estimate to give: the vehicle's own has other bounds than the filter assumes.
"""

import math
from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from robomarl.core.geometry import rotation_matrix, yaw_of
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.corrected.corrector import EstimateCorrector, motion_of
from robomarl.vehicles.samples import StateSample

HOLE_S = 0.1
"""Estimates that are further apart leave a hole. On public flights, kept back, holes of so much cost nothing."""
FORCE_S = 0.05
"""Longest time [s] between an estimate and the accelerometer's value that belongs to it."""
JUMP_M = 0.1
"""Distance [m] by which an estimate may be elsewhere than the last one and its velocity lead."""
CLOCK_MS = 1 << 24
"""Vehicles' clocks count modulo this."""
EVEN_S = 1e-6
"""Rounding of times."""


@dataclass(frozen=True)
class TimedForce:
    """One value of an accelerometer."""

    force_m_s2: np.ndarray
    """[3] body."""
    vehicle_ms: int
    """Time by the clock of the vehicle [ms], the lowest 24 bits."""


class CorrectedStream:
    """Memory of one vehicle: its last half second."""

    def __init__(self, corrector: EstimateCorrector) -> None:
        """Nothing heard."""
        self.corrector = corrector
        self.sample: StateSample | None = None
        """The newest corrected estimate; a newer one of the vehicle may be there that was not corrected."""
        self.problem = "nothing heard yet"
        """Why the vehicle's newest estimate is not corrected; "" where it is."""
        self._force: TimedForce | None = None
        self._rows: deque[tuple[float, np.ndarray]] = deque()
        self._last_ms = 0
        self._before: Estimate | None = None

    def take_force(self, force_m_s2: np.ndarray, vehicle_ms: int) -> None:
        """Take a value [3] of the accelerometer [m/s^2, body]."""
        self._force = TimedForce(force_m_s2, vehicle_ms)

    def take(self, sample: StateSample) -> None:
        """Take an estimate of the vehicle, and correct it if the history allows."""
        force = self._force
        if force is None or abs(later_s(force.vehicle_ms, sample.vehicle_ms)) > FORCE_S:
            self._begin("the accelerometer is silent")
            return
        since_s = later_s(self._last_ms, sample.vehicle_ms) if self._rows else 0.0
        if self._rows and -HOLE_S < since_s <= 0:
            return  # it came again, or late: the newer one stands
        if self._rows and not 0 < since_s <= HOLE_S:
            self._begin(f"a hole of {since_s:.2f} s")
            since_s = 0.0
        own, self._last_ms = sample.estimate, sample.vehicle_ms
        if self._rows and self._jumped(own, since_s):
            self._begin("the estimate jumped")
            since_s = 0.0
        self._before = own
        row = motion_of(own.pos_m, own.vel_m_s, rotation_matrix(own.quat_wxyz), force.force_m_s2, own.omega_rad_s)
        now_s = self._rows[-1][0] + since_s if self._rows else 0.0
        self._rows.append((now_s, row))
        back_s, rows = self.corrector.back_s, self._rows
        while len(rows) > 2 and now_s - rows[1][0] >= back_s[-1] - EVEN_S:
            rows.popleft()
        if now_s - rows[0][0] < back_s[-1] - EVEN_S:
            self.problem = self.problem or "its history is not full"
            return
        wrong_m_s, wrong_m = self.corrector.errors(self._history(now_s), yaw_of(own.quat_wxyz))
        better = own._replace(pos_m=own.pos_m + wrong_m, vel_m_s=own.vel_m_s + wrong_m_s)
        self.sample, self.problem = replace(sample, estimate=better), ""

    def _jumped(self, own: Estimate, since_s: float) -> bool:
        """Return True if the vehicle's estimate is not where its last one led: its filter was reset."""
        assert self._before is not None, "there are rows"
        led_m = self._before.pos_m + since_s * (self._before.vel_m_s + own.vel_m_s) / 2
        return float(np.linalg.norm(own.pos_m - led_m)) > JUMP_M

    def _begin(self, why: str) -> None:
        self._rows.clear()
        self.problem = f"its history begins again: {why}"

    def _history(self, now_s: float) -> np.ndarray:
        """[L, 15] at the corrector's instants, linear between two estimates."""
        times, rows = np.array([time_s for time_s, _ in self._rows]), np.stack([row for _, row in self._rows])
        wanted = np.clip(now_s - np.array(self.corrector.back_s), times[0], times[-1])
        after = np.clip(np.searchsorted(times, wanted), 1, len(times) - 1)
        share = ((wanted - times[after - 1]) / (times[after] - times[after - 1]))[:, None]
        return rows[after - 1] + share * (rows[after] - rows[after - 1])


def later_s(before_ms: int, after_ms: int) -> float:
    """Return how much later [s] the second time of a vehicle's clock is; negative where it is earlier."""
    return (math.remainder(after_ms - before_ms, CLOCK_MS)) / 1000
