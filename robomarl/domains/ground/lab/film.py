"""An episode in pictures: the floor from above, as a film (.gif) or with the whole of every robot's way (.png)."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import yaw_of
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks import task_of
from robomarl.lab.evaluate.floor_plan import FloorPlan, write_film
from robomarl.lab.sim.model import TeamWorld

Colour = tuple[int, int, int]
"""Red, green, blue, of 255."""

PIXELS_PER_M = 160
MARGIN_M = 0.12
SPEED_UP = 3.0
"""Factor by which a film runs faster than the robots, which are slow."""
TRAIL_S = 5.0
NUMBER_M = 0.03
"""Half of the space [m] that a number needs."""
SMALL_M = 0.12
"""Marks that are larger are ground, and have no edge."""
FLOOR, EDGE, INK, LOAD = (246, 246, 243), (90, 96, 102), (27, 33, 39), (250, 200, 40)
ZONE, ZONE_EDGE = (222, 232, 240), (150, 175, 195)
ROBOTS = ((0, 105, 180), (209, 86, 10), (0, 128, 95), (184, 69, 140))
"""Colours by role; by robot if all roles are alike."""
FILTERED = (196, 48, 28)
"""Colour of the ring around a robot with a command that the filter changes."""


class Frame(NamedTuple):
    """One decision."""

    world: TeamWorld
    """World of this episode, at the end of the decision."""
    active: np.ndarray
    """[N] bool: the filter changed the command."""
    metric: float
    """The task's number."""


def film(frames: list[Frame], scenario: GroundScenario, file: Path) -> None:
    """Write a film of the episode, or one picture of its end.

    Raises:
        UserError: another suffix than .gif or .png, or the file can't be written.
    """
    rate_hz = scenario.rates.policy_hz
    trail = len(frames) - 1 if file.suffix.lower() == ".png" else round(TRAIL_S * rate_hz)
    write_film(file, len(frames), rate_hz, lambda number: draw(frames, number, trail, scenario), SPEED_UP)


def draw(frames: list[Frame], index: int, trail: int, scenario: GroundScenario) -> FloorPlan:
    """The floor at one time, with the robots' ways since `trail` decisions before."""
    frame, task = frames[index], task_of(scenario)
    plan = draw_floor(scenario)
    for wall in scenario.arena.obstacles:
        low, high = np.array(wall.from_m[:2]), np.array((wall.to_m or wall.from_m)[:2])
        plan.box(low - wall.radius_m, high + wall.radius_m, wall.kind != "box", fill=EDGE)
    for mark in task.marks(scenario, frame.world):
        half = np.array(mark.half_m)
        plan.box(
            mark.place_m - half,
            mark.place_m + half,
            mark.is_round,
            fill=mark.fill,
            outline=EDGE if max(mark.half_m) < SMALL_M else None,
        )
        plan.text(mark.place_m, mark.words, INK)
    colours = colours_of(scenario)
    ways = np.stack([each.world.pos_m for each in frames[max(0, index - trail) : index + 1]])
    for robot, colour in enumerate(colours):
        for start, end in zip(ways[:-1, robot], ways[1:, robot], strict=True):
            plan.line(start, end, faint(colour))
    draw_robots(plan, frame, scenario, colours)
    number = f"{task.metric_name.replace('_', ' ')}: {frame.metric:.3g}"
    plan.title(f"{frame.world.step * scenario.period_s:5.1f} s   {number}", INK)
    return plan


def draw_floor(scenario: GroundScenario) -> FloorPlan:
    """The arena and its zones."""
    low, high = np.array(scenario.arena.low_m[:2]), np.array(scenario.arena.high_m[:2])
    plan = FloorPlan(list(low - MARGIN_M), list(high + MARGIN_M), PIXELS_PER_M, (255, 255, 255))
    plan.box(low, high, fill=FLOOR, outline=EDGE, width=2)
    for zone in scenario.zones:
        plan.box(zone.low_m, zone.high_m, zone.is_round, fill=ZONE, outline=ZONE_EDGE)
        plan.text(zone.middle_m, zone.name.replace("_", " "), EDGE)
    return plan


def draw_robots(plan: FloorPlan, frame: Frame, scenario: GroundScenario, colours: list[Colour]) -> None:
    """Draw bodies, headings and numbers beside them; red rings where the filter acts, a square on robots that carry
    something.
    """
    world, radius = frame.world, scenario.vehicle_config.body.radius_m
    beside = np.full(2, 0.7 * radius + NUMBER_M)
    carries = getattr(task_of(scenario).sensed(scenario, world), "carries", np.zeros(scenario.count))
    heading = yaw_of(world.quat_wxyz)
    for robot, colour in enumerate(colours):
        place = world.pos_m[robot, :2]
        ring = {"outline": FILTERED, "width": 3} if frame.active[robot] else {}
        plan.disc(place, radius, fill=colour, **ring)
        tip = place + radius * np.array([np.cos(heading[robot]), np.sin(heading[robot])])
        plan.line(place, tip, (255, 255, 255), 2)
        if carries[robot] > 0.5:
            plan.box(place - radius / 2, place + radius / 2, fill=LOAD, outline=INK)
        plan.text(place + beside, str(robot), INK)


def colours_of(scenario: GroundScenario) -> list[Colour]:
    """[N] of every robot."""
    roles = [index for index, role in enumerate(scenario.team) for _ in range(role.count)]
    kinds = roles if len(set(roles)) > 1 else range(scenario.count)
    return [ROBOTS[kind % len(ROBOTS)] for kind in kinds]


def faint(colour: Colour) -> tuple[int, ...]:
    """Return a mixture of a colour and the floor's colour."""
    return tuple((part + 2 * floor) // 3 for part, floor in zip(colour, FLOOR, strict=True))
