"""`predator_prey`: three robots tag a prey that is faster than they are, as often as they can.

Published: 3 robots, 100 steps; in each step the prey jumps to the place, of eight directions and
four distances up to 0.3 m, that is farthest from the nearest robot; reward 10 for each step that
ends with a robot within 0.2 m, shared.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.ground.core.sensed import FloorSensed
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks.base import (
    HIDDEN,
    OPEN,
    Beginning,
    GroundTask,
    Mark,
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

REACH_M = 0.2
"""A robot this near to the prey tags it."""
STEPS_M = (0.05, 0.3)
"""Least and largest of four jumps."""
INSIDE_M = 0.1
"""The prey stays this far from the arena's edges."""
CAGE_M = ((0.17, 0.06), (0.3, 0.3), (0.05, 0.33))
"""Final places [m] of the robots in the script, off the corner, along x and y: no jump from there is farther from
them.
"""
CLOSING_M = 0.25
"""Distance [m] by which a robot may be nearer to the corner than the farthest robot, at most, in the script."""


class Prey(NamedTuple):
    """The hunted prey."""

    place_m: Array
    """[..., 1, 2]"""
    tags: Array
    """[...] so far."""


def begin(scenario: GroundScenario, draws: Array) -> Beginning:
    """Robots and prey in cells of their own."""
    count = scenario.count
    cells = shuffled(scenario, draws, count + 1)
    place = cells[..., :count, :]
    return Beginning(place, headings(scenario, draws), place, Prey(cells[..., count:, :], place[..., 0, 0] * 0))


def jumps() -> np.ndarray:
    """Return the jumps [32, 2] that the prey may make."""
    angle = np.arange(8) * np.pi / 4
    way = np.stack([np.cos(angle), np.sin(angle)], -1)[:, None] * np.linspace(*STEPS_M, 4)[:, None]
    return way.reshape(-1, 2).astype(np.float32)


def update(scenario: GroundScenario, world: TeamWorld, draws: Array) -> Prey:
    """Update the prey at the end of each published step: tagged or not, and away."""
    now, xp, arena = world.own.task, namespace(world.pos_m), scenario.arena
    every = round(scenario.reward_step_s * scenario.rates.policy_hz)
    due = (world.step + 1) % every == 0
    tagged = (distances(world, now.place_m) < REACH_M).any((-2, -1))
    low, high = (xp.asarray(end[:2], dtype=now.place_m.dtype) for end in (arena.low_m, arena.high_m))
    maybe = xp.clip(now.place_m + xp.asarray(jumps()), low + INSIDE_M, high - INSIDE_M)
    safe = distances(world, maybe).min(-2)
    best = xp.argmax(safe, -1)[..., None, None]
    chosen = xp.take_along_axis(maybe, best, axis=-2)
    place = xp.where(due[..., None, None], chosen, now.place_m)
    return Prey(place, now.tags + (due & tagged).astype(now.tags.dtype))


def published(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the rewards of the published table."""
    return {"tag": to_all(after, once(scenario, after.own.task.tags - before.own.task.tags))}


def shaping(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Progress towards where the prey is."""
    place = before.own.task.place_m
    return {"progress": (distances(before, place) - distances(after, place))[..., 0] / scenario.period_s}


def sensed(scenario: GroundScenario, world: TeamWorld) -> FloorSensed:
    """The prey."""
    task = world.own.task
    return told(scenario, world, rows(task.place_m, task.place_m[..., 0] * 0 + 1))


def target(scenario: GroundScenario, view: LocalView) -> Array:
    """A cage about the corner that the prey is in: one robot along each wall and one between them, ever nearer."""
    seen, arena = received(view), scenario.arena
    own, prey = view.own.pos_m[..., :2], seen.things[..., 0, :2]
    side = np.where(prey < 0, -1.0, 1.0)
    corner = side * (np.array(arena.high_m[:2]) - INSIDE_M)
    mates = np.concatenate([own[..., None, :], view.heard.pos_m[..., :2]], -2)
    inward = (corner[..., None, :] - mates) * side[..., None, :]
    angle = np.arctan2(inward[..., 1], inward[..., 0])
    place = (angle[..., 1:] < angle[..., :1]).sum(-1)  # 0 along the x wall, 1 between, 2 along the y wall
    slot = np.array(CAGE_M)[np.minimum(place, 2)]
    far = norm(inward).max(-1)
    wide = np.maximum(norm(slot), np.minimum(far - CLOSING_M, 1.2))
    way = slot / norm(slot)[..., None] * wide[..., None]
    return np.clip(corner - side * way, np.array(arena.low_m[:2]) + 0.12, np.array(arena.high_m[:2]) - 0.12)


def marks(scenario: GroundScenario, world: TeamWorld) -> list[Mark]:
    """The prey, and how near robots have to be."""
    place = world.own.task.place_m[0]
    return [Mark(place, (REACH_M, REACH_M), HIDDEN), Mark(place, (0.05, 0.05), OPEN)]


PREDATOR_PREY = GroundTask(
    begin=begin,
    features=("place", "heading", "speed_and_turn", "prey", "capability", "mates_in_plane"),
    published=published,
    shaping=shaping,
    weights={"tag": 10.0, "progress": 5.0},
    succeeded=lambda scenario, world: world.own.task.tags > 0,
    metric=lambda scenario, world: world.own.task.tags,
    metric_name="tags",
    marks=marks,
    target=target,
    update=update,
    sensed=sensed,
    roles=("predator",),
)
