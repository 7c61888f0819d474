"""Check that the radio spans a team at all distances that it may reach.

The filter stops a robot that does not receive all of its teammates: a silent teammate may be out of
range, but also near with a dead radio. Robots that can part farther than the radio reaches would
brake for good, each at its place.
"""

import math
from dataclasses import dataclass

from robomarl.core.config import Count, NonNegative, Positive, UserError
from robomarl.core.features import NeighbourRule


@dataclass(frozen=True)
class RadioConfig:
    """How team-mates are heard."""

    neighbours: Count
    """The k nearest that a policy looks at."""
    range_m: Positive
    """Farther team-mates are not heard. No two robots of a team may get so far apart."""
    latency_s: NonNegative
    """Time [s] from the sender's timestamp to the receiver."""
    max_age_s: Positive
    """Older messages count as not heard."""

    def __post_init__(self) -> None:
        """Check that messages arrive in time."""
        if self.latency_s >= self.max_age_s:
            raise ValueError(
                f"latency_s = {self.latency_s:g} must be below max_age_s = {self.max_age_s:g}, or nobody is ever heard."
            )

    @property
    def rule(self) -> NeighbourRule:
        """Which mates a policy looks at."""
        return NeighbourRule(self.neighbours, self.range_m, self.max_age_s)


def check_radio(range_m: float, widest_m: float, where: str, file: str) -> None:
    """Check that robots receive each other at the largest distance that they can have.

    Args:
        range_m: range of the radio.
        widest_m: largest distance of two robots of a team.
        where: setting that permits this distance, to name in the error.
        file: file of the scenario.

    Raises:
        UserError: they can get out of range.
    """
    if range_m < widest_m:
        need_m = math.ceil(widest_m * 10 - 1e-6) / 10
        raise UserError(
            f"{file}: radio.range_m = {range_m:g} is too short: {where} two robots get {need_m:g} m apart, and those "
            f"that do not hear each other brake for good; make it at least {need_m:g}, or the room smaller."
        )
