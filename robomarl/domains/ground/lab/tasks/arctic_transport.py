"""`arctic_transport`: a robot for ice and one for water cross ground of tiles that two drones
observe.

Published: 8 rows of 12 tiles of 0.25 m, drawn plain, ice or water, the last row the goal, the
first the start; 100 steps; a way-point is 0.3 m away on a robot's own ground, 0.2 m on plain
floor, 0.1 m on the opposite ground, 0.2 m for drones. Reward per step -0.05 times the distance
that both have left together and -0.1 until both are there, shared. A role's capability: (0, 0)
drone, (1, 0) ice, (0, 1) water.
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
    HIDDEN,
    Beginning,
    GroundTask,
    Mark,
    per_step,
    received,
    rows,
    to_all,
    told,
)
from robomarl.lab.sim.model import TeamWorld

TILE_M, ROWS, COLUMNS = 0.25, 8, 12
PLAIN, ICE, WATER, GOAL = 0, 1, 2, 3
FILLS = (HIDDEN, (205, 235, 245), (110, 165, 215), DONE)
"""Colours of those tiles."""
TOP_M, LEFT_M = 1.0, -1.5
GOAL_Y_M = 0.75
"""A robot beyond this has arrived."""
OWN_M, PLAIN_M, OTHER_M = 0.3, 0.2, 0.1
"""Published way-points, per step."""
START_M = {"drone": ((-0.3, -0.8), (0.3, -0.8)), "ice": ((-0.9, -0.8),), "water": ((0.9, -0.8),)}


class Tiles(NamedTuple):
    """The ground."""

    kind: Array
    """[..., 8, 12] float; row 0 is the goal."""


def begin(scenario: GroundScenario, draws: Array) -> Beginning:
    """Everybody at a fixed place; the six rows between start and goal are drawn."""
    xp = namespace(draws)
    place = np.array([START_M[role.role][i] for role in scenario.team for i in range(role.count)], np.float32)
    drawn = xp.floor(draws[..., : (ROWS - 2) * COLUMNS] * 3).reshape(*draws.shape[:-1], ROWS - 2, COLUMNS)
    edge = drawn[..., :1, :] * 0
    kind = xp.concatenate([edge + GOAL, drawn, edge], -2).astype(draws.dtype)
    zero = draws[..., :1, None] * 0
    return Beginning(zero + place, (zero + place)[..., 0] * 0, zero + place, Tiles(kind))


def cell(place_m: Array) -> tuple[Array, Array]:
    """Row and column [...] int of places [..., 2 or 3]."""
    xp = namespace(place_m)
    row = xp.clip((TOP_M - place_m[..., 1]) / TILE_M, 0, ROWS - 1)
    column = xp.clip((place_m[..., 0] - LEFT_M) / TILE_M, 0, COLUMNS - 1)
    return row.astype("int32"), column.astype("int32")


def kind_at(kind: Array, row: Array, column: Array) -> Array:
    """[..., K] of tiles [..., 8, 12] at rows and columns [..., K]."""
    xp = namespace(kind)
    return xp.take_along_axis(kind.reshape(*kind.shape[:-2], -1), row * COLUMNS + column, axis=-1)


def most_m_s(scenario: GroundScenario, world: TeamWorld) -> Array:
    """Return the largest speed [m/s] of each robot, by the ground that it is on."""
    xp, able = namespace(world.pos_m), scenario.capability
    kind = kind_at(world.own.task.kind, *cell(world.pos_m))
    own = (able[:, 0] > 0.5) & (kind == ICE) | (able[:, 1] > 0.5) & (kind == WATER)
    easy = (kind == PLAIN) | (kind == GOAL) | (able[:, :2].sum(-1) < 0.5)
    step = xp.where(own, OWN_M, xp.where(easy, PLAIN_M, OTHER_M)) / scenario.reward_step_s
    return xp.minimum(step, scenario.vehicle_config.limits.speed_m_s).astype(world.own.most_m_s.dtype)


def left_m(scenario: GroundScenario, world: TeamWorld) -> Array:
    """[..., N] that each has left to the goal; drones nothing."""
    xp, able = namespace(world.pos_m), scenario.capability
    return xp.where(able[:, :2].sum(-1) > 0.5, xp.maximum(GOAL_Y_M - world.pos_m[..., 1], 0.0), 0.0)


def published(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the rewards of the published table."""
    left = left_m(scenario, after)
    terms = {"distance": left.sum(-1), "time": 1.0 * (left > 0).any(-1)}
    return {name: to_all(after, per_step(scenario, value)) for name, value in terms.items()}


def shaping(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Progress of each robot."""
    return {"progress": (left_m(scenario, before) - left_m(scenario, after)) / scenario.period_s}


def sensed(scenario: GroundScenario, world: TeamWorld) -> FloorSensed:
    """Return the nine tiles about each drone; plain floor is of kind 4, and places off the floor are of kind 0."""
    xp = namespace(world.pos_m)
    drones = [i for i, able in enumerate(scenario.capability) if able[:2].sum() < 0.5][:2]
    row, column = (part[..., drones, None] for part in cell(world.pos_m))
    beside = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)], np.int32)
    at = [(part + beside[:, k]).reshape(*part.shape[:-2], -1) for k, part in enumerate((row, column))]
    on = (at[0] >= 0) & (at[0] < ROWS) & (at[1] >= 0) & (at[1] < COLUMNS)
    kind = kind_at(world.own.task.kind, xp.clip(at[0], 0, ROWS - 1), xp.clip(at[1], 0, COLUMNS - 1))
    place = xp.stack([LEFT_M + (at[1] + 0.5) * TILE_M, TOP_M - (at[0] + 0.5) * TILE_M], -1).astype(world.pos_m.dtype)
    return told(scenario, world, rows(place, xp.where(on, xp.where(kind == PLAIN, 4.0, kind), 0.0).astype(place.dtype)))


def target(scenario: GroundScenario, view: LocalView) -> Array:
    """Straight to the goal; drones stay."""
    seen, own = received(view), view.own.pos_m[..., :2]
    goal = np.stack([own[..., 0], own[..., 0] * 0 + GOAL_Y_M + 0.12], -1)
    return np.where((seen.capability[..., :2].sum(-1) > 0.5)[..., None], goal, own)


def marks(scenario: GroundScenario, world: TeamWorld) -> list[Mark]:
    """The tiles."""
    half, kind = (TILE_M / 2, TILE_M / 2), world.own.task.kind.astype(int)
    corner = np.array([LEFT_M + TILE_M / 2, TOP_M - TILE_M / 2])
    places = [(i, j) for i in range(ROWS) for j in range(COLUMNS)]
    return [Mark(corner + TILE_M * np.array([j, -i]), half, FILLS[kind[i, j]], is_round=False) for i, j in places]


ARCTIC_TRANSPORT = GroundTask(
    begin=begin,
    features=("place", "heading", "speed_and_turn", "tiles", "capability", "mates_in_plane"),
    published=published,
    shaping=shaping,
    weights={"distance": -0.05, "time": -0.1, "progress": 5.0},
    succeeded=lambda scenario, world: (left_m(scenario, world) <= 0).all(-1),
    metric=lambda scenario, world: left_m(scenario, world).sum(-1),
    metric_name="distance_left_m",
    marks=marks,
    target=target,
    most_m_s=most_m_s,
    sensed=sensed,
    roles=("drone", "ice", "water"),
)
