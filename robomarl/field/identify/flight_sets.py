"""`FlightSets` that a residual is learned from and judged on, and the `Candidate` that a domain learned."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.core.types import Figures
from robomarl.field.track import RobotTrack


class FlightSets(NamedTuple):
    """Tracks by whole flights, no flight in two sets."""

    fit: list[RobotTrack]
    stop: list[RobotTrack]
    """That end the fit; none of fewer than three flights."""
    gate: list[RobotTrack]
    """Tracks that decide whether a residual is accepted; none if there is one flight."""

    @property
    def seen(self) -> list[RobotTrack]:
        """All that those of the gate are held out from."""
        return [*self.fit, *self.stop]


class Candidate(NamedTuple):
    """Residual that a domain has learned, with errors on the flights of the gate: W predictions `AFTER_S` on."""

    before_m: np.ndarray
    """[W] of the identified vehicles."""
    after_m: np.ndarray
    """[W] errors of the identified vehicles with the residual."""
    place: tuple[tuple[str, int, int], ...]
    """[W] robot, flight, number in it."""
    save: Callable[[Path], Figures]
    """Writes it into a file; returns the keys of the scenario's section `residual`."""
