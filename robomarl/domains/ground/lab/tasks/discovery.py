"""`discovery`: sensing robots find landmarks, tagging robots tag them.

Published: 2 sensing (0.45 m) and 2 tagging robots (0.25 m), 6 landmarks 0.5 m apart, 100 steps;
reward 1 for each that is sensed, 5 for each that is tagged, -0.05 per step until all are tagged,
shared. A role's capability: radius of sensing and of tagging [m]. Robots receive the place of a
landmark once it has been sensed, and here that it is tagged.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.ground.core.features import open_first
from robomarl.domains.ground.core.sensed import THINGS, FloorSensed
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks.base import (
    DONE,
    HIDDEN,
    OPEN,
    Beginning,
    DrawnPlaces,
    GroundTask,
    Mark,
    distances,
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

COUNT = THINGS["discovery"]
LANDMARK_GRID = (3.0, 1.8, 0.5)
"""Width, height and spacing of the cells that landmarks are in [m]."""
LANE_M, EDGE_M = 0.36, 0.3
"""Lane [m] of sensing robots along their half, near enough to the middle to see it, and its distance [m] from the
ends, in the script.
"""
FIRST_S, SWEEP_S = 17.0, 26.0
"""Time [s] of the first drive, to the left end, after which the robot goes to the right, and time [s] of each drive
back from then on.
"""
WAIT_M = (0.5, 0.85)
"""Waiting place of tagging robots, x and y of the robot on the right, out of the way of all robots."""


class Landmarks(NamedTuple):
    """Places of the landmarks, and the team's knowledge about each."""

    place_m: Array
    """[..., 6, 2]"""
    sensed: Array
    """[..., 6] 0 or 1."""
    tagged: Array
    """[..., 6] 0 or 1."""


def begin(scenario: GroundScenario, draws: Array) -> Beginning:
    """Robots in the grid, landmarks in a grid of their own over the whole arena."""
    size, count = scenario.start.size, scenario.count
    place, xp = shuffled(scenario, draws, count), namespace(draws)
    grid = _grid_m()
    turn = draws[..., size + count : size + count + len(grid)]
    cells = xp.asarray(grid.astype(np.float32))[xp.argsort(turn, axis=-1)[..., :COUNT]]
    none = cells[..., 0] * 0
    return Beginning(place, headings(scenario, draws), place, Landmarks(cells, none, none))


def _grid_m() -> np.ndarray:
    """[cells, 2] of the landmarks."""
    width, height, apart = LANDMARK_GRID
    x, y = (np.arange(int(side / apart + 1e-9)) for side in (width, height))
    return np.stack(np.meshgrid((x - x[-1] / 2) * apart, (y - y[-1] / 2) * apart), -1).reshape(-1, 2)


def drawn(scenario: GroundScenario) -> DrawnPlaces:
    """Return the cells of the landmarks; robots have to come within their radius."""
    return DrawnPlaces("landmark", _grid_m(), float(scenario.capability[:, :2].max(0).min()))


def update(scenario: GroundScenario, world: TeamWorld, draws: Array) -> Landmarks:
    """Mark the landmarks that are within the radius of a robot that can sense or tag."""
    xp, now, far = namespace(world.pos_m), world.own.task, distances(world, world.own.task.place_m)
    seen, tagged = ((far < scenario.capability[:, i : i + 1]).any(-2) for i in (0, 1))
    return now._replace(
        sensed=xp.maximum(now.sensed, seen.astype(now.sensed.dtype)),
        tagged=xp.maximum(now.tagged, tagged.astype(now.tagged.dtype)),
    )


def done(world: TeamWorld) -> Array:
    """[...] bool: all are tagged."""
    return (world.own.task.tagged > 0.5).all(-1)


def published(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the rewards of the published table."""
    old, new = before.own.task, after.own.task
    sense, tag = ((b - a).sum(-1) for a, b in ((old.sensed, new.sensed), (old.tagged, new.tagged)))
    terms = {"sense": once(scenario, sense), "tag": once(scenario, tag), "time": per_step(scenario, 1.0 - done(after))}
    return {name: to_all(after, value) for name, value in terms.items()}


def shaping(scenario: GroundScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Progress of tagging robots towards the nearest landmark that is sensed and not tagged."""
    task, xp = before.own.task, namespace(before.pos_m)
    open_now = ((task.sensed > 0.5) & (task.tagged < 0.5))[..., None, :]

    def nearest(world: TeamWorld) -> Array:
        return xp.where(open_now, distances(world, task.place_m), 9.0).min(-1)

    closer = (nearest(before) - nearest(after)) / scenario.period_s
    return {"progress": xp.where(open_now.any(-1) & (scenario.capability[:, 1] > 0), closer, 0.0)}


def sensed(scenario: GroundScenario, world: TeamWorld) -> FloorSensed:
    """Return the known landmarks: kind 1 sensed, 2 tagged; all remaining ones stay hidden."""
    task, xp = world.own.task, namespace(world.pos_m)
    known = task.sensed * (1 + task.tagged)
    return told(scenario, world, rows(xp.where(known[..., None] > 0, task.place_m, 0.0), known))


def target(scenario: GroundScenario, view: LocalView) -> Array:
    """Sensing robots sweep a half each; tagging robots take the nearest open landmark, or wait."""
    seen = received(view)
    side = np.where(seen.capability[..., 2] > 0.5, 1.0, -1.0)
    nearest = open_first(view)[..., 0, :]
    wait = np.stack([side * WAIT_M[0], side * WAIT_M[1]], -1)
    tag = np.where(nearest[..., 2:] == 1, nearest[..., :2], wait)
    return np.where((seen.capability[..., 1] > 0)[..., None], tag, _swept(scenario, view, side))


def _swept(scenario: GroundScenario, view: LocalView, side: Array) -> Array:
    """[..., 2] the end of its half that a sensing robot drives to now."""
    sweep = np.floor((view.time_s + SWEEP_S - FIRST_S) / SWEEP_S)
    low, high = scenario.arena.low_m[0] + EDGE_M, scenario.arena.high_m[0] - EDGE_M
    return np.stack([np.where(sweep % 2 == 0, low, high), side * LANE_M], -1)


def marks(scenario: GroundScenario, world: TeamWorld) -> list[Mark]:
    """All landmarks, the hidden ones too."""
    task = world.own.task
    known = (task.sensed * (1 + task.tagged)).astype(int)
    return [Mark(place, (0.05, 0.05), (HIDDEN, OPEN, DONE)[known[i]]) for i, place in enumerate(task.place_m)]


DISCOVERY = GroundTask(
    begin=begin,
    features=("elapsed", "place", "heading", "speed_and_turn", "landmarks", "capability", "mates_in_plane"),
    published=published,
    shaping=shaping,
    weights={"sense": 1.0, "tag": 5.0, "time": -0.05, "progress": 5.0},
    succeeded=lambda scenario, world: done(world),
    metric=lambda scenario, world: world.own.task.tagged.sum(-1),
    metric_name="landmarks_tagged",
    marks=marks,
    target=target,
    update=update,
    drawn=drawn,
    sensed=sensed,
    roles=("sensing", "tagging"),
)
