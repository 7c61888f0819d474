"""`STAGING`: teams on the ground, their zones and the marks of their tasks, as viewers show them."""

from dataclasses import replace

import numpy as np

from robomarl.core.filter.tree import each
from robomarl.domains.ground.lab.film import EDGE, ZONE, colours_of
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks import task_of
from robomarl.domains.ground.lab.tasks.base import Mark
from robomarl.lab.scene import of_model
from robomarl.lab.scene.scene import RGB, Primitive, Scene, SceneMoment, Staging
from robomarl.lab.scene.solids import obstacle_part, strip
from robomarl.lab.sim.model import TeamWorld

LINE_M = 0.01
"""Width of the line around the arena."""


def scene(scenario: GroundScenario) -> Scene:
    """Return the floor with its zones, walls and robots, in the colours of films."""
    low, high = scenario.arena.low_m, scenario.arena.high_m
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    edges = [strip(a, b, LINE_M, EDGE) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    zones = [flat(np.array(z.middle_m), (np.array(z.high_m) - z.low_m) / 2, z.is_round, ZONE) for z in scenario.zones]
    walls = [obstacle_part(wall) for wall in scenario.arena.obstacles]
    colours = tuple(colours_of(scenario))
    plain = of_model.plain_scene(scenario)
    return replace(plain, low_m=low, high_m=high, solids=(*edges, *zones, *walls), colours=colours)


def moment(scenario: GroundScenario, world: TeamWorld, env: int) -> SceneMoment:
    """Return one episode of a batch of worlds, now, with the marks and the number of its task."""
    task, one = task_of(scenario), each(world, lambda leaf: np.array(leaf)[env])
    caption = f"{task.metric_name.replace('_', ' ')}: {float(task.metric(scenario, one)):.3g}"
    marks = tuple(marked(mark) for mark in task.marks(scenario, one))
    return of_model.moment(scenario, world, env)._replace(caption=caption, marks=marks)


def marked(mark: Mark) -> Primitive:
    """Return a mark of a task as a thin slab on the floor."""
    return flat(np.asarray(mark.place_m), np.array(mark.half_m), mark.is_round, mark.fill)


def flat(middle_m: np.ndarray, half_m: np.ndarray, is_round: bool, rgb: RGB) -> Primitive:
    """Return a slab on the floor around a place [2], half its size [2]."""
    x, y = middle_m[:2].tolist()
    a, b = half_m.tolist()
    if is_round:
        return Primitive("cylinder", (max(a, b), 0.0, 0.004), (x, y, 0.002), rgb=rgb)
    return Primitive("box", (2 * a, 2 * b, 0.004), (x, y, 0.002), rgb=rgb)


STAGING: Staging[GroundScenario, TeamWorld] = Staging(scene, moment, of_model.with_goal)
