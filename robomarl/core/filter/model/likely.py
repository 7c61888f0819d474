"""Row of a teammate from its most likely motion, for a robot with infeasible rows.

The mate's possible motion since its message is then more than there is room for, and rows that ask
for all possible motion at once no longer tell which mate is near. This row takes the mate to have
braked along the end of its plan, as every robot does in a crowd, and wants the separation, and the
error bounds of both estimated places. A wider reach would press: pushes of many mates add up from
robot to robot, and the innermost one is between them and a wall. A mate that moves away does not
count as doing so, because within its errors it may only seem to.
"""

from robomarl.core.filter.model.barriers import along_axes, braking_speed
from robomarl.core.filter.model.body_kinds import Kind
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import Library, Motion, Predicted, Vec3, direction
from robomarl.core.filter.model.pairs import Body, facing
from robomarl.core.types import Array


def likely(
    c: Constants, kind: Kind, own: Predicted, body: Body, xp: Library, tail: Vec3 | None = None
) -> tuple[Vec3, Array]:
    """Normal, and largest command [m/s^2] along it, not clipped; arguments as of `pairs.pair`."""
    (px, py, pz), (vx, vy, vz), step = *own.motion, c.step_s
    (qx, qy, qz), (wx, wy, wz) = braked(c, body, xp)
    offset = px - qx, py - qy, (pz - qz) * kind.squash
    distance, (nx, ny, nz), lean = facing(kind, body, tail, offset, xp)
    doubt = c.own_error_m_s * lean + along_axes((xp.abs(nx), xp.abs(ny), xp.abs(nz)), own.unsure_m_s)
    along = nx * wx + ny * wy + nz * wz
    toward = xp.maximum(along, 0.0)
    taken = kind.separation_m + c.own_error_m + kind.error_m + toward * toward / (2 * c.brake_m_s2 * lean)
    value = braking_speed(kind.slope_per_s, distance - taken, c.brake_m_s2 * lean, xp)
    value = value + nx * vx + ny * vy + nz * vz - doubt
    x, y, z = offset
    offset = x + (vx - wx) * step, y + (vy - wy) * step, z + (vz - wz) * kind.squash * step
    distance, (nx, ny, nz), lean = facing(kind, body, tail, offset, xp)
    later = braking_speed(kind.slope_per_s, distance - taken + (along - doubt) * step, c.brake_m_s2 * lean, xp)
    later = later + nx * vx + ny * vy + nz * vz - doubt
    nx, ny, nz = normal = -nx / lean, -ny / lean, -nz / lean
    bx, by, bz = own.bias
    lost = (
        c.accel_error_m_s2 + along_axes((xp.abs(nx), xp.abs(ny), xp.abs(nz)), own.doubt) + nx * bx + ny * by + nz * bz
    )
    return normal, (later - kind.keep * value) / (step * lean) - lost


def braked(c: Constants, body: Body, xp: Library) -> Motion:
    """The body after it has braked since its reference time; before that, as it went."""
    (qx, qy, qz), (wx, wy, wz) = body.motion
    speed, _, _, _ = direction(body.motion.vel, xp)
    later = body.wait_s > 0
    time = xp.where(later, xp.minimum(body.wait_s, speed / c.brake_m_s2), body.wait_s)
    slower = xp.where(later, c.brake_m_s2 * time / speed, 0.0)
    way, left = time * (1 - slower / 2), 1 - slower
    return Motion((qx + wx * way, qy + wy * way, qz + wz * way), (wx * left, wy * left, wz * left))
