"""`labels_of`: the right answers of the network for rendered pictures."""

from typing import NamedTuple

import jax.numpy as jnp

from robomarl.core.types import Array
from robomarl.domains.soccer.lab.sight.renderer import Rendered
from robomarl.domains.soccer.lab.sight.scene import SightScene

SHOWN = 0.35
"""Least share of a thing, and of its robot's width, that counts as seen."""
LEAST_CELLS = 0.08
"""Least part of a cell that a thing must cover to count as seen."""


class Labels(NamedTuple):
    """Truth of E pictures; T things, the ball first and then the other robots."""

    seen: Array
    """[T, E] 1 if the thing shows, 0 if it does not, -1 if too little of it shows to say."""
    azimuth: Array
    """[T, E] [rad] from the body's x axis, seen from the point below the camera."""
    range_m: Array
    """[T, E] distance on the ground [m]."""
    opponent: Array
    """[T, E] 1 for opponents."""
    pose: Array
    """[4, E] the field's centre in the body frame [m], cosine and sine of twice the heading."""


def labels_of(scene: SightScene, rendered: Rendered, camera_x_m: float) -> Labels:
    """Return the labels of E pictures."""
    c, s = scene.heading
    x = jnp.concatenate([scene.ball[0][None], scene.robots[0]]) - scene.place[0]
    y = jnp.concatenate([scene.ball[1][None], scene.robots[1]]) - scene.place[1]
    ahead, left = c * x + s * y, c * y - s * x
    shown = jnp.concatenate([rendered.ball[0][None], rendered.robots[0]])
    whole = jnp.concatenate([rendered.ball[1][None], rendered.robots[1]])
    share = shown / jnp.maximum(whole, 1e-6)
    azimuth = jnp.arctan2(left, ahead)
    clear = (share > SHOWN) & (shown > LEAST_CELLS) & (jnp.abs(azimuth) < 1.1)
    none = shown < LEAST_CELLS / 4
    centre_x = -(c * scene.place[0] + s * scene.place[1]) + camera_x_m
    centre_y = -(c * scene.place[1] - s * scene.place[0])
    return Labels(
        seen=jnp.where(clear, 1.0, jnp.where(none, 0.0, -1.0)),
        azimuth=azimuth,
        range_m=jnp.hypot(ahead, left),
        opponent=jnp.concatenate([0 * scene.opponents[:1], scene.opponents]),
        pose=jnp.stack([centre_x, centre_y, c * c - s * s, 2 * c * s]),
    )
