"""`Shot`: content of one picture of a film, and the pictures of a whole film."""

from typing import NamedTuple

from robomarl.core.log import FlightLog

TRAIL_S = 1.5
"""Time [s] for which a robot's trail stays in a film."""


class Shot(NamedTuple):
    """Content of one picture."""

    step: int
    """Index into the log."""
    trail_from: int
    """Trails start at this index."""


def film_shots(log: FlightLog, fps: float) -> list[Shot]:
    """Return the times of a film's pictures, in real time; the last one is the flight's last."""
    period_s = float(log.time_s[1] - log.time_s[0]) if len(log.time_s) > 1 else 1.0
    stride = max(1, round(1 / (fps * period_s)))
    steps = [*range(0, len(log.time_s) - 1, stride), len(log.time_s) - 1]
    return [Shot(step, max(0, step - round(TRAIL_S / period_s))) for step in steps]
