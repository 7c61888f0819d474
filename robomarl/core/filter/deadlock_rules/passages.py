"""Narrow places on a robot's straight way to its goal: their positions, and the right of way. Array-generic.

A place is narrow if there is room for one robot between obstacles and not for two beside each
other. All robots know the obstacles, and receive each other's messages; that is enough to agree
without negotiation. A robot that is clearly nearer to the middle goes first; of two that are about
as near, the one that goes towards `EAST`. The second robot waits to the right of its mouth, backing
out if it has to. A robot that has waited long for a mate that does not come, goes.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.filter.model.body_kinds import POINT, Shape
from robomarl.core.filter.model.separation import apart
from robomarl.core.filter.params import SafetyParams
from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.core.view import LocalView

EAST = np.array([0.851, 0.526])
"""Unit vector of the direction with right of way; along no wall that people build."""
STEP_M = 0.125
"""Distance [m] between sampled points of the way."""
BEFORE, AHEAD = 12, 20
"""Number of sampled points behind the robot and in front."""
ROOM_M = 0.15
"""Lateral room [m] beyond their separation that two robots that pass each other need; one robot needs half as much."""
NEARER_M = 0.3
"""Distance [m] by which a robot must be nearer to the middle than a mate to go first."""
REMEMBER_S = 8.0
"""Time [s] for which a narrow place that is no longer on the straight way is remembered."""
PATIENCE_S, BOLD_S = 5.0, 4.0
"""Waiting time [s] after which a robot proceeds despite oncoming mates, and the time [s] for which it does."""
MOUTH_M = 0.175
"""Distance [m] before the mouth within which a robot that has to wait backs out along its line before it steps aside.
It is at most the waiting distance less `SHORT_M`, for robots that may be close to each other."""
WAIT_M = 0.1
"""Distance [m] before the mouth, beyond the separation, at which a robot waits."""
SHORT_M = 0.05
IN_M = 0.1
"""Distance [m] inside the passage of the point at which a robot beside the line returns to it."""
REACH_M = 1.6
"""Distance [m] beyond the passage from which on a mate is not about to come through."""
SIDE_M = 0.9
"""Lateral distance [m] from the line beyond which a mate is not about to come through."""
ALONG_M_S = 0.15
"""Speed [m/s] along the axis from which on a mate goes in the robot's own direction."""
ASIDE_M = 0.15
"""Lateral distance [m] from the line beyond which a robot does not get in."""
SHOULDER_M = 0.5
"""Distance [m] ahead within which there must be room to the right for a robot to step there."""
NOWHERE_M = 1e3
GAIN_PER_S = 4.0
"""Acceleration per velocity that is missing."""


class Passage(NamedTuple):
    """A narrow place as one robot knows it, and how long it has waited there."""

    entry_m: Array
    """[..., 2] where it begins for this robot."""
    axis: Array
    """[..., 2] unit vector through it."""
    length_m: Array
    """[...]"""
    known_s: Array
    """[...] for how much longer it is remembered; 0: there is none."""
    waited_s: Array
    """[...] how long the robot has waited; beyond the patience, how long it has been bold as well."""


class Placed(NamedTuple):
    """Position relative to a passage."""

    along_m: Array
    """Distance [m] from the entry, along the axis."""
    right_m: Array
    """Distance [m] from its line, to the right."""

    def from_middle_m(self, length_m: Array) -> Array:
        """Distance from the middle of the passage."""
        xp = namespace(self.along_m)
        return xp.sqrt((self.along_m - length_m / 2) ** 2 + self.right_m**2)


def no_passage(zero: Array) -> Passage:
    """The memory before the first decision; `zero` is [...]."""
    xp = namespace(zero)
    nowhere = xp.stack([zero, zero], -1)
    return Passage(nowhere, nowhere, zero, zero, zero)


def right_of(axis: Array) -> Array:
    """[..., 2] the unit vector to the right of another."""
    return namespace(axis).stack([axis[..., 1], -axis[..., 0]], -1)


def placed(passage: Passage, pos_m: Array) -> Placed:
    """Return a position [..., 2] relative to a passage."""
    offset = pos_m - passage.entry_m
    return Placed((offset * passage.axis).sum(-1), (offset * right_of(passage.axis)).sum(-1))


def gap_m(params: SafetyParams, pos_m: Array) -> Array:
    """[...] distance from positions [..., 3] to the nearest surface of an obstacle."""
    xp = namespace(pos_m)
    gap = pos_m[..., 0] * 0 + 1e3
    for o in params.obstacles:
        beyond = None if o.to_m is None else tuple(b - a for a, b in zip(o.from_m, o.to_m, strict=True))
        shape = POINT if beyond is None else Shape(box=beyond) if o.kind == "box" else Shape(line=beyond)
        offset = tuple(pos_m[..., i] - o.from_m[i] for i in range(3))
        gap = xp.minimum(gap, norm(xp.stack(apart(offset, None, shape, xp), -1)) - o.radius_m)
    return gap


class Lookout(NamedTuple):
    """Findings of a robot along its straight way."""

    passage: Passage
    blocked: Array
    """[...] bool: an obstacle is in the way."""
    right_is_free: Array
    """[...] bool: there is room to the right, here and for the next half metre."""


class Samples(NamedTuple):
    """Points of the straight way to the goal, [..., S] each."""

    s_m: Array
    """[S] along the way; negative behind the robot."""
    ahead: Array
    """bool: between the robot and its goal."""
    free: Array
    """bool: a robot can be there."""
    right: Array
    """bool: there is also room for a second robot to the right."""
    left: Array
    """bool: or to the left."""


def look(params: SafetyParams, before: Passage, view: LocalView) -> Lookout:
    """Look along the way to the goal, and remember the narrow place found."""
    own = view.own.pos_m
    xp = namespace(own)
    way = view.goal.pos_m[..., :2] - own[..., :2]
    far = norm(way) + 1e-6
    axis = way / far[..., None]
    seen = sample(params, own, axis, far)
    passage = update(params, before, own[..., :2], find(seen, own[..., :2], axis))
    shoulder = (seen.s_m >= 0) & (seen.s_m <= SHOULDER_M)
    return Lookout(passage, (~seen.free & seen.ahead).any(-1), (xp.where(shoulder, seen.right, True)).all(-1))


def sample(params: SafetyParams, own_m: Array, axis: Array, far_m: Array) -> Samples:
    """Return the room along the way from `own_m` [..., 3] in the direction `axis` [..., 2]."""
    xp = namespace(own_m)
    s = np.arange(-BEFORE, AHEAD + 1) * STEP_M
    keep_m = params.safety.clearance_m or 0.0
    lane_m = (params.safety.separation_m + ROOM_M) / 2 + params.look_ahead_m
    flat = axis[..., :1] * 0
    along = xp.concatenate([axis, flat], -1)[..., None, :] * s[:, None]
    across = xp.concatenate([right_of(axis) * lane_m, flat], -1)[..., None, :]
    middle, right, left = (gap_m(params, own_m[..., None, :] + along + side * across) for side in (0, 1, -1))
    room = keep_m + ROOM_M / 2
    return Samples(s, (s >= 0) & (s < far_m[..., None]), middle > keep_m, right >= room, left >= room)


def find(seen: Samples, own_m: Array, axis: Array) -> tuple[Array, Passage]:
    """[...] bool: whether there is a narrow place ahead that nothing stands before; and that place."""
    xp, s = namespace(own_m), seen.s_m
    narrow = seen.free & ~seen.right & ~seen.left
    first = xp.where(narrow & seen.ahead, s, NOWHERE_M).min(-1)
    entry = xp.where(~narrow & (s <= first[..., None]), s, s[0]).max(-1)
    leave = xp.where(~narrow & (s >= first[..., None]), s, s[-1]).min(-1)
    # In front of a pillar there is no room either, but the way does not lead through it.
    shut = ~seen.free & (s > entry[..., None] - STEP_M / 2) & (s < leave[..., None] + STEP_M / 2)
    before = ~seen.free & seen.ahead & (s < first[..., None]) | shut
    place = Passage(own_m + axis * entry[..., None], axis, leave - entry, entry * 0 + REMEMBER_S, entry * 0)
    return (first < NOWHERE_M) & ~before.any(-1), place


def update(params: SafetyParams, before: Passage, own_m: Array, now: tuple[Array, Passage]) -> Passage:
    """Return the narrow place to remember: the one ahead, else the last one until it is passed or long ago.

    A robot that waits keeps the line that it waits for, because from beside the mouth the line looks
    askew.
    """
    xp = namespace(own_m)
    found = now[0] & ~((before.known_s > 0) & (before.waited_s > 0))
    past = placed(before, own_m).along_m > before.length_m
    left_s = xp.where(past, 0.0, xp.maximum(before.known_s - params.period_s, 0.0))
    pairs = zip(now[1]._replace(waited_s=before.waited_s), before._replace(known_s=left_s), strict=True)
    return Passage(*(xp.where(found[..., None] if a.ndim > found.ndim else found, a, b) for a, b in pairs))


def must_wait(passage: Passage, view: LocalView) -> Array:
    """Return [...] bool: a mate in or behind the passage goes first, and does not go in the robot's direction."""
    own, heard = view.own, view.heard
    here = placed(passage, own.pos_m[..., :2])
    # The mates' axis stands behind the robots'.
    wide = Passage(*(part[..., None, :] if part.ndim == passage.axis.ndim else part[..., None] for part in passage))
    pos = heard.pos_m + heard.vel_m_s * heard.age_s[..., None]
    there = placed(wide, pos[..., :2])
    along_m_s = (heard.vel_m_s[..., :2] * wide.axis).sum(-1)
    xp = namespace(pos)
    # Who is on this side of it has come out already, or stands in the queue.
    on_line = (there.along_m > 0) & (there.along_m < wide.length_m + REACH_M)
    against = heard.mask & on_line & (xp.abs(there.right_m) < SIDE_M) & (along_m_s < ALONG_M_S)
    nearer = here.from_middle_m(passage.length_m)[..., None] - there.from_middle_m(wide.length_m)
    second = (passage.axis @ EAST.astype(np.float32) < 0)[..., None]
    before_us = (nearer > NEARER_M) | (nearer > -NEARER_M) & second
    return (against & before_us).any(-1) & (here.along_m < passage.length_m)


def steer(params: SafetyParams, lookout: Lookout, view: LocalView, wait: Array) -> tuple[Array, Array]:
    """Steer a robot at a passage: let it wait beside the mouth, or find back to the line.

    Returns:
        [...] bool: the robot does either; and the acceleration [..., 2] for it.
    """
    passage, own = lookout.passage, view.own
    xp, here = namespace(own.pos_m), placed(passage, own.pos_m[..., :2])
    apart_m = params.safety.separation_m + 2 * params.look_ahead_m
    cruise = params.limits.speed_m_s / 2
    inside = here.along_m > -min(MOUTH_M, WAIT_M + apart_m - SHORT_M)
    lost = ~wait & lookout.blocked & (xp.abs(here.right_m) > ASIDE_M) & (here.along_m < passage.length_m / 2)
    to_along = xp.where(wait, -WAIT_M - apart_m, IN_M)
    to_right = xp.where(wait & ~inside, 2 * apart_m + ROOM_M, 0.0)
    go = xp.stack([to_along - here.along_m, to_right - here.right_m], -1)
    speed = xp.minimum(xp.where(wait, 2.0, 4.0) * norm(go), cruise)[..., None]
    wanted = go / (norm(go) + 1e-6)[..., None] * speed
    wanted = wanted[..., :1] * passage.axis + wanted[..., 1:] * right_of(passage.axis)
    return wait | lost, GAIN_PER_S * (wanted - own.vel_m_s[..., :2])
