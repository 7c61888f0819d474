"""`RobotTrack`: the estimates and commands of one robot, at its own rate, from any recorder.

Recordings of field tests and simulations are read into it; code that compares the two or fits one
to its counterpart starts here.
"""

from typing import NamedTuple

import numpy as np

GAP = 1.5
"""Distance of estimates, in periods, above which a track is cut."""


class RobotTrack(NamedTuple):
    """One robot in one flight, K decisions. World frame ENU, wxyz quaternions, SI units, seconds since the epoch."""

    robot: str
    flight: int
    """Which of the recording's flights; those of other recordings have other numbers."""
    seen_s: np.ndarray
    """[K] stamp of the estimate that was used."""
    pos_m: np.ndarray
    """[K, 3]."""
    quat_wxyz: np.ndarray
    """[K, 4]."""
    vel_m_s: np.ndarray
    """[K, 3]."""
    omega_rad_s: np.ndarray
    """[K, 3] body."""
    sent_s: np.ndarray
    """[K] time of the decision."""
    command: np.ndarray
    """[K, A] commands that were sent."""
    received: int = 0
    """Messages of team-mates that arrived ..."""
    lost: int = 0
    """... and that did not."""
    sensed: np.ndarray | None = None
    """[K, S] the numbers that its task's sensors told, in the order of the view's `sensed`; None: not kept."""

    @property
    def state(self) -> np.ndarray:
        """[K, 13] position, attitude, velocity and body rates."""
        return np.concatenate([self.pos_m, self.quat_wxyz, self.vel_m_s, self.omega_rad_s], -1)

    def part(self, rows: slice | np.ndarray) -> "RobotTrack":
        """Return the track with these decisions only; the counts of messages stay those of the whole track."""
        sensed = None if self.sensed is None else self.sensed[rows]
        return self._replace(**{name: getattr(self, name)[rows] for name in self._fields[2:9]}, sensed=sensed)

    def within(self, low_m: tuple[float, ...], high_m: tuple[float, ...]) -> "RobotTrack":
        """Return the track without decisions outside of the space [3] each: floor and walls are there, and have no
        model.
        """
        inside = (self.pos_m >= np.array(low_m)) & (self.pos_m <= np.array(high_m))
        return self.part(np.flatnonzero(inside.all(-1)))


def even_parts(track: RobotTrack, period_s: float, least: int) -> list[RobotTrack]:
    """The track without gaps, with its estimates at even times.

    Stamps of estimates jitter by milliseconds where a busy machine made them, and the vehicle moves on nevertheless at
    its own pace: of each part without a gap the stamps are those of the straight line through them (least squares).

    Args:
        track: as recorded. An estimate that was used twice counts once.
        period_s: between two estimates, about.
        least: shorter parts [decisions] are left out.
    """
    track = track.part(np.flatnonzero(np.diff(track.seen_s, prepend=-np.inf) > 0.25 * period_s))
    cuts = np.flatnonzero(np.abs(np.diff(track.seen_s) / period_s - 1) > GAP - 1) + 1
    ends = [0, *cuts.tolist(), len(track.seen_s)]
    parts = [track.part(slice(a, b)) for a, b in zip(ends[:-1], ends[1:], strict=True) if b - a >= max(least, 3)]
    return [part._replace(seen_s=_line(part.seen_s)) for part in parts]


def in_force(track: RobotTrack, at_s: np.ndarray, delay_s: float = 0.0) -> np.ndarray:
    """Return the command [..., A] that acts at each time [...], `delay_s` after its decision; the first
    one before that.
    """
    newest = np.searchsorted(track.sent_s + delay_s, at_s + 1e-9, side="right") - 1
    return track.command[np.maximum(newest, 0)]


def _line(stamps: np.ndarray) -> np.ndarray:
    count = np.arange(len(stamps))
    slope, _ = np.polyfit(count, stamps - stamps[0], 1)
    offset = np.median(stamps - stamps[0] - slope * count)
    return stamps[0] + offset + slope * count
