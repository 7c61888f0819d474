"""`make_renderer`: pictures of the ground strip by casting one ray a cell, in closed form, environments last.

Every edge is soft: a cell takes the share of a thing that is within it, so that a ball of a third of a cell still
shows, and a strip that is averaged from a camera's many pixels looks alike. Slopes are depths over distances on the
ground; a vertical thing at distance D from the camera at height h ends at the slopes h / D and (h - H) / D.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import GroundStrip
from robomarl.domains.soccer.core.sight.rolling import lags_s
from robomarl.domains.soccer.lab.sight.pitch import MATERIALS, Pitch
from robomarl.domains.soccer.lab.sight.scene import Array, PictureLook, SightScene

CARPET, LINE, BOARD, GOAL, BODY, MATE, OPPONENT, BALL, BEYOND = range(len(MATERIALS))
COLUMNS = 96
"""Columns of the strip in whose cells blur and visible parts are counted: a finer strip has the same blur in angle."""
GAUSS = 0.5773
"""Places of the two chords that stand for a part of a disc, in halves of it."""


class Rendered(NamedTuple):
    """Pictures, and how much of each thing is in them."""

    strip: Array
    """[R, C, 3, E] uint8"""
    ball: Array
    """[2, E] cells that the ball covers, and those that it would cover with no robot before it."""
    robots: Array
    """[2, K, E] bearing and range of the other robots."""


class Rays(NamedTuple):
    """Rays of one row of cells, [C, E] each."""

    ux: Array
    """Direction on the ground."""
    uy: Array
    slope: Array
    """Depth over distance; negative above the horizon."""
    tall: Array
    """Height of the cell as a slope."""
    per_tall: Array
    """1 / `tall`: the processor multiplies several times while it divides once."""
    wide: float | Array
    """Width of the cell [rad]."""


def make_renderer(
    pitch: Pitch, camera: PinholeCamera, strip: GroundStrip
) -> Callable[[SightScene, PictureLook], Rendered]:
    """Return the function that draws E scenes."""
    row, column = np.meshgrid(np.arange(strip.rows) + 0.5, np.arange(strip.columns) + 0.5, indexing="ij")
    straight = strip.directions(row.astype(float), column.astype(float), camera.place_m[2])
    edges = strip.directions(np.arange(strip.rows + 1.0), np.full(strip.rows + 1, strip.columns / 2), camera.place_m[2])
    slopes = -edges[:, 2] / np.hypot(edges[:, 0], edges[:, 1])
    height, wide, finer = camera.place_m[2], strip.azimuth_rad / strip.columns, strip.columns / COLUMNS
    lags = jnp.asarray(lags_s(camera, straight), jnp.float32) if camera.readout_s > 0 else None
    rows = jnp.asarray(straight, jnp.float32), jnp.asarray(np.diff(slopes), jnp.float32), lags

    def render(scene: SightScene, look: PictureLook) -> Rendered:
        scene, order = _farthest_first(scene)

        def one_row(row: tuple[Array, Array, Array | None]) -> tuple[list[Array], Array, Array]:
            straight, tall, lag = row
            rays = _settled(_bent(_rays(straight, tall, wide, scene, look), lag, scene))
            surroundings = _settled(_surroundings(pitch, height, rays, scene, look))
            return _things(pitch, height, rays, scene, look, surroundings)

        drawn, ball, robots = jax.lax.map(one_row, rows)
        passes = round(finer * finer)
        pictures = jax.lax.map(lambda row: _film(row[0], look, row[1], passes), (drawn, jnp.arange(strip.rows)))
        counts = jnp.take_along_axis(robots.sum(0), jnp.argsort(order, 0)[None], 1)
        return Rendered(_film_rows(pictures, look), ball.sum(0) / finer, counts / finer)

    return render


def _rays(straight: Array, tall: Array, wide: float, scene: SightScene, look: PictureLook) -> Rays:
    c, s = scene.heading
    m = look.matrix
    world = jnp.stack([c * m[0] - s * m[1], s * m[0] + c * m[1], m[2]])
    dx, dy, dz = (sum(straight[..., j, None] * world[i, j] for j in range(3)) for i in range(3))
    inverse = jax.lax.rsqrt(dx * dx + dy * dy + 1e-9)
    return Rays(dx * inverse, dy * inverse, -dz * inverse, tall, 1 / tall, wide)


def _bent(rays: Rays, lag: Array | None, scene: SightScene) -> Rays:
    """Return the rays of a rolling shutter, each turned by how far the robot has turned when it is read."""
    if lag is None:
        return rays
    angle = lag[:, None] * scene.turn
    c, s = jnp.cos(angle), jnp.sin(angle)
    return rays._replace(ux=c * rays.ux - s * rays.uy, uy=s * rays.ux + c * rays.uy)


_settled = jax.lax.optimization_barrier
"""Keeps XLA from computing a value again for each of its users: without it a picture takes ten times as long."""


def _share(low: Array, high: Array, width: Array, per_width: Array) -> Array:
    """Return the share of (-1/2, 1/2) * width that is between low and high; `per_width` is 1 / width."""
    half = 0.5 * width
    return jnp.maximum(jnp.minimum(high, half) - jnp.maximum(low, -half), 0.0) * per_width


def _edge(inside: Array, per_width: Array) -> Array:
    """Return the share of a cell of width 1 / `per_width` whose middle is that far inside an edge."""
    return jnp.clip(inside * per_width + 0.5, 0.0, 1.0)


def _length(x: Array, y: Array) -> Array:
    """Return the length of vectors that no overflow threatens, which is why it is not `hypot`."""
    return jnp.sqrt(x * x + y * y)


def _mix(share: Array, colour: Array, under: list[Array]) -> list[Array]:
    """Return three channels with a colour [3, E] over them."""
    return [below + share * (colour[k] - below) for k, below in enumerate(under)]


def _surroundings(pitch: Pitch, height: float, rays: Rays, scene: SightScene, look: PictureLook) -> list[Array]:
    """Carpet with lines and shadows, boards with goals, and what is beyond: three channels [C, E]."""
    px, py = scene.place
    ux, uy = rays.ux, rays.uy
    to_end = (pitch.length_m / 2 - jnp.sign(ux) * px) / (jnp.abs(ux) + 1e-6)
    to_side = (pitch.width_m / 2 - jnp.sign(uy) * py) / (jnp.abs(uy) + 1e-6)
    far = jnp.maximum(jnp.minimum(to_end, to_side), 0.02)
    per_slope, per_far = 1 / jnp.maximum(rays.slope, 1e-3), 1 / far
    reach = jnp.minimum(height * per_slope, far)
    picture = _carpet(pitch, rays, scene, look, reach, per_slope)
    hit_x, hit_y = px + far * ux, py + far * uy
    mouth = (to_end < to_side) * _edge(pitch.goal_width_m / 2 - jnp.abs(hit_y), 1 / (far * rays.wide + 0.01))
    side = jnp.where(to_end < to_side, jnp.sign(ux) * look.shade[0], jnp.sign(uy) * look.shade[1])
    wall = _mix(mouth, look.colours[GOAL], [look.colours[BOARD, k] * (1 + 2.5 * side) for k in range(3)])
    ground = _edge(rays.slope - height * per_far, rays.per_tall)
    below_top = _edge(rays.slope - (height - pitch.board_m) * per_far, rays.per_tall)
    crowd = _crowd(hit_x, hit_y, rays, look)
    behind = [b + below_top * (w - b) for w, b in zip(wall, crowd, strict=True)]
    return [b + ground * (g - b) for g, b in zip(picture, behind, strict=True)]


def _carpet(
    pitch: Pitch, rays: Rays, scene: SightScene, look: PictureLook, reach: Array, per_slope: Array
) -> list[Array]:
    """Return the ground at the distances `reach`; `per_slope` is 1 / slope."""
    x, y = scene.place[0] + reach * rays.ux, scene.place[1] + reach * rays.uy
    deep = reach * rays.tall * per_slope
    across = reach * rays.wide
    ax, ay = jnp.abs(rays.ux), jnp.abs(rays.uy)
    wx, wy = jnp.minimum(ax * deep + ay * across, 2.0), jnp.minimum(ay * deep + ax * across, 2.0)
    per_x, per_y = 1 / wx, 1 / wy
    half = pitch.line_m / 2
    depth, width = pitch.area_m
    middle = _share(-half - x, half - x, wx, per_x)
    fx, fy = pitch.length_m / 2 - jnp.abs(x), jnp.abs(y)
    front = _share(depth - half - fx, depth + half - fx, wx, per_x) * _edge(width / 2 - fy, per_y)
    sides = _share(width / 2 - half - fy, width / 2 + half - fy, wy, per_y) * _edge(depth - fx, per_x)
    from_middle, mean = _length(x, y), (wx + wy) / 2
    circle = _share(pitch.circle_m - half - from_middle, pitch.circle_m + half - from_middle, mean, 1 / mean)
    lines = jnp.clip(middle + front + sides + circle, 0.0, 1.0)
    light = 1 + look.shade[0] * x + look.shade[1] * y
    soft = 1 / (across + 0.06)
    for k in range(scene.opponents.shape[0]):
        away = _length(x - scene.robots[0][k] - look.shadow[0], y - scene.robots[1][k] - look.shadow[1])
        light = light * (1 - look.shade[3] * _edge(pitch.robot_m - away, soft))
    away = _length(x - scene.ball[0] - 0.15 * look.shadow[0], y - scene.ball[1] - 0.15 * look.shadow[1])
    under_ball = _edge(pitch.ball_m - away, 1 / (across + 0.01)) * jnp.minimum(pitch.ball_m * per_x, 1)
    light = light * (1 - look.shade[3] * under_ball)
    return [light * c for c in _mix(lines, look.colours[LINE], [look.colours[CARPET, k] + 0 * x for k in range(3)])]


def _crowd(x: Array, y: Array, rays: Rays, look: PictureLook) -> list[Array]:
    """Return blocks of random colours beyond the boards: people, doors, windows.

    Their widths along x and y are drawn for each picture: from widths that were equal in all pictures the network read
    the pose, and it was lost where MuJoCo rendered.
    """
    draw = _hashed(look.seed)
    across, along, tall = (1.0 + ((draw >> shift) & 255).astype(jnp.float32) / 18.0 for shift in (0, 8, 16))
    block = jnp.floor(across * x) + 61.0 * jnp.floor(along * y) + 1009.0 * jnp.floor(-2.0 * tall * rays.slope)
    bits = _hashed(block.astype(jnp.int32).astype(jnp.uint32) + look.seed)
    parts = [((bits >> shift) & 255).astype(jnp.float32) / 255.0 - 0.5 for shift in (0, 8, 16)]
    contrast = ((draw >> 24) & 255).astype(jnp.float32) / 255.0
    return [jnp.clip(look.colours[BEYOND, k] + contrast * part, 0.0, 1.2) for k, part in enumerate(parts)]


def _farthest_first(scene: SightScene) -> tuple[SightScene, Array]:
    """Return the scene with its robots by falling distance, and where each was before."""
    bx, by = scene.robots[0] - scene.place[0], scene.robots[1] - scene.place[1]
    order = jnp.argsort(-(bx * bx + by * by), 0)
    x, y, kind = (jnp.take_along_axis(part, order, 0) for part in (*scene.robots, scene.opponents))
    return scene._replace(robots=(x, y), opponents=kind), order


class _Robot(NamedTuple):
    """One robot in the picture, [C, E] each."""

    cover: Array
    colour: list[Array]


def _things(
    pitch: Pitch, height: float, rays: Rays, scene: SightScene, look: PictureLook, under: list[Array]
) -> tuple[list[Array], Array, Array]:
    """Put robots, which come farthest first, and the ball over the surroundings."""
    bx, by = scene.robots[0] - scene.place[0], scene.robots[1] - scene.place[1]
    kind, square = scene.opponents, bx * bx + by * by
    ball_x, ball_y = scene.ball[0] - scene.place[0], scene.ball[1] - scene.place[1]
    ball_square = ball_x * ball_x + ball_y * ball_y
    ball = _settled(_ball_cover(pitch, height, rays, ball_x, ball_y))
    robots = [_settled(_robot(pitch, height, rays, look, (bx[k], by[k], kind[k]))) for k in range(len(bx))]
    free = 1.0 + 0 * ball
    seen, whole = [], []
    for k in range(len(robots)):
        before = 1.0 + 0 * ball
        for other in robots[k + 1 :]:
            before = before * (1 - other.cover)
        whole.append(_settled(robots[k].cover.sum(0)))
        seen.append(_settled((robots[k].cover * before).sum(0)))
        free = free * (1 - robots[k].cover * (square[k] < ball_square))
        under = _settled([b + robots[k].cover * (c - b) for c, b in zip(robots[k].colour, under, strict=True)])
    lit = 1 + look.shade[2] * 0.7
    shown = _settled(ball * free)
    picture = _mix(shown, look.colours[BALL] * lit, under)
    counts = jnp.stack([jnp.stack(seen), jnp.stack(whole)])
    return picture, jnp.stack([shown.sum(0), ball.sum(0)]), counts


def _robot(pitch: Pitch, height: float, rays: Rays, look: PictureLook, robot: tuple[Array, Array, Array]) -> _Robot:
    """One robot, (x, y, kind) as seen from the camera's place."""
    bx, by, kind = robot
    ahead, aside = rays.ux * bx + rays.uy * by, rays.ux * by - rays.uy * bx
    radius, tall = pitch.robot_m, pitch.robot_height_m
    per_near = 1 / jnp.maximum(ahead - jnp.sqrt(jnp.maximum(radius**2 - aside * aside, 0.0)), 0.02)
    lateral = _edge(radius - jnp.abs(aside), 1 / (jnp.maximum(ahead, 0.02) * rays.wide)) * (ahead > 0)
    cover = lateral * _edge(height * per_near - rays.slope, rays.per_tall)
    cover = cover * _edge(rays.slope - (height - tall) * per_near, rays.per_tall)
    band = _edge((height - tall + pitch.band_m) * per_near - rays.slope, rays.per_tall)
    shade = 1 + look.shade[2] * aside * (1 / radius)
    top = look.colours[MATE] + kind * (look.colours[OPPONENT] - look.colours[MATE])
    return _Robot(cover, [shade * (look.colours[BODY, k] + band * (top[k] - look.colours[BODY, k])) for k in range(3)])


def _ball_cover(pitch: Pitch, height: float, rays: Rays, bx: Array, by: Array) -> Array:
    """Share of each cell that the ball covers, by two chords of the part of its disc that is within the cell."""
    radius = pitch.ball_m
    ahead = jnp.maximum(rays.ux * bx + rays.uy * by, 0.01)
    aside = rays.ux * by - rays.uy * bx
    flat = jax.lax.rsqrt(1 + rays.slope * rays.slope)
    up = (height - rays.slope * ahead - radius) * flat
    tall = ahead * rays.tall * flat
    across = jnp.sqrt(ahead * ahead + (height - radius) ** 2) * rays.wide * flat
    per_across = 1 / across
    low, high = jnp.maximum(up - tall / 2, -radius), jnp.minimum(up + tall / 2, radius)
    part = jnp.maximum(high - low, 0.0)
    total = 0.0 * up
    for sign in (-GAUSS, GAUSS):
        at = (low + high) / 2 + sign * part / 2
        chord = jnp.sqrt(jnp.maximum(radius**2 - at * at, 0.0))
        total = total + _share(aside - chord, aside + chord, across, per_across) / 2
    return total * part / tall


def _film(picture: list[Array], look: PictureLook, row: Array, passes: int) -> Array:
    """Blur along a row of cells, as many times, and noise: [C, 3, E]."""
    cells = jnp.arange(picture[0].shape[0], dtype=jnp.uint32)[:, None] + 4096 * row.astype(jnp.uint32)
    bits = _hashed(cells * jnp.uint32(2654435761) + look.seed)
    scale = look.noise * math.sqrt(12.0) / 1023.0
    noise = [scale * (((bits >> (10 * k)) & 1023).astype(jnp.float32) - 511.5) for k in range(3)]
    # Slices of one padded array compile to long loops; channels with edges of their own take four times as long.
    film = _settled(_padded(jnp.stack(picture, 1), passes))
    for _ in range(passes):
        film = _settled(_blurred(film, look.blur))
    return film + jnp.stack(noise, 1)


def _film_rows(pictures: Array, look: PictureLook) -> Array:
    """Blur across the rows of [R, C, 3, E], and the eight bits of a camera."""
    return jnp.clip(255.0 * _blurred(_padded(pictures, 1), look.blur) + 0.5, 0.0, 255.0).astype(jnp.uint8)


def _padded(cells: Array, width: int) -> Array:
    """Return cells with so many more at both ends of the first axis, mirrored: each pass of a blur uses up one."""
    return jnp.pad(cells, ((width, width), *((0, 0),) * (cells.ndim - 1)), "symmetric")


def _blurred(padded: Array, share: Array) -> Array:
    """Return all but the outermost cells of the first axis, each of which gives a share to both its neighbours."""
    return padded[1:-1] + share * (padded[:-2] + padded[2:] - 2 * padded[1:-1])


def _hashed(value: Array) -> Array:
    """Return well-mixed bits of 32-bit words: the finalizer `lowbias32` of Chris Wellons (2018)."""
    value = (value ^ (value >> 16)) * jnp.uint32(0x7FEB352D)
    value = (value ^ (value >> 15)) * jnp.uint32(0x846CA68B)
    return value ^ (value >> 16)
