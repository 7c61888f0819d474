"""Robot soccer as one robot knows it: its sensor data, and the features for policies. Array-generic.

The view is in the field frame of the robot's own team: the origin is the centre of the field, x
points to the goal that it attacks, and `goal.pos_m` is the middle of that goal.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.features import NeighbourRule, _nearest, feature
from robomarl.core.geometry import components, join, namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView

ROLES = ("attacker", "keeper", "supporter")
"""Roles that a player may have; `LocalView.role` is the index."""


class SoccerSensed(NamedTuple):
    """Picture of a player's camera, pictures reported by its teammates, and its kicker. Zeros where a
    mask is False.

    The row of an opponent that the player does not see itself is from the teammate with the freshest
    picture of this opponent.
    """

    ball_mask: Array
    """[...] bool: the ball is in the latest picture."""
    ball_pos_m: Array
    """[..., 3] its place, team's field frame."""
    ball_vel_m_s: Array
    """[..., 3] its velocity, team's field frame."""
    ball_age_s: Array
    """[...] age of the picture."""
    strangers_mask: Array
    """[..., S] bool: this opponent is in the latest picture, or in a mate's as it says."""
    strangers_pos_m: Array
    """[..., S, 3] its place, team's field frame."""
    strangers_vel_m_s: Array
    """[..., S, 3] its velocity, team's field frame."""
    strangers_age_s: Array
    """[..., S] age of that picture."""
    strangers_seen: Array
    """[..., S] bool: the row is of the robot's own picture."""
    told_mask: Array
    """[..., K] bool: this team-mate's message is fresh, and says that it saw the ball."""
    told_pos_m: Array
    """[..., K, 3] where, team's field frame."""
    told_vel_m_s: Array
    """[..., K, 3] and how fast."""
    told_age_s: Array
    """[..., K] since the picture that it is from."""
    charge_s: Array
    """[...] time until the kicker is charged."""
    mates_mask: Array
    """[..., K] bool: this team-mate is in the robot's own picture."""
    mates_pos_m: Array
    """[..., K, 3] its place there, team's field frame."""
    mates_vel_m_s: Array
    """[..., K, 3] its velocity there, team's field frame."""
    mates_age_s: Array
    """[..., K] age of that picture."""
    seen_by_mask: Array
    """[..., K] bool: this team-mate's message says that it sees the robot."""
    seen_by_pos_m: Array
    """[..., K, 3] where the robot was at the stamp of that message, as the team-mate sees and places it."""


class MatesSeen(NamedTuple):
    """Teammates in a robot's picture, and the robot in theirs."""

    shown: "Picture"
    """[..., K] teammates in the robot's own picture."""
    by_mask: Array
    """[..., K] as `seen_by_mask`."""
    by_pos_m: Array
    """[..., K, 3] as `seen_by_pos_m`."""


class Picture(NamedTuple):
    """Picture of T things by a camera, the ball first and then the opponents."""

    mask: Array
    """[..., T] bool: it is in the picture."""
    pos_m: Array
    """[..., T, 3] its place, team's field frame."""
    vel_m_s: Array
    """[..., T, 3] its velocity, team's field frame."""
    age_s: Array
    """[..., T] age of the picture; 0 where the mask is False."""


def sensed_of(own: Picture, told: Picture, charge_s: Array, mates: MatesSeen) -> SoccerSensed:
    """Return a player's sensor data.

    Args:
        own: its own latest picture.
        told: [..., K, T] its teammates' pictures, as reported; a message that is too old is left out.
        charge_s: [...] time until the kicker is charged.
        mates: pictures of teammates, for the filter.
    """
    mine = _opponents(own)
    opponents = with_told(mine, _opponents(told))
    is_own = mine.mask & (opponents.age_s >= mine.age_s)
    shown, by_mask, by_pos_m = mates
    return SoccerSensed(*_ball(own), *opponents, is_own, *_ball(told), charge_s, *shown, by_mask, by_pos_m)


def known_ball(sensed: SoccerSensed) -> tuple[Array, Array, Array]:
    """The ball as the player sees it, else as the mate with the freshest picture tells it.

    Returns:
        [...] bool, True if it is known; its place and velocity [..., 3], team's field frame.
    """
    xp, here = namespace(sensed.ball_pos_m), sensed.ball_mask[..., None]
    told = freshest(sensed.told_mask, sensed.told_age_s)[..., None]
    place = xp.where(here, sensed.ball_pos_m, (told * sensed.told_pos_m).sum(-2))
    velocity = xp.where(here, sensed.ball_vel_m_s, (told * sensed.told_vel_m_s).sum(-2))
    return sensed.ball_mask | sensed.told_mask.any(-1), place, velocity


def with_told(own: Picture, told: Picture) -> Picture:
    """Return the freshest known row of each thing; among equals the robot's own, then the first teammate's [..., K,
    T].
    """
    known, where = own, namespace(own.age_s).where
    for k in range(told.mask.shape[-2]):
        mask, age = told.mask[..., k, :], told.age_s[..., k, :]
        pos, vel = told.pos_m[..., k, :, :], told.vel_m_s[..., k, :, :]
        fresher = mask & (~known.mask | (age < known.age_s))
        pos, vel = (where(fresher[..., None], *pair) for pair in ((pos, known.pos_m), (vel, known.vel_m_s)))
        known = Picture(known.mask | fresher, pos, vel, where(fresher, age, known.age_s))
    return known


def _ball(picture: Picture) -> Picture:
    return Picture(picture.mask[..., 0], picture.pos_m[..., 0, :], picture.vel_m_s[..., 0, :], picture.age_s[..., 0])


def _opponents(picture: Picture) -> Picture:
    mask, pos, vel, age = picture
    return Picture(mask[..., 1:], pos[..., 1:, :], vel[..., 1:, :], age[..., 1:])


_BALL = tuple(f"sensed.ball_{name}" for name in ("mask", "pos_m", "vel_m_s", "age_s"))
_TOLD = tuple(f"sensed.told_{name}" for name in ("mask", "pos_m", "vel_m_s", "age_s"))
_STRANGERS = tuple(f"sensed.strangers_{name}" for name in ("mask", "pos_m", "vel_m_s", "age_s"))
_MATES = ("own.pos_m", "heard.mask", "heard.pos_m", "heard.vel_m_s", "heard.age_s")
SEEN = ("dx", "dy", "vx", "vy", "ahead", "left", "seen")


def heading(view: LocalView) -> tuple[Array, Array]:
    """Cosine and sine of the robot's heading, from an attitude about z."""
    w, z = view.own.quat_wxyz[..., 0], view.own.quat_wxyz[..., 3]
    return 1 - 2 * z * z, 2 * w * z


@feature(("x", "y", "vx", "vy", "cos", "sin", "turn"), "m, m/s, -, -, rad/s", "field", ("own",))
def own_motion(view: LocalView, rule: NeighbourRule) -> Array:
    """Place of the robot on the field, its motion, and its heading."""
    (x, y, _), (vx, vy, _) = components(view.own.pos_m), components(view.own.vel_m_s)
    return join([x, y, vx, vy, *heading(view), components(view.own.omega_rad_s)[2]])


@feature(("dx", "dy", "ahead", "left"), "m", "field, body", ("own.pos_m", "own.quat_wxyz", "goal.pos_m"))
def goal_ahead(view: LocalView, rule: NeighbourRule) -> Array:
    """Vector from the robot to the middle of the goal that it attacks."""
    dx, dy, _ = components(view.goal.pos_m - view.own.pos_m)
    c, s = heading(view)
    return join([dx, dy, c * dx + s * dy, c * dy - s * dx])


@feature(SEEN, "m, m/s, m, m, -", "field, body", ("own.pos_m", "own.quat_wxyz", *_BALL))
def ball_seen(view: LocalView, rule: NeighbourRule) -> Array:
    """The ball as the robot itself sees it, carried forward over the picture's age; 0 where it does not."""
    sensed: SoccerSensed = view.sensed  # type: ignore[assignment]
    return _as_seen(view, sensed.ball_mask, sensed.ball_pos_m, sensed.ball_vel_m_s, sensed.ball_age_s)


@feature((*SEEN, "age"), "m, m/s, m, m, -, s", "field, body", ("own.pos_m", "own.quat_wxyz", *_TOLD))
def ball_told(view: LocalView, rule: NeighbourRule) -> Array:
    """The ball as reported by the teammate with the freshest picture of the ball; 0 if no teammate reports one."""
    sensed: SoccerSensed = view.sensed  # type: ignore[assignment]
    pick = freshest(sensed.told_mask, sensed.told_age_s)
    place, motion = ((pick[..., None] * p).sum(-2) for p in (sensed.told_pos_m, sensed.told_vel_m_s))
    age = (pick * sensed.told_age_s).sum(-1)
    known = sensed.told_mask.any(-1)
    row = _as_seen(view, known, place, motion, age)
    return namespace(row).concatenate([row, age[..., None]], -1)


@feature(SEEN, "m, m/s, m, m, -", "field, body", ("own.pos_m", "own.quat_wxyz", *_STRANGERS), per_neighbour=True)
def opponents(view: LocalView, rule: NeighbourRule) -> Array:
    """The k nearest opponents that the robot or a mate sees. Rows without one are 0."""
    sensed: SoccerSensed = view.sensed  # type: ignore[assignment]
    place = sensed.strangers_pos_m - view.own.pos_m[..., None, :]
    near = (place * place).sum(-1) <= rule.range_m**2
    known = sensed.strangers_mask & near & (sensed.strangers_age_s <= rule.max_age_s)
    motion, age = sensed.strangers_vel_m_s, sensed.strangers_age_s
    rows = _as_seen(view, known, sensed.strangers_pos_m, motion, age, others=1)
    return pick_nearest(place, known, rows, rule.count)


@feature(("dx", "dy", "vx", "vy", "age", "heard"), "m, m/s, s, -", "field", _MATES, per_neighbour=True)
def mates(view: LocalView, rule: NeighbourRule) -> Array:
    """The k nearest team-mates on the radio, carried forward over the message's age. Rows without one are 0."""
    heard, xp = view.heard, namespace(view.own.pos_m)
    place = heard.pos_m + heard.vel_m_s * heard.age_s[..., None] - view.own.pos_m[..., None, :]
    known = heard.mask & ((place * place).sum(-1) <= rule.range_m**2) & (heard.age_s <= rule.max_age_s)
    parts = (place[..., 0], place[..., 1], heard.vel_m_s[..., 0], heard.vel_m_s[..., 1], heard.age_s)
    rows = xp.stack([*parts, xp.ones_like(heard.age_s)], -1)
    return pick_nearest(place, known, xp.where(known[..., None], rows, 0.0), rule.count)


@feature(("charge",), "s", "-", ("sensed.charge_s",))
def kicker(view: LocalView, rule: NeighbourRule) -> Array:
    """Time until the kicker is charged."""
    return view.sensed.charge_s[..., None]  # type: ignore[attr-defined]


def pick_nearest(place: Array, known: Array, rows: Array, count: int) -> Array:
    """[..., count F]: the rows [..., K, F] of the nearest, in order; zeros where there are no more.

    Sums of products instead of a matrix product: K is 2 or 3, and XLA would call a library for each robot.
    """
    xp = namespace(rows)
    pick = _nearest(xp.where(known, (place * place).sum(-1), xp.inf), count)
    total = xp.zeros((*rows.shape[:-2], count, rows.shape[-1]), rows.dtype)
    for i in range(rows.shape[-2]):
        total = total + pick[..., i, None] * rows[..., None, i, :]
    return total.reshape(*total.shape[:-2], -1)


def freshest(mask: Array, age_s: Array) -> Array:
    """[..., K] one-hot: the youngest of those with a mask, the first of equals; all 0 where there is none."""
    xp = namespace(age_s)
    if mask.shape[-1] == 0:
        return age_s
    age = xp.where(mask, age_s, xp.inf)
    first = xp.argmin(age, -1)[..., None] == np.arange(mask.shape[-1])
    return (first & mask) * xp.ones_like(age_s)


def _as_seen(view: LocalView, mask: Array, place: Array, motion: Array, age: Array, others: int = 0) -> Array:
    """Rows of `SEEN`; `others` axes stand between the robot's and the vector's."""
    xp = namespace(place)
    index = (..., *(None,) * others)
    now = place + motion * age[..., None] - view.own.pos_m[(*index, slice(None))]
    c, s = (part[index] for part in heading(view))
    dx, dy, vx, vy = now[..., 0], now[..., 1], motion[..., 0], motion[..., 1]
    row = xp.stack([dx, dy, vx, vy, c * dx + s * dy, c * dy - s * dx, dx * 0 + 1], -1)
    return xp.where(mask[..., None], row, 0.0)
