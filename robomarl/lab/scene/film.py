"""`write_film`: an episode as a film (.gif, .mp4) or as one picture with the whole ways of all robots (.png), by
MuJoCo's renderer, or from above where no GL library works."""

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from robomarl.core.config import UserError
from robomarl.lab.gl import find_gl
from robomarl.lab.scene.from_above import plans
from robomarl.lab.scene.picture import View, pictures
from robomarl.lab.scene.scene import Scene, SceneMoment

MAX_BYTES = 1_000_000
"""Films larger than this are made again, smaller."""
TRAIL_S = 2.0
"""Length of trails in a film."""
INK, PAPER = (28, 33, 40), (255, 255, 255)


class FilmSize(NamedTuple):
    """Size of a film."""

    width: int
    height: int
    fps: float
    colours: int = 128
    """Number of colours in a GIF's palette."""


PICTURE = (1280, 720)
SIZES = {
    ".mp4": (FilmSize(1280, 720, 25), FilmSize(960, 540, 25), FilmSize(640, 360, 20)),
    ".gif": (
        FilmSize(640, 360, 12.5),
        FilmSize(480, 270, 12.5, 96),
        FilmSize(480, 270, 8, 64),
        FilmSize(400, 224, 8, 32),
        FilmSize(320, 180, 5, 16),
    ),
}
"""Tried in order until the file is small enough, by suffix."""


def check_film(file: Path) -> None:
    """Raise `UserError` if nothing here can write a film of that name."""
    suffix = file.suffix.lower()
    if suffix not in (".gif", ".png", ".mp4"):
        raise UserError(f"{file}: films are .gif, .mp4 or .png; name the file so.")
    if suffix == ".mp4" and importlib.util.find_spec("imageio_ffmpeg") is None:
        raise UserError(f"{file}: .mp4 needs imageio-ffmpeg; run: pip install imageio-ffmpeg, or name a .gif.")


def write_film(scene: Scene, moments: Sequence[SceneMoment], file: Path, caption: str = "", speed: float = 1.0) -> None:
    """Write a film in real time, or a picture of the last moment with the whole ways.

    Args:
        scene: the fixed things.
        moments: an episode, oldest first.
        file: .gif, .mp4 or .png.
        caption: words in the corner, before the time and the moment's own words.
        speed: factor by which the film runs faster than the episode.

    Raises:
        UserError: another suffix, an empty episode, or a file that can't be written.
    """
    check_film(file)
    if not moments:
        raise UserError(f"{file}: the episode is empty; record one with at least one decision.")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix.lower() == ".png":
            (picture,) = captioned(scene, [View(moments[-1], moments)], PICTURE, caption)
            picture.save(file)
            return
        for size in SIZES[file.suffix.lower()]:
            views = film_views(moments, size.fps / speed)
            write = _write_gif if file.suffix.lower() == ".gif" else _write_mp4
            write(file, list(captioned(scene, views, size[:2], caption)), size)
            if file.stat().st_size <= MAX_BYTES:
                return
    except OSError as error:
        raise UserError(f"{file}: can't be written ({error}); name another file.") from None


def film_views(moments: Sequence[SceneMoment], fps: float) -> list[View]:
    """Return the pictures of a film: `fps` for each second of the episode, the last one its end."""
    period_s = moments[1].time_s - moments[0].time_s if len(moments) > 1 else 1.0
    stride, tail = max(1, round(1 / (fps * period_s))), round(TRAIL_S / period_s)
    steps = [*range(0, len(moments) - 1, stride), len(moments) - 1]
    return [View(moments[step], moments[max(0, step - tail) : step + 1]) for step in steps]


def captioned(scene: Scene, views: Sequence[View], size: tuple[int, int], caption: str) -> Iterator[Image.Image]:
    """Yield pictures with a line of words in their corner; from above if no GL library works here."""
    draw = pictures if find_gl() else plans
    font = ImageFont.load_default(max(11, size[1] // 32))
    for view, pixels in zip(views, draw(scene, views, size), strict=True):
        image = Image.fromarray(np.ascontiguousarray(pixels))
        words = "   ".join(part for part in (caption, f"{view.moment.time_s:.1f} s", view.moment.caption) if part)
        pen = ImageDraw.Draw(image, "RGBA")
        box = pen.textbbox((14, 10), words, font=font)
        pen.rectangle((box[0] - 7, box[1] - 5, box[2] + 7, box[3] + 5), fill=(*PAPER, 190))
        pen.text((14, 10), words, fill=INK, font=font)
        yield image


def _write_gif(file: Path, images: Sequence[Image.Image], size: FilmSize) -> None:
    """Write a GIF with one palette for all pictures, without dithering, so that still regions cost nothing."""
    some = np.concatenate([np.asarray(image) for image in images[:: max(1, len(images) // 8)]])
    small_too = Image.Quantize.MAXCOVERAGE  # median cut would drop the colours of small robots
    palette = Image.fromarray(some).quantize(size.colours, small_too, dither=Image.Dither.NONE)
    flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    waits_ms = [round(1000 / size.fps)] * (len(flat) - 1) + [1500]
    flat[0].save(file, save_all=True, append_images=flat[1:], duration=waits_ms, loop=0, optimize=False)


def _write_mp4(file: Path, images: Sequence[Image.Image], size: FilmSize) -> None:
    ffmpeg = importlib.import_module("imageio_ffmpeg")  # not a requirement: GIF and PNG work without
    writer = ffmpeg.write_frames(str(file), size[:2], fps=size.fps, macro_block_size=2, quality=7)
    writer.send(None)
    for image in images:
        writer.send(np.ascontiguousarray(np.asarray(image)))
    writer.close()
