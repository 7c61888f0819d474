"""Conversion of recorded flights to those of controllers that assume another mass."""

from collections.abc import Sequence

import numpy as np

from robomarl.core.types import GRAVITY_M_S2
from robomarl.field.identify.believed import LEAST, MassCorrection, middle_need
from robomarl.field.identify.robot_fit import RobotFit
from robomarl.field.track import RobotTrack

GRAVITY = np.array([0.0, 0.0, GRAVITY_M_S2])


def weigh(found: Sequence[RobotFit], tracks: Sequence[RobotTrack]) -> MassCorrection | None:
    """Commands by which controllers of another belief would have turned the rotors alike; None where none is needed.

    Thrust is the believed mass times command and gravity, so m (a + g) stays, in size and direction.
    """
    factor = middle_need(found)
    if abs(factor - 1) < LEAST:
        return None
    return MassCorrection(factor, [track._replace(command=believed(track.command, factor)) for track in tracks])


def believed(command: np.ndarray, factor: float) -> np.ndarray:
    """Return the commands [..., 4] of controllers that assume `factor` times the mass, with equal thrust."""
    return np.concatenate([(command[..., :3] + GRAVITY) / factor - GRAVITY, command[..., 3:]], -1)
