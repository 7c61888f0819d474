"""Features of robots that carry a load on cables, array-generic: vectors are tuples of their components."""

from typing import NamedTuple

from robomarl.core.features import XYZ, NeighbourRule, feature
from robomarl.core.geometry import components, number
from robomarl.core.types import Array
from robomarl.core.vectors import Vec3, Vec4, minus, multiply, plus
from robomarl.core.view import LoadSensed, LocalView
from robomarl.domains.flight.core.scalars import library

AXES = tuple(f"{column}{row}" for column in "xyz" for row in "xyz")
"""Names of the elements of a rotation matrix, column by column: where each axis of the frame points."""
Columns = tuple[Array, ...]
"""Nine such elements."""


class Carried(NamedTuple):
    """Quantities that the features of a carried load share."""

    own: Vec3
    """[m] the robot's place, world."""
    load: Vec3
    """[m] the load's, world."""
    quat: Vec4
    """wxyz, load frame to world."""
    axes: Columns
    """Rotation matrix of the load's attitude."""
    tied: Vec3
    """[m] where the robot's cable is tied to the load, world."""
    way: Vec3
    """[m] from the load to its goal, world."""
    turn: Vec3
    """[rad] the rotation from the load's attitude to the wanted one: axis times angle, world."""
    view: LocalView
    """Local view from which these quantities were computed."""


def carried(view: LocalView) -> Carried:
    """Work it out."""
    sensed: LoadSensed = view.sensed  # type: ignore[assignment]
    load, quat = components(sensed.load_pos_m), components(sensed.load_quat_wxyz)
    axes = _columns(quat)
    return Carried(
        own=components(view.own.pos_m),
        load=load,
        quat=quat,
        axes=axes,
        tied=plus(load, _turned(axes, components(sensed.point_m))),
        way=minus(components(view.goal.pos_m), load),
        turn=_rotation(quat, components(view.goal.quat_wxyz)),
        view=view,
    )


def _columns(quat: Vec4) -> Columns:
    """The rotation matrix of an attitude."""
    w, x, y, z = quat
    return (
        *(1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        *(2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        *(2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )


def _turned(m: Columns, vector: Vec3) -> Vec3:
    """A vector in the world instead of the frame with these axes."""
    x, y, z = vector
    return (m[0] * x + m[3] * y + m[6] * z, m[1] * x + m[4] * y + m[7] * z, m[2] * x + m[5] * y + m[8] * z)


def _rotation(start: Vec4, end: Vec4) -> Vec3:
    """Return the rotation from one attitude to another [rad]: axis times angle, in the world frame; pi at most."""
    w, x, y, z = multiply(end, (start[0], -start[1], -start[2], -start[3]))
    xp = library(w)
    sine = xp.sqrt(x * x + y * y + z * z + 1e-12)
    sign = xp.where(w < 0, -1.0, 1.0)
    scale = 2 * xp.arctan2(sine, w * sign) * sign / sine
    return (x * scale, y * scale, z * scale)


_LOAD = ("sensed.load_pos_m", "sensed.load_quat_wxyz", "sensed.point_m")


@feature(AXES, "-", "world", ("sensed.load_quat_wxyz",), of=carried)
def load_axes(seen: Carried, rule: NeighbourRule) -> Columns:
    """Directions of the load's axes."""
    return seen.axes


@feature(AXES, "-", "world", ("own.quat_wxyz",))
def own_axes(view: LocalView, rule: NeighbourRule) -> Columns:
    """Directions of the robot's own axes."""
    return _columns(components(view.own.quat_wxyz))


@feature(XYZ, "m", "world", ("goal.pos_m", "sensed.load_pos_m"), of=carried)
def load_error(seen: Carried, rule: NeighbourRule) -> Vec3:
    """Vector from the load to its goal."""
    return seen.way


@feature(XYZ, "rad", "world", ("goal.quat_wxyz", "sensed.load_quat_wxyz"), of=carried)
def load_turn(seen: Carried, rule: NeighbourRule) -> Vec3:
    """The rotation from the load's attitude to the wanted one: axis times angle, in the world; pi at most."""
    return seen.turn


@feature(XYZ, "m", "world", ("goal.pos_m", "goal.quat_wxyz", *_LOAD), of=carried)
def point_error(seen: Carried, rule: NeighbourRule) -> Vec3:
    """Vector from the robot's attachment point on the load to the position of that point when the load is at its
    goal.
    """
    goal, point = seen.view.goal, components(seen.view.sensed.point_m)  # type: ignore[attr-defined]
    there = plus(components(goal.pos_m), _turned(_columns(components(goal.quat_wxyz)), point))
    return minus(there, seen.tied)


NEAR_POINT_M = 0.05
"""Error of the own point of which half is left in `near_point`."""


@feature(XYZ, "m", "world", ("goal.pos_m", "goal.quat_wxyz", *_LOAD), of=carried)
def near_point(seen: Carried, rule: NeighbourRule) -> Vec3:
    """`point_error` where it is small against `NEAR_POINT_M`, fading beyond, so that a mean over it does not wind up
    during transport.
    """
    x, y, z = point_error(seen, rule)
    share = 1 / (1 + ((x * x + y * y + z * z) / NEAR_POINT_M**2) ** 2)
    return (x * share, y * share, z * share)


@feature(XYZ, "m", "world", ("own.pos_m", *_LOAD), of=carried)
def cable(seen: Carried, rule: NeighbourRule) -> Vec3:
    """Vector from the robot's attachment point on the load to the robot."""
    return minus(seen.own, seen.tied)


HIGH_M, AROUND_M = 0.03, 1.0
"""`point_high` is 1 where the own point is too high by this and more; it is half of that where the load is so far from
its goal."""


@feature(("up",), "-", "world", ("goal.pos_m", "goal.quat_wxyz", *_LOAD), of=carried)
def point_high(seen: Carried, rule: NeighbourRule) -> tuple[Array, ...]:
    """Lean of the load at the robot's own attachment point, from too low (-1) to too high (1) relative
    to the load's middle.

    If it persists, a teammate across the load is lost:
    `robomarl.domains.flight.lab.payload.controllers.lost_mate`.
    """
    x, y, _ = components(seen.view.sensed.point_m)  # type: ignore[attr-defined]
    goal, (dx, dy, dz) = _columns(components(seen.view.goal.quat_wxyz)), seen.way
    high = (seen.axes[2] - goal[2]) * x + (seen.axes[5] - goal[5]) * y
    far = (dx * dx + dy * dy + dz * dz) / AROUND_M**2
    # 0 times both is 0, and shows what is not finite, which the clip and the quotient would hide.
    return (library(high).clip(high / HIGH_M, -1.0, 1.0) / (1 + far * far) + 0 * (high + far),)


AHEAD_M, AHEAD_RAD = 0.5, 0.6
"""How far ahead of the load, on its way to the goal, the place is that a robot is led to; half its cable at most."""
_PLACE = (*_LOAD, "sensed.grip_n", "sensed.length_m", "goal.pos_m", "goal.quat_wxyz")


def _limited(vector: Vec3, most: Array | float) -> Vec3:
    """The vector, no longer than that."""
    xp, (x, y, z) = library(vector[0]), vector
    short = xp.minimum(1.0, most / (xp.sqrt(x * x + y * y + z * z) + 1e-9))
    return (x * short, y * short, z * short)


def _quat_of(turn: Vec3) -> Vec4:
    """Quaternion of a rotation vector."""
    xp, (x, y, z) = library(turn[0]), turn
    angle = xp.sqrt(x * x + y * y + z * z + 1e-12)
    scale = xp.sin(angle / 2) / angle
    return (xp.cos(angle / 2), x * scale, y * scale, z * scale)


@feature(XYZ, "m", "world", ("own.pos_m", *_PLACE), of=carried)
def place_error(seen: Carried, rule: NeighbourRule) -> Vec3:
    """Vector from the robot to its place for holding the load at the goal, or on the route there, a
    little ahead of the load.

    At that place the robot's cable points along the pull of `sensed.grip_n`, so no other cable has to
    be observed.
    """
    sensed: LoadSensed = seen.view.sensed  # type: ignore[assignment]
    length = number(sensed.length_m)
    ahead = _limited(seen.way, library(length).minimum(AHEAD_M, 0.5 * length))
    axes = _columns(multiply(_quat_of(_limited(seen.turn, AHEAD_RAD)), seen.quat))
    (u, v, w), g = axes[2::3], components(sensed.grip_n.reshape(*sensed.grip_n.shape[:-2], 12))
    x, y, z = (g[i] * u + g[i + 1] * v + g[i + 2] * w + g[i + 3] for i in (0, 4, 8))
    reach = length / library(x).sqrt(x * x + y * y + z * z + 1e-9)
    held = plus(components(sensed.point_m), (x * reach, y * reach, z * reach))
    return minus(plus(plus(seen.load, ahead), _turned(axes, held)), seen.own)


MAX_INDEX = 6
"""Places at a load that `own_index` can name."""


@feature(tuple(str(i) for i in range(MAX_INDEX)), "-", "none", ("role",))
def own_index(view: LocalView, rule: NeighbourRule) -> tuple[Array, ...]:
    """One-hot: which place at the load the robot has."""
    role = number(view.role)
    return tuple((role == i) * 1.0 for i in range(MAX_INDEX))
