"""Families of projections on which the backends of the safety filter are compared: generic, degenerate, infeasible."""

from typing import NamedTuple

import numpy as np

KINDS = ("random", "far", "coplanar", "axes", "repeated", "touching", "opposed", "crowd")


class Problems(NamedTuple):
    """min |u - u0|^2 subject to A u <= b, for P problems of m rows."""

    rows: np.ndarray
    """[P, m, 3] unit normals."""
    bounds: np.ndarray
    """[P, m] right-hand sides."""
    points: np.ndarray
    """[P, 3] u0."""


def draw(kind: str, random: np.random.Generator, num: int, m: int) -> Problems:
    """Draw a family.

    Args:
        kind: `random`: all of it; `far`: u0 far outside, three rows active; `coplanar`: normals in one plane;
            `axes`: normals along the axes, many equal; `repeated`: every row twice; `touching`: bounds in steps, so
            that many rows meet in one point; `opposed`: rows with their opposites, slabs; `crowd`: an
            input box, and rows that all push the same way, as neighbours on one side do.
        random: where it is drawn from.
        num: P.
        m: number of rows.
    """
    rows = random.normal(size=(num, m, 3))
    if kind == "coplanar":
        rows[..., 2] = 0
    if kind == "axes":
        rows = np.eye(3)[random.integers(0, 3, (num, m))] * random.choice([-1, 1], (num, m, 1))
    if kind == "repeated":
        rows = rows[:, random.integers(0, max(m // 2, 1), m)]
    if kind == "opposed":
        rows[:, m // 2 :] = -rows[:, : m - m // 2]
    if kind == "crowd":
        rows += random.normal(size=(num, 1, 3)) * 2
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    bounds = random.uniform(0.0 if kind in ("far", "opposed") else -0.3, 1.5, (num, m))
    if kind == "touching":
        bounds = np.round(bounds * 2) / 2
    if kind == "crowd":
        bounds -= 1.0
        box = min(6, m)
        rows[:, :box], bounds[:, :box] = np.concatenate([np.eye(3), -np.eye(3)])[:box], 3.0
    return Problems(rows, bounds, random.normal(size=(num, 3)) * (8 if kind == "far" else 2))
