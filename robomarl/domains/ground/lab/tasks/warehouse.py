"""`warehouse`: robots of two colours carry from their zone on one side to theirs on the opposite
one, across each other's way.

Published: 4 robots, 2 green and 2 red, 70 steps; reward 1 per load, 3 per delivery, shared. A
role's capability: (1, 0) green, (0, 1) red. Zones: green loads below on the right and delivers
above on the left, red vice versa.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.ground.core.sensed import FloorSensed
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks.base import (
    Beginning,
    GroundTask,
    headings,
    once,
    received,
    shuffled,
    to_all,
    told,
)
from robomarl.lab.sim.model import TeamWorld

COLOURS = ("green", "red")
LANES_M = (0.3, 0.65)
"""Distance [m] of a robot's lane from the middle, by rank, in the script."""


class Deliveries(NamedTuple):
    """Loads and deliveries so far."""

    payload: Array
    """[..., N] 1 for robots with load."""
    counts: Array
    """[..., 2] loads and deliveries of the team so far."""


def begin(scenario: GroundScenario, draws: Array) -> Beginning:
    """Robots in the grid, without load."""
    count = scenario.count
    place = shuffled(scenario, draws, count)
    return Beginning(place, headings(scenario, draws), place, Deliveries(place[..., 0] * 0, place[..., 0, :] * 0))


def within(scenario: GroundScenario, kind: str, place_m: Array) -> Array:
    """[..., N] bool: robots in the zone of that kind, "load" or "deliver", of their own colour."""
    xp, colour = namespace(place_m), scenario.capability[:, 0] > 0.5
    green, red = (scenario.zone(f"{name}_{kind}").holds(place_m) for name in COLOURS)
    return xp.where(colour, green, red)


def update(scenario: GroundScenario, world: TeamWorld, draws: Array) -> Deliveries:
    """Deliver, then load."""
    xp, now = namespace(world.pos_m), world.own.task
    drops = (now.payload > 0.5) & within(scenario, "deliver", world.pos_m)
    loads = (now.payload < 0.5) & within(scenario, "load", world.pos_m)
    payload = xp.where(drops, 0.0, xp.where(loads, 1.0, now.payload)).astype(now.payload.dtype)
    counts = xp.stack([loads.sum(-1), drops.sum(-1)], -1).astype(now.counts.dtype)
    return Deliveries(payload, now.counts + counts)


def published(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the rewards of the published table."""
    new = after.own.task.counts - before.own.task.counts
    return {name: to_all(after, once(scenario, new[..., i])) for i, name in enumerate(("load", "deliver"))}


def shaping(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Progress towards the zone that is next."""
    xp, payload = namespace(before.pos_m), before.own.task.payload
    goal = xp.where((payload > 0.5)[..., None], _middles(scenario, "deliver"), _middles(scenario, "load"))

    def away(world: TeamWorld) -> Array:
        return xp.sqrt(((world.pos_m[..., :2] - goal) ** 2).sum(-1) + 1e-9)

    return {"progress": (away(before) - away(after)) / scenario.period_s}


def _middles(scenario: GroundScenario, kind: str) -> np.ndarray:
    """[N, 2] of each robot's own zone."""
    green, red = (scenario.zone(f"{name}_{kind}").middle_m for name in COLOURS)
    return np.where(scenario.capability[:, :1] > 0.5, green, red).astype(np.float32)


def sensed(scenario: GroundScenario, world: TeamWorld) -> FloorSensed:
    """Return the own load; the places of the zones never change."""
    return told(scenario, world, world.pos_m[..., :0, :], world.own.task.payload)


def target(scenario: GroundScenario, view: LocalView) -> Array:
    """Return the targets: the next zone, and there a lane of the robot's own."""
    seen = received(view)
    green, carries = seen.capability[..., 0] > 0.5, seen.carries > 0.5
    lane = np.array(LANES_M)[seen.capability[..., 2].astype(int) % 2]
    load, deliver = scenario.zone("green_load"), scenario.zone("green_deliver")
    x = np.where(carries, deliver.high_m[0] - 0.15, load.low_m[0] + 0.15)
    return np.stack([x, np.where(green == carries, lane, -lane)], -1)


WAREHOUSE = GroundTask(
    begin=begin,
    features=("place", "heading", "speed_and_turn", "carries", "capability", "mates_in_plane"),
    published=published,
    shaping=shaping,
    weights={"load": 1.0, "deliver": 3.0, "progress": 2.0},
    succeeded=lambda scenario, world: world.own.task.counts[..., 1] >= scenario.count,
    metric=lambda scenario, world: world.own.task.counts[..., 1],
    metric_name="deliveries",
    target=target,
    update=update,
    sensed=sensed,
    roles=COLOURS,
    zones=tuple(f"{name}_{kind}" for name in COLOURS for kind in ("load", "deliver")),
)
