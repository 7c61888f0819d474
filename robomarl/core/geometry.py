"""Rotations and small vector helpers, array-generic: numpy in, numpy out; JAX in, JAX out.

Quaternions are wxyz, body to world (Hamilton). Vectors are on the last axis.
"""

import sys
from collections.abc import Sequence
from types import ModuleType

import numpy as np

from robomarl.core.types import Array


def namespace(*arrays: Array) -> ModuleType:
    """The array library of the arguments: `jax.numpy` as soon as one is a JAX array, else `numpy`.

    JAX is never imported here: an array of a library that is not loaded cannot have been passed.
    """
    jax = sys.modules.get("jax")
    if jax is not None and any(isinstance(a, jax.Array) for a in arrays):
        return jax.numpy
    return np


def components(vector: Array) -> tuple[Array, ...]:
    """The last axis taken apart, [..., n] -> n arrays [...]; one numpy vector becomes Python floats.

    For one robot, arithmetic on Python floats takes a tenth of the time of numpy's on arrays without axes.
    """
    if type(vector) is np.ndarray and vector.ndim == 1:
        return tuple(vector.tolist())
    return tuple(vector[..., i] for i in range(vector.shape[-1]))


def number(scalar: np.ndarray | np.generic | float) -> Array:
    """Return an array without axes, or one of numpy's own numbers, as Python's number; everything else unchanged."""
    return scalar.item() if isinstance(scalar, (np.ndarray, np.generic)) and scalar.ndim == 0 else scalar


def join(parts: Sequence[Array]) -> Array:
    """The inverse of `components`: n arrays [...] -> [..., n]."""
    if isinstance(parts[0], float):  # numpy's own scalars are Python floats too
        return np.array(parts)
    return namespace(*parts).stack(parts, -1)


def norm(vector: Array) -> Array:
    """Euclidean length over the last axis, [..., n] -> [...]."""
    return namespace(vector).sqrt((vector * vector).sum(-1))


def smooth_norm(vector: Array) -> Array:
    """`norm` with a slope at 0, which is 0 and not that of a root, NaN; 1e-9 there."""
    return namespace(vector).sqrt((vector * vector).sum(-1) + 1e-18)


def quat_multiply(left: Array, right: Array) -> Array:
    """Hamilton product of two quaternions, [..., 4] wxyz each."""
    w1, x1, y1, z1 = components(left)
    w2, x2, y2, z2 = components(right)
    return join(
        [
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ]
    )


def quat_conjugate(quat: Array) -> Array:
    """Inverse of a unit quaternion, [..., 4] wxyz."""
    w, x, y, z = components(quat)
    return join([w, -x, -y, -z])


def rotation_matrix(quat: Array) -> Array:
    """Rotation matrix of a unit quaternion, [..., 4] wxyz -> [..., 3, 3], body to world."""
    xp = namespace(quat)
    w, x, y, z = (quat[..., i] for i in range(4))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return xp.stack([xp.stack(row, -1) for row in rows], -2)


def rotate(quat: Array, vector: Array) -> Array:
    """Rotate body vectors into the world, [..., 4] and [..., 3] -> [..., 3]."""
    return (rotation_matrix(quat) @ vector[..., None])[..., 0]


def yaw_of(quat: Array) -> Array:
    """Heading of a unit quaternion about world z [rad], [..., 4] -> [...]."""
    xp = namespace(quat)
    w, x, y, z = (quat[..., i] for i in range(4))
    return xp.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def quat_from_yaw(yaw_rad: Array) -> Array:
    """Unit quaternion of a rotation about world z, [...] -> [..., 4] wxyz."""
    xp = namespace(yaw_rad)
    half, zero = yaw_rad / 2, yaw_rad * 0
    return xp.stack([xp.cos(half), zero, zero, xp.sin(half)], -1)


def rotation_angle(left: Array, right: Array) -> Array:
    """Angle between two attitudes [rad], [..., 4] wxyz each -> [...]; 0 for equal, pi at most."""
    xp = namespace(left, right)
    relative = quat_multiply(quat_conjugate(left), right)
    return 2 * xp.arctan2(smooth_norm(relative[..., 1:]), xp.abs(relative[..., 0]))
