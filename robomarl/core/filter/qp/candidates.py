"""The points that a round of `qp.project_rows` chooses from: projections onto a plane, its lines and its vertices."""

import numpy as np

from robomarl.core.types import Array

PAIRS = ((0, 0, 1), (1, 2, 2))
"""Pairs of basis rows that meet with the new row in each vertex."""

PARALLEL = 1e-20
"""Least squared sine of two rows, and least squared determinant of three, in double precision, for
which they have a line and a vertex, as in C; rounding makes 1e-32 of exactly parallel rows."""


def candidates(new: np.ndarray, basis: np.ndarray, u0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the projections of u0 onto the plane of `new`, its lines and its vertices with the basis' planes.

    They are corrected once for the remains of rounding.

    Args:
        new: [4, ...] normal and right-hand side.
        basis: [3, 4, ...] three more.
        u0: [3, ...].

    Returns:
        points [7, 3, ...]: the plane's, those of the lines with each row, of the vertices with each
        pair of `PAIRS`; and where they exist [7, ...].
    """
    normal, normals = new[:3], basis[:, :3]
    excess = over(new[None], u0)
    plane = u0 - excess[0] * normal
    # Lines: onto n's plane, then in it along (n x m) x n, which is m without its share of n. Not as m - (n . m) n: of
    # rows 1e-9 apart rounding takes all of that, and the point found breaks both.
    cross = _cross(normal[None], normals)
    square = (cross * cross).sum(1)
    on_line = square > PARALLEL
    scale = 1.0 / np.where(on_line, square, 1.0)
    aside = _cross(cross, normal[None])
    g = (normal * normals).sum(1)
    # Vertices: Cramer's rule for the planes' residuals.
    i, j = (np.array(p) for p in PAIRS)
    normal_ij = _cross(normals[i], normals[j])
    det = (normal * normal_ij).sum(1)
    at_vertex = det * det > PARALLEL
    unscale = 1.0 / np.where(at_vertex, det, 1.0)

    def onto_lines(at: Array, own: Array, other: Array) -> Array:
        return at - own[:, None] * normal - ((other - g * own) * scale)[:, None] * aside

    def onto_vertices(at: Array, own: Array, first: Array, second: Array) -> Array:
        shift = own[:, None] * normal_ij - first[:, None] * cross[j] + second[:, None] * cross[i]
        return at - unscale[:, None] * shift

    excesses = over(basis, u0)
    lines, vertices = onto_lines(u0, excess, excesses), onto_vertices(u0, excess, excesses[i], excesses[j])
    plane = plane - over(new[None], plane)[0] * normal  # points from 1e5 on are not on it yet, at 1e-11
    lines = onto_lines(lines, _each(new[None], lines), _each(basis, lines))
    vertices = onto_vertices(vertices, *(_each(rows, vertices) for rows in (new[None], basis[i], basis[j])))
    valid = np.concatenate([excess == excess, on_line, at_vertex])
    return np.concatenate([plane[None], lines, vertices]), valid


def over(rows: Array, u: Array) -> Array:
    """A u - b for rows [m, 4, ...] and points [3, ...]."""
    return rows[:, 0] * u[0] + rows[:, 1] * u[1] + rows[:, 2] * u[2] - rows[:, 3]


def _each(rows: Array, points: Array) -> Array:
    """Return A u - b for rows [m, 4, ...] and points [m, 3, ...], one for each row."""
    return rows[:, 0] * points[:, 0] + rows[:, 1] * points[:, 1] + rows[:, 2] * points[:, 2] - rows[:, 3]


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross product of [n, 3, ...]."""
    (ax, ay, az), (bx, by, bz) = (a[:, 0], a[:, 1], a[:, 2]), (b[:, 0], b[:, 1], b[:, 2])
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], 1)
