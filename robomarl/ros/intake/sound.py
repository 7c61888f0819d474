"""Which numbers of a message can be meant. No ROS here."""

import math
from collections.abc import Iterable

FARTHEST_M = 1e6
"""Largest distance [m] of a robot or a goal from the map's origin, and largest number in a message, in any unit:
squares of far larger numbers are not finite.
"""

ROTATION_TOLERANCE = 0.01
"""Largest deviation of a quaternion's length from 1 for a valid rotation; callers that need less define their own."""


class MessageError(ValueError):
    """A message is not laid out as `ros_nodes/README.md` says, or has a value that cannot be meant."""


def sound(numbers: Iterable[float]) -> bool:
    """Return True if all numbers are finite and at most `FARTHEST_M` in size; denormals are."""
    values = list(numbers)
    # One sum for the usual case: NaN makes every comparison fail.
    return sum(map(abs, values)) <= FARTHEST_M or all(abs(value) <= FARTHEST_M for value in values)


def fault(number: float) -> str:
    """Return the fault of a number that is not sound."""
    if not math.isfinite(number):
        return f"is not finite: {number}"
    return f"is absurdly large: {number:.4g} is not within {FARTHEST_M:g} m, m/s, rad"


def fault_of(numbers: Iterable[float], what: str) -> str:
    """Return the fault of the first number that is not sound; "" if all are.

    Args:
        numbers: numbers to check.
        what: name of all numbers together.
    """
    values = list(numbers)
    return "" if sound(values) else next(f"{what} {fault(value)}" for value in values if not sound((value,)))
