"""`TrackCheck`: continuous check that a vehicle's reports obey the laws of `conversion.plausible`. No
ROS.

On the ground only gravity shows, and motion by hand; in flight all laws show within seconds. A
mistake counts once two tracks in a row have named it, because noise is not a mistake. It counts
until an operator resets.
"""

import math
from collections import deque

import numpy as np

from robomarl.vehicles.conversion.plausible import Findings, StateTrack, judged
from robomarl.vehicles.samples import StateSample

TRACK_S = 2.0
"""Length of a track."""
EVERY_S = 0.5
"""Interval at which a track is judged [s]."""
LEAST = 30
"""Estimates that a track must have."""
GAP_S = 0.3
"""A longer time without an estimate begins another track."""
NO_REASON = "for no known reason"


class TrackCheck:
    """Memory: the newest estimates, and the findings from them."""

    def __init__(self) -> None:
        """Nothing known."""
        self.problem = ""
        """Problem in words, for an operator; "" if none is known."""
        self.unexplained = ""
        """Laws that are broken for no known reason: noise, or an unknown mistake."""
        self._rows: deque[tuple[float, StateSample, np.ndarray | None]] = deque()
        self._judged_s, self._suspected, self._resets = -math.inf, "", 0

    def note(self, made_s: float, sample: StateSample, force_m_s2: np.ndarray | None, flies: bool) -> None:
        """One estimate.

        Args:
            made_s: when, by a clock without jumps.
            sample: the estimate as it would be flown.
            force_m_s2: [3] of the accelerometer, FLU; counts on the ground only: rotors shake it. None without.
            flies: the vehicle says that its rotors carry it.
        """
        rows = self._rows
        if rows and (not 0 < made_s - rows[-1][0] <= GAP_S or sample.resets != self._resets):
            rows.clear()
        self._resets = sample.resets
        rows.append((made_s, sample, force_m_s2))
        while made_s - rows[0][0] > TRACK_S:
            rows.popleft()
        whole = len(rows) >= LEAST and made_s - rows[0][0] > TRACK_S / 2
        if whole and made_s - self._judged_s >= EVERY_S:
            self._judged_s = made_s
            self._conclude(judged(self._track(flies)))

    def forget(self) -> None:
        """Begin another track, because the vehicle was put elsewhere; findings stay."""
        self._rows.clear()

    def _track(self, flies: bool) -> StateTrack:
        times, samples, forces = zip(*self._rows, strict=True)
        parts = [np.stack(part) for part in zip(*(sample.estimate for sample in samples), strict=True)]
        felt = None if flies or any(force is None for force in forces) else np.stack(forces)
        pos, quat, vel, omega = parts
        return StateTrack(np.array(times) - times[0], pos, vel, quat, omega, felt, flies)

    def _conclude(self, found: Findings) -> None:
        known = found.problem if NO_REASON not in found.problem else ""
        self.unexplained = "" if known else found.problem
        if known and self._suspected:
            self.problem = known
        self._suspected = known
