"""`qp.project_batch` in C."""

import numpy as np

from robomarl.core.filter import kernel
from robomarl.core.filter.kernel.library import CPointer, Ffi
from robomarl.core.filter.memory import Reason
from robomarl.core.filter.qp.projection import Projection


def project_batch(A: np.ndarray, b: np.ndarray, u0: np.ndarray) -> Projection:  # noqa: N803
    """Project many points.

    Args:
        A: [..., m, 3] unit rows.
        b: [..., m] right-hand sides.
        u0: [..., 3] the points.

    Returns:
        u [..., 3] and the outcome, as in `qp.project_batch`.

    Raises:
        UserError: the kernel can't be used here.
    """
    ffi, lib, *_ = kernel.load()
    lead = u0.shape[:-1]
    rows = np.ascontiguousarray(np.concatenate([A, b[..., None]], -1), float)
    point = np.ascontiguousarray(u0, float)
    u, residual, status = np.empty_like(point), np.empty(lead), np.empty(lead, np.int32)
    arrays = [_pointer(ffi, a) for a in (rows, point, u, residual)]
    lib.rm_project_many(status.size, b.shape[-1], *arrays, _pointer(ffi, status, "int[]"))
    return Projection(u, status == Reason.OK, residual, status == Reason.INFEASIBLE)


def _pointer(ffi: Ffi, array: np.ndarray, kind: str = "double[]") -> CPointer:
    """The array's memory, for C."""
    return ffi.from_buffer(kind, array)
