"""Place where a robot with a fallback decision stays: it brakes, and stays where it has come to rest.

Braking alone is not enough: an estimate of the velocity that is wrong by a constant lets the robot
drift for ever. So the robot remembers the place, and the sides of a box about it become walls,
which hold within the errors as the arena's do. A box does not press on any robot: robots that each
stay in their own do not come nearer, however many they are. Near a teammate that is received the
side towards it comes in, up to the place itself. Near one that fell silent, which rests somewhere
in a box of its own and has no row any more, the far side opens besides. Components and `xp` are
those of `motion`.
"""

from typing import NamedTuple

from robomarl.core.filter.model.barriers import along_axes
from robomarl.core.filter.model.bias import LARGE
from robomarl.core.filter.model.constants import LARGE_M, Constants
from robomarl.core.filter.model.motion import Library, Predicted, Vec3, direction
from robomarl.core.filter.model.pairs import Body, facing
from robomarl.core.types import Array

NOWHERE_M = 2 * LARGE
"""Each component of the place of a robot that does not stay anywhere (not NaN, which spoils gradients)."""

SILENT_BOXES = 4.0
"""Number of half boxes wanted between the places of two robots that fell silent, beside the
separation. Both robots may use two; the errors of either place come on top."""
REMEMBERED_BOXES = 2.0
"""Number of half boxes within which a robot that flies on remembers its place: with a fallback that
comes and goes, it would else find a place that is a little nearer each time."""
OPEN_SIDE = 4.0
"""Maximum number of half boxes by which the far side opens: opposite walls that are as near as the
errors allow contradict each other after a command that jumped, and then neither pushes."""


class Hold(NamedTuple):
    """Place where the robot stays, if it does."""

    on: Array
    place: Vec3
    """Place of its commanded point, world frame [m]; `NOWHERE_M` if it does not stay."""
    away: Vec3
    """Direction away from silent mates that are too near to the place, scaled by how far too near, -1 to 1
    along each axis."""
    near: tuple[Vec3, Vec3]
    """Amounts, 0 or more along each axis, by which received mates below and above bring in the lower and
    the upper side."""


class Still(NamedTuple):
    """Conditions on which a robot stays."""

    may: Array
    """[...] bool: it may find a place."""
    mates: Body
    """Components [..., K]."""
    heard: Array
    """[..., K] bool."""
    silent: Array
    """[..., K] bool: heard of, but too long ago."""


def hold_of(c: Constants, before: Vec3, own: Predicted, still: Still, xp: Library) -> Hold:
    """Return the place where a robot stays: its place if it has one, else its position once it is slow.

    Args:
        c: constants of the vehicle.
        before: place in its memory.
        own: predicted state.
        still: conditions on which it stays.
        xp: library of the components.
    """
    # A place that is none in any part is none: one that is no number would go on into the command.
    rests = (xp.abs(before[0]) < LARGE) & (xp.abs(before[1]) < LARGE) & (xp.abs(before[2]) < LARGE)
    place: list[Array] = []
    square = 0.0
    for p, x, v, half in zip(before, *own.motion, c.hold_m, strict=True):
        # A robot that is pushed out of the box takes it along; an estimate that jumps within its error does not.
        far = half + c.mates.error_m
        place.append(xp.where(rests, xp.minimum(xp.maximum(p, x - far), x + far), x))
        square = square + v * v
    on = rests | (still.may & (square <= c.slow_m_s**2))
    away, near = _sides(c, tuple(place), still, xp)
    return Hold(on, tuple(xp.where(on, p, NOWHERE_M) for p in place), away, near)


def _sides(c: Constants, place: Vec3, still: Still, xp: Library) -> tuple[Vec3, tuple[Vec3, Vec3]]:
    """`Hold.away` and `Hold.near`: every mate has braked to rest since."""
    (qx, qy, qz), (px, py, pz) = still.mates.motion.pos, (p[..., None] for p in place)
    speed, wx, wy, wz = direction(still.mates.motion.vel, xp)
    way = speed * speed / (2 * c.brake_m_s2)
    offset = px - qx - wx * way, py - qy - wy * way, (pz - qz - wz * way) * c.mates.squash
    distance, normal, lean = facing(c.mates, still.mates, None, offset, xp)
    nx, ny, nz = normal
    boxes = SILENT_BOXES * along_axes((xp.abs(nx), xp.abs(ny), xp.abs(nz)), c.hold_m)
    share = xp.minimum(xp.maximum((c.mates.separation_m + boxes - distance) / boxes, 0.0), 1.0) / lean
    silent, heard = (xp.where(which, share, 0.0) for which in (still.silent, still.heard))
    ax, ay, az = (xp.minimum(xp.maximum((silent * n).sum(-1), -1.0), 1.0) for n in normal)
    bx, by, bz = ((heard * xp.maximum(n, 0.0)).sum(-1) for n in normal)
    tx, ty, tz = ((heard * xp.maximum(-n, 0.0)).sum(-1) for n in normal)
    return (ax, ay, az), ((bx, by, bz), (tx, ty, tz))


def remembered(c: Constants, before: Vec3, own: Predicted, xp: Library) -> Vec3:
    """The place in the memory of a robot that flies on: the one of before while it is near, else none."""
    near = xp.abs(before[0] - own.motion.pos[0]) <= REMEMBERED_BOXES * c.hold_m[0]
    for i in (1, 2):
        near = near & (xp.abs(before[i] - own.motion.pos[i]) <= REMEMBERED_BOXES * c.hold_m[i])
    x, y, z = (xp.where(near, p, NOWHERE_M) for p in before)
    return (x, y, z)


def widened(hold: Hold) -> Hold:
    """Return the hold without the parts of its sides that received mates bring in."""
    low, high = (tuple(x * 0.0 for x in side) for side in hold.near)
    return hold._replace(near=(low, high))


def room_of(c: Constants, hold: Hold, xp: Library) -> tuple[Vec3, Vec3]:
    """Lowest and highest corner that the robot must stay within: the arena, cut by the box about its place.

    At most, near a silent mate, from the place itself to `OPEN_SIDE` + 1 half boxes away from the mate.
    """
    lows, highs = c.arena or ((-LARGE_M,) * 3, (LARGE_M,) * 3)
    low: list[Array] = []
    high: list[Array] = []
    for i, (place, least, most) in enumerate(zip(hold.place, lows, highs, strict=True)):
        half = LARGE_M if c.planar and i == 2 else c.hold_m[i]
        up, down = xp.maximum(hold.away[i], 0.0), xp.maximum(-hold.away[i], 0.0)
        below = half * (1 + OPEN_SIDE * down - xp.minimum(up + hold.near[0][i], 1.0))
        above = half * (1 + OPEN_SIDE * up - xp.minimum(down + hold.near[1][i], 1.0))
        # The arena does not give way: between it and the box there is room to rest.
        first, last = xp.minimum(place - below, most - 2 * half), xp.maximum(place + above, least + 2 * half)
        low.append(xp.where(hold.on, xp.maximum(first, least), least))
        high.append(xp.where(hold.on, xp.minimum(last, most), most))
    return tuple(low), tuple(high)
