"""Where robots start, what they are driven at, and what stands there."""

from typing import NamedTuple

import numpy as np

from benchmarks.filter.fallbacks.genes import Genes
from benchmarks.filter.fallbacks.words import Words, length, unit
from robomarl.core.filter.filter import Arena
from robomarl.core.filter.model.bodies import Obstacle

CROWDS = ("corner", "corridor", "stack", "ring")
LIMITS = ("heard", "silent", "obstacle", "stranger", "wall", "speed")
FAR_M = 1e4


class Place(NamedTuple):
    """Start of E teams of N robots."""

    centre: np.ndarray
    """[E, N, 3]"""
    aim: np.ndarray | None
    """[E, N, 3] point that each robot is driven at; None: the nearest teammate, or a stranger."""
    arena: Arena | None
    obstacles: tuple[Obstacle, ...] = ()
    strangers: int = 0
    """How many strangers attack."""


def _room(words: Words, half: float, height: float) -> Arena:
    high = 1.0 if words.planar else height
    return Arena((-half, -half, -1.0 if words.planar else 0.0), (half, half, high))


def _level(words: Words, points: np.ndarray) -> np.ndarray:
    return points * [1, 1, 0.0] if words.planar else points


def pair(words: Words, genes: Genes, robots: int) -> Place:
    """Robots around a point, each driven at the nearest teammate."""
    u, draw = words.spacing_m, genes["place"]
    arena = _room(words, 5 * u, 5 * u)
    way = genes["way"] * [1, 1, 0.5]
    way[draw[:, 5] < 0.5, 2] = 0
    way = unit(_level(words, way))
    aside = unit(np.cross(way, [0, 0, 1.0]) + [1e-6, 0, 0])
    distance = (
        u * np.choose((draw[:, 0] * 6).astype(int), [1, 1, 1, 1.5, *((2.5, 4) if robots < 3 else (1, 1.5))])[:, None]
    )
    angle = 2 * np.pi * (np.arange(robots) / robots)[None, :, None]
    size = distance[:, None] / (2 * np.sin(np.pi / robots))
    centre = size * (np.cos(angle) * way[:, None] + np.sin(angle) * aside[:, None])
    centre = centre + (draw[:, 4:5, None] * 0.4 * u * (np.arange(robots) % 2)[None, :, None]) * aside[:, None]
    room = np.maximum(5 * u - np.abs(centre[..., :2]).max(1) - 0.6 * u, 0)
    centre[..., :2] += ((2 * draw[:, 1:3] - 1) * room)[:, None]
    if not words.planar:
        half = np.abs(centre[..., 2]).max(1) + 0.6 * u
        centre[..., 2] += (half + draw[:, 3] * np.maximum(5 * u - 2 * half, 0))[:, None]
    return Place(_level(words, centre), None, arena)


def wall(words: Words, genes: Genes, robots: int) -> Place:
    """Robots near a face, an edge or a corner of the arena, driven at it."""
    u, draw = words.spacing_m, genes["place"]
    place = pair(words, genes, robots)
    arena = place.arena
    assert arena is not None
    sides = np.sign(genes["way"])
    axes = 2 if words.planar else 3
    use = np.stack([(draw[:, 6] * axes).astype(int) == i for i in range(3)], -1)
    use |= (draw[:, 7:8] < 0.4) & (np.arange(3) < 2) | (draw[:, 7:8] < 0.2)
    low, high = np.array(arena.low_m), np.array(arena.high_m)
    corner = np.where(sides > 0, high, low)
    centre = place.centre - place.centre.mean(1, keepdims=True)
    reach = np.abs(centre).max(1, keepdims=True) + words.ahead_m + u * (0.3 + 2 * draw[:, :1, None] ** 2)
    near = corner[:, None] - sides[:, None] * reach + centre
    centre = np.where(use[:, None], near, place.centre)
    aim = np.where(use[:, None], corner[:, None] + sides[:, None] * FAR_M, centre)
    return Place(_level(words, centre), _level(words, aim), arena)


def obstacle(words: Words, genes: Genes, robots: int) -> Place:
    """Robots beside a box 0.6 m thick, a sphere or a capsule, driven through it."""
    u, draw = words.spacing_m, genes["place"]
    arena = _room(words, 8 * u, 6 * u)
    things = (
        Obstacle("box", (-0.3, -1.5 * u, -1.0), (0.3, 1.5 * u, 4 * u)),
        Obstacle("sphere", (4 * u, 0.0, 0.0 if words.planar else 2.5 * u), radius_m=0.4 * u),
        Obstacle("capsule", (-4 * u, 0.0, -1.0), (-4 * u, 0.0, 6 * u), radius_m=0.15 * u),
    )
    which = np.where(draw[:, 6] < 0.6, 0, np.where(draw[:, 6] < 0.8, 1, 2))
    spot = np.array([[0, 0, 2 * u], [4 * u, 0, 2.5 * u], [-4 * u, 0, 2.5 * u]])[which]
    spot[which == 0, 1] += (2 * draw[which == 0, 1] - 1) * 1.2 * u
    skin = np.array([0.3, 0.4 * u, 0.15 * u])[which]
    way = unit(genes["way"] * [1, 1, 0.0])
    way = np.where(which[:, None] == 0, np.sign(way) * [1, 0, 0], way)
    side = np.stack([-way[:, 1], way[:, 0], 0 * way[:, 0]], -1)
    off = skin + words.clearance_m + words.ahead_m + u * (0.3 + 1.5 * draw[:, 0] ** 2)
    row = (np.arange(robots) - (robots - 1) / 2)[None, :, None]
    behind = np.abs(row) * (draw[:, 4] < 0.5)[:, None, None]
    centre = (spot + way * off[:, None])[:, None] + u * (row * side[:, None] + behind * way[:, None])
    aim = np.where(which[:, None, None] == 0, centre - 2 * (centre - spot[:, None]) * [1, 0, 0], spot[:, None])
    return Place(_level(words, centre), _level(words, aim), arena, things)


def speed(words: Words, genes: Genes, robots: int) -> Place:
    """Robots in the open, driven in one direction each."""
    u = words.spacing_m
    way = unit(_level(words, genes["way"]))
    side = unit(np.cross(way, [0, 0, 1.0]) + [1e-6, 0, 0])
    centre = 3 * u * np.arange(robots)[None, :, None] * side[:, None]
    return Place(centre, centre + FAR_M * way[:, None], None)


def stranger(words: Words, genes: Genes, robots: int) -> Place:
    """Robots in a room with strangers, each driven at the nearest of them."""
    place = pair(words, genes, robots)
    return place._replace(strangers=1 + robots // 3)


def crowd(words: Words, genes: Genes, kind: str, robots: int) -> Place:
    """Robots at rest, one spacing apart, driven into a corner, along a corridor, onto each other or to a centre."""
    u, draw = words.spacing_m, genes["place"]
    jitter = (draw[:, None, 5:8] - 0.5) * 0.1 * u * (np.arange(robots)[None, :, None] % 3 - 1)
    make = {"corner": _corner, "ring": _ring, "corridor": _line, "stack": _line}[kind]
    centre, aim, arena = make(words, draw, robots, kind)
    return Place(_level(words, centre + jitter), _level(words, np.broadcast_to(aim, centre.shape)), arena)


def _corner(words: Words, draw: np.ndarray, robots: int, _kind: str) -> tuple[np.ndarray, np.ndarray, Arena]:
    """A block beside an edge or a corner of the room; a part of the episodes is driven along the floor."""
    u, floor = words.spacing_m, -1.0 if words.planar else 0.0
    solid = (draw[:, 0] < 0.7) & (not words.planar)
    cells = np.where(solid[:, None, None], _grid(robots, 3), _grid(robots, 2))
    centre = 0.5 * u + u * (1 + (2 * draw[:, 1:2] ** 3 * (draw[:, 2:3] < 0.3))[..., None]) * cells
    aim = np.where(draw[:, 3, None, None] < 0.5, 0.0, centre - FAR_M)
    aim = np.where((draw[:, 4] < 0.3)[:, None, None] & (np.arange(3) == 2), centre, aim)
    high = 3 * u * (1 + np.ceil(np.sqrt(robots)))
    return centre, aim, Arena((0, 0, floor), (high, high, high))


def _ring(words: Words, draw: np.ndarray, robots: int, _kind: str) -> tuple[np.ndarray, np.ndarray, Arena]:
    """A ring, driven to its centre."""
    u = words.spacing_m
    size = u / (2 * np.sin(np.pi / max(robots, 2)))
    angle = 2 * np.pi * (np.arange(robots)[None] / robots + draw[:, :1])
    middle = np.array([0, 0, 3 * u])
    centre = size * np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1) + middle
    return centre, middle, _room(words, size + u, 6 * u)


def _line(words: Words, draw: np.ndarray, robots: int, kind: str) -> tuple[np.ndarray, np.ndarray, Arena]:
    """A row in a narrow room, upright for a stack that can be, driven to its middle or its end."""
    u = words.spacing_m
    upright = kind == "stack" and not words.planar
    axis = np.arange(3) == (2 if upright else 0)
    centre = np.zeros((len(draw), robots, 3)) + (u * (np.arange(robots) - (robots - 1) / 2))[:, None] * axis
    half, wide = robots * u / 2 + 0.5 * u, u if upright else 0.7 * u if kind == "stack" else 0.45 * u
    side = np.where(axis, half, wide)
    aim = np.where(draw[:, 3, None, None] < 0.5, 0 * centre, centre - FAR_M * axis)
    return centre, aim, Arena(tuple(-side), tuple(side))


def is_free(words: Words, place: Place) -> np.ndarray:
    """[E] bool: all robots start inside the arena, clear of obstacles and of each other."""
    u, centre = words.spacing_m, place.centre
    robots = np.arange(centre.shape[1])
    apart = length(centre[:, None] - centre[:, :, None])
    apart[:, robots, robots] = np.inf
    free = apart.min((1, 2)) > 0.75 * u
    axes = slice(0, 2 if words.planar else 3)
    if place.arena:
        low, high = (np.array(x)[axes] for x in (place.arena.low_m, place.arena.high_m))
        inside = np.minimum(centre[..., axes] - low, high - centre[..., axes])
        free &= inside.min((1, 2)) > words.ahead_m + 0.25 * u
    for thing in place.obstacles:
        off = surface_m(thing, centre, words.planar) - words.clearance_m - 2 * words.ahead_m
        free &= off.min(1) > 0.15 * u
    return free


def _grid(robots: int, axes: int) -> np.ndarray:
    """[N, 3] cells of the smallest square or cube, nearest to its corner first."""
    side = int(np.ceil(robots ** (1 / axes) - 1e-9))
    cells = np.stack(np.meshgrid(*[np.arange(side)] * axes, indexing="ij"), -1).reshape(-1, axes)
    cells = cells[np.argsort((cells**2).sum(-1), kind="stable")][:robots]
    return np.pad(cells, ((0, 0), (0, 3 - axes))).astype(float)


def surface_m(obstacle: Obstacle, points: np.ndarray, planar: bool) -> np.ndarray:
    """[...] signed distance of points [..., 3] from the surface of an obstacle, negative inside [m]."""
    low = np.array(obstacle.from_m)
    high = low if obstacle.to_m is None else np.array(obstacle.to_m)
    axes = 2 if planar else 3
    points, low, high = points[..., :axes], low[:axes], high[:axes]
    if obstacle.kind == "box":
        off = np.abs(points - (low + high) / 2) - (high - low) / 2
        outside = np.sqrt((np.maximum(off, 0) ** 2).sum(-1))
        return outside + np.minimum(off.max(-1), 0) - obstacle.radius_m
    line = high - low
    share = np.clip(((points - low) * line).sum(-1) / max(float((line**2).sum()), 1e-12), 0, 1)
    return np.sqrt(((points - low - share[..., None] * line) ** 2).sum(-1)) - obstacle.radius_m
