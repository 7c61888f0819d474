"""Features that a policy may observe: named functions of a `LocalView`, array-generic. One registry.

A feature is a function from the view to `[..., size]`, or to a tuple of its elements `[...]`. It
declares which fields of the view it reads, with units and frames, so that a bundle can state its
dependencies and a test can prove that nothing else matters. Features of carriers and of players are
in their domains.

Neighbour features are ordered by distance, nearest first, independent of the order of reception.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from robomarl.core.geometry import components, join, namespace, quat_conjugate, quat_multiply
from robomarl.core.types import Array
from robomarl.core.view import LocalView


@dataclass(frozen=True)
class NeighbourRule:
    """Which team-mates a policy looks at."""

    count: int = 0
    """k: rows in the observation; nearest first, missing ones are zeros."""
    range_m: float = 0.0
    """Farther team-mates are not looked at."""
    max_age_s: float = 0.0
    """Older messages are not looked at."""


Read = Callable[..., Array]
"""(view, or the result of `Feature.of`, rule) -> the feature."""
ReadT = TypeVar("ReadT", bound=Read)


@dataclass(frozen=True)
class Feature:
    """One registered feature."""

    read: Read
    """The function, view -> [..., size], or a tuple of `size` arrays [...]; see `as_array`, `numbers`."""
    parts: tuple[str, ...]
    """Name of each element; per neighbour where `per_neighbour`."""
    unit: str
    frame: str
    reads: tuple[str, ...]
    """Fields of the view that the function reads, dotted."""
    per_neighbour: bool = False
    of: Callable[[LocalView], object] | None = None
    """Function from the view to the input of `read`, for data that several features share; None: `read`
    takes the view."""

    def size(self, rule: NeighbourRule) -> int:
        """Number of elements."""
        return len(self.parts) * (rule.count if self.per_neighbour else 1)

    def element_names(self, name: str, rule: NeighbourRule) -> list[str]:
        """Name of each element, as in errors and in the bundle."""
        if not self.per_neighbour:
            return [f"{name}.{part}" for part in self.parts]
        return [f"{name}[{i}].{part}" for i in range(rule.count) for part in self.parts]


def of_one(view: LocalView) -> bool:
    """Return True if this is the view of one robot, in numpy; work is then done on Python's floats."""
    return type(view.own.pos_m) is np.ndarray and view.own.pos_m.ndim == 1


def as_array(value: tuple[Array, ...] | np.ndarray) -> Array:
    """Return the result of a feature's function as an array [..., size]."""
    return join(value) if isinstance(value, tuple) else value


def numbers(value: tuple[float, ...] | np.ndarray) -> list[float]:
    """Return the result of a feature's function for one robot as a list."""
    return list(value) if isinstance(value, tuple) else value.tolist()


FEATURES: dict[str, Feature] = {}
"""The registry, filled by `feature`."""

NEAR_M = 0.2
"""Error along an axis of which half is left in `near_error`."""
MANY = 16
"""Number of teammates above which numpy sorts out the nearest, because comparing all pairs then takes longer."""
XYZ = ("x", "y", "z")
_MATE_FIELDS = ("own.pos_m", "heard.mask", "heard.pos_m", "heard.vel_m_s", "heard.age_s")


def feature(
    parts: tuple[str, ...],
    unit: str,
    frame: str,
    reads: tuple[str, ...],
    per_neighbour: bool = False,
    of: Callable[[LocalView], object] | None = None,
) -> Callable[[ReadT], ReadT]:
    """Register the decorated function under its own name, as a `Feature` of these fields.

    Raises:
        ValueError: another module has a feature of that name, so one would be read in place of its
            namesake.
    """

    def register(read: ReadT) -> ReadT:
        other = FEATURES.get(read.__name__)
        if other is not None and other.read.__module__ != read.__module__:
            raise ValueError(f"{read.__module__}: {other.read.__module__} has a feature {read.__name__!r} already.")
        FEATURES[read.__name__] = Feature(read, parts, unit, frame, reads, per_neighbour, of)
        return read

    return register


@feature(XYZ, "m", "world", ("goal.pos_m",))
def goal_place(view: LocalView, rule: NeighbourRule) -> Array:
    """Position of the goal; with `gone`, it shows how the goal moves."""
    return view.goal.pos_m


@feature(XYZ, "m", "world", ("own.pos_m", "goal.pos_m"))
def goal_error(view: LocalView, rule: NeighbourRule) -> Array:
    """Vector from the robot to its goal."""
    return view.goal.pos_m - view.own.pos_m


@feature(XYZ, "m", "world", ("own.pos_m", "goal.pos_m"))
def near_error(view: LocalView, rule: NeighbourRule) -> Array:
    """`goal_error` on each axis if it is small against `NEAR_M`, ever less beyond: the value for a mean of
    the error.

    An integral of the whole error winds up on the way to the goal, and then drives the robot past it.
    Each axis is treated by itself, because a wrong thrust causes an error of the height, which shows on
    the way already.
    """
    return tuple(e / (1 + (e / NEAR_M) ** 2) for e in components(view.goal.pos_m - view.own.pos_m))


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
    if of_one(view):
        return _neighbours_of_one(view, rule)
    xp = namespace(view.own.pos_m)
    heard, own = view.heard, view.own
    place, square = _heard_now(view, rule)
    motion = heard.vel_m_s - own.vel_m_s[..., None, :]
    one = xp.ones_like(heard.age_s)
    return _picked(square, rule.count, place, motion, heard.age_s[..., None], one[..., None])


def of_nearest(view: LocalView, rule: NeighbourRule, part: Array) -> Array:
    """Return the nearest mates' values [..., count V] of `part` [..., K, V], known of every mate; 0 for missing
    mates."""
    return _picked(_heard_now(view, rule)[1], rule.count, part)


def _picked(square: Array, count: int, *parts: Array) -> Array:
    """[..., count W] the nearest's of `parts`, [..., K, V] each, W numbers of a mate in all; picked one by one, they
    need not be put together for each."""
    xp = namespace(square)
    if xp is np and square.shape[-1] > max(MANY, count):
        found = _picked_of_many(square, count, parts)
    else:
        pick, known = _nearest(square, count).astype(parts[0].dtype), (square < xp.inf)[..., None]
        found = [pick @ xp.where(known, part, 0.0) for part in parts]
    picked = xp.concatenate(found, -1)
    return picked.reshape(*picked.shape[:-2], -1)


def _heard_now(view: LocalView, rule: NeighbourRule) -> tuple[Array, Array]:
    """[..., K, 3] where mates are now as seen from the robot, and [..., K] the square of how far that is, infinite of
    those that are not looked at."""
    heard = view.heard
    place = heard.pos_m + heard.vel_m_s * heard.age_s[..., None] - view.own.pos_m[..., None, :]
    x, y, z = components(place)
    square = x * x + y * y + z * z  # numpy takes 30 times as long for sums along an axis of three
    known = heard.mask & (square <= rule.range_m**2) & (heard.age_s <= rule.max_age_s)
    return place, namespace(place).where(known, square, np.inf)


def _neighbours_of_one(view: LocalView, rule: NeighbourRule) -> tuple[float, ...]:
    """`neighbours` for one robot, on Python floats: a fifth of the time, equal numbers (a test compares)."""
    heard, (px, py, pz), (ux, uy, uz) = view.heard, view.own.pos_m.tolist(), view.own.vel_m_s.tolist()
    mates = zip(heard.mask.tolist(), heard.pos_m.tolist(), heard.vel_m_s.tolist(), heard.age_s.tolist(), strict=True)
    found: list[tuple[float, int, tuple[float, ...]]] = []
    for i, (is_heard, (x, y, z), (vx, vy, vz), age) in enumerate(mates):
        dx, dy, dz = x + vx * age - px, y + vy * age - py, z + vz * age - pz
        square = dx * dx + dy * dy + dz * dz
        if is_heard and age <= rule.max_age_s and square <= rule.range_m**2:
            found.append((square, i, (dx, dy, dz, vx - ux, vy - uy, vz - uz, age, 1.0)))
    found.sort()
    rows = [value for _, _, row in found[: rule.count] for value in row]
    return (*rows, *[0.0] * (8 * rule.count - len(rows)))


def _picked_of_many(square: np.ndarray, count: int, parts: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """`parts` of the `count` nearest team-mates in order, [..., count, V] each: those of `_nearest`, by a sort."""
    first = np.argsort(square, axis=-1, kind="stable")[..., :count, None]
    there = np.take_along_axis(square[..., None], first, axis=-2) < np.inf
    return [np.where(there, np.take_along_axis(part, first, axis=-2), 0.0).astype(part.dtype) for part in parts]


def _nearest(square: Array, count: int) -> Array:
    """[..., count, K] bool: rows that pick the nearest team-mates in order.

    Ranks by comparing all pairs: K is small, and a sort would cost more than the whole observation.
    """
    xp = namespace(square)
    index = xp.arange(square.shape[-1])
    nearer = square[..., None, :] < square[..., :, None]
    tied = (square[..., None, :] == square[..., :, None]) & (index[None, :] < index[:, None])
    rank = (nearer | tied).sum(-1)
    return rank[..., None, :] == xp.arange(count)[:, None]
