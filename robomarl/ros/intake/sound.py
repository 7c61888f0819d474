"""Which numbers of a message can be meant. No ROS here."""

import math
from collections.abc import Iterable

FARTHEST_M = 1e6
"""Nobody is farther from the map's origin, or is sent there; no number of a message is larger, whatever its unit:
squares of far larger ones are none any more."""

ROTATION_TOLERANCE = 0.01
"""A quaternion whose length is off by more is none; who needs it more exactly says so."""


class MessageError(ValueError):
    """A message is not laid out as `ros_nodes/README.md` says, or says what nobody can mean."""


def sound(numbers: Iterable[float]) -> bool:
    """Whether all numbers are finite and at most `FARTHEST_M` in size; denormals are."""
    values = list(numbers)
    # One sum for the usual case: NaN makes every comparison fail.
    return sum(map(abs, values)) <= FARTHEST_M or all(abs(value) <= FARTHEST_M for value in values)


def fault(number: float) -> str:
    """What is wrong with a number that is not sound."""
    if not math.isfinite(number):
        return f"is not finite: {number}"
    return f"is absurdly large: {number:.4g} is not within {FARTHEST_M:g} m, m/s, rad"


def fault_of(numbers: Iterable[float], what: str) -> str:
    """What is wrong with the first of several numbers that is not sound; "" where all are.

    Args:
        numbers: any.
        what: they are called together.
    """
    values = list(numbers)
    return "" if sound(values) else next(f"{what} {fault(value)}" for value in values if not sound((value,)))
