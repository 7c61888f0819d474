"""`SightScene`, `PictureLook`: what a camera has before it, its light and its mount. Environments on the last axis."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from robomarl.core.camera.camera import CameraRanges, PinholeCamera
from robomarl.domains.soccer.lab.sight.pitch import COLOURS, Pitch

Array = jax.Array
TURN_RAD_S = 8.0
"""Largest yaw rate of the looking robot that training draws; limits of the vehicle: 10 rad/s."""


class SightScene(NamedTuple):
    """Cameras and what is before them, [..., E] each; all frames are the looking team's field frame."""

    place: tuple[Array, Array]
    """[E] place of the camera on the ground [m]."""
    heading: tuple[Array, Array]
    """[E] cosine and sine of the robot's heading."""
    ball: tuple[Array, Array]
    """[E] [m]"""
    robots: tuple[Array, Array]
    """[K, E] places of the other robots [m]."""
    opponents: Array
    """[K, E] 1 for an opponent, 0 for a mate."""
    turn: Array | float = 0.0
    """[E] yaw rate of the looking robot [rad/s], which bends the pictures of a rolling shutter."""


class PictureLook(NamedTuple):
    """Light, colours and camera of one picture, [..., E] each."""

    matrix: Array
    """[3, 3, E] from the direction that a cell should see to the one that it sees, body frame."""
    colours: Array
    """[9, 3, E] of `MATERIALS`."""
    shade: Array
    """[4, E] gradient of the light along x and y [1/m], shading of round things, depth of shadows."""
    shadow: Array
    """[2, E] offset of the shadows [m]."""
    blur: Array
    """[E] share of a cell that goes to each neighbour."""
    noise: Array
    """[E] standard deviation, of 1."""
    seed: Array
    """[E] uint32"""


def draw_look(key: Array, camera: PinholeCamera, num: int) -> PictureLook:
    """Draw how `num` pictures are lit and mounted, within the ranges of the camera's file."""
    ranges, keys = camera.randomize, jax.random.split(key, 8)
    colours = _colours(keys[0], ranges, num)
    shade = jax.random.uniform(keys[1], (4, num), minval=-1.0)
    shade = shade * jnp.array([0.12, 0.12, 0.25, 0.0])[:, None] + jnp.array([0.0, 0.0, 0.15, 0.0])[:, None]
    shade = shade.at[3].set(0.6 * jax.random.uniform(keys[2], (num,)))
    blur = jnp.maximum(_within(keys[4], ranges.blur, (num,)), 1e-3)
    return PictureLook(
        matrix=mount_matrix(keys[3], camera, num),
        colours=colours,
        shade=shade,
        shadow=0.08 * jax.random.uniform(keys[5], (2, num), minval=-1.0),
        blur=jnp.exp(-0.5 / blur**2) / (1 + 2 * jnp.exp(-0.5 / blur**2)),
        noise=_within(keys[6], ranges.noise, (num,)),
        seed=jax.random.bits(keys[7], (num,), jnp.uint32),
    )


def plain_look(num: int) -> PictureLook:
    """Return the nominal look: true mount, nominal colours, no noise."""
    zero = jnp.zeros(num)
    return PictureLook(
        matrix=jnp.broadcast_to(jnp.eye(3)[:, :, None], (3, 3, num)),
        colours=jnp.broadcast_to(jnp.array(COLOURS)[:, :, None], (len(COLOURS), 3, num)),
        shade=jnp.zeros((4, num)),
        shadow=jnp.zeros((2, num)),
        blur=zero,
        noise=zero,
        seed=jnp.arange(num, dtype=jnp.uint32),
    )


def _colours(key: Array, ranges: CameraRanges, num: int) -> Array:
    """[9, 3, E] each material about its nominal colour, then light and white balance on all."""
    keys = jax.random.split(key, 5)
    nominal = jnp.array(COLOURS)[:, :, None]
    own = 1 + 0.25 * jax.random.uniform(keys[0], (len(COLOURS), 1, num), minval=-1.0)
    hue = 0.07 * jax.random.uniform(keys[1], (len(COLOURS), 3, num), minval=-1.0)
    grey = jax.random.uniform(keys[4], (1, num)).at[:].set(0) + jax.random.uniform(keys[4], (1, num))
    mixed = (nominal * own + hue).at[2].set(grey * 0.75 + 0.2 + hue[2] * 0.5)
    light, balance = _within(keys[2], ranges.light, (num,)), _within(keys[3], ranges.colour, (3, num))
    return jnp.clip(mixed, 0.02, 1.2) * light * balance


def mount_matrix(key: Array, camera: PinholeCamera, num: int) -> Array:
    """[3, 3, E] small rotation about each axis by an error of the mount, and the lens's error of magnification."""
    turn_key, lens_key = jax.random.split(key)
    x, y, z = _within(turn_key, camera.randomize.mount_error_rad, (3, num))
    lens = 1 / _within(lens_key, camera.randomize.lens, (num,))
    axes = jnp.asarray(camera.axes)
    scale = jnp.stack([lens, lens, jnp.ones(num)])
    bent = jnp.einsum("ki,ke,kj->ije", axes, scale, axes)
    one = jnp.ones(num)
    rows = ((one, -z, y), (z, one, -x), (-y, x, one))
    return jnp.einsum("ije,jke->ike", jnp.stack([jnp.stack(row) for row in rows]), bent)


def draw_scene(key: Array, pitch: Pitch, camera_x_m: float, opponents: tuple[int, ...], num: int) -> SightScene:
    """Draw robots, ball and turn: anywhere, and in three of four pictures the ball somewhere before the camera."""
    keys = jax.random.split(key, 6)
    reach = pitch.robot_m
    half = jnp.array([pitch.length_m / 2 - reach, pitch.width_m / 2 - reach])[:, None]
    x, y = half * jax.random.uniform(keys[0], (2, num), minval=-1.0)
    angle = jax.random.uniform(keys[1], (num,), minval=-math.pi, maxval=math.pi)
    c, s = jnp.cos(angle), jnp.sin(angle)
    count, before = len(opponents), jax.random.uniform(keys[2], (3, len(opponents) + 1, num))
    anywhere = half[:, :, None] * jax.random.uniform(keys[3], (2, count + 1, num), minval=-1.0)
    near = jnp.array([0.035, *(0.15,) * count])[:, None]
    far = jnp.exp(jnp.log(near) + before[0] * jnp.log(4.5 / near))
    bearing = angle + 1.25 * (2 * before[1] - 1)
    ahead = jnp.stack([x + camera_x_m * c + far * jnp.cos(bearing), y + camera_x_m * s + far * jnp.sin(bearing)])
    inside = (jnp.abs(ahead) < half[:, :, None]).all(0)
    shares = jnp.array([0.8, *(0.5,) * count])[:, None]
    places = jnp.where((before[2] < shares) & inside, ahead, anywhere)
    robots = _apart_from(places[:, 1:], jnp.stack([x, y])[:, None], 2 * pitch.robot_m)
    return SightScene(
        place=(x + camera_x_m * c, y + camera_x_m * s),
        heading=(c, s),
        ball=(places[0, 0], places[1, 0]),
        robots=(robots[0], robots[1]),
        opponents=jnp.broadcast_to(jnp.array(opponents, jnp.float32)[:, None], (count, num)),
        turn=jax.random.uniform(jax.random.fold_in(key, 6), (num,), minval=-TURN_RAD_S, maxval=TURN_RAD_S),
    )


def _apart_from(places: Array, own: Array, least: float) -> Array:
    """[2, K, E] moved away from the own robot, so that they are at least this far."""
    away = places - own
    far = jnp.sqrt((away**2).sum(0)) + 1e-6
    return own + away * jnp.maximum(1.0, least / far)


def _within(key: Array, interval: tuple[float, float], shape: tuple[int, ...]) -> Array:
    return jax.random.uniform(key, shape, minval=interval[0], maxval=interval[1])
