"""Features for policies of ground robots, in the plane; places and velocities are those of the middle of the axle."""

from typing import cast

from robomarl.core.features import NeighbourRule, feature, neighbours, of_nearest
from robomarl.core.geometry import join, namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.ground.core.sensed import THINGS, FloorSensed

_MATES = ("own.pos_m", "own.vel_m_s", "heard.mask", "heard.pos_m", "heard.vel_m_s", "heard.age_s")
FAR_M = 0.5
"""Distance to the goal [m] beyond which `goal_offset` is the direction alone."""
EVERY_S, FOR_S = 12.0, 2.0
"""Period [s] at which all robots of a crowd make room, and time [s] for which they do."""
BEHIND_M2 = 100.0
"""Landmarks that are not to be tagged come after those that are, as if they were so far away."""


def within(offset: Array, far_m: float = FAR_M) -> Array:
    """[..., 2] an offset, no longer than `far_m`; the direction is kept."""
    xp = namespace(offset)
    size = xp.sqrt((offset * offset).sum(-1, keepdims=True) + 1e-12)
    return offset * xp.minimum(1.0, far_m / size)


@feature(("x", "y"), "m", "world", ("own.pos_m", "goal.pos_m"))
def goal_offset(view: LocalView, rule: NeighbourRule) -> Array:
    """Vector from the robot to its goal, at most `FAR_M` long."""
    return within((view.goal.pos_m - view.own.pos_m)[..., :2])


@feature(("cos", "sin"), "-", "world", ("own.quat_wxyz",))
def heading(view: LocalView, rule: NeighbourRule) -> Array:
    """Unit vector that the robot's front points to."""
    w, z = view.own.quat_wxyz[..., 0], view.own.quat_wxyz[..., 3]
    return join([w * w - z * z, 2 * w * z])


@feature(("forward", "turn"), "m/s, rad/s", "body", ("own.quat_wxyz", "own.vel_m_s", "own.omega_rad_s"))
def speed_and_turn(view: LocalView, rule: NeighbourRule) -> Array:
    """Speed along the heading, and yaw rate."""
    toward = heading(view, rule)
    return join([(view.own.vel_m_s[..., :2] * toward).sum(-1), view.own.omega_rad_s[..., 2]])


@feature(("dx", "dy", "vx", "vy", "heard"), "m, m/s, -", "world", _MATES, per_neighbour=True)
def mates_in_plane(view: LocalView, rule: NeighbourRule) -> Array:
    """The k nearest teammates in the plane, from the rows of `neighbours`."""
    xp, rows = namespace(view.own.pos_m), neighbours(view, rule)
    rows = xp.asarray(rows)
    rows = rows.reshape(*rows.shape[:-1], rule.count, 8)
    picked = rows[..., (0, 1, 3, 4, 7)]
    return picked.reshape(*picked.shape[:-2], -1)


@feature(("dx", "dy"), "m", "world", (*_MATES, "heard.plan.stop_m"), per_neighbour=True)
def mates_plan(view: LocalView, rule: NeighbourRule) -> Array:
    """Vectors from the robot to the places where these teammates come to rest by the plans that they have committed
    to.
    """
    return of_nearest(view, rule, (view.heard.plan.stop_m - view.own.pos_m[..., None, :])[..., :2])


@feature(("time",), "s", "-", ("time_s",))
def elapsed(view: LocalView, rule: NeighbourRule) -> Array:
    """Time since the policy was activated: the first part of a task may be over."""
    return view.time_s[..., None]


def is_room_for_all(time_s: Array) -> Array:
    """[...] bool: now all robots of a crowd make room."""
    return time_s % EVERY_S < FOR_S


@feature(("now",), "-", "-", ("time_s",))
def room_for_all(view: LocalView, rule: NeighbourRule) -> Array:
    """1 while all robots of a crowd make room, else 0."""
    return is_room_for_all(view.time_s)[..., None].astype(view.own.pos_m.dtype)


@feature(("x", "y"), "m", "world", ("own.pos_m",))
def place(view: LocalView, rule: NeighbourRule) -> Array:
    """Position of the robot in the arena."""
    return view.own.pos_m[..., :2]


@feature(("x", "y"), "m", "world", ("goal.pos_m",))
def goal_in_plane(view: LocalView, rule: NeighbourRule) -> Array:
    """Position of the robot's goal in the arena."""
    return view.goal.pos_m[..., :2]


@feature(("a", "b", "rank"), "of the role", "-", ("sensed.capability",))
def capability(view: LocalView, rule: NeighbourRule) -> Array:
    """Capability of the robot, and its rank in its role: one policy for all roles."""
    return _sensed(view).capability


@feature(("carries",), "-", "-", ("sensed.carries",))
def carries(view: LocalView, rule: NeighbourRule) -> Array:
    """1 while the robot carries something; of shelves 2 where it is requested."""
    return _sensed(view).carries[..., None]


def _rows(count: int) -> tuple[str, ...]:
    return tuple(f"{part}{i}" for i in range(count) for part in ("dx", "dy", "kind"))


def _units(count: int, kind: str) -> str:
    """Return the unit of each of those parts."""
    return ", ".join(("m", "m", kind) * count)


def _things(view: LocalView) -> Array:
    """[..., 3 M] of everything; see `_offsets`."""
    return _offsets(view, _sensed(view).things)


def _offsets(view: LocalView, things: Array) -> Array:
    """Return [..., 3 M]: place of each thing relative to the robot, and its kind; an unknown thing (kind 0) is at
    offset 0.
    """
    xp = namespace(view.own.pos_m)
    kind = things[..., 2:]
    away = xp.where(kind != 0, things[..., :2] - view.own.pos_m[..., None, :2], 0.0)
    rows = xp.concatenate([away, kind], -1)
    return rows.reshape(*rows.shape[:-2], -1)


def _sensed(view: LocalView) -> FloorSensed:
    return cast(FloorSensed, view.sensed)  # views that come from a file have a tuple of the same fields


_THINGS = ("own.pos_m", "sensed.things")


@feature(_rows(THINGS["discovery"]), _units(THINGS["discovery"], "-"), "world", _THINGS)
def landmarks(view: LocalView, rule: NeighbourRule) -> Array:
    """Landmarks: kind 1 where sensed, 2 where tagged. Landmarks to be tagged come first, the nearest first."""
    return _offsets(view, open_first(view))


def open_first(view: LocalView) -> Array:
    """Return the things [..., M, 3] that the robot receives: kind 1 first, and the nearest first."""
    xp, things = namespace(view.own.pos_m), _sensed(view).things
    away = things[..., :2] - view.own.pos_m[..., None, :2]
    order = xp.argsort((away * away).sum(-1) + xp.where(things[..., 2] == 1, 0.0, BEHIND_M2), axis=-1)
    return xp.take_along_axis(things, order[..., None], axis=-2)


@feature(_rows(THINGS["foraging"]), _units(THINGS["foraging"], "level"), "world", _THINGS)
def resources(view: LocalView, rule: NeighbourRule) -> Array:
    """Resources that are left, with their levels."""
    return _things(view)


@feature(_rows(THINGS["material_transport"]), _units(THINGS["material_transport"], "load"), "world", _THINGS)
def stocks(view: LocalView, rule: NeighbourRule) -> Array:
    """Places of material, and the amount left at each."""
    return _things(view)


@feature(_rows(THINGS["arctic_transport"]), _units(THINGS["arctic_transport"], "-"), "world", _THINGS)
def tiles(view: LocalView, rule: NeighbourRule) -> Array:
    """The nine tiles about each of the two drones: kind 1 is ice, 2 water, 3 the goal, and 4 plain floor."""
    return _things(view)


@feature(_rows(THINGS["predator_prey"]), _units(THINGS["predator_prey"], "-"), "world", _THINGS)
def prey(view: LocalView, rule: NeighbourRule) -> Array:
    """The prey."""
    return _things(view)


@feature(_rows(THINGS["rware"]), _units(THINGS["rware"], "-"), "world", _THINGS)
def cells(view: LocalView, rule: NeighbourRule) -> Array:
    """Cells for shelves: kind 1 is empty, 2 has a shelf, 3 one that is requested."""
    return _things(view)
