"""`rware`: robots carry the requested shelves to one side, and set them down in cells that are
empty.

Published: 3 robots, 6 cells with a shelf each, 100 steps of 1.98 s; there are as many requested
shelves as robots, and a shelf that comes to the dropoff is replaced by another request from then
on (maybe for this shelf again); reward 1 per delivery, shared. A robot that stays for a step
takes the shelf of a cell within 0.2 m, or sets down its own in one that is empty. With a shelf it
cannot drive into cells with shelves; without, it drives below them. Here a robot stays where it
stands for 1.98 s at any time, takes nothing from an empty cell (the published code makes a second
shelf then), and stops before a full cell instead of refusing a way-point that leads there.
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
    GroundTask,
    Mark,
    distances,
    once,
    received,
    rows,
    scattered,
    to_all,
    told,
)
from robomarl.lab.sim.model import TeamWorld

COUNT = THINGS["rware"]
NUMBERS = np.arange(1, COUNT + 1, dtype=np.float32)
REACH_M = 0.2
"""A robot this near to a cell can take its shelf."""
CELL_M = 0.125
"""Half of a cell's side: no robot with a shelf comes this near, along both axes, to the middle of a full one."""
STILL_M_S = 0.02
"""A robot that is slower stands."""
LOOK_S = 0.3
"""Robots brake within this time, and look so far ahead for full cells."""
EMPTY, FULL, REQUESTED = 1.0, 2.0, 3.0
"""Kinds of a cell, as robots receive them."""
LANE_M, MIDDLE_M, STOP_M = 0.65, 0.1, 0.15
"""Parts of the script: y [m] of the lanes outside of the cells, to the dropoff, and of the lane between the cells,
back; distance [m] from a cell's middle at which robots stop.
"""
NEARER_M = 0.6
"""Distance [m] added to a shelf's in the script for each teammate that is nearer to this shelf."""


class Shelves(NamedTuple):
    """Places of the shelves. Shelves have numbers from 1; 0 is none."""

    cell: Array
    """[..., 6] the shelf in each cell."""
    payload: Array
    """[..., N] the shelf on each robot."""
    requested: Array
    """[..., 6] 1 for shelves, by number, that are requested."""
    stands_s: Array
    """[..., N] for how long each robot has stood, or since it last took or set down."""
    deliveries: Array
    """[...] so far."""


class Handled(NamedTuple):
    """Shelves that robots take and set down in a decision, [..., N, 6] bool each, by robot and cell."""

    takes: Array
    sets: Array


def cells_m(scenario: GroundScenario) -> np.ndarray:
    """[6, 2] their middles: two rows."""
    low, high = scenario.arena.low_m, scenario.arena.high_m
    x = np.linspace(low[0] + 0.5, high[0] - 1.0, COUNT // 2)
    return np.array([(each, y) for y in (0.25, -0.25) for each in x], np.float32)


def begin(scenario: GroundScenario, draws: Array) -> Beginning:
    """Place robots in a row below, and every shelf in its cell; the requested shelves are drawn."""
    low, high, zero = scenario.arena.low_m, scenario.arena.high_m, draws[..., :1] * 0
    x = np.linspace(low[0] + 0.5, high[0] - 0.5, scenario.count, dtype=np.float32)
    row = zero[..., None] + np.stack([x, x * 0 + low[1] + 0.25], -1) + scattered(draws, scenario.count)
    still, shelves = row[..., 0] * 0, zero + NUMBERS
    requested = _drawn(draws, shelves < 0, scenario.count).astype(draws.dtype)
    return Beginning(row, still + np.pi / 2, row, Shelves(shelves, still, requested, still, zero[..., 0]))


def _drawn(draws: Array, kept: Array, count: int) -> Array:
    """Return [..., 6] bool: the kept ones, and further ones by the least of [..., >= 6] draws until there are
    `count`.
    """
    xp = namespace(draws)
    order = xp.argsort(xp.where(kept, -1.0, draws[..., :COUNT]), axis=-1)
    return xp.argsort(order, axis=-1) < count


def update(scenario: GroundScenario, world: TeamWorld, draws: Array) -> Shelves:
    """Deliver, request anew, take and set down."""
    xp, now = namespace(world.pos_m), world.own.task
    kept = (now.requested > 0.5) & ~_delivered(scenario, world)
    stands_s, acts = _standing(scenario, world)
    takes, sets = _handled(scenario, world, acts)
    payload = xp.where(sets.any(-1), 0.0, now.payload + (takes * now.cell[..., None, :]).sum(-1))
    cell = xp.where(takes.any(-2), 0.0, now.cell + (sets * now.payload[..., None]).sum(-2))
    dtype = now.cell.dtype
    return Shelves(
        cell.astype(dtype),
        payload.astype(dtype),
        _drawn(draws, kept, scenario.count).astype(dtype),
        xp.where(acts, 0.0, stands_s).astype(dtype),
        now.deliveries + _delivered(scenario, world).sum(-1).astype(dtype),
    )


def _delivered(scenario: GroundScenario, world: TeamWorld) -> Array:
    """[..., 6] bool: shelves, by number, that are requested and in the dropoff."""
    now = world.own.task
    there = scenario.zone("dropoff").holds(world.pos_m)[..., None] & (now.payload[..., None] == NUMBERS)
    return there.any(-2) & (now.requested > 0.5)


def _standing(scenario: GroundScenario, world: TeamWorld) -> tuple[Array, Array]:
    """[..., N] for how long each robot has stood now, and bool: for a step."""
    xp = namespace(world.pos_m)
    still = norm(world.vel_m_s[..., :2]) < STILL_M_S
    stands_s = xp.where(still, world.own.task.stands_s + scenario.period_s, 0.0)
    return stands_s, stands_s > scenario.reward_step_s - scenario.period_s / 2


def _handled(scenario: GroundScenario, world: TeamWorld, acts: Array) -> Handled:
    """Return the actions of robots that act [..., N]; among several robots at one cell the first acts."""
    now, near = world.own.task, distances(world, cells_m(scenario)) < REACH_M
    able, loaded, full = near & acts[..., None], now.payload[..., None] > 0, now.cell[..., None, :] > 0
    takes, sets = able & ~loaded & full, able & loaded & ~full
    return Handled(*(each & (each.cumsum(-2) == 1) for each in (takes, sets)))


def most_m_s(scenario: GroundScenario, world: TeamWorld) -> Array:
    """Return the largest speeds: 0 for a robot with a shelf on its way into a full cell."""
    xp, task = namespace(world.pos_m), world.own.task
    wish = (world.vel_m_s[..., :2] + scenario.period_s * world.own.command[..., :2])[..., None, :]
    off = cells_m(scenario) - world.pos_m[..., None, :2]
    enters = (abs(off - LOOK_S * wish) < CELL_M).all(-1) & ((off * wish).sum(-1) > 0)
    stops = (enters & (task.cell[..., None, :] > 0)).any(-1) & (task.payload > 0)
    limit = scenario.vehicle_config.limits.speed_m_s
    return xp.where(stops, 0.0, limit).astype(world.own.most_m_s.dtype)


def carried(task: Shelves) -> Array:
    """[..., N] 0 nothing, 1 a shelf, 2 one that is requested."""
    wanted = ((task.payload[..., None] == NUMBERS) & (task.requested[..., None, :] > 0.5)).any(-1)
    return (1.0 * (task.payload > 0) + wanted).astype(task.payload.dtype)


def kinds(task: Shelves) -> Array:
    """Return the kind [..., 6] of each cell."""
    wanted = ((task.cell[..., None] == NUMBERS) & (task.requested[..., None, :] > 0.5)).any(-1)
    return (EMPTY + (task.cell > 0) + wanted).astype(task.cell.dtype)


def published(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the rewards of the published table."""
    return {"deliver": to_all(after, once(scenario, after.own.task.deliveries - before.own.task.deliveries))}


def shaping(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return progress to the next place, standing there, and the right shelf taken or set down (the wrong one costs
    as much).
    """
    xp, task, load = namespace(before.pos_m), before.own.task, carried(before.own.task)
    useful = kinds(task)[..., None, :] == xp.where(load > 0, EMPTY, REQUESTED)[..., None]

    def away(world: TeamWorld) -> Array:
        cell = xp.where(useful, distances(world, cells_m(scenario)), 9.0).min(-1)
        return xp.where(load > 1, scenario.zone("dropoff").low_m[0] + 0.1 - world.pos_m[..., 0], cell)

    near = (load < 2) & (away(before) < REACH_M)
    slow = xp.maximum(1 - norm(before.vel_m_s[..., :2]) / scenario.vehicle_config.limits.speed_m_s, 0.0)
    takes, sets = _handled(scenario, before, _standing(scenario, before)[1])
    right = (takes * (2 * (kinds(task)[..., None, :] == REQUESTED) - 1)).sum(-1) + sets.any(-1) * (3 - 2 * load)
    progress = xp.where(near, 0.0, (away(before) - away(after)) / scenario.period_s)
    return {"progress": progress, "stand": near * slow, "right": once(scenario, right)}


def sensed(scenario: GroundScenario, world: TeamWorld) -> FloorSensed:
    """Return the cells, and the load on each robot."""
    task = world.own.task
    return told(scenario, world, rows(task.cell[..., None] * 0 + cells_m(scenario), kinds(task)), carried(task))


def target(scenario: GroundScenario, view: LocalView) -> Array:
    """Return the targets: to the nearest requested shelf; with it outside of the cells to the dropoff; between the
    cells to an empty one.
    """
    seen, own = received(view), view.own.pos_m[..., :2]
    x, y = own[..., 0], own[..., 1]
    place, kind = seen.things[..., :2], seen.things[..., 2]
    loaded = seen.carries > 0.5
    far = norm(place - own[..., None, :])
    theirs = norm(place[..., None, :, :] - view.heard.pos_m[..., :, None, :2])
    nearer = ((theirs < far[..., None, :]) & view.heard.mask[..., None]).sum(-2)
    cost = np.where(kind == np.where(loaded, EMPTY, REQUESTED)[..., None], far + NEARER_M * nearer, 99.0)
    best = np.argmin(cost, -1)[..., None]
    cell = np.take_along_axis(place, best[..., None], -2)[..., 0, :]
    there = np.take_along_axis(far, best, -1)[..., 0] < STOP_M + 0.02
    zone = scenario.zone("dropoff")
    between = np.stack([cell[..., 0], MIDDLE_M * np.sign(cell[..., 1])], -1)
    outside = (x > zone.low_m[0] - 0.25) & (abs(y) > CELL_M)
    home = np.where(outside[..., None], [zone.low_m[0] - 0.1, 0.0], between)
    side = np.where(y > 0, LANE_M, -LANE_M)
    leave = np.stack([np.where(abs(y) > LANE_M - 0.15, zone.low_m[0] + 0.2, x), side], -1)
    fetch = np.where(there[..., None], own, np.where(loaded[..., None], home, cell))
    return np.where((seen.carries > 1.5)[..., None], leave, fetch)


def marks(scenario: GroundScenario, world: TeamWorld) -> list[Mark]:
    """The cells: white where one is empty, the number of its shelf else; requested ones stand out."""
    task, half = world.own.task, (0.1, 0.1)
    fills = {EMPTY: (255, 255, 255), FULL: HIDDEN, REQUESTED: OPEN}
    shelves = zip(cells_m(scenario), task.cell, kinds(task), strict=True)
    return [Mark(at, half, fills[float(kind)], f"{shelf:.0f}" if shelf else "", False) for at, shelf, kind in shelves]


RWARE = GroundTask(
    begin=begin,
    features=("place", "heading", "speed_and_turn", "cells", "carries", "capability", "mates_in_plane"),
    published=published,
    shaping=shaping,
    weights={"deliver": 1.0, "progress": 5.0, "stand": 0.5, "right": 2.0},
    succeeded=lambda scenario, world: world.own.task.deliveries >= scenario.count,
    metric=lambda scenario, world: world.own.task.deliveries,
    metric_name="deliveries",
    target=target,
    marks=marks,
    update=update,
    most_m_s=most_m_s,
    sensed=sensed,
    roles=("carrier",),
    zones=("dropoff",),
)
