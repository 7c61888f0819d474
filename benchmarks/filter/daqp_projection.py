"""The filter's projection by another solver, daqp: what ours is held to, and timed against."""

import math
from collections.abc import Sequence

import daqp
import numpy as np

from robomarl.core.filter.model.motion import Vec3
from robomarl.core.filter.qp.projection import SOLVER_TOLERANCE, TOLERANCE, Projection

INFEASIBLE = -1
"""daqp's exit flag for a problem without a solution."""

_IDENTITY = np.eye(3)
_SENSE = np.zeros(256, np.int32)
_FREE = 1e30


def project(A: np.ndarray, b: np.ndarray, u0: np.ndarray) -> Projection:  # noqa: N803
    """Project one point.

    Args:
        A: [m, 3] unit rows.
        b: [m] right-hand sides.
        u0: [3] the point.

    Returns:
        u [3] and what became of it; rows hold to `TOLERANCE`.
    """
    if not math.isfinite(A.sum() + b.sum() + u0.sum()):
        return Projection(u0, False, math.inf, False)
    free = (-_FREE, -_FREE, -_FREE), (_FREE, _FREE, _FREE)
    found = project_one(A.tolist(), b.tolist(), u0.tolist(), free)
    return found._replace(u=np.array(found.u) if found.solved else u0)


def project_one(normals: list[Vec3], bounds: list[float], point: Sequence[float], box: tuple[Vec3, Vec3]) -> Projection:
    """Project one point, on lists: at once where at most one row is in the way, else with daqp.

    Args:
        normals: m unit vectors, finite.
        bounds: m right-hand sides.
        point: the point.
        box: lowest and highest value of each component.

    Returns:
        u, a list, and what became of it; rows and box hold to `TOLERANCE`. Not solved, u is the point.
    """
    # A sum of numbers is finite only if they are.
    if not math.isfinite(sum(bounds) + sum(point)):
        return Projection(point, False, math.inf, False)
    low, high = box
    if low[0] > high[0] or low[1] > high[1] or low[2] > high[2]:
        return Projection(point, False, math.inf, True)
    excess, worst = _residual(normals, bounds, point, box)
    if excess <= 0:
        return Projection(point, True, excess, False)
    if worst >= 0:
        # The projection onto the worst row alone; if it holds the others, no point that does is nearer.
        u = [x - excess * n for x, n in zip(point, normals[worst], strict=True)]
        residual, _ = _residual(normals, bounds, u, box)
        if residual <= SOLVER_TOLERANCE:
            return Projection(u, True, residual, False)
    return _daqp(normals, bounds, point, box)


def _residual(
    normals: list[Vec3], bounds: list[float], u: Sequence[float], box: tuple[Vec3, Vec3]
) -> tuple[float, int]:
    """Largest violation, and the row that has it; -1 if the box has it."""
    x, y, z = u
    (lx, ly, lz), (hx, hy, hz) = box
    largest, where, i = max(lx - x, x - hx, ly - y, y - hy, lz - z, z - hz), -1, 0
    for n, bound in zip(normals, bounds, strict=True):
        excess = n[0] * x + n[1] * y + n[2] * z - bound
        if excess > largest:
            largest, where = excess, i
        i += 1
    return largest, where


def _daqp(normals: list[Vec3], bounds: list[float], point: Sequence[float], box: tuple[Vec3, Vec3]) -> Projection:
    """Arnstrom, Bemporad, Axehill, A Dual Active-Set Solver for Embedded Quadratic Programming, TAC 2022.

    The solver gets no workspace of an earlier problem: that saves nothing measurable here, and so the result
    depends on the arguments alone.
    """
    m = len(bounds)
    rows = np.array([x for n in normals for x in n]).reshape(m, 3)
    upper, lower = np.array([*box[1], *bounds]), np.array([*box[0], *[-_FREE] * m])
    aim = np.array([-x for x in point])
    found, _, flag, _ = daqp.solve(_IDENTITY, aim, rows, upper, lower, _SENSE[: m + 3], primal_tol=SOLVER_TOLERANCE)
    u = found.tolist()
    residual = math.inf
    if flag > 0 and math.isfinite(sum(u)):
        residual, _ = _residual(normals, bounds, u, box)
    good = residual <= TOLERANCE
    return Projection(u if good else point, good, residual, flag == INFEASIBLE)
