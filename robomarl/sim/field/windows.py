"""`Windows`: pieces of tracks with the commands around each estimate, as arrays that a model is fitted to."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robomarl.track import RobotTrack, even_parts

SETTLE = 15
"""Decisions at the start of a window that only bring the model's hidden states (rotors) in."""
LENGTH = 100
"""Decisions that are compared."""
SHORT = 50
"""Of a robot that never flies so long, as one that sinks to the floor."""
LONGEST_DELAY_S = 0.16
FAR_S = 1e3
"""When the command before the first one was sent: long ago."""


class Windows(NamedTuple):
    """W windows of K decisions, the first `SETTLE` of them to settle in."""

    state: np.ndarray
    """[W, K + 1, 13] estimates at even times: position, attitude, velocity, body rates."""
    period_s: np.ndarray
    """[W] between two of them."""
    command: np.ndarray
    """[W, K, J, A] those that may be in force before the next estimate, oldest first."""
    sent_s: np.ndarray
    """[W, K, J] when each was sent, from the time of the estimate on."""
    place: tuple[tuple[str, int, int], ...]
    """[W] robot, flight and number of the window in it."""

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
        return Windows(self.state[rows], self.period_s[rows], self.command[rows], self.sent_s[rows], place)


def cut_windows(tracks: Sequence[RobotTrack], period_s: float, length: int = LENGTH) -> Windows | None:
    """All windows of tracks, one after the other; None where no track is long enough.

    Args:
        tracks: of one robot or of several.
        period_s: between two decisions.
        length: decisions that are compared.
    """
    total, back = SETTLE + length, int(np.ceil(LONGEST_DELAY_S / period_s)) + 2
    found = []
    for track in tracks:
        for part in even_parts(track, period_s, total + 1):
            for number, first in enumerate(range(0, len(part.seen_s) - total, length)):
                rows = part.part(slice(first, first + total + 1))
                found.append((*_window(rows, part, back), (track.robot, track.flight, number)))
    if not found:
        return None
    state, period, command, sent, place = zip(*found, strict=True)
    return Windows(np.stack(state), np.array(period), np.stack(command), np.stack(sent), tuple(place))


def _window(rows: RobotTrack, whole: RobotTrack, back: int) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    period_s = (rows.seen_s[-1] - rows.seen_s[0]) / (len(rows.seen_s) - 1)
    begin, end = rows.seen_s[:-1], rows.seen_s[1:]
    newest = np.searchsorted(whole.sent_s, end, side="left") - 1
    at = newest[:, None] + np.arange(1 - back, 1)
    sent_s = np.where(at >= 0, whole.sent_s[np.maximum(at, 0)] - begin[:, None], -FAR_S)
    return rows.state, period_s, whole.command[np.maximum(at, 0)], sent_s
