"""A match in pictures: the field from above, as a film (.gif) or with the whole ball path (.png)."""

from pathlib import Path

import numpy as np

from robomarl.domains.soccer.lab.evaluation.match import Track
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.evaluate.floor_plan import FloorPlan, check_suffix, write_pictures

PIXELS_PER_M = 100
MARGIN_M = 0.25
FPS = 12.5
TRAIL = 25
"""Decisions of the ball's path in a film."""
CARPET, LINE, BALL = (38, 105, 55), (230, 235, 230), (255, 130, 20)
TEAMS = ((45, 95, 220), (245, 210, 50))


def draw_match(track: Track, scenario: SoccerScenario, file: Path) -> None:
    """Write a film of the match, or one picture with the ball's path.

    Raises:
        UserError: another suffix than .gif or .png, or the file can't be written.
    """
    check_suffix(file)
    last = len(track.time_s) - 1
    stride = max(1, round(scenario.rates.policy_hz / FPS))
    if file.suffix.lower() == ".png":
        plans = [draw_frame(track, scenario, last, path_from=0)]
    else:
        plans = [draw_frame(track, scenario, i, max(0, i - TRAIL)) for i in range(0, last + 1, stride)]
    write_pictures([plan.image for plan in plans], file, FPS)


def draw_frame(track: Track, scenario: SoccerScenario, index: int, path_from: int) -> FloorPlan:
    """The field at one time, with the ball's path since another."""
    plan = draw_field(scenario)
    path = track.ball_m[path_from : index + 1]
    for start, end in zip(path[:-1], path[1:], strict=True):
        if np.hypot(*np.subtract(end, start)) < 0.5:  # a jump is a kick-off
            plan.line(start, end, BALL)
    for i, (x, y, heading) in enumerate(track.robots_m[index]):
        plan.disc((x, y), scenario.robot.body.radius_m, fill=TEAMS[i >= scenario.count])
        tip = (x + 0.09 * np.cos(heading), y + 0.09 * np.sin(heading))
        plan.line((x, y), tip, (20, 20, 20), 3)
    plan.disc(track.ball_m[index], 1.5 * scenario.ball.radius_m, fill=BALL)
    ours, theirs = track.goals[index]
    plan.title(f"{track.time_s[index]:5.1f} s   {int(ours)} : {int(theirs)}", LINE)
    return plan


def draw_field(scenario: SoccerScenario) -> FloorPlan:
    """Boards, middle line and goals."""
    area = scenario.field
    half, side, post = area.length_m / 2, area.width_m / 2, area.goal_width_m / 2
    edge = (half + MARGIN_M, side + MARGIN_M)
    plan = FloorPlan((-edge[0], -edge[1]), edge, PIXELS_PER_M, CARPET)
    plan.box((-half, -side), (half, side), outline=LINE, width=2)
    plan.line((0, side), (0, -side), LINE)
    for sign, team in ((-1, 0), (1, 1)):
        plan.line((sign * half, post), (sign * half, -post), TEAMS[team], 7)
    return plan
