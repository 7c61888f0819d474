"""`GroundTask`: requirements of one scenario on its team. Array-generic; `...` is the batch, N the robots."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.geometry import namespace, norm, quat_from_yaw
from robomarl.core.types import Array
from robomarl.core.view import LocalView, NothingSensed
from robomarl.domains.ground.core.sensed import FloorSensed
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.lab.sim.model import TeamWorld, placed

HIDDEN, OPEN, DONE = (225, 225, 222), (255, 190, 110), (165, 214, 180)
"""Colours of things that robots do not know yet, that are to be done, and that are done."""
SCATTER_M = 1e-3
"""Scatter [m] of places about their cells."""


TaskState = Any
"""State of a task: a NamedTuple of arrays [..., ...], or (). Each task has a class of its own."""


class GroundOwn(NamedTuple):
    """State of a world of ground robots besides places and velocities."""

    command: Array
    """[..., N, 4] of the last decision: it is in force until the next one."""
    most_m_s: Array
    """[..., N] largest speed of each robot's commanded point."""
    task: TaskState
    """State of the task."""


class Mark(NamedTuple):
    """Mark of a task in a picture, besides robots and zones."""

    place_m: Array
    """[2] its middle."""
    half_m: tuple[float, float]
    """Half of its size."""
    fill: tuple[int, int, int]
    """Red, green, blue, of 255."""
    words: str = ""
    is_round: bool = True


class Beginning(NamedTuple):
    """Start of an episode."""

    place_m: Array
    """[..., N, 2]"""
    yaw_rad: Array
    """[..., N]"""
    goal_m: Array
    """[..., N, 2]; where a task has none, the robots' own places."""
    task: TaskState = ()
    """State of the task."""


class DrawnPlaces(NamedTuple):
    """Places that a task draws for robots to drive to."""

    name: str
    """Word for one of the places."""
    place_m: np.ndarray
    """[M, 2] all of them, or the corners of the areas from which they are drawn, world frame."""
    reach_m: float
    """Distance at which a robot has arrived."""
    beside: int = 1
    """Largest number of robots that rest at neighbouring places in one row ..."""
    spacing_m: float = np.inf
    """... and the least distance of two such places."""


@dataclass(frozen=True)
class GroundTask:
    """One task of ground robots. `scenario` is a `GroundScenario`."""

    begin: Callable[[GroundScenario, Array], Beginning]
    """(scenario, uniform draws [..., M]) -> the start."""
    features: tuple[str, ...]
    """Names of the features that a policy observes."""
    published: Callable[[GroundScenario, TeamWorld, TeamWorld], dict[str, Array]]
    """(scenario, before, after) -> the rewards of the published table, [..., N] per second."""
    shaping: Callable[[GroundScenario, TeamWorld, TeamWorld], dict[str, Array]]
    """(scenario, before, after) -> rewards that only training has, [..., N] per second."""
    weights: dict[str, float]
    """Weights of all those terms; the published ones have the table's weights."""
    succeeded: Callable[[GroundScenario, TeamWorld], Array]
    """[...] bool."""
    metric: Callable[[GroundScenario, TeamWorld], Array]
    """[...] the number that the table has besides, at the end of an episode."""
    metric_name: str
    target: Callable[[GroundScenario, LocalView], Array]
    """(scenario, view) -> [..., 2] where the scripted baseline drives to now."""
    update: Callable[[GroundScenario, TeamWorld, Array], TaskState] = lambda scenario, world, draws: world.own.task
    """(scenario, world, draws [..., M]) -> `GroundOwn.task` after a decision that began in this world."""
    most_m_s: Callable[[GroundScenario, TeamWorld], Array] = lambda scenario, world: world.own.most_m_s
    """(scenario, world) -> [..., N] largest speeds of the robots."""
    sensed: Callable[[GroundScenario, TeamWorld], tuple] = lambda scenario, world: NothingSensed()
    """(scenario, world) -> further data that robots receive; see `told`."""
    marks: Callable[[GroundScenario, TeamWorld], list[Mark]] = lambda scenario, world: []
    """(scenario, world of one episode) -> further marks in a film."""
    roles: tuple[str, ...] = ()
    """That the team has to have; none where all robots are alike."""
    zones: tuple[str, ...] = ()
    """That the floor has to have."""
    cells: int = 1
    """Number of cells of the grid that each robot takes up at the start."""
    drawn: Callable[[GroundScenario], DrawnPlaces | None] = lambda scenario: None
    """(scenario) -> places that are drawn for robots to drive to; None: no places are drawn."""
    check: Callable[[GroundScenario, float], None] = lambda scenario, touch_m: None
    """(scenario, distance at which two robots touch) -> raises `ValueError` where they can't start so."""


def cells_m(scenario: GroundScenario) -> np.ndarray:
    """[cells, 2] middles of all cells of the start's grid, world frame."""
    arena = scenario.arena
    middle = [(arena.low_m[i] + arena.high_m[i]) / 2 for i in (0, 1)]
    return np.array(scenario.start.cells_m, np.float32) + np.array(middle, np.float32)


def shuffled(scenario: GroundScenario, draws: Array, count: int) -> Array:
    """[..., count, 2] different cells of the start's grid, drawn by [..., cells] uniform numbers; `scattered`."""
    xp = namespace(draws)
    cells = xp.asarray(cells_m(scenario))
    return cells[xp.argsort(draws[..., : scenario.start.size], axis=-1)[..., :count]] + scattered(draws, count)


def scattered(draws: Array, count: int) -> Array:
    """Return offsets [..., count, 2] of up to 1 mm each way, from the last 2 count numbers. Without them, rounding
    would decide which of two equally distant teammates is nearer, and it differs between machines.
    """
    off = SCATTER_M * (2 * draws[..., -2 * count :] - 1)
    return off.reshape(*off.shape[:-1], count, 2)


def headings(scenario: GroundScenario, draws: Array, used: int = 0) -> Array:
    """Return headings [..., N] [rad], uniform over the circle.

    Args:
        scenario: its grid takes the first draws.
        draws: [..., M] uniform in [0, 1).
        used: number of draws behind those of the grid that the task takes for itself.
    """
    first = scenario.start.size + used
    return (draws[..., first : first + scenario.count] * 2 - 1) * np.pi


def received(view: LocalView) -> FloorSensed:
    """Return the floor's part of a view, in tasks whose robots receive it."""
    assert isinstance(view.sensed, FloorSensed), "a task with a floor message puts it into each view"
    return view.sensed


def world_of(scenario: GroundScenario, beginning: Beginning) -> TeamWorld:
    """Return the world at the start: all robots at rest, none commanded."""
    xp, zero = namespace(beginning.place_m), beginning.place_m[..., :1] * 0
    place, goal = (xp.concatenate([part, zero], -1) for part in (beginning.place_m, beginning.goal_m))
    most = zero[..., 0] + scenario.vehicle_config.limits.speed_m_s
    own = GroundOwn(xp.concatenate([place * 0, zero], -1), most, beginning.task)
    return placed(place, goal, own)._replace(quat_wxyz=quat_from_yaw(beginning.yaw_rad))


def per_step(scenario: GroundScenario, value: Array) -> Array:
    """Return the value per second of a reward "per step" of the published table."""
    return value / scenario.reward_step_s


def once(scenario: GroundScenario, value: Array) -> Array:
    """Return the value per second, over one decision, of a reward that is given once in that decision."""
    return value / scenario.period_s


def told(scenario: GroundScenario, world: TeamWorld, things: Array, carries: Array | None = None) -> FloorSensed:
    """Return the sensor data of all robots: their own capability and load [..., N], and things [..., M, 3] that all
    receive.
    """
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
