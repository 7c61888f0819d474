"""Rules of a match as one pure function of what a referee sees in one decision. Array-generic; `...` is the batch.

Published (VolleyBots, `competitive/utils/rules.py`, `volleyball_1v1.py`, `volleyball_3v3.py`, 680493a). Sides: 0 is the
first team, on the half with x > 0. There a drone that falls, or comes too near to a mate, ends the rally without a
winner; here its team loses, because a team could else escape from a lost rally.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array

FAULTS = ("wrong_turn", "body", "crossing", "landed", "out", "net", "fallen", "too_close")
"""A hit out of turn; a hit with something else than the racket; a drone beyond the net's plane; the ball on the ground
of the own half; the ball on the ground outside, or in the net, after a hit of this side; a drone near the ground; two
mates too close to each other."""
SIDES = 2
LANDED_M, FALLEN_M, CLOSE_M = 0.2, 0.3, 0.8
"""Height [m] of the ball's middle below which it has landed, height [m] of a drone below which it has fallen, and
distance [m] below which mates are too close."""
NET_RADII = 3.0
"""Half of the net's thickness over the ball's radius, so that no ball passes it between two decisions."""


class MatchCourt(NamedTuple):
    """Fixed numbers of a match."""

    length_m: float
    width_m: float
    net_m: float
    ball_m: float
    """Radius of the ball."""
    out_at_once: bool
    """The ball is out as soon as it leaves the court, and not when it lands."""


class Situation(NamedTuple):
    """A referee's sightings in one decision; N robots on each side."""

    racket: Array
    """[..., 2, N] bool: a hit with this robot's racket begins."""
    body: Array
    """[..., 2, N] bool: a hit with another part of the robot begins."""
    may_not: Array
    """[..., 2, N] bool: the robot may not hit: it has, or the ball is on the other side."""
    last_side: Array
    """[...] int: side of the last hit that counted, this decision's included."""
    ball_m: Array
    """[..., 3] middle of the ball."""
    drones_m: Array
    """[..., 2, N, 3]"""


def faults(court: MatchCourt, now: Situation) -> Array:
    """[..., 2, 8] bool: faults of each side, in the order of `FAULTS`."""
    xp = namespace(now.ball_m)
    x, y, z = now.ball_m[..., 0], now.ball_m[..., 1], now.ball_m[..., 2]
    hers = now.last_side[..., None] == xp.asarray(np.arange(SIDES))
    outside = (xp.abs(x) > court.length_m / 2) | (xp.abs(y) > court.width_m / 2)
    landed = z < LANDED_M
    out = outside if court.out_at_once else outside & landed
    net = (xp.abs(x) < NET_RADII * court.ball_m) & (xp.abs(y) < court.width_m / 2) & (z < court.net_m)
    halves = xp.stack([x > 0, x < 0], -1)
    each = (
        (now.racket & now.may_not).any(-1),
        (now.body & ~now.racket).any(-1),
        crossing(now.drones_m),
        (landed & ~outside)[..., None] & halves,
        out[..., None] & hers,
        net[..., None] & hers,
        (now.drones_m[..., 2] < FALLEN_M).any(-1),
        too_close(now.drones_m),
    )
    return xp.stack(each, -1)


def crossing(drones_m: Array) -> Array:
    """[..., 2] bool: a drone of [..., 2, N, 3] is beyond the net's plane."""
    xp = namespace(drones_m)
    return xp.stack([(drones_m[..., 0, :, 0] < 0).any(-1), (drones_m[..., 1, :, 0] > 0).any(-1)], -1)


def too_close(drones_m: Array) -> Array:
    """[..., 2] bool: two mates of [..., 2, N, 3] are nearer to each other than `CLOSE_M`."""
    count = drones_m.shape[-2]
    away = norm(drones_m[..., :, None, :] - drones_m[..., None, :, :]) + 2 * CLOSE_M * np.eye(count, dtype=np.float32)
    return (away < CLOSE_M).any((-1, -2))


def points(found: Array) -> Array:
    """[...] points of side 0 for faults [..., 2, F]: 1 if only side 1 has any, 0 if only side 0 has, else 0.5."""
    has = found.any(-1)
    return 0.5 + 0.5 * (has[..., 1].astype("float32") - has[..., 0].astype("float32"))
