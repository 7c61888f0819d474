"""Where robots start, what they are driven at, and what stands there."""

from typing import NamedTuple

import numpy as np

from benchmarks.filter.fallbacks.genes import Genes
from benchmarks.filter.fallbacks.words import Words, unit
from robomarl.safety.filter import Arena
from robomarl.safety.model.bodies import Obstacle

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
    reach = np.abs(centre).max(1, keepdims=True) + u * (0.4 + 2 * draw[:, :1, None] ** 2)
    near = corner[:, None] - sides[:, None] * reach + centre
    centre = np.where(use[:, None], near, place.centre)
    aim = np.where(use[:, None], corner[:, None] + sides[:, None] * FAR_M, centre)
    return Place(_level(words, centre), _level(words, aim), arena)


def obstacle(words: Words, genes: Genes, robots: int) -> Place:
    """Robots beside a box 0.6 m thick, a sphere or a capsule, driven through it."""
    u, draw = words.spacing_m, genes["place"]
    arena = _room(words, 6 * u, 5 * u)
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
    """Robots at rest, one spacing apart, all driven into a corner, along a corridor, onto each other or to a centre."""
    u, draw, episodes = words.spacing_m, genes["place"], len(genes["place"])
    upright = not words.planar
    jitter = (draw[:, None, 5:8] - 0.5) * 0.1 * u
    if kind == "corner":
        solid = upright & (draw[:, 0] < 0.7)
        flat = _grid(robots, 2)
        deep = _grid(robots, 3)
        cells = np.where(solid[:, None, None], deep, flat)
        centre = 0.5 * u + u * (1 + 2 * draw[:, 1:2, None] ** 3 * (draw[:, 2:3, None] < 0.3)) * cells
        arena = Arena((0, 0, 0 if upright else -1), (12 * u, 12 * u, 12 * u if upright else 1))
        aim = np.where(draw[:, 3, None, None] < 0.5, 0.0 * centre, centre - FAR_M)
        aim = np.where((draw[:, 4] < 0.3)[:, None, None] & (np.arange(3) == 2), centre, aim)
    elif kind == "ring":
        size = max(u / (2 * np.sin(np.pi / max(robots, 2))), 0.5 * u)
        angle = 2 * np.pi * (np.arange(robots)[None] / robots + draw[:, :1])
        centre = size * np.stack([np.cos(angle), np.sin(angle), 0 * angle], -1) + [0, 0, 3 * u]
        arena = _room(words, size + u, 6 * u)
        aim = np.broadcast_to(np.array([0, 0, 3 * u]), centre.shape)
    else:
        row = u * (np.arange(robots) - (robots - 1) / 2)
        axis = 2 if kind == "stack" and upright else 0
        wide, half = words.kept_m * (0.3 if kind == "stack" else 1.2), robots * u / 2 + 0.5 * u
        centre = np.zeros((episodes, robots, 3))
        centre[..., axis] += row
        low, high = np.full(3, -wide), np.full(3, wide)
        low[axis], high[axis] = -half, half
        if upright and kind == "stack":
            low[:2], high[:2] = -u, u
        arena = Arena(tuple(low), tuple(high))
        aim = np.where(draw[:, 3, None, None] < 0.5, 0 * centre, centre + FAR_M * (np.arange(3) == axis) * -1.0)
    centre = centre + jitter * (np.arange(robots)[None, :, None] % 3 - 1)
    return Place(_level(words, centre), _level(words, np.broadcast_to(aim, centre.shape)), arena)


def _grid(robots: int, axes: int) -> np.ndarray:
    """[N, 3] cells of the smallest square or cube, nearest to its corner first."""
    side = int(np.ceil(robots ** (1 / axes) - 1e-9))
    cells = np.stack(np.meshgrid(*[np.arange(side)] * axes, indexing="ij"), -1).reshape(-1, axes)
    cells = cells[np.argsort((cells**2).sum(-1), kind="stable")][:robots]
    return np.pad(cells, ((0, 0), (0, 3 - axes))).astype(float)
