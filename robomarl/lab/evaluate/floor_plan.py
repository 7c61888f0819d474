"""`FloorPlan`: drawing of the floor from above, for domains that draw films of their own."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from robomarl.core.config import UserError
from robomarl.core.types import Array
from robomarl.lab.scene.files import write_pictures

SUFFIXES = (".gif", ".png")
FPS = 10.0
"""Pictures of a film per second."""
Colour = str | tuple[int, ...]
"""A colour of Pillow."""


class FloorPlan:
    """Drawing with places in metres, x to the right and y upwards.

    Args:
        low_m: lowest corner of the drawn area, x and y.
        high_m: highest corner of the drawn area.
        pixels_per_m: scale.
        floor: colour of the floor.
    """

    def __init__(self, low_m: Sequence[float], high_m: Sequence[float], pixels_per_m: float, floor: Colour) -> None:
        """Draw the floor alone."""
        self._low_x, self._high_y, self._scale = low_m[0], high_m[1], pixels_per_m
        width, height = (round((high_m[i] - low_m[i]) * pixels_per_m) for i in (0, 1))
        self.image = Image.new("RGB", (width, height), floor)
        self._pen = ImageDraw.Draw(self.image)

    def pixels(self, place_m: Array) -> tuple[float, float]:
        """Return the pixel coordinates of a place [2 or more]."""
        return float(place_m[0] - self._low_x) * self._scale, float(self._high_y - place_m[1]) * self._scale

    def disc(self, place_m: Array, radius_m: float, **style: Any) -> None:
        """A circle; `style` is that of `PIL.ImageDraw`: fill, outline, width."""
        (x, y), r = self.pixels(place_m), radius_m * self._scale
        self._pen.ellipse([x - r, y - r, x + r, y + r], **style)

    def box(self, low_m: Array, high_m: Array, is_round: bool = False, **style: Any) -> None:
        """A rectangle, or the ellipse in it."""
        (left, bottom), (right, top) = self.pixels(low_m), self.pixels(high_m)
        draw = self._pen.ellipse if is_round else self._pen.rectangle
        draw([left, top, right, bottom], **style)

    def line(self, start_m: Array, end_m: Array, fill: Colour, width: int = 1) -> None:
        """Draw a line between two places."""
        self._pen.line([self.pixels(start_m), self.pixels(end_m)], fill=fill, width=width)

    def text(self, place_m: Array, words: str, fill: Colour) -> None:
        """Words, in the middle of which the place is."""
        self._pen.text(self.pixels(place_m), words, fill=fill, anchor="mm")

    def title(self, words: str, fill: Colour) -> None:
        """Words in the corner."""
        self._pen.text((8, 4), words, fill=fill)


def check_suffix(file: Path) -> None:
    """Raise `UserError` where the file is neither a film nor a picture that can be drawn from above."""
    if file.suffix.lower() not in SUFFIXES:
        raise UserError(f"{file}: pictures from above are .gif or .png; name the file so.")


def write_film(file: Path, count: int, rate_hz: float, draw: Callable[[int], FloorPlan], speed_up: float = 1.0) -> None:
    """Write a film of an episode, or for a .png one picture of its end.

    Args:
        file: .gif or .png.
        count: number of decisions of the episode.
        rate_hz: rate of the decisions.
        draw: number of a decision -> its picture.
        speed_up: factor by which the film runs faster than the episode.

    Raises:
        UserError: another suffix, or the file can't be written.
    """
    check_suffix(file)
    every = max(1, round(rate_hz * speed_up / FPS))
    shots = [] if file.suffix.lower() == ".png" else range(0, count - 1, every)
    write_pictures([draw(number).image for number in (*shots, count - 1)], file, FPS)
