"""A match in pictures: the field from above, as a film (.gif) or with the whole ball path (.png)."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from robomarl.config import UserError
from robomarl.domains.soccer.evaluation.match import Track
from robomarl.domains.soccer.scenario import SoccerScenario

PIXELS_PER_M = 100
MARGIN_M = 0.25
FPS = 12.5
CARPET, LINE, BALL = (38, 105, 55), (230, 235, 230), (255, 130, 20)
TEAMS = ((45, 95, 220), (245, 210, 50))


def draw_match(track: Track, scenario: SoccerScenario, file: Path) -> None:
    """Write a film of the match, or one picture with the ball's path.

    Raises:
        UserError: another suffix than .gif or .png, or the file can't be written.
    """
    if file.suffix.lower() not in (".gif", ".png"):
        raise UserError(f"{file}: pictures of matches are .gif or .png; name the file so.")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix.lower() == ".png":
            image = draw_frame(track, scenario, len(track.time_s) - 1, path_from=0)
            image.save(file)
            return
        stride = max(1, round(scenario.rates.policy_hz / FPS))
        frames = [draw_frame(track, scenario, i, max(0, i - 25)) for i in range(0, len(track.time_s), stride)]
        images = [frame.quantize(32, dither=Image.Dither.NONE) for frame in frames]
        images[0].save(file, save_all=True, append_images=images[1:], duration=round(1000 / FPS), loop=0)
    except OSError as error:
        raise UserError(f"{file}: can't be written ({error}); name another file.") from None


def draw_frame(track: Track, scenario: SoccerScenario, index: int, path_from: int) -> Image.Image:
    """The field at one time, with the ball's path since another."""
    area = scenario.field
    size = tuple(round((part + 2 * MARGIN_M) * PIXELS_PER_M) for part in (area.length_m, area.width_m))
    image = Image.new("RGB", (size[0], size[1]), CARPET)
    pen = ImageDraw.Draw(image)
    draw_lines(pen, scenario)
    path = [to_pixels(scenario, point) for point in track.ball_m[path_from : index + 1]]
    for start, end in zip(path[:-1], path[1:], strict=True):
        if np.hypot(*np.subtract(end, start)) < PIXELS_PER_M / 2:  # a jump is a kick-off
            pen.line([start, end], fill=BALL, width=1)
    for i, (x, y, heading) in enumerate(track.robots_m[index]):
        disc(pen, scenario, (x, y), scenario.robot.body.radius_m, TEAMS[i >= scenario.count])
        tip = (x + 0.09 * np.cos(heading), y + 0.09 * np.sin(heading))
        pen.line([to_pixels(scenario, (x, y)), to_pixels(scenario, tip)], fill=(20, 20, 20), width=3)
    disc(pen, scenario, tuple(track.ball_m[index]), 1.5 * scenario.ball.radius_m, BALL)
    ours, theirs = track.goals[index]
    pen.text((8, 4), f"{track.time_s[index]:5.1f} s   {int(ours)} : {int(theirs)}", fill=LINE)
    return image


def draw_lines(pen: Any, scenario: SoccerScenario) -> None:
    """Boards, middle line and goals."""
    area = scenario.field
    half, side, post = area.length_m / 2, area.width_m / 2, area.goal_width_m / 2
    pen.rectangle([to_pixels(scenario, (-half, side)), to_pixels(scenario, (half, -side))], outline=LINE, width=2)
    pen.line([to_pixels(scenario, (0, side)), to_pixels(scenario, (0, -side))], fill=LINE, width=1)
    for sign, team in ((-1, 0), (1, 1)):
        ends = [to_pixels(scenario, (sign * half, y)) for y in (post, -post)]
        pen.line([ends[0], ends[1]], fill=TEAMS[team], width=7)


def disc(pen: Any, scenario: SoccerScenario, at: Any, radius_m: float, fill: tuple[int, int, int]) -> None:
    """A filled circle."""
    x, y = to_pixels(scenario, at)
    r = radius_m * PIXELS_PER_M
    pen.ellipse([x - r, y - r, x + r, y + r], fill=fill)


def to_pixels(scenario: SoccerScenario, point: Any) -> tuple[float, float]:
    """Place on the field [m] to pixels, y upwards."""
    area = scenario.field
    x = (point[0] + area.length_m / 2 + MARGIN_M) * PIXELS_PER_M
    return float(x), float((area.width_m / 2 + MARGIN_M - point[1]) * PIXELS_PER_M)
