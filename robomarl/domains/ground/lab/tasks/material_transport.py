"""`material_transport`: fast robots with little room and slow ones with much empty two zones and
unload at one side.

Published: 4 robots, 70 steps of 1.98 s; a robot without load that is in a zone with material
takes its capacity of the material, and one with load in the dropoff unloads. Reward 0.25 per load
taken, 0.75 per load set down, -0.1 per step until all is unloaded, shared. Zones hold N(75, 10)
and N(15, 4). A role's capability: step of a way-point [m], capacity.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.ground.core.sensed import FloorSensed
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks.base import (
    DONE,
    OPEN,
    Beginning,
    GroundTask,
    Mark,
    headings,
    once,
    per_step,
    received,
    rows,
    shuffled,
    to_all,
    told,
)
from robomarl.lab.sim.model import TeamWorld

STOCKS = ("near", "far")
"""Zones with material."""
MEAN, SPREAD = np.array([75.0, 15.0], np.float32), np.array([10.0, 4.0], np.float32)
FULL = 50.0
"""Material that robots are told of as 1."""
NEAR_LANES_M, FAR_LANES_M = (-0.2, 0.2), (-0.7, 0.7)
"""Lane y [m] of each robot in the script, by rank; slow robots empty the near zone, fast ones the far zone first."""


class Material(NamedTuple):
    """Material in the zones and on the robots."""

    stock: Array
    """[..., 2] material left in each zone."""
    payload: Array
    """[..., N] 1 for robots with load."""
    counts: Array
    """[..., 2] loads taken and set down so far, of the team."""


def begin(scenario: GroundScenario, draws: Array) -> Beginning:
    """Robots in the grid; material of both zones, normally distributed (Box and Muller, 1958)."""
    xp, size, count = namespace(draws), scenario.start.size, scenario.count
    place = shuffled(scenario, draws, count)
    first, second = draws[..., size : size + 2], draws[..., size + 2 : size + 4]
    normal = xp.sqrt(-2 * xp.log(1 - first)) * xp.cos(2 * np.pi * second)
    stock = xp.maximum(MEAN + SPREAD * normal, 1.0).astype(draws.dtype)
    return Beginning(place, headings(scenario, draws, 4), place, Material(stock, place[..., 0] * 0, stock * 0))


def update(scenario: GroundScenario, world: TeamWorld, draws: Array) -> Material:
    """Load, then unload, where robots are."""
    xp, now, place = namespace(world.pos_m), world.own.task, world.pos_m[..., :2]
    stock, payload, taken = now.stock, now.payload, 0.0
    for i, name in enumerate(STOCKS):
        loads = (payload < 0.5) & (stock[..., i : i + 1] > 0) & scenario.zone(name).holds(place)
        lifted = (loads * scenario.capability[:, 1]).sum(-1)
        left = xp.maximum(stock[..., i] - lifted, 0.0)
        stock = xp.stack([left if k == i else stock[..., k] for k in (0, 1)], -1).astype(now.stock.dtype)
        payload, taken = xp.where(loads, 1.0, payload).astype(now.payload.dtype), taken + loads.sum(-1)
    drops = (payload > 0.5) & scenario.zone("dropoff").holds(place)
    counts = now.counts + xp.stack([taken, drops.sum(-1)], -1).astype(now.counts.dtype)
    return Material(stock, xp.where(drops, 0.0, payload).astype(now.payload.dtype), counts)


def most_m_s(scenario: GroundScenario, world: TeamWorld) -> Array:
    """A role's way-point is as far away as it can be in a step."""
    speed = np.minimum(scenario.capability[:, 0] / scenario.reward_step_s, scenario.vehicle_config.limits.speed_m_s)
    return world.own.most_m_s * 0 + speed


def done(world: TeamWorld) -> Array:
    """[...] bool: all is unloaded."""
    task = world.own.task
    return (task.stock.sum(-1) <= 0) & (task.payload < 0.5).all(-1)


def published(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the rewards of the published table."""
    new = after.own.task.counts - before.own.task.counts
    loads, drops = (to_all(after, once(scenario, new[..., i])) for i in (0, 1))
    return {"load": loads, "drop": drops, "time": to_all(after, per_step(scenario, 1.0 - done(after)))}


def shaping(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Progress with load towards the dropoff, and without towards material."""
    payload = before.own.task.payload
    forward = (after.pos_m - before.pos_m)[..., 0] / scenario.period_s
    return {"progress": namespace(payload).where(payload > 0.5, -forward, forward)}


def sensed(scenario: GroundScenario, world: TeamWorld) -> FloorSensed:
    """Return both zones, with the material left, and the own load."""
    middle = np.stack([scenario.zone(name).middle_m for name in STOCKS])
    stock = world.own.task.stock / FULL
    place = stock[..., None] * 0 + middle
    return told(scenario, world, rows(place, stock), world.own.task.payload)


def target(scenario: GroundScenario, view: LocalView) -> Array:
    """Return the targets: along an own lane to material, and back; a robot without work waits at the dropoff."""
    xp, seen = np, received(view)
    slow = seen.capability[..., 1] > scenario.capability[:, 1].min()
    rank = (seen.capability[..., 2]).astype(int) % 2
    lane = xp.where(slow, np.array(NEAR_LANES_M)[rank], np.array(FAR_LANES_M)[rank])
    near, far = (seen.things[..., i, 2] > 0 for i in (0, 1))
    x_near, x_far = 0.0, scenario.zone("far").low_m[0] + 0.15
    goes_far = far & (~slow | ~near)
    goal = xp.where(goes_far, x_far, xp.where(near, x_near, scenario.zone("dropoff").high_m[0] - 0.2))
    at_near = ~goes_far & near
    home = scenario.zone("dropoff").high_m[0] - 0.12
    x = xp.where(seen.carries > 0.5, home, goal)
    y = xp.where(at_near & (seen.carries < 0.5), 0.5 * xp.sign(lane) * xp.minimum(abs(lane), 0.4), lane)
    return xp.stack([x, y], -1)


def marks(scenario: GroundScenario, world: TeamWorld) -> list[Mark]:
    """How much is left in each zone, below its name."""
    stock = zip(STOCKS, world.own.task.stock, strict=True)
    below = np.array([0.0, -0.14])
    return [
        Mark(scenario.zone(name).middle_m + below, (0.09, 0.06), OPEN if left else DONE, f"{left:.0f}")
        for name, left in stock
    ]


MATERIAL_TRANSPORT = GroundTask(
    begin=begin,
    features=("place", "heading", "speed_and_turn", "stocks", "carries", "capability", "mates_in_plane"),
    published=published,
    shaping=shaping,
    weights={"load": 0.25, "drop": 0.75, "time": -0.1, "progress": 2.0},
    succeeded=lambda scenario, world: done(world),
    metric=lambda scenario, world: world.own.task.stock.sum(-1),
    metric_name="material_remaining",
    marks=marks,
    target=target,
    update=update,
    most_m_s=most_m_s,
    sensed=sensed,
    roles=("fast", "slow"),
    zones=(*STOCKS, "dropoff"),
)
