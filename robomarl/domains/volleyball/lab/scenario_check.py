"""`check_scenario`: the sections of a volleyball scenario's file against each other and the vehicle."""

import itertools

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.domains.volleyball.core.sensed import LOST_S, TURNS
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks import task_of
from robomarl.domains.volleyball.lab.tasks.base import VolleyTask

WITH_BALL = ("racket", "ball", "ball_sensor")
"""Sections of a task in which a ball is played; a scenario has all of them or none."""

HIGHEST_M = 10.0
"""Height [m] of the highest target: more than twice that of the highest pass which ships."""


def check_scenario(scenario: VolleyScenario, file: str) -> None:
    """Check the sections against each other.

    Raises:
        UserError: the vehicle does not fly, a section of the task is missing or of another task, anchors are too few,
            too close or outside of the court, or the ball does not begin above the racket.
    """
    vehicle = load_vehicle(scenario.vehicle, scenario.estimator or "")
    try:
        task = task_of(scenario)
        check_sections(scenario, task.has_ball)
        check_own(scenario, task)
        check_places(scenario)
        check_anchors(scenario, vehicle.safety.separation_m)
        check_ball(scenario)
        if scenario.count > TURNS:
            raise ValueError(f"count = {scenario.count} robots; task = {scenario.task!r} has at most {TURNS}.")
    except ValueError as error:
        raise UserError(f"{file}: {error}") from None


def check_sections(scenario: VolleyScenario, has_ball: bool) -> None:
    """Raise `ValueError` where a section is missing; `has_ball`: a ball is played in the task."""
    there = [name for name in WITH_BALL if getattr(scenario, name) is not None]
    missing = [name for name in WITH_BALL if name not in there]
    if there and missing:
        raise ValueError(
            f"has [{there[0]}] and no [{missing[0]}]; add [{missing[0]}], or remove [{'], ['.join(there)}]."
        )
    if missing and has_ball:
        raise ValueError(f"task = {scenario.task!r} is played with a ball and has no [{missing[0]}]; add it.")


def check_own(scenario: VolleyScenario, task: VolleyTask) -> None:
    """Raise `ValueError` where a section of the task itself is missing, or one is there that it does not have."""
    if (count := len(scenario.waypoints_m)) < task.least_waypoints:
        raise ValueError(f"waypoints_m has {count} places; the robot flies between {task.least_waypoints} or more.")
    if scenario.waypoints_m and not task.least_waypoints:
        raise ValueError(f"task = {scenario.task!r} flies to no way-points; remove waypoints_m.")
    if task.is_alone and scenario.count != 1:
        raise ValueError(f"count = {scenario.count}: task = {scenario.task!r} is flown by one robot; make count 1.")
    if task.has_aim and scenario.aim is None:
        raise ValueError(f"task = {scenario.task!r} has a target and no [aim]; add it with place_m and within_m.")
    if scenario.aim and not task.has_aim:
        raise ValueError(f"task = {scenario.task!r} has no target that [aim] could name; remove [aim].")
    if scenario.start.posts_within_m and not task.has_posts:
        raise ValueError(
            f"task = {scenario.task!r} has no posts that start.posts_within_m could bound; remove start.posts_within_m."
        )
    if scenario.incoming and scenario.ball is None:
        raise ValueError("has [incoming] and no [ball]; add [ball], or remove [incoming].")


def check_places(scenario: VolleyScenario) -> None:
    """Raise `ValueError` where the target, or the ball at the start, is where no ball can be."""
    if (aim := scenario.aim) and not 0 < aim.place_m[2] <= HIGHEST_M:
        raise ValueError(
            f"aim.place_m has the height {aim.place_m[2]:g} m, through which no hit lets the ball fall; "
            f"make it more than 0 and at most {HIGHEST_M:g}."
        )
    if (coming := scenario.incoming) and (ball := scenario.ball):
        least_m = ball.radius_m + coming.place_spread_m[2]
        if coming.place_m[2] < least_m:
            raise ValueError(
                f"incoming.place_m has the height {coming.place_m[2]:g} m, from which the ball may begin in the "
                f"ground; make it at least {least_m:g}, which is ball.radius_m and that of incoming.place_spread_m."
            )


def check_anchors(scenario: VolleyScenario, separation_m: float) -> None:
    """Raise `ValueError` where anchors are too few, outside of the court, or nearer to each other than a distance."""
    anchors, court = scenario.start.anchors_m, scenario.court
    if len(anchors) != scenario.count:
        raise ValueError(
            f"start.anchors_m has {len(anchors)} places and count = {scenario.count} robots; give each robot one."
        )
    for x, y, _ in anchors:
        if abs(x) > court.length_m / 2 or abs(y) > court.width_m / 2:
            raise ValueError(
                f"court of {court.length_m:g} x {court.width_m:g} m is smaller than its anchors: ({x:g}, {y:g}) of "
                f"start.anchors_m is outside; make length_m at least {2 * abs(x):g} and width_m {2 * abs(y):g}."
            )
    spread = scenario.start.spread_m
    for one, two in itertools.combinations(anchors, 2):
        gap = max(0.0, *(abs(a - b) - 2 * s for a, b, s in zip(one, two, spread, strict=True)))
        if gap < separation_m:
            raise ValueError(
                f"start.anchors_m: robots may start {gap:g} m apart, nearer than safety.separation_m = {separation_m:g}"
                " m of the vehicle; move the anchors, or lower start.spread_m."
            )


def check_ball(scenario: VolleyScenario) -> None:
    """Raise `ValueError` where the ball would begin inside the racket, could not bounce, or would always be lost."""
    ball, racket = scenario.ball, scenario.racket
    if ball is None or racket is None:
        return
    if scenario.start.ball_above_m <= ball.radius_m + racket.above_m:
        raise ValueError(
            f"start.ball_above_m = {scenario.start.ball_above_m:g} must be above {ball.radius_m + racket.above_m:g}, "
            "where the ball touches the racket."
        )
    if scenario.randomize.restitution[0] <= 0:
        raise ValueError("randomize.restitution must be above 0; a ball with 0 does not bounce.")
    check_tracking(scenario)


def check_tracking(scenario: VolleyScenario) -> None:
    """Raise `ValueError` where drones behind ROS would take the ball for lost always: none of its messages arrives, or
    each one is older than `LOST_S` before the next one comes.
    """
    sensor, most_s = scenario.ball_sensor, LOST_S - scenario.period_s
    if sensor is None:
        return
    if sensor.loss >= 1:
        raise ValueError("ball_sensor.loss = 1: no message of the ball arrives, and it is always lost; lower it.")
    if sensor.latency_s >= most_s - 1e-9:
        raise ValueError(
            f"ball_sensor.latency_s = {sensor.latency_s:g} s: a ball of {LOST_S:g} s ago is lost, and messages are "
            f"{scenario.period_s:g} s apart, so it would always be lost; make latency_s less than {most_s:g}."
        )
