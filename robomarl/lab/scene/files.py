"""Pictures to files: a GIF, an MP4, a smaller GIF of a GIF. Nothing about scenes here."""

import importlib
import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageSequence

from robomarl.core.config import UserError

COLOURS = 128
"""Colours of a GIF."""
LAST_MS = 1500
"""Time for which a GIF shows its last picture."""
SMALLER = ((640, 64, 1), (640, 32, 1), (520, 32, 1), (480, 32, 2), (400, 32, 3), (320, 32, 4), (240, 16, 6))
"""Width [pixels], colours, and pictures for each that stays: tried in order until a GIF is small enough."""


def check_film(file: Path) -> None:
    """Raise `UserError` if nothing here can write a film of that name."""
    suffix = file.suffix.lower()
    if suffix not in (".gif", ".png", ".mp4"):
        raise UserError(f"{file}: films are .gif, .mp4 or .png; name the file so.")
    if suffix == ".mp4" and importlib.util.find_spec("imageio_ffmpeg") is None:
        raise UserError(f"{file}: .mp4 needs imageio-ffmpeg; run: pip install imageio-ffmpeg, or name a .gif.")


def write_pictures(images: Iterable[Image.Image], file: Path, fps: float, samples: Sequence[Image.Image] = ()) -> None:
    """Write pictures as a film, or of a .png the last one. Folders are made.

    Args:
        images: taken one after the other, so that they need not all be in memory.
        file: .gif, .mp4 or .png.
        fps: pictures per second.
        samples: pictures that have all colours of a GIF; by default all pictures.

    Raises:
        UserError: the file can't be written.
    """
    suffix = file.suffix.lower()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if suffix == ".mp4":
            _write_mp4(images, file, fps)
        elif suffix == ".png":
            list(images)[-1].save(file)
        elif samples:
            write_gif(images, file, round(1000 / fps), _palette(samples, COLOURS))
        else:
            write_gif(every := list(images), file, round(1000 / fps), _palette(every, COLOURS))
    except OSError as error:
        raise UserError(f"{file}: can't be written ({error}); name another file.") from None


def write_gif(images: Iterable[Image.Image], file: Path, wait_ms: int, palette: Image.Image) -> None:
    """Write a GIF with one palette for all pictures, without dithering, so that still regions cost nothing."""
    flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    waits_ms = [wait_ms] * (len(flat) - 1) + [LAST_MS]
    flat[0].save(file, save_all=True, append_images=flat[1:], duration=waits_ms, loop=0, optimize=False)


def write_smaller_gif(film: Path, file: Path, most_bytes: int) -> None:
    """Write a GIF again with fewer pixels, colours and pictures, until the file has at most `most_bytes`."""
    for width, colours, every in SMALLER:
        with Image.open(film) as moving:
            wait_ms, size = int(moving.info.get("duration", 100)), (width, round(moving.height * width / moving.width))
            last = getattr(moving, "n_frames", 1) - 1
            kept = (shot for k, shot in enumerate(ImageSequence.Iterator(moving)) if k % every == 0 or k == last)
            small = [shot.convert("RGB").resize(size, Image.Resampling.LANCZOS) for shot in kept]
        write_gif(small, file, wait_ms * every, _palette(small, colours))
        if file.stat().st_size <= most_bytes:
            return


def _palette(images: Sequence[Image.Image], colours: int) -> Image.Image:
    """Return a picture whose palette fits to pictures: one half to large areas, the other to small robots."""
    some = Image.fromarray(np.concatenate([np.asarray(image) for image in images[:: max(1, len(images) // 8)]]))
    halves = [some.quantize(colours // 2, way) for way in (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE)]
    picture = Image.new("P", (1, 1))
    picture.putpalette([part for half in halves for part in (half.getpalette() or [])[: 3 * colours // 2]])
    return picture


def _write_mp4(images: Iterable[Image.Image], file: Path, fps: float) -> None:
    """Write an H.264 film that browsers play."""
    ffmpeg, writer = importlib.import_module("imageio_ffmpeg"), None  # not a requirement: GIF and PNG work without
    for image in images:
        if writer is None:
            writer = ffmpeg.write_frames(str(file), image.size, fps=fps, macro_block_size=2, quality=7)
            writer.send(None)
        writer.send(np.ascontiguousarray(np.asarray(image)))
    if writer is not None:
        writer.close()
