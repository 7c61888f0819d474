"""`STAGING`: teams on the ground, their zones and the marks of their tasks, as viewers show them."""

from dataclasses import replace

import numpy as np

from robomarl.core.tree import each
from robomarl.core.types import Array
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks import task_of
from robomarl.domains.ground.lab.tasks.base import Mark
from robomarl.lab.scene import of_model
from robomarl.lab.scene.palette import team_colours
from robomarl.lab.scene.scene import RGB, Label, Point, Primitive, Scene, SceneMoment, Staging
from robomarl.lab.scene.solids import obstacle_part, strip
from robomarl.lab.sim.model import TeamWorld

LINE_M = 0.01
"""Width of the line around the arena."""
PACE = 3.0
"""Factor by which films run faster than the robots, which are slow."""
EDGE: RGB = (90, 96, 102)
ZONE: RGB = (206, 221, 234)
LOAD: RGB = (250, 200, 40)


def scene(scenario: GroundScenario) -> Scene:
    """Return the floor with its zones, walls and robots, in the colours of films."""
    low, high = scenario.arena.low_m, scenario.arena.high_m
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    edges = [strip(a, b, LINE_M, EDGE) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    zones = [flat(np.array(z.middle_m), (np.array(z.high_m) - z.low_m) / 2, z.is_round, ZONE) for z in scenario.zones]
    walls = [obstacle_part(wall) for wall in scenario.arena.obstacles]
    colours = tuple(colours_of(scenario))
    plain = of_model.plain_scene(scenario)
    return replace(
        plain,
        low_m=low,
        high_m=high,
        solids=(*zones, *edges, *walls),
        colours=colours,
        tags=tuple(str(robot) for robot in range(scenario.count)),
        labels=tuple(Label(on_floor(z.middle_m), z.name.replace("_", " ")) for z in scenario.zones),
        goals="goal_offset" in task_of(scenario).features,
        pace=PACE,
    )


def colours_of(scenario: GroundScenario) -> list[RGB]:
    """Return [N] the colour of each robot: by role, or by robot if all roles are alike."""
    roles = [index for index, role in enumerate(scenario.team) for _ in range(role.count)]
    kinds = roles if len(set(roles)) > 1 else range(scenario.count)
    colours = team_colours(max(kinds) + 1)
    return [colours[kind] for kind in kinds]


def moment(scenario: GroundScenario, world: TeamWorld, env: int) -> SceneMoment:
    """Return one episode of a batch of worlds, now, with the marks and the number of its task."""
    task, one = task_of(scenario), each(world, lambda leaf: np.array(leaf)[env])
    caption = f"{task.metric_name.replace('_', ' ')}: {float(task.metric(scenario, one)):.3g}"
    marks = task.marks(scenario, one)
    shown = of_model.moment(scenario, world, env)
    return shown._replace(
        caption=caption,
        marks=(*(marked(mark) for mark in marks), *loads(scenario, one)),
        labels=tuple(Label(on_floor(mark.place_m), mark.words) for mark in marks if mark.words),
    )


def loads(scenario: GroundScenario, world: TeamWorld) -> list[Primitive]:
    """Return a box on each robot that carries something."""
    radius = scenario.vehicle_config.body.radius_m
    carries = np.asarray(getattr(task_of(scenario).sensed(scenario, world), "carries", np.zeros(scenario.count)))
    places = np.asarray(world.pos_m)[carries > 0.5] + (0, 0, 1.3 * radius)
    return [
        Primitive("box", (1.1 * radius, 1.1 * radius, 1.1 * radius), (x, y, z), rgb=LOAD) for x, y, z in places.tolist()
    ]


def on_floor(place_m: Array) -> Point:
    """Return a place [2] with its height, 0."""
    x, y = np.asarray(place_m, float).tolist()
    return x, y, 0.0


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
