"""`write_film`: an episode as a film (.gif, .mp4) or as one picture with the whole ways of all robots (.png), by
MuJoCo's renderer, or from above where no GL library works."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from robomarl.core.config import UserError
from robomarl.lab.gl import find_gl
from robomarl.lab.scene.files import check_film, write_pictures
from robomarl.lab.scene.from_above import plans
from robomarl.lab.scene.picture import ScenePicture, View, pictures
from robomarl.lab.scene.scene import Scene, SceneMoment

SIZE = (1280, 720)
FPS = {".mp4": 20.0, ".gif": 10.0}
"""Pictures per second, by suffix, of films of up to `MOST_PICTURES`."""
MOST_PICTURES = 240
"""Longer films have fewer pictures per second, so that none takes minutes to draw."""
LEAST_FPS = 8.0
"""Still longer films run faster instead."""
SAMPLES = 6
"""Pictures from which the palette of a GIF is made."""
TRAIL_S = 2.0
"""Length of trails in a film, of the film's time."""
INK, PAPER = (27, 33, 39), (255, 255, 255)


def write_film(scene: Scene, moments: Sequence[SceneMoment], file: Path, caption: str = "") -> None:
    """Write a film at the pace of the scene, or a picture of the last moment with the whole ways.

    Args:
        scene: the fixed things.
        moments: an episode, oldest first.
        file: .gif, .mp4 or .png.
        caption: words in the corner, before the time and the moment's own words.

    Raises:
        UserError: another suffix, an empty episode, or a file that can't be written.
    """
    check_film(file)
    if not moments:
        raise UserError(f"{file}: the episode is empty; record one with at least one decision.")
    if file.suffix.lower() == ".png":
        write_pictures(captioned(scene, [View(moments[-1], moments)], SIZE, caption), file, 1.0)
        return
    fps, pace = paces(moments[-1].time_s - moments[0].time_s, FPS[file.suffix.lower()], scene.pace)
    words = caption if pace == 1 else f"{caption}   {pace:.3g} times as fast"
    views = film_views(moments, fps / pace, TRAIL_S * pace)
    samples = list(captioned(scene, views[:: max(1, len(views) // SAMPLES)], SIZE, words))
    write_pictures(captioned(scene, views, SIZE, words), file, fps, samples)


def paces(length_s: float, fps: float, pace: float) -> tuple[float, float]:
    """Return the pictures per second of a film, and the factor by which it runs faster than the robots.

    Args:
        length_s: of the episode.
        fps: pictures per second of a short film.
        pace: factor of a short film.
    """
    slower = min(fps, max(LEAST_FPS, MOST_PICTURES * pace / max(length_s, 1e-3)))
    return slower, max(pace, length_s * slower / MOST_PICTURES)


def film_views(moments: Sequence[SceneMoment], fps: float, trail_s: float = TRAIL_S) -> list[View]:
    """Return the pictures of a film: `fps` for each second of the episode, the last one its end.

    Args:
        moments: the episode.
        fps: pictures per second of the episode's time.
        trail_s: length of trails.
    """
    period_s = moments[1].time_s - moments[0].time_s if len(moments) > 1 else 1.0
    count = max(2, round((moments[-1].time_s - moments[0].time_s) * fps) + 1)
    steps = np.unique(np.linspace(0, len(moments) - 1, min(count, len(moments))).round().astype(int)).tolist()
    tail = round(trail_s / period_s)
    return [View(moments[step], moments[max(0, step - tail) : step + 1]) for step in steps]


def captioned(scene: Scene, views: Sequence[View], size: tuple[int, int], caption: str) -> Iterator[Image.Image]:
    """Yield pictures with names at things and a line of words in their corner; from above if no GL library works."""
    draw = pictures if find_gl() else plans
    for view, drawn in zip(views, draw(scene, views, size), strict=True):
        image = Image.fromarray(np.ascontiguousarray(drawn.pixels))
        pen = ImageDraw.Draw(image, "RGBA")
        _names(pen, scene, view.moment, drawn, _font(max(9, size[1] // 36)))
        words = "   ".join(part for part in (caption, f"{view.moment.time_s:.1f} s", view.moment.caption) if part)
        _headline(pen, words, _font(max(11, size[1] // 28)))
        yield image


def _names(
    pen: ImageDraw.ImageDraw, scene: Scene, moment: SceneMoment, drawn: ScenePicture, font: ImageFont.FreeTypeFont
) -> None:
    """Write the names of places in their middles, and those of robots at their upper right."""
    for label in (*scene.labels, *moment.labels):
        x, y = drawn.at(np.array([label.place_m]))[0].tolist()
        pen.text((x, y), label.words, fill=(*INK, 210), font=font, anchor="mm")
    beside = 0.5 * font.size
    for tag, (x, y) in zip(scene.tags, drawn.at(moment.pos_m).tolist(), strict=False):
        at = (x + 1.6 * beside, y - 1.8 * beside)
        pen.text(at, tag, fill=INK, font=font, anchor="lb", stroke_width=2, stroke_fill=(*PAPER, 200))


def _headline(pen: ImageDraw.ImageDraw, words: str, font: ImageFont.FreeTypeFont) -> None:
    """Write the line of words in the corner, on paper."""
    box = pen.textbbox((18, 14), words, font=font)
    pen.rounded_rectangle((box[0] - 10, box[1] - 7, box[2] + 10, box[3] + 7), radius=6, fill=(*PAPER, 215))
    pen.text((18, 14), words, fill=INK, font=font)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return Pillow's own font, so that films are equal on all machines."""
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont), "Pillow is built with FreeType, as its wheels are"
    return font
