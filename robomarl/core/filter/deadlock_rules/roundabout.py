"""Roundabouts: a crowd with crossing ways flies around its middle at speed, on rings. Array-generic.

A robot in a crowd that is about to meet takes the crowd's middle for the centre, and one of several
rings for its own. Counted around the centre, every second robot takes the outermost ring, every
second of the rest the next, and so on. The robot keeps the disc inside its ring to the left of its
way until the way to its goal is free. Neighbours at the start are thus on different rings. Centre
and ring are remembered: they follow from all positions when it began, which all robots have
received alike, so no negotiation is needed. No robot has to know how many robots there are, nor its
own number.
"""

import math
from typing import NamedTuple

import numpy as np

from robomarl.core.filter.deadlock_rules.passages import EAST, right_of
from robomarl.core.filter.params import SafetyParams
from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.core.view import LocalView

CROWD = 5
"""Fewer than this keep to the right of each other and need no rings."""
HOLDS = (4, 10, 20, 34)
"""Largest crowds that one, two, three and four rings have room for; larger crowds use five."""
ROOM_M = 0.37
"""Distance [m] from ring to ring beyond the separation: the filter asks it of two robots that pass
each other at speed."""
EXACT, STAGGERED = 1.11, 0.86
"""Ring spacing divided by the separation, for robots with exact positions: with at least three rings, and with two.
Two rings rotate together; each robot is at an angle between two robots of the other ring."""
MEETS = 2
"""Minimum number of mates in the way for a roundabout to begin."""
EDGE = 0.85
"""Fraction of the crowd's mean distance from the centre. A robot that is nearer, or has a nearer goal,
does not go around."""
BEHIND_M = 0.4
"""Distance [m] farther away than the goal beyond which a mate is not part of the crowd."""
BEYOND_M = 0.2
"""A ring leads farther from the centre than the goal is by no more than this."""
WALL_M = 0.2
"""Minimum distance [m] of a ring from a wall: a robot that flies into a wall waits there until the
roundabout is forgotten."""
REMEMBER_S, FREE_S = 8.0, 4.0
"""Longest time [s] for which a roundabout is remembered, and the longest once the way to the goal is free."""
NEAR_GOAL_M = 0.3
"""Distance [m] to the goal below which a robot goes straight to it."""
BACK_M, ACROSS = 1.9, 0.5
"""A robot flies to its ring with the distance from it times the root of its acceleration over this length [m], and at
most with this share of its speed."""
BENDS = 0.8
"""Share of the acceleration that holds robots on their rings: a robot with little acceleration is slower there."""
LEAST_M = 0.2
"""Radii [m] below this are taken for it."""
GAIN_PER_S = 4.0
"""Acceleration per velocity that is missing."""
EAST_RAD = math.atan2(EAST[1], EAST[0])
"""Direction [rad] from which robots are counted around the centre."""


class Roundabout(NamedTuple):
    """Disc that one robot keeps to its left."""

    centre_m: Array
    """[..., 2]"""
    radius_m: Array
    """[...] of its own ring."""
    known_s: Array
    """[...] for how much longer it is remembered; 0: there is none."""


def no_roundabout(zero: Array) -> Roundabout:
    """The memory before the first decision; `zero` is [...]."""
    return Roundabout(namespace(zero).stack([zero, zero], -1), zero, zero)


def update(params: SafetyParams, before: Roundabout, view: LocalView, near: Array) -> tuple[Roundabout, Array]:
    """Remember the roundabout, or begin one.

    Args:
        params: parameters of the filter.
        before: the memory.
        view: view of the robots.
        near: [..., K] how much every mate is in the way, 0: not at all.

    Returns:
        The memory, and [...] bool: the disc is in the way to the goal.
    """
    xp, pos, goal = namespace(near), view.own.pos_m[..., :2], view.goal.pos_m[..., :2]
    left_s = xp.maximum(before.known_s - params.period_s, 0.0)
    begins, new = _found(params, view, near)
    begins = begins & (left_s <= 0) & _blocks(new, pos, goal)
    parts = zip(new, before._replace(known_s=left_s), strict=True)
    now = Roundabout(*(xp.where(begins[..., None] if a.ndim > begins.ndim else begins, a, b) for a, b in parts))
    blocks = _blocks(now, pos, goal) & (now.known_s > 0) & (norm(goal - pos) > NEAR_GOAL_M)
    return now._replace(known_s=xp.where(blocks, now.known_s, xp.minimum(now.known_s, FREE_S))), blocks


def steer(params: SafetyParams, roundabout: Roundabout, view: LocalView) -> Array:
    """[..., 2] acceleration, at most the longest in the input box, that leads around the centre on the ring."""
    pos, vel = view.own.pos_m[..., :2], view.own.vel_m_s[..., :2]
    xp, inward = namespace(pos), roundabout.centre_m - pos
    far = norm(inward) + 1e-6
    ahead, most = inward / far[..., None], math.sqrt(2) * params.limits.accel_max_m_s2[0]
    aside, bend_m = right_of(ahead), xp.maximum(far, LEAST_M)
    speed = xp.minimum(params.limits.speed_m_s, xp.sqrt(BENDS * most * bend_m))
    back = xp.clip(math.sqrt(most / BACK_M) * (far - roundabout.radius_m), -ACROSS * speed, ACROSS * speed)
    around, along = (vel * aside).sum(-1), xp.sqrt(speed * speed - back * back)
    bend = GAIN_PER_S * (back - (vel * ahead).sum(-1)) + xp.maximum(around, 0.0) ** 2 / bend_m
    bend = xp.clip(bend, -most, most)
    left = xp.sqrt(most * most - bend * bend)  # first to the ring, then along it
    faster = xp.clip(GAIN_PER_S * (along - around), -left, left)
    return bend[..., None] * ahead + faster[..., None] * aside


def _blocks(roundabout: Roundabout, pos_m: Array, goal_m: Array) -> Array:
    """[...] bool: the straight way from `pos_m` to `goal_m` [..., 2] has not got the whole disc on its left."""
    way, inward = goal_m - pos_m, roundabout.centre_m - pos_m
    far = norm(way) + 1e-6
    forward = way / far[..., None]
    ahead, to_right = (inward * forward).sum(-1), (inward * right_of(forward)).sum(-1)
    return (-to_right < roundabout.radius_m) & (ahead > 0) & (ahead < far)


def _found(params: SafetyParams, view: LocalView, near: Array) -> tuple[Array, Roundabout]:
    """[...] bool: whether a crowd that the robot goes across is about to meet; and its roundabout."""
    heard, pos, goal = view.heard, view.own.pos_m[..., :2], view.goal.pos_m[..., :2]
    xp = namespace(near)
    mates = (heard.pos_m + heard.vel_m_s * heard.age_s[..., None])[..., :2]
    crowd = heard.mask & (norm(mates - pos[..., None, :]) < (norm(goal - pos) + BEHIND_M)[..., None])
    others = crowd.sum(-1)
    centre = (pos + (mates * crowd[..., None]).sum(-2)) / (others + 1)[..., None]
    around = norm(mates - centre[..., None, :])
    edge = EDGE * xp.where(crowd, around, 0.0).sum(-1) / xp.maximum(others, 1)
    to_goal = norm(goal - centre)
    across = (to_goal > edge) & (norm(pos - centre) > edge)
    before_us = crowd & (_bearing(mates - centre[..., None, :]) < _bearing(pos - centre)[..., None])
    two, more = lanes_m(params)
    lane = xp.where(others + 1 > HOLDS[1], more, two)
    radius = xp.minimum(lane * ring_of(before_us.sum(-1), others + 1), to_goal + BEYOND_M)
    radius = xp.minimum(radius, _to_walls(params, centre))
    begins = (others + 1 >= CROWD) & ((near > 0).sum(-1) >= MEETS) & across
    return begins, Roundabout(centre, radius, radius * 0 + REMEMBER_S)


def lanes_m(params: SafetyParams) -> tuple[float, float]:
    """Return the distances [m] from ring to ring: with two rings, and with more."""
    apart = params.safety.separation_m + 2 * params.look_ahead_m
    return (apart + ROOM_M, apart + ROOM_M) if params.safety.delay_s else (STAGGERED * apart, EXACT * apart)


def _to_walls(params: SafetyParams, centre_m: Array) -> Array:
    """[...] the largest radius about `centre_m` [..., 2] that stays in the arena, `WALL_M` before its walls."""
    xp, arena = namespace(centre_m), params.arena
    if arena is None:
        return centre_m[..., 0] * 0 + xp.inf
    low, high = (np.array(wall[:2], np.float32) for wall in (arena.low_m, arena.high_m))
    return xp.maximum(xp.minimum(centre_m - low, high - centre_m).min(-1) - WALL_M, 0.0)


def ring_of(rank: Array, count: Array) -> Array:
    """Return the ring [...], from 1 inside, of the robot that has `rank` of `count` robots before it
    around the centre."""
    xp = namespace(rank)
    rings, halvings = 1 + sum((count > most) * 1 for most in HOLDS), sum((rank % 2**k == 0) * 1 for k in (1, 2, 3, 4))
    return xp.maximum(rings - halvings, 1)


def _bearing(offset: Array) -> Array:
    """[...] angle from `EAST` counterclockwise, from 0 to a whole turn."""
    xp = namespace(offset)
    return (xp.arctan2(offset[..., 1], offset[..., 0]) - EAST_RAD) % (2 * math.pi)
