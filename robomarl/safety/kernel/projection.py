"""`qp.project` and `qp.project_batch` in C."""

import numpy as np

from robomarl.safety import kernel
from robomarl.safety.memory import Reason
from robomarl.safety.qp.projection import Projection


class Projector:
    """Projects one point after the other; its buffers are made once, so that a call allocates next to nothing.

    Args:
        num_rows: m, the largest number of rows.
    """

    def __init__(self, num_rows: int) -> None:
        """Make the buffers.

        Raises:
            UserError: the kernel can't be used here.
        """
        self._ffi, lib = kernel.load()
        self._project = lib.rm_project
        self.rows = np.zeros((num_rows, 4))
        """[m, 4] unit rows and right-hand sides of the next problem."""
        self.point = np.zeros(3)
        """[3] the point of the next problem."""
        self.u = np.zeros(3)
        """[3] the result of the last problem; the point where it is not solved."""
        self._residual = np.zeros(1)
        self._pointers = [_pointer(self._ffi, a) for a in (self.rows, self.point, self.u, self._residual)]

    def solve(self, num_rows: int) -> int:
        """Project `point` onto the first so many `rows`, into `u`: the `Reason`, `OK` where solved and checked."""
        if not 0 <= num_rows <= len(self.rows):
            raise ValueError(f"num_rows = {num_rows}; there is room for {len(self.rows)}.")
        return self._project(num_rows, *self._pointers)

    def __call__(self, A: np.ndarray, b: np.ndarray, u0: np.ndarray) -> Projection:  # noqa: N803
        """As `qp.project`: A [m, 3] unit rows, b [m], u0 [3]."""
        m = len(b)
        self.rows[:m, :3], self.rows[:m, 3], self.point[:] = A, b, u0
        reason = self.solve(m)
        return Projection(self.u.copy(), reason == Reason.OK, float(self._residual[0]), reason == Reason.INFEASIBLE)


def project_batch(A: np.ndarray, b: np.ndarray, u0: np.ndarray) -> Projection:  # noqa: N803
    """Project many points.

    Args:
        A: [..., m, 3] unit rows.
        b: [..., m] right-hand sides.
        u0: [..., 3] the points.

    Returns:
        u [..., 3] and what became of it, as `qp.project_batch` says.

    Raises:
        UserError: the kernel can't be used here.
    """
    ffi, lib = kernel.load()
    lead = u0.shape[:-1]
    rows = np.ascontiguousarray(np.concatenate([A, b[..., None]], -1), float)
    point = np.ascontiguousarray(u0, float)
    u, residual, status = np.empty_like(point), np.empty(lead), np.empty(lead, np.int32)
    arrays = [_pointer(ffi, a) for a in (rows, point, u, residual)]
    lib.rm_project_many(status.size, b.shape[-1], *arrays, _pointer(ffi, status, "int[]"))
    return Projection(u, status == Reason.OK, residual, status == Reason.INFEASIBLE)


def _pointer(ffi, array: np.ndarray, kind: str = "double[]"):
    """The array's memory, for C."""
    return ffi.from_buffer(kind, array)
