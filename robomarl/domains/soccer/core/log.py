"""`MatchLog`: course of one match, as arrays, from any recorder. World frame, SI units."""

from pathlib import Path
from typing import NamedTuple

import numpy as np


class MatchLog(NamedTuple):
    """T times, M robots; the first half of the robots is the team that attacks towards +x."""

    time_s: np.ndarray
    """[T] since the reset."""
    playing: np.ndarray
    """[T] bool: the referee had the game going."""
    ball_m: np.ndarray
    """[T, 2] where the ball was."""
    robots_m: np.ndarray
    """[T, M, 3] x, y and heading."""
    kicked: np.ndarray
    """[T, M] bool: this robot kicked the ball since the time before."""
    impact_m_s: np.ndarray
    """[T, M] closing speed of its hardest impact with another robot since then."""
    own_m_s: np.ndarray
    """[T, M] its own part of that speed."""
    goals: np.ndarray
    """[T, 2] so far, as the referee said."""
    field_m: np.ndarray
    """[3] length and width of the field, width of the goals."""
    sizes_m: np.ndarray
    """[2] radius of a robot, of the ball."""


def save_match(path: Path, log: MatchLog) -> None:
    """Write a log as a compressed NPZ file."""
    np.savez_compressed(path, **log._asdict())


def load_match(path: Path) -> MatchLog:
    """Read a log that `save_match` wrote."""
    with np.load(path, allow_pickle=False) as data:
        return MatchLog(**{name: data[name] for name in MatchLog._fields})
