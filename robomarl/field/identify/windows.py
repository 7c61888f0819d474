"""`Windows`: pieces of tracks with the commands around each estimate, as arrays that a model is fitted to."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robomarl.field.track import RobotTrack, even_parts

SETTLE = 15
"""Decisions at the start of a window that only bring the model's hidden states (rotors) in."""
LENGTH = 100
"""Decisions that are compared."""
SHORT = 50
"""Decisions that are compared for a robot that never flies `LENGTH` decisions, as one that sinks to the floor."""
LONGEST_DELAY_S = 0.16
FAR_S = 1e3
"""When the command before the first one was sent: long ago."""
FAR_M = 1e3
"""Coordinate along each axis at which a neighbour of unknown position is put."""
NEAR_S = 0.1
"""Maximum age of a neighbour's estimate: an older one does not tell where it is."""


class Windows(NamedTuple):
    """Windows of K decisions, W in number; the first `SETTLE` decisions are to settle in."""

    state: np.ndarray
    """[W, K + 1, 13] estimates at even times: position, attitude, velocity, body rates."""
    period_s: np.ndarray
    """[W] time between two estimates."""
    command: np.ndarray
    """[W, K, J, A] those that may be in force before the next estimate, oldest first."""
    sent_s: np.ndarray
    """[W, K, J] when each was sent, from the time of the estimate on."""
    place: tuple[tuple[str, int, int], ...]
    """[W] robot, flight and number of the window in it."""
    seen_s: np.ndarray
    """[W, K + 1] times of the estimates, since the epoch."""

    @property
    def length(self) -> int:
        """Decisions that are compared."""
        return self.command.shape[1] - SETTLE

    @property
    def count(self) -> int:
        """W."""
        return len(self.place)

    def of(self, keep: Sequence[int]) -> "Windows":
        """Only these."""
        rows = list(keep)
        place = tuple(self.place[i] for i in rows)
        state, period_s, command, sent_s = (part[rows] for part in self[:4])
        return Windows(state, period_s, command, sent_s, place, self.seen_s[rows])


def cut_windows(tracks: Sequence[RobotTrack], period_s: float, length: int = LENGTH) -> Windows | None:
    """Return all windows of tracks in sequence; None if no track is long enough.

    Args:
        tracks: tracks of one robot or of several.
        period_s: time between two decisions.
        length: decisions that are compared.
    """
    total, back = SETTLE + length, int(np.ceil(LONGEST_DELAY_S / period_s)) + 2
    found = []
    for track in tracks:
        for part in even_parts(track, period_s, total + 1):
            for number, first in enumerate(range(0, len(part.seen_s) - total, length)):
                rows = part.part(slice(first, first + total + 1))
                found.append((*_window(rows, part, back), (track.robot, track.flight, number), rows.seen_s))
    if not found:
        return None
    state, period, command, sent, place, seen = zip(*found, strict=True)
    return Windows(np.stack(state), np.array(period), np.stack(command), np.stack(sent), tuple(place), np.stack(seen))


def neighbours_of(windows: Windows, tracks: Sequence[RobotTrack]) -> np.ndarray:
    """Return teammates' positions [W, K + 1, M, 3] at the windows' estimates, `FAR_M` away if unknown.

    Args:
        windows: windows of any robots.
        tracks: tracks of the whole team, M + 1 robots.
    """
    robots = sorted({track.robot for track in tracks})
    known: dict[tuple[str, int], list[RobotTrack]] = {}
    for track in tracks:
        known.setdefault((track.robot, track.flight), []).append(track)
    found = np.full((*windows.seen_s.shape, len(robots) - 1, 3), FAR_M)
    for w, (robot, flight, _) in enumerate(windows.place):
        for m, mate in enumerate(name for name in robots if name != robot):
            for track in known.get((mate, flight), ()):
                _lay(found[w, :, m], windows.seen_s[w], track)
    return found


def _lay(into: np.ndarray, time_s: np.ndarray, track: RobotTrack) -> None:
    """Write [K + 1, 3] where the track was, at those times that lie between two estimates without a gap."""
    if len(track.seen_s) < 2:
        return
    after = np.clip(np.searchsorted(track.seen_s, time_s), 1, len(track.seen_s) - 1)
    begin, end = track.seen_s[after - 1], track.seen_s[after]
    near = (time_s > begin - NEAR_S) & (time_s < end + NEAR_S) & (end - begin < NEAR_S)
    places = np.stack([np.interp(time_s, track.seen_s, column) for column in track.pos_m.T], -1)
    into[near] = places[near]


def _window(rows: RobotTrack, whole: RobotTrack, back: int) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    period_s = (rows.seen_s[-1] - rows.seen_s[0]) / (len(rows.seen_s) - 1)
    begin, end = rows.seen_s[:-1], rows.seen_s[1:]
    newest = np.searchsorted(whole.sent_s, end, side="left") - 1
    at = newest[:, None] + np.arange(1 - back, 1)
    sent_s = np.where(at >= 0, whole.sent_s[np.maximum(at, 0)] - begin[:, None], -FAR_S)
    return rows.state, period_s, whole.command[np.maximum(at, 0)], sent_s
