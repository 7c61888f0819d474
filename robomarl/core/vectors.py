"""Vectors and quaternions as tuples of components, each an array of any one shape, array-generic.

In this form XLA fuses a whole sub-step into one loop over vehicles, and numpy steps thousands of
vehicles at once.
"""

from robomarl.core.types import Array

Vec3 = tuple[Array, Array, Array]
Vec4 = tuple[Array, Array, Array, Array]


def plus(a: Vec3, b: Vec3) -> Vec3:
    """Sum."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a: Vec3, b: Vec3) -> Vec3:
    """Difference."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a: Vec3, b: Vec3) -> Vec3:
    """Cross product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a: Vec3, b: Vec3) -> Array:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def to_world(quat: Vec4, v: Vec3) -> Vec3:
    """Rotate a body vector into the world by v + 2 w (q x v) + 2 q x (q x v)."""
    w, q = quat[0], quat[1:]
    x, y, z = cross(q, v)
    t = (2 * x, 2 * y, 2 * z)
    u = cross(q, t)
    return (v[0] + w * t[0] + u[0], v[1] + w * t[1] + u[1], v[2] + w * t[2] + u[2])


def to_body(quat: Vec4, v: Vec3) -> Vec3:
    """Rotate a world vector into the body frame."""
    w, x, y, z = quat
    return to_world((w, -x, -y, -z), v)


def up_axis(quat: Vec4) -> Vec3:
    """The body's z axis in the world."""
    w, x, y, z = quat
    return (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))


def multiply(a: Vec4, b: Vec4) -> Vec4:
    """Hamilton product of two quaternions, wxyz."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )
