"""Films and pictures of a flight: by MuJoCo where a GL library works, by matplotlib where none does.

render_video(log, scenario, Path("flight.gif"))     also .png (the whole flight in one picture) and .mp4
"""

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image

from robomarl.core.config import UserError
from robomarl.core.log import FlightLog
from robomarl.domains.flight.lab.render.shots import Shot, film_shots
from robomarl.domains.flight.lab.scenario import FlightScenario

MAX_BYTES = 1_000_000
"""Films larger than this are made again, smaller."""

Backend = Literal["auto", "mujoco", "matplotlib"]


class Size(NamedTuple):
    """Size of a film."""

    width: int = 480
    height: int = 360
    fps: float = 12.5
    colors: int = 96
    """Number of colours in a GIF's palette."""


SIZES = (Size(), Size(400, 300, 10, 48), Size(320, 240, 8, 32), Size(240, 180, 5, 16))
"""Tried in order until the file is small enough."""


def render_video(log: FlightLog, scenario: FlightScenario, file: Path, backend: Backend = "auto") -> None:
    """Write a film, or one picture with the whole flight's trails.

    Args:
        log: the flight.
        scenario: where it was flown.
        file: .gif, .png or .mp4.
        backend: which renderer; "auto" takes MuJoCo if it can draw here.

    Raises:
        UserError: another suffix, an empty flight, .mp4 without `imageio-ffmpeg`, or the file can't be written.
    """
    check_suffix(file)
    if not len(log.time_s):
        raise UserError(f"{file}: the flight is empty; record an episode with at least one decision.")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix.lower() == ".png":
            whole = [Shot(len(log.time_s) - 1, 0)]
            Image.fromarray(next(render_frames(log, scenario, whole, (960, 720), backend))).save(file)
        else:
            _write_film(log, scenario, file, backend)
    except OSError as error:
        raise UserError(f"{file}: can't be written ({error}); name another file.") from None


def check_suffix(file: Path) -> None:
    """Raise `UserError` where a file's suffix is that of no film, or of one that nothing here can write."""
    suffix = file.suffix.lower()
    if suffix not in (".gif", ".png", ".mp4"):
        raise UserError(f"{file}: films are .gif, .mp4 or .png; name the file so.")
    if suffix == ".mp4" and importlib.util.find_spec("imageio_ffmpeg") is None:
        raise UserError(f"{file}: .mp4 needs imageio-ffmpeg; run: pip install imageio-ffmpeg, or name a .gif.")


def render_frames(
    log: FlightLog,
    scenario: FlightScenario,
    shots: Sequence[Shot],
    size: tuple[int, int] = (480, 360),
    backend: Backend = "auto",
) -> Iterator[np.ndarray]:
    """Pictures [height, width, 3] uint8, one for each shot.

    Args:
        log: the flight.
        scenario: where it was flown.
        shots: which times.
        size: width and height [pixels].
        backend: which renderer.
    """
    if backend != "matplotlib":
        from robomarl.domains.flight.lab.render.mujoco import mujoco_frames
        from robomarl.lab.gl import find_gl

        if backend == "mujoco" or find_gl():
            return mujoco_frames(log, scenario, shots, size)
    from robomarl.domains.flight.lab.render.matplotlib import plot_frames

    return plot_frames(log, scenario, shots, size)


def _write_film(log: FlightLog, scenario: FlightScenario, file: Path, backend: Backend) -> None:
    for size in SIZES:
        frames = list(render_frames(log, scenario, film_shots(log, size.fps), size[:2], backend))
        write = _write_gif if file.suffix.lower() == ".gif" else _write_mp4
        write(file, frames, size)
        if file.stat().st_size <= MAX_BYTES:
            return


def _write_gif(file: Path, frames: list[np.ndarray], size: Size) -> None:
    """Write a GIF with one palette for all pictures, without dithering, so that still regions cost nothing."""
    some = np.concatenate(frames[:: max(1, len(frames) // 8)])
    small_too = Image.Quantize.MAXCOVERAGE  # median cut would drop the colours of small robots
    palette = Image.fromarray(some).quantize(size.colors, small_too, dither=Image.Dither.NONE)
    images = [Image.fromarray(f).quantize(palette=palette, dither=Image.Dither.NONE) for f in frames]
    waits_ms = [round(1000 / size.fps)] * (len(images) - 1) + [1500]
    images[0].save(file, save_all=True, append_images=images[1:], duration=waits_ms, loop=0, optimize=False)


def _write_mp4(file: Path, frames: list[np.ndarray], size: Size) -> None:
    ffmpeg = importlib.import_module("imageio_ffmpeg")  # not a requirement: GIF and PNG work without
    writer = ffmpeg.write_frames(str(file), size[:2], fps=size.fps, macro_block_size=2, quality=7)
    writer.send(None)
    for frame in frames:
        writer.send(np.ascontiguousarray(frame))
    writer.close()
