"""The log-polar ground strip: a small picture whose columns are azimuths and whose rows are ranges on the ground.

A row of the lower part is a constant fraction of the range, so a thing on the ground has the same height in rows
at every distance, and a network of 96 x 32 cells sees as far as a pinhole picture of many more. A camera's picture
is brought into the strip by a table of pixels and weights that depends on the camera alone. Row 0 is the top.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robomarl.core.camera.camera import FloatArray, PinholeCamera
from robomarl.core.config import UserError

Picture8 = NDArray[np.uint8]
SAMPLES = 3
"""Number of rays along each side of a cell; the cell is the mean of all its rays."""
KEPT = 12
"""Pixels that a cell is made of, at most: the heaviest."""


@dataclass(frozen=True)
class GroundStrip:
    """Which cell of the strip sees which direction."""

    columns: int = 96
    """Columns, equal in azimuth, the first at the left."""
    ground_rows: int = 27
    """Rows below, equal in the logarithm of the range on the ground."""
    above_rows: int = 5
    """Rows above, equal in elevation."""
    azimuth_rad: float = 2.2
    """Whole angle of all columns, symmetric about the body's x axis."""
    near_m: float = 0.03
    """Range at the lower edge of the last row, from the point below the camera."""
    far_m: float = 7.0
    """Range at the upper edge of the first row of ground."""
    top_rad: float = 0.2
    """Elevation of the upper edge of row 0."""

    @property
    def rows(self) -> int:
        """All rows."""
        return self.above_rows + self.ground_rows

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns, channels of the picture."""
        return self.rows, self.columns, 3

    def cell(self, range_m: FloatArray, azimuth_rad: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return row and column, with fractions, of places on the ground: 0.5 is the middle of the first cell.

        Args:
            range_m: [...] distance on the ground from the point below the camera.
            azimuth_rad: [...] counter-clockwise from the body's x axis.
        """
        share = np.log(self.far_m / np.asarray(range_m)) / math.log(self.far_m / self.near_m)
        column = (0.5 - np.asarray(azimuth_rad) / self.azimuth_rad) * self.columns
        return self.above_rows + self.ground_rows * share, column

    def place(self, row: FloatArray, column: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return range [m] and azimuth [rad] of cells, the inverse of `cell`."""
        share = (np.asarray(row) - self.above_rows) / self.ground_rows
        range_m = self.far_m * np.exp(-share * math.log(self.far_m / self.near_m))
        return range_m, (0.5 - np.asarray(column) / self.columns) * self.azimuth_rad

    def directions(self, row: FloatArray, column: FloatArray, height_m: float) -> FloatArray:
        """Return the direction [..., 3] of cells with fractions, body frame, for a camera at that height."""
        row = np.asarray(row, np.float64)
        range_m, azimuth = self.place(np.maximum(row, self.above_rows), column)
        lowest = -math.atan2(height_m, self.far_m)
        above = self.top_rad + (lowest - self.top_rad) * row / max(self.above_rows, 1)
        elevation = np.where(row < self.above_rows, above, -np.arctan2(height_m, range_m))
        flat = np.cos(elevation)
        return np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], -1)


class StripTable(NamedTuple):
    """The pixels of a camera that each cell of the strip is made of."""

    pixel: NDArray[np.intp]
    """[K, R, C] index into the picture's pixels, row by row."""
    weight: NDArray[np.float32]
    """[K, R, C, 3] share of that pixel in each channel; the sum is 1, or 0 where the camera does not see the cell."""
    size: tuple[int, int]
    """Height and width of the camera's picture."""


def strip_table(camera: PinholeCamera, strip: GroundStrip) -> StripTable:
    """Return the table of a camera: `SAMPLES` x `SAMPLES` rays a cell, each interpolated between four pixels."""
    offsets = (np.arange(SAMPLES) + 0.5) / SAMPLES
    row, column, down, right = np.meshgrid(
        np.arange(strip.rows), np.arange(strip.columns), offsets, offsets, indexing="ij"
    )
    row, column = np.asarray(row + down, np.float64), np.asarray(column + right, np.float64)
    pixels = camera.pixels(strip.directions(row, column, camera.place_m[2]))
    pixels = pixels.reshape(strip.rows * strip.columns, SAMPLES**2, 2)
    found = [_heaviest(*_between(camera, cell)) for cell in pixels]
    index, weight = (np.array(part).T.reshape(KEPT, *strip.shape[:2]) for part in zip(*found, strict=True))
    size = camera.height, camera.width
    return StripTable(np.ascontiguousarray(index, np.intp), weight.astype(np.float32)[..., None].repeat(3, -1), size)


def to_strip(image: Picture8, table: StripTable) -> Picture8:
    """Return the strip [R, C, 3] of a picture [H, W, 3] of the table's camera.

    Raises:
        UserError: the picture has another size or type.
    """
    if image.shape != (*table.size, 3) or image.dtype != np.uint8:
        wide = "x".join(map(str, image.shape))
        raise UserError(
            f"The picture is {wide} {image.dtype}; the camera of the vehicle file makes {table.size[0]}x"
            f"{table.size[1]}x3 uint8, so set the driver to that size and to rgb8."
        )
    total = np.zeros(table.weight.shape[1:], np.float32)
    for pixel, weight in zip(table.pixel, table.weight, strict=True):  # so little at once that it stays in the cache
        total += np.take(image.reshape(-1, 3), pixel, 0, mode="clip").astype(np.float32) * weight
    return np.rint(total, out=total).astype(np.uint8)


def _between(camera: PinholeCamera, pixels: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """Return index and weight of the four pixels around each of [S, 2] places; the weight is 0 outside."""
    column, row = pixels.T
    inside = (column >= 0) & (column <= camera.width - 1) & (row >= 0) & (row <= camera.height - 1)
    column, row = np.where(inside, column, 0.0), np.where(inside, row, 0.0)
    left = np.minimum(column.astype(int), camera.width - 2)
    top = np.minimum(row.astype(int), camera.height - 2)
    across, along = column - left, row - top
    first = top * camera.width + left
    index = np.stack([first, first + 1, first + camera.width, first + camera.width + 1])
    weight = np.stack([(1 - across) * (1 - along), across * (1 - along), (1 - across) * along, across * along])
    return index.ravel(), (weight * inside).ravel()


def _heaviest(index: NDArray[np.int64], weight: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the `KEPT` heaviest pixels, each once, with weights that add up to 1 (or 0)."""
    once, at = np.unique(index, return_inverse=True)
    total = np.bincount(at.ravel(), weight, len(once))
    pick = np.argsort(-total, kind="stable")[:KEPT]
    room = KEPT - len(pick)
    found, share = np.pad(once[pick], (0, room)), np.pad(total[pick], (0, room))
    return found, share / max(float(share.sum()), 1e-12)
