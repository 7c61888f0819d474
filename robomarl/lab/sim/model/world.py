"""`TeamWorld`: state of a team of rigid robots at one decision, and the view of each robot.
Array-generic.

Shapes: `...` is the batch of environments, N the robots, K = N - 1 their teammates.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import components, namespace, norm
from robomarl.core.types import Array
from robomarl.core.vectors import dot, minus
from robomarl.core.view import Goal, Heard, LocalView, Own, Plan
from robomarl.lab.sim.message import Message, braking_plan, mates_of
from robomarl.lab.trees import Tree

FAR_M2 = 1e6
"""Summand [m^2] of a robot's squared distance to itself."""


class TeamWorld(NamedTuple):
    """World frame, SI units."""

    pos_m: Array
    """[..., N, 3]"""
    vel_m_s: Array
    """[..., N, 3]"""
    quat_wxyz: Array
    """[..., N, 4] body to world."""
    omega_rad_s: Array
    """[..., N, 3] body."""
    goal_m: Array
    """[..., N, 3] where each robot is to be."""
    own: Tree
    """Additional state of the domain: a NamedTuple of arrays [..., N, ...], or ()."""
    said: Message
    """Message of every robot at the last decision."""
    closest_m: Array
    """[..., N] least distance to any other robot since the last decision."""
    step: Array
    """[...] int: decisions since the start."""


def placed(pos_m: Array, goal_m: Array, own: Tree = ()) -> TeamWorld:
    """Return a team at rest, upright, before any message has been sent.

    Args:
        pos_m: [..., N, 3].
        goal_m: [..., N, 3].
        own: additional state of the domain.
    """
    xp, zero = namespace(pos_m), pos_m * 0
    upright = xp.concatenate([zero[..., :1] + 1, zero], -1)
    said = Message(pos_m, zero, Plan(pos_m, zero, pos_m))
    step = zero[..., 0, 0].astype("int32")
    return TeamWorld(pos_m, zero, upright, zero, goal_m, own, said, gaps(pos_m, pos_m), step)


def said_of(world: TeamWorld, plan: Plan | None, brake_m_s2: float) -> Message:
    """Return the team's messages of this decision: its state, and the filters' plans, or plans that brake at once."""
    if plan is None:
        return Message(world.pos_m, world.vel_m_s, braking_plan(world.pos_m, world.vel_m_s, brake_m_s2))
    xp = namespace(world.pos_m)
    return Message(world.pos_m, world.vel_m_s, Plan(*(xp.asarray(part, dtype=world.pos_m.dtype) for part in plan)))


def gaps(before_m: Array, after_m: Array) -> Array:
    """[..., N] least distance to any other robot, all on straight lines from [..., N, 3] to [..., N, 3]."""
    xp = namespace(after_m)
    gap, end = (tuple(x[..., :, None] - x[..., None, :] for x in components(place)) for place in (before_m, after_m))
    move = minus(end, gap)  # component by component: numpy is slow along an axis of three
    part = xp.clip(-dot(gap, move) / (dot(move, move) + 1e-9), 0.0, 1.0)
    nearest = tuple(a + part * b for a, b in zip(gap, move, strict=True))
    myself = xp.asarray(np.eye(after_m.shape[-2], dtype=np.float32) * FAR_M2)
    return xp.sqrt(dot(nearest, nearest) + myself).min(-1)


def views_of(world: TeamWorld, sensed: tuple, period_s: float) -> LocalView:
    """Return the view of every robot, every field [..., N, ...].

    Args:
        world: the truth; teammates are received one decision late.
        sensed: sensing of all robots, [..., N, ...] each.
        period_s: time between two decisions.
    """
    xp, mates = namespace(world.pos_m), mates_of(world.pos_m.shape[-2])
    zero, said = world.pos_m[..., 0] * 0, world.said
    assert isinstance(said.plan, Plan), "a team's message has a plan"
    place, velocity = said.pos_m[..., mates, :], said.vel_m_s[..., mates, :]
    age_s = norm(place) * 0 + xp.where(world.step > 0, period_s, 0.0)[..., None, None].astype(zero.dtype)
    heard = Heard(age_s >= 0, place, velocity, age_s, Plan(*(part[..., mates, :] for part in said.plan)))
    return LocalView(
        own=Own(world.pos_m, world.quat_wxyz, world.vel_m_s, world.omega_rad_s, zero),
        heard=heard,
        sensed=sensed,
        goal=Goal(world.goal_m, xp.stack([zero + 1, zero, zero, zero], -1)),
        role=zero.astype("int32"),
        time_s=zero + world.step[..., None] * period_s,
    )
