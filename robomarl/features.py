"""What a policy may look at: named features of a `LocalView`, array-generic. One registry.

A feature is a function from the view to `[..., size]`. It declares which fields of the view it reads, with
units and frames, so that a bundle can say what it depends on and a test can prove that nothing else matters.
Neighbour features are ordered by distance, nearest first, whatever the order in which they were heard.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robomarl.geometry import components, join, namespace, quat_conjugate, quat_multiply
from robomarl.types import Array
from robomarl.view import LocalView


@dataclass(frozen=True)
class NeighbourRule:
    """Which team-mates a policy looks at."""

    count: int = 0
    """k: rows in the observation; nearest first, missing ones are zeros."""
    range_m: float = 0.0
    """Farther team-mates are not looked at."""
    max_age_s: float = 0.0
    """Older messages are not looked at."""


@dataclass(frozen=True)
class Feature:
    """One registered feature."""

    read: Callable[[LocalView, NeighbourRule], Array]
    """The function, view -> [..., size]."""
    parts: tuple[str, ...]
    """Name of each element; per neighbour where `per_neighbour`."""
    unit: str
    frame: str
    reads: tuple[str, ...]
    """Fields of the view that the function reads, dotted."""
    per_neighbour: bool = False

    def size(self, rule: NeighbourRule) -> int:
        """Number of elements."""
        return len(self.parts) * (rule.count if self.per_neighbour else 1)

    def element_names(self, name: str, rule: NeighbourRule) -> list[str]:
        """Name of each element, as in errors and in the bundle."""
        if not self.per_neighbour:
            return [f"{name}.{part}" for part in self.parts]
        return [f"{name}[{i}].{part}" for i in range(rule.count) for part in self.parts]


FEATURES: dict[str, Feature] = {}
"""The registry, filled by `feature`."""

XYZ = ("x", "y", "z")
_MATE_FIELDS = ("own.pos_m", "heard.mask", "heard.pos_m", "heard.vel_m_s", "heard.age_s")


def feature(parts: tuple[str, ...], unit: str, frame: str, reads: tuple[str, ...], per_neighbour: bool = False):
    """Register the decorated function under its own name."""

    def register(read: Callable[[LocalView, NeighbourRule], Array]):
        FEATURES[read.__name__] = Feature(read, parts, unit, frame, reads, per_neighbour)
        return read

    return register


@feature(XYZ, "m", "world", ("own.pos_m", "goal.pos_m"))
def goal_error(view: LocalView, rule: NeighbourRule) -> Array:
    """From the robot to its goal."""
    return view.goal.pos_m - view.own.pos_m


@feature(XYZ, "m/s", "world", ("own.vel_m_s",))
def velocity(view: LocalView, rule: NeighbourRule) -> Array:
    """The robot's velocity."""
    return view.own.vel_m_s


@feature(XYZ, "-", "world", ("own.quat_wxyz",))
def body_up(view: LocalView, rule: NeighbourRule) -> Array:
    """The body's z axis: where the thrust points."""
    w, x, y, z = components(view.own.quat_wxyz)
    return join([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


@feature(XYZ, "rad/s", "body", ("own.omega_rad_s",))
def body_rates(view: LocalView, rule: NeighbourRule) -> Array:
    """Angular velocity."""
    return view.own.omega_rad_s


@feature(("sin", "cos"), "-", "world", ("own.quat_wxyz", "goal.quat_wxyz"))
def heading_error(view: LocalView, rule: NeighbourRule) -> Array:
    """Sine and cosine of the goal's heading as seen from the robot's."""
    xp = namespace(view.own.quat_wxyz)
    w, x, y, z = components(quat_multiply(quat_conjugate(view.own.quat_wxyz), view.goal.quat_wxyz))
    sin, cos = 2 * (w * z + x * y), 1 - 2 * (y * y + z * z)
    size = xp.sqrt(sin * sin + cos * cos + 1e-12)
    return join([sin / size, cos / size])


@feature(
    (*("dx", "dy", "dz"), *("vx", "vy", "vz"), "age", "heard"),
    "m, m/s, s, -",
    "world",
    (*_MATE_FIELDS, "own.vel_m_s"),
    per_neighbour=True,
)
def neighbours(view: LocalView, rule: NeighbourRule) -> Array:
    """The k nearest team-mates: place and velocity relative to the robot, message age, and 1 where heard.

    The place is carried forward by its velocity over the message's age. Rows without a team-mate are 0.
    """
    if type(view.own.pos_m) is np.ndarray and view.own.pos_m.ndim == 1:
        return _neighbours_of_one(view, rule)
    xp = namespace(view.own.pos_m)
    heard, own = view.heard, view.own
    place = heard.pos_m + heard.vel_m_s * heard.age_s[..., None] - own.pos_m[..., None, :]
    known = heard.mask & ((place * place).sum(-1) <= rule.range_m**2) & (heard.age_s <= rule.max_age_s)
    motion = heard.vel_m_s - own.vel_m_s[..., None, :]
    one = xp.ones_like(heard.age_s)
    rows = xp.concatenate([place, motion, heard.age_s[..., None], one[..., None]], -1)
    rows = xp.where(known[..., None], rows, 0.0)
    picked = _nearest(place, known, rule.count) @ rows
    return picked.reshape(*picked.shape[:-2], -1)


def _neighbours_of_one(view: LocalView, rule: NeighbourRule) -> Array:
    """`neighbours` for one robot, on Python floats: a fifth of the time, the same numbers (a test compares)."""
    heard, (px, py, pz), (ux, uy, uz) = view.heard, view.own.pos_m.tolist(), view.own.vel_m_s.tolist()
    mates = zip(heard.mask.tolist(), heard.pos_m.tolist(), heard.vel_m_s.tolist(), heard.age_s.tolist(), strict=True)
    found = []
    for i, (is_heard, (x, y, z), (vx, vy, vz), age) in enumerate(mates):
        dx, dy, dz = x + vx * age - px, y + vy * age - py, z + vz * age - pz
        square = dx * dx + dy * dy + dz * dz
        if is_heard and age <= rule.max_age_s and square <= rule.range_m**2:
            found.append((square, i, (dx, dy, dz, vx - ux, vy - uy, vz - uz, age, 1.0)))
    found.sort()
    rows = [value for _, _, row in found[: rule.count] for value in row]
    return np.array(rows + [0.0] * (8 * rule.count - len(rows)))


def _nearest(place: Array, known: Array, count: int) -> Array:
    """[..., count, K] one-hot rows that pick the nearest team-mates in order.

    Ranks by comparing all pairs: K is small, and a sort would cost more than the whole observation.
    """
    xp = namespace(place)
    distance = xp.where(known, (place * place).sum(-1), xp.inf)
    index = xp.arange(distance.shape[-1])
    nearer = distance[..., None, :] < distance[..., :, None]
    tied = (distance[..., None, :] == distance[..., :, None]) & (index[None, :] < index[:, None])
    rank = (nearer | tied).sum(-1)
    return (rank[..., None, :] == xp.arange(count)[:, None]).astype(place.dtype)


AXES = tuple(f"{column}{row}" for column in "xyz" for row in "xyz")
"""Names of the elements of a rotation matrix, column by column: where each axis of the frame points."""
_LOAD = ("sensed.load_pos_m", "sensed.load_quat_wxyz", "sensed.point_m")


def _columns(quat: Array) -> Array:
    """[..., 4] to [..., 9]: the rotation matrix, column by column."""
    w, x, y, z = components(quat)
    return join(
        [
            *(1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
            *(2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
            *(2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
        ]
    )


def _turn(quat: Array, vector: Array) -> Array:
    """Rotate vectors [..., 3] by attitudes [..., 4]."""
    m, (x, y, z) = components(_columns(quat)), components(vector)
    return join([m[i] * x + m[3 + i] * y + m[6 + i] * z for i in range(3)])


@feature(XYZ, "m", "world", ("own.pos_m", "sensed.load_pos_m"))
def load_place(view: LocalView, rule: NeighbourRule) -> Array:
    """From the robot to the load frame's origin."""
    return view.sensed.load_pos_m - view.own.pos_m  # type: ignore[attr-defined]


@feature(AXES, "-", "world", ("sensed.load_quat_wxyz",))
def load_axes(view: LocalView, rule: NeighbourRule) -> Array:
    """Where the load's axes point."""
    return _columns(view.sensed.load_quat_wxyz)  # type: ignore[attr-defined]


@feature(AXES, "-", "world", ("own.quat_wxyz",))
def own_axes(view: LocalView, rule: NeighbourRule) -> Array:
    """Where the robot's own axes point."""
    return _columns(view.own.quat_wxyz)


@feature(XYZ, "m", "world", ("goal.pos_m", "sensed.load_pos_m"))
def load_error(view: LocalView, rule: NeighbourRule) -> Array:
    """From the load to its goal."""
    return view.goal.pos_m - view.sensed.load_pos_m  # type: ignore[attr-defined]


@feature(XYZ, "rad", "world", ("goal.quat_wxyz", "sensed.load_quat_wxyz"))
def load_turn(view: LocalView, rule: NeighbourRule) -> Array:
    """The rotation from the load's attitude to the wanted one: axis times angle, in the world; pi at most."""
    xp = namespace(view.goal.quat_wxyz)
    w, *axis = components(quat_multiply(view.goal.quat_wxyz, quat_conjugate(view.sensed.load_quat_wxyz)))  # type: ignore[attr-defined]
    sine = xp.sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2] + 1e-12)
    sign = xp.where(w < 0, -1.0, 1.0)
    scale = 2 * xp.arctan2(sine, w * sign) * sign / sine
    return join([a * scale for a in axis])


@feature(XYZ, "m", "world", ("goal.pos_m", "goal.quat_wxyz", *_LOAD))
def point_error(view: LocalView, rule: NeighbourRule) -> Array:
    """From where the robot's cable is tied to the load to where that point is when the load is at its goal."""
    sensed = view.sensed
    there = view.goal.pos_m + _turn(view.goal.quat_wxyz, sensed.point_m)  # type: ignore[attr-defined]
    return there - sensed.load_pos_m - _turn(sensed.load_quat_wxyz, sensed.point_m)  # type: ignore[attr-defined]


@feature(XYZ, "m", "world", ("own.pos_m", *_LOAD))
def cable(view: LocalView, rule: NeighbourRule) -> Array:
    """From where the robot's cable is tied to the load to the robot."""
    sensed = view.sensed
    return view.own.pos_m - sensed.load_pos_m - _turn(sensed.load_quat_wxyz, sensed.point_m)  # type: ignore[attr-defined]


AHEAD_M, AHEAD_RAD = 0.5, 0.6
"""How far ahead of the load, on its way to the goal, the place is that a robot is led to; half its cable at most."""
_PLACE = (*_LOAD, "sensed.grip_n", "sensed.length_m", "goal.pos_m", "goal.quat_wxyz")


def _limited(vector: Array, most: Array | float) -> Array:
    """The vector, no longer than that."""
    xp = namespace(vector)
    return vector * xp.minimum(1.0, most / (xp.sqrt((vector * vector).sum(-1, keepdims=True)) + 1e-9))


def _quat_of(turn: Array) -> Array:
    """Quaternion of a rotation vector [..., 3]."""
    xp = namespace(turn)
    angle = xp.sqrt((turn * turn).sum(-1, keepdims=True) + 1e-12)
    return xp.concatenate([xp.cos(angle / 2), turn * (xp.sin(angle / 2) / angle)], -1)


@feature(XYZ, "m", "world", ("own.pos_m", *_PLACE))
def place_error(view: LocalView, rule: NeighbourRule) -> Array:
    """From the robot to where it holds the load at its goal, or on the way there, a little ahead of the load.

    It holds the load where its cable points along the pull of `sensed.grip_n`: no other cable has to be seen.
    """
    xp, sensed = namespace(view.own.pos_m), view.sensed
    ahead = xp.minimum(AHEAD_M, 0.5 * sensed.length_m)[..., None]  # type: ignore[attr-defined]
    pos = sensed.load_pos_m + _limited(load_error(view, rule), ahead)  # type: ignore[attr-defined]
    quat = quat_multiply(_quat_of(_limited(load_turn(view, rule), AHEAD_RAD)), sensed.load_quat_wxyz)  # type: ignore[attr-defined]
    axes = _columns(quat)
    up = axes[..., 2::3]
    grip = sensed.grip_n  # type: ignore[attr-defined]
    pull = (grip[..., :3] * up[..., None, :]).sum(-1) + grip[..., 3]
    reach = sensed.length_m[..., None] / xp.sqrt((pull * pull).sum(-1, keepdims=True) + 1e-9)  # type: ignore[attr-defined]
    return pos + _turn(quat, sensed.point_m + pull * reach) - view.own.pos_m  # type: ignore[attr-defined]


MAX_INDEX = 6
"""Places at a load that `own_index` can name."""


@feature(tuple(str(i) for i in range(MAX_INDEX)), "-", "none", ("role",))
def own_index(view: LocalView, rule: NeighbourRule) -> Array:
    """One-hot: which place at the load the robot has."""
    role = np.asarray(view.role) if np.ndim(view.role) == 0 else view.role
    return (role[..., None] == np.arange(MAX_INDEX)) * 1.0
