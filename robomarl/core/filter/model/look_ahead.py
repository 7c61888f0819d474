"""Look-ahead point of a differential drive: a point in front of the axle that can move in every direction.

With heading e, speed v and yaw rate w, the point P = p + l e moves at v e + l w e' (e' across e),
and its acceleration u gives those of the wheels: dv/dt = u . e + l w^2, l dw/dt = u . e' - v w. The
filter works on P as on any point mass; `wheel_accel` converts its command to the drive's
accelerations. (De Luca, Oriolo, Vendittelli, Control of wheeled mobile robots, 2001, section 6:
input-output linearization.)

Components and `xp` are those of `motion`.
"""

from typing import NamedTuple

from robomarl.core.filter.model.motion import TINY, Library, Motion, Vec3
from robomarl.core.types import Array


class Wheels(NamedTuple):
    """Acceleration of a drive."""

    forward_m_s2: Array
    turn_rad_s2: Array


def heading(quat_wxyz: Vec3, xp: Library) -> tuple[Array, Array]:
    """Unit vector in the plane that the body's x axis points to."""
    w, x, y, z = quat_wxyz
    ex, ey = w * w + x * x - y * y - z * z, 2 * (x * y + w * z)
    scale = 1 / xp.sqrt(ex * ex + ey * ey + TINY)
    return ex * scale, ey * scale


def point_of(centre: Motion, quat_wxyz: Vec3, yaw_rate_rad_s: Array, ahead_m: float, xp: Library) -> Motion:
    """Return the state of the look-ahead point of a robot; z is unchanged.

    Args:
        centre: state of the middle of the axle.
        quat_wxyz: attitude, body to world.
        yaw_rate_rad_s: angular velocity about z.
        ahead_m: distance from there to the point.
        xp: library of the components.
    """
    ex, ey = heading(quat_wxyz, xp)
    (px, py, pz), (vx, vy, vz) = centre
    swing = ahead_m * yaw_rate_rad_s
    return Motion((px + ahead_m * ex, py + ahead_m * ey, pz), (vx - swing * ey, vy + swing * ex, vz))


def wheel_accel(
    accel: Vec3, toward: tuple[Array, Array], speed_m_s: Array, turn_rad_s: Array, ahead_m: float
) -> Wheels:
    """Return the drive's acceleration that makes its look-ahead point accelerate as commanded.

    Args:
        accel: acceleration of the point, world frame [m/s^2].
        toward: the robot's heading, a unit vector.
        speed_m_s: speed of the robot along it.
        turn_rad_s: its yaw rate.
        ahead_m: distance from the axle to the point.
    """
    ex, ey = toward
    along, across = accel[0] * ex + accel[1] * ey, accel[1] * ex - accel[0] * ey
    return Wheels(along + ahead_m * turn_rad_s * turn_rad_s, (across - speed_m_s * turn_rad_s) / ahead_m)
