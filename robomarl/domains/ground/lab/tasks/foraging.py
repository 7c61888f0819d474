"""`foraging`: resources that only enough robots together can take.

Published: 3 robots of levels 1, 2 and 3, 2 resources, 100 steps; a resource is taken where the
levels of the robots within 0.3 m of the resource are its level together; reward its level,
shared. One resource takes all three robots (6), the second one those of levels 2 and 3 (5), in an
order that is drawn. The published -0.01 per step is multiplied by 0 in the published code: there
is none in the table, nor here. A role's capability: its level.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.ground.core.sensed import THINGS, FloorSensed
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks.base import (
    HIDDEN,
    OPEN,
    Beginning,
    DrawnPlaces,
    GroundTask,
    Mark,
    cells_m,
    distances,
    headings,
    once,
    received,
    rows,
    shuffled,
    to_all,
    told,
)
from robomarl.lab.sim.model import TeamWorld

COUNT = THINGS["foraging"]
REACH_M = 0.3
"""Robots this near to a resource take part."""
BEHIND_M, RING_M, SIDE_RAD, EDGE_M = 0.2, 0.26, 1.1, 0.15
"""Parts of the script: distance [m] from a resource to the first robot and to the rest, their angle [rad] from the
way to the arena's middle, and distance [m] of all robots from its edge.
"""


class Resources(NamedTuple):
    """Resources that are left to take."""

    place_m: Array
    """[..., 2, 2]"""
    level: Array
    """[..., 2] levels that it takes; 0 once it is gone."""


def begin(scenario: GroundScenario, draws: Array) -> Beginning:
    """Place robots and resources in cells of their own; which resource takes which robots is drawn."""
    size, count, xp = scenario.start.size, scenario.count, namespace(draws)
    cells = shuffled(scenario, draws, count + COUNT)
    own = scenario.capability[:, 0]
    levels = np.array([own[i:].sum() for i in range(COUNT)], np.float32)
    first = draws[..., size + count, None] < 0.5
    place = cells[..., :count, :]
    level = xp.where(first, levels, levels[::-1]).astype(draws.dtype)
    return Beginning(place, headings(scenario, draws), place, Resources(cells[..., count:, :], level))


def update(scenario: GroundScenario, world: TeamWorld, draws: Array) -> Resources:
    """Take the resources that enough robots stand around."""
    now, xp = world.own.task, namespace(world.pos_m)
    near = distances(world, now.place_m) < REACH_M
    together = (near * scenario.capability[:, :1]).sum(-2)
    return now._replace(level=xp.where(together >= now.level, 0.0, now.level).astype(now.level.dtype))


def published(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the rewards of the published table."""
    taken = (before.own.task.level - after.own.task.level).sum(-1)
    return {"taken": to_all(after, once(scenario, taken))}


def shaping(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Progress towards the first resource that is left."""
    task, xp = before.own.task, namespace(before.pos_m)

    def away(world: TeamWorld) -> Array:
        far = distances(world, task.place_m)
        return xp.maximum(xp.where(task.level[..., None, 0] > 0, far[..., 0], far[..., 1]), RING_M)

    some = (task.level > 0).any(-1)[..., None]
    return {"progress": xp.where(some, (away(before) - away(after)) / scenario.period_s, 0.0)}


def sensed(scenario: GroundScenario, world: TeamWorld) -> FloorSensed:
    """Both resources; the first that is left comes first."""
    task, xp = world.own.task, namespace(world.pos_m)
    things = rows(task.place_m, task.level)
    return told(scenario, world, xp.where(task.level[..., :1, None] > 0, things, things[..., ::-1, :]))


def target(scenario: GroundScenario, view: LocalView) -> Array:
    """Return the targets: all robots drive to the first resource that is left, and around it.

    The robot nearest to the place behind the resource, on the side of the arena's edge, drives there:
    a later robot could not get past. The rest stay on this side, the robot farther to the left on the
    left, so that no robot has to pass another.
    """
    seen, own, heard = received(view), view.own.pos_m[..., :2], view.heard
    middle, level = seen.things[..., 0, :2], seen.things[..., 0, 2]
    inward = np.arctan2(-middle[..., 1], -middle[..., 0])
    ahead = np.stack([np.cos(inward), np.sin(inward)], -1)
    ours, theirs = own - middle, heard.pos_m[..., :2] - middle[..., None, :]
    away = np.where(heard.mask, norm(theirs + BEHIND_M * ahead[..., None, :]), np.nan)
    is_first = ~(away < norm(ours + BEHIND_M * ahead)[..., None]).any(-1)
    other = np.argmax(np.where(heard.mask, away, 0.0), -1)
    beside = ours - np.take_along_axis(theirs, other[..., None, None], -2)[..., 0, :]
    is_left = ahead[..., 0] * beside[..., 1] > ahead[..., 1] * beside[..., 0]
    side = np.where(is_left, SIDE_RAD, -SIDE_RAD)
    angle = inward + np.where(is_first, np.pi, side)
    ring = np.where(is_first, BEHIND_M, RING_M)[..., None]
    place = middle + ring * np.stack([np.cos(angle), np.sin(angle)], -1)
    low, high = (np.array(end[:2]) for end in (scenario.arena.low_m, scenario.arena.high_m))
    return np.where(level[..., None] > 0, np.clip(place, low + EDGE_M, high - EDGE_M), own)


def marks(scenario: GroundScenario, world: TeamWorld) -> list[Mark]:
    """Resources, with the levels that they take; the circle is the reach."""
    task = world.own.task
    left = [(place, int(level)) for place, level in zip(task.place_m, task.level, strict=True) if level]
    near = [Mark(place, (REACH_M, REACH_M), HIDDEN) for place, _ in left]
    return near + [Mark(place, (0.06, 0.06), OPEN, str(level)) for place, level in left]


FORAGING = GroundTask(
    begin=begin,
    features=("place", "heading", "speed_and_turn", "resources", "capability", "mates_in_plane"),
    published=published,
    shaping=shaping,
    weights={"taken": 1.0, "progress": 5.0},
    succeeded=lambda scenario, world: (world.own.task.level <= 0).all(-1),
    metric=lambda scenario, world: (world.own.task.level <= 0).sum(-1),
    metric_name="resources_taken",
    marks=marks,
    target=target,
    update=update,
    drawn=lambda scenario: DrawnPlaces("resource", cells_m(scenario), REACH_M),
    sensed=sensed,
    roles=("one", "two", "three"),
)
