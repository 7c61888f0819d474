"""Nearest points of two bodies: points, straight lines (capsules' axes) and boxes along the axes.

Components and `xp` are those of `motion`. A row is made of the vector between the nearest points.
The vector's length is differentiable wherever it is not 0, with the unit vector as its gradient, as
the points themselves may be held still to first order.
"""

from robomarl.core.filter.model.body_kinds import Shape
from robomarl.core.filter.model.motion import TINY, Library, Vec3
from robomarl.core.types import Array

_PARALLEL = 1e-9
"""Squared sine of the angle below which two lines count as parallel."""


def scaled(shape: Shape, squash: float) -> Shape:
    """The shape with z multiplied by `squash`."""
    line, box = shape
    if line is not None:
        line = (line[0], line[1], line[2] * squash)
    if box is not None:
        box = (box[0], box[1], box[2] * squash)
    return Shape(line, box)


def apart(offset: Vec3, own: Vec3 | None, shape: Shape, xp: Library) -> Vec3:
    """Vector [m] from the nearest point of a body to the nearest point of ours.

    Args:
        offset: from the body's reference point to ours.
        own: our line, from our reference point; None if we are that point alone.
        shape: of the body.
        xp: library of the components.
    """
    if shape.box is not None:
        return _from_box(offset, own, shape.box, xp)
    if shape.line is None:
        return offset if own is None else _along(offset, own, -_share(offset, own, xp), xp)
    if own is None:
        return _along(offset, shape.line, _share(offset, shape.line, xp), xp, -1.0)
    return _between_lines(offset, own, shape.line, xp)


def _between_lines(o: Vec3, a: Vec3, b: Vec3, xp: Library) -> Vec3:
    """Shortest o + s a - t b, 0 <= s, t <= 1 (Ericson, Real-Time Collision Detection, 2005, section 5.1.9)."""
    aa, bb, ab = _dot(a, a) + TINY, _dot(b, b) + TINY, _dot(a, b)
    ao, bo = _dot(a, o), _dot(b, o)
    det = aa * bb - ab * ab
    crossing = det > _PARALLEL * aa * bb
    s = xp.where(crossing, _unit((ab * bo - ao * bb) / xp.where(crossing, det, 1.0), xp), 0.0)
    t = (ab * s + bo) / bb
    # Beyond an end of b, that end counts, and the point of a nearest to it.
    inside = _unit(t, xp)
    s = xp.where(t == inside, s, _unit((ab * inside - ao) / aa, xp))
    return tuple(o[i] + s * a[i] - inside * b[i] for i in range(3))


def _from_box(o: Vec3, own: Vec3 | None, box: Vec3, xp: Library) -> Vec3:
    """Return the vector from a box by clamping, at the place of our line where half of the squared
    distance has slope 0.

    The slope is piecewise linear and never falls, with corners where the line crosses a plane of a
    face; it is interpolated between the last corner where it is not above 0 and the first where it is
    not below.
    """
    if own is None:
        return tuple(_outside(o[i], box[i], xp) for i in range(3))

    def slope(s: Array) -> Array:
        return sum(own[i] * _outside(o[i] + s * own[i], box[i], xp) for i in range(3))

    steep = [xp.where(xp.abs(own[i]) > TINY, own[i], TINY) for i in range(3)]
    corners = [_unit((face - o[i]) / steep[i], xp) for i in range(3) for face in (box[i] * 0.0, box[i])]
    zero = o[0] * 0.0
    low, high = zero, zero + 1.0
    slope_low, slope_high = slope(low), slope(high)
    for s in corners:
        at = slope(s)
        later, sooner = (at <= 0) & (s >= low), (at >= 0) & (s <= high)
        low, slope_low = xp.where(later, s, low), xp.where(later, at, slope_low)
        high, slope_high = xp.where(sooner, s, high), xp.where(sooner, at, slope_high)
    rise = slope_high - slope_low
    rises = rise > TINY
    s = low - slope_low * (high - low) / xp.where(rises, rise, 1.0)
    s = xp.where(slope_low >= 0, low, xp.where(slope_high <= 0, high, xp.where(rises, s, low)))
    return tuple(_outside(o[i] + s * own[i], box[i], xp) for i in range(3))


def _outside(x: Array, size: Array, xp: Library) -> Array:
    """Return the part of a coordinate beyond the interval from 0 to `size`."""
    return x - xp.minimum(xp.maximum(x, 0.0), size)


def _share(o: Vec3, b: Vec3, xp: Library) -> Array:
    """Return the position of the point nearest to o along b as a share of b, not clipped; for our own
    line, its negative."""
    return _dot(o, b) / (_dot(b, b) + TINY)


def _along(o: Vec3, b: Vec3, share: Array, xp: Library, sign: float = 1.0) -> Vec3:
    s = sign * _unit(share, xp)
    return (o[0] + s * b[0], o[1] + s * b[1], o[2] + s * b[2])


def _unit(x: Array, xp: Library) -> Array:
    return xp.minimum(xp.maximum(x, 0.0), 1.0)


def _dot(a: Vec3, b: Vec3) -> Array:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
