"""`RallyLog`: course of one rally, as arrays. World frame, SI units."""

from pathlib import Path
from typing import NamedTuple

import numpy as np


class RallyLog(NamedTuple):
    """T times, M robots; in a match the first half of the robots is the team on the half with x > 0."""

    time_s: np.ndarray
    """[T] since the first command."""
    in_play: np.ndarray
    """[T] bool: the ball had been served, and the rally was not over."""
    ball_m: np.ndarray
    """[T, 3] true place of the ball."""
    robots_m: np.ndarray
    """[T, M, 3] true places of the robots."""
    hit: np.ndarray
    """[T, M] bool: a hit of this robot that counts began since the time before."""
    score: np.ndarray
    """[T] the task's metric; in a match the first team's points, 0.5 as long as nobody has won."""
    court_m: np.ndarray
    """[3] length and width of the court, height of the net."""
    teams: np.ndarray
    """[] number of teams."""


def save_rally(path: Path, log: RallyLog) -> None:
    """Write a log as a compressed NPZ file."""
    np.savez_compressed(path, **log._asdict())


def load_rally(path: Path) -> RallyLog:
    """Read a log that `save_rally` wrote."""
    with np.load(path, allow_pickle=False) as data:
        return RallyLog(**{name: data[name] for name in RallyLog._fields})
