"""`GroundTask`: what one of the scenarios asks of its team. Array-generic; `...` is the batch, N the robots."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.geometry import namespace, norm, quat_from_yaw
from robomarl.core.types import Array
from robomarl.core.view import LocalView, NothingSensed
from robomarl.domains.ground.core.sensed import FloorSensed
from robomarl.lab.sim.model import TeamWorld, placed

HIDDEN, OPEN, DONE = (225, 225, 222), (255, 190, 110), (165, 214, 180)
"""Colours of what robots do not know yet, what is to be done, and what is done."""
SCATTER_M = 1e-3
"""Of places about their cells."""


class GroundOwn(NamedTuple):
    """What a world of ground robots has besides places and velocities."""

    command: Array
    """[..., N, 4] of the last decision: it is in force until the next one."""
    most_m_s: Array
    """[..., N] what each robot's commanded point may do at most."""
    task: Any
    """Of the task, a NamedTuple of arrays [..., ...], or ()."""


class Mark(NamedTuple):
    """What a picture shows of a task, besides robots and zones."""

    place_m: Array
    """[2] its middle."""
    half_m: tuple[float, float]
    """Half of its size."""
    fill: tuple[int, int, int]
    """Red, green, blue, of 255."""
    words: str = ""
    is_round: bool = True


class Beginning(NamedTuple):
    """Where an episode starts."""

    place_m: Array
    """[..., N, 2]"""
    yaw_rad: Array
    """[..., N]"""
    goal_m: Array
    """[..., N, 2]; where a task has none, the robots' own places."""
    task: Any = ()


@dataclass(frozen=True)
class GroundTask:
    """One of them. `scenario` is a `GroundScenario`."""

    begin: Callable[[Any, Array], Beginning]
    """(scenario, uniform draws [..., M]) -> the start."""
    features: tuple[str, ...]
    """What a policy sees."""
    published: Callable[[Any, TeamWorld, TeamWorld], dict[str, Array]]
    """(scenario, before, after) -> the rewards of the published table, [..., N] per second."""
    shaping: Callable[[Any, TeamWorld, TeamWorld], dict[str, Array]]
    """The same of what only training is rewarded for."""
    weights: dict[str, float]
    """Of all those terms; the published ones have what the table has."""
    succeeded: Callable[[Any, TeamWorld], Array]
    """[...] bool."""
    metric: Callable[[Any, TeamWorld], Array]
    """[...] the number that the table has besides, at the end of an episode."""
    metric_name: str
    target: Callable[[Any, LocalView], Array]
    """(scenario, view) -> [..., 2] where the scripted baseline drives to now."""
    update: Callable[[Any, TeamWorld, Array], Any] = lambda scenario, world, draws: world.own.task
    """(scenario, world, draws [..., M]) -> `GroundOwn.task` after a decision that began in this world."""
    most_m_s: Callable[[Any, TeamWorld], Array] = lambda scenario, world: world.own.most_m_s
    """(scenario, world) -> [..., N] what robots may do at most."""
    sensed: Callable[[Any, TeamWorld], tuple] = lambda scenario, world: NothingSensed()
    """What robots are told besides; see `told`."""
    marks: Callable[[Any, TeamWorld], list[Mark]] = lambda scenario, world: []
    """(scenario, world of one episode) -> what a film shows besides."""
    roles: tuple[str, ...] = ()
    """That the team has to have; none where all robots are alike."""
    zones: tuple[str, ...] = ()
    """That the floor has to have."""
    cells: int = 1
    """Of the grid that each robot takes up at the start."""
    check: Callable[[Any, float], None] = lambda scenario, touch_m: None
    """(scenario, distance at which two robots touch) -> raises `ValueError` where they can't start so."""


def shuffled(scenario: Any, draws: Array, count: int) -> Array:
    """[..., count, 2] different cells of the start's grid, drawn by [..., cells] uniform numbers; `scattered`."""
    xp, start, arena = namespace(draws), scenario.start, scenario.arena
    middle = [(arena.low_m[i] + arena.high_m[i]) / 2 for i in (0, 1)]
    cells = xp.asarray(np.array(start.cells_m, np.float32) + np.array(middle, np.float32))
    return cells[xp.argsort(draws[..., : start.size], axis=-1)[..., :count]] + scattered(draws, count)


def scattered(draws: Array, count: int) -> Array:
    """[..., count, 2] up to 1 mm each way, of the last 2 count numbers: of mates that are as far away as each other,
    rounding would say who is nearer, and it is another on another machine."""
    off = SCATTER_M * (2 * draws[..., -2 * count :] - 1)
    return off.reshape(*off.shape[:-1], count, 2)


def world_of(scenario: Any, beginning: Beginning) -> TeamWorld:
    """The world at the start: everybody at rest, nobody commanded."""
    xp, zero = namespace(beginning.place_m), beginning.place_m[..., :1] * 0
    place, goal = (xp.concatenate([part, zero], -1) for part in (beginning.place_m, beginning.goal_m))
    most = zero[..., 0] + scenario.vehicle_config.limits.speed_m_s
    own = GroundOwn(xp.concatenate([place * 0, zero], -1), most, beginning.task)
    return placed(place, goal, own)._replace(quat_wxyz=quat_from_yaw(beginning.yaw_rad))


def per_step(scenario: Any, value: Array) -> Array:
    """What a reward "per step" of the published table is per second."""
    return value / scenario.reward_step_s


def once(scenario: Any, value: Array) -> Array:
    """What a reward that is given once, in one decision, is per second of that decision."""
    return value / scenario.period_s


def told(scenario: Any, world: TeamWorld, things: Array, carries: Array | None = None) -> FloorSensed:
    """What all robots sense: their own capability and load [..., N], and things [..., M, 3] that all are told of."""
    xp, zero = namespace(world.pos_m), world.pos_m[..., 0] * 0
    everybody = zero[..., None, None] + things[..., None, :, :]
    own = zero[..., None] + xp.asarray(scenario.capability)
    return FloorSensed(own, zero if carries is None else zero + carries, everybody)


def to_all(world: TeamWorld, value: Array) -> Array:
    """A number of the team [...] as one of every robot [..., N]."""
    return value[..., None] + world.pos_m[..., 0] * 0


def rows(place_m: Array, kind: Array) -> Array:
    """[..., M, 2] and [..., M] as [..., M, 3]."""
    return namespace(place_m).concatenate([place_m, kind[..., None]], -1)


def distances(world: TeamWorld, place_m: Array) -> Array:
    """[..., N, M] from every robot to places [..., M, 2]."""
    return norm(world.pos_m[..., :, None, :2] - place_m[..., None, :, :])
