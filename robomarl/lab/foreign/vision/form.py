"""`PictureForm`: the form in which a network takes pictures, decided from its input and from what the user states."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robomarl.core.camera.strip import GroundStrip
from robomarl.core.config import UserError

ImageLayout = Literal["nchw", "nhwc"]
CHANNEL_AXES: dict[ImageLayout, int] = {"nchw": 0, "nhwc": 2}
"""Axis of the channels, behind the batch."""
ROWS = GroundStrip().rows
MAX_COLUMNS = 1024
"""A camera has about as many; the table of pixels of a wider strip takes long to make."""
Sizes = tuple[int | None, ...]
"""Size of each axis; None where the file leaves it open."""


@dataclass(frozen=True)
class PictureOptions:
    """The user's options for the pictures of a network, which its file does not state."""

    layout: ImageLayout | None = None
    """Order of the axes: planes first or last; by default as the sizes show."""
    channels: Literal["rgb", "bgr"] = "rgb"
    scale: Literal[1, 255] | None = None
    """Number of the brightest channel; a network of floats needs it."""
    mean: tuple[float, ...] = ()
    """Subtracted from each channel in the network's order, in units of `scale`; by default 0."""
    std: tuple[float, ...] = ()
    """Divisor of each channel behind it; by default 1."""
    columns: int | None = None
    """Columns of the robot's strip; by default the width of the network's picture."""
    outputs: tuple[str, ...] = ()
    """Outputs in the order of the numbers that the domain reads; by default the only one."""


@dataclass(frozen=True)
class PictureForm:
    """One picture as a network takes it."""

    layout: ImageLayout
    rows: int
    columns: int
    channels: Literal[1, 3]
    """1: grey as Pillow makes it of colours."""
    is_batched: bool
    """False for a network without an axis for the batch."""
    kind: np.dtype
    swapped: bool
    """True for blue, green, red."""
    scale: Literal[1, 255]
    mean: tuple[float, ...]
    """[channels]"""
    std: tuple[float, ...]
    """[channels]"""
    strip: GroundStrip
    """The strip that robots give, of which the picture is made."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the network's input for one picture."""
        places, planes = (self.rows, self.columns), (self.channels,)
        one = (*planes, *places) if self.layout == "nchw" else (*places, *planes)
        return (1, *one) if self.is_batched else one

    @property
    def resized(self) -> bool:
        """True where the picture has another size than the strip."""
        return (self.rows, self.columns) != self.strip.shape[:2]

    @property
    def told(self) -> str:
        """The form in words, for people and for the sealed file."""
        order = "grey" if self.channels == 1 else "bgr" if self.swapped else "rgb"
        size = f"{self.rows} x {self.columns} {order} {self.kind}"
        normal = f", mean {[*self.mean]}, std {[*self.std]}" if any(self.mean) or {*self.std} != {1.0} else ""
        of = f", resized from {self.strip.rows} x {self.strip.columns}" if self.resized else ""
        return f"{self.layout}, {size}, 0 to {self.scale}{normal}{of}"


def form_of(sizes: Sizes, kind: np.dtype, options: PictureOptions, where: str) -> PictureForm:
    """Decide the form of a network's pictures.

    Args:
        sizes: of the input's axes, with or without a batch.
        kind: type of its numbers.
        options: what the user states.
        where: file and input, for errors.

    Raises:
        UserError: the sizes are of no picture or of several forms, contradict an option, or an option is missing.
    """
    if len(sizes) == 4 and (sizes[0] or 1) > 1:
        raise UserError(f"{where}: reads {sizes[0]} pictures at once; export it with a batch of 1, or an open one.")
    layout = _layout(sizes[-3:], options, where)
    rows, columns, channels = sizes[-3:] if layout == "nhwc" else (*sizes[-2:], sizes[-3])
    strip = _strip(rows, columns, options.columns, where)
    planes: Literal[1, 3] = 1 if channels == 1 else 3
    mean, std = (_each(given, planes, usual, where) for given, usual in ((options.mean, 0.0), (options.std, 1.0)))
    made = PictureForm(
        layout=layout,
        rows=rows or ROWS,
        columns=columns or strip.columns,
        channels=planes,
        is_batched=len(sizes) == 4,
        kind=kind,
        swapped=options.channels == "bgr",
        scale=_scale(kind, options, where),
        mean=mean,
        std=std,
        strip=strip,
    )
    _check_made(made, where)
    return made


def _check_made(form: PictureForm, where: str) -> None:
    """Raise `UserError` for a form in which numbers would not be those of the user's own pictures."""
    if form.resized and form.kind.kind != "f":
        raise UserError(
            f"{where}: reads whole numbers, and resized strips are rounded by each library in its own way; export it "
            f"with floats, or for pictures of {ROWS} x {form.strip.columns}."
        )
    if form.swapped and form.channels == 1:
        raise UserError(f"{where}: reads grey pictures, which have no --image-channels bgr; leave it out.")


def is_picture(sizes: Sizes) -> bool:
    """Return True if an input of these sizes can be pictures: height, width and channels, with or without a batch."""
    return len(sizes) in (3, 4)


def _layout(sizes: Sizes, options: PictureOptions, where: str) -> ImageLayout:
    """Find the axis of the channels: it has 3 places, or 1 for grey."""
    found: list[ImageLayout] = [layout for layout in CHANNEL_AXES if sizes[CHANNEL_AXES[layout]] in (1, 3)]
    told, stated = " x ".join("?" if size is None else str(size) for size in sizes), options.layout
    if stated is not None:
        if sizes[CHANNEL_AXES[stated]] not in (1, 3, None):
            raise UserError(
                f"{where}: reads {told}, which has no 3 colours, nor 1 grey, where --image-layout {stated} has the "
                "channels; state the other layout, or export a network of single pictures."
            )
        return stated
    if len(found) == 1:
        return found[0]
    if found or None in sizes:
        raise UserError(f"{where}: reads {told}, which may be either layout; add --image-layout nchw or nhwc.")
    raise UserError(
        f"{where}: reads {told}, where no axis has 3 colours or 1 grey; export a network of single pictures, not of "
        "several in a row."
    )


def _strip(rows: int | None, columns: int | None, stated: int | None, where: str) -> GroundStrip:
    """Find the strip that the picture is, or is resized from."""
    if stated is None and (columns is None or rows not in (ROWS, None)):
        told = " x ".join("?" if size is None else str(size) for size in (rows, columns))
        raise UserError(
            f"{where}: reads pictures of {told} (rows x columns), and robots give a network ground strips of {ROWS} "
            "rows, not the camera's picture; train it on strips (docs/eyes.md), and if it was, add --strip-columns "
            "with the columns of the strips that were resized to this size."
        )
    count = stated or columns or 1
    if max(count, rows or 0, columns or 0) > MAX_COLUMNS:
        raise UserError(f"{where}: reads more than {MAX_COLUMNS} rows or columns; train it on smaller pictures.")
    return GroundStrip(columns=count)


def _scale(kind: np.dtype, options: PictureOptions, where: str) -> Literal[1, 255]:
    if kind.kind in "iu":
        if np.iinfo(kind).max < 255:
            raise UserError(
                f"{where}: reads {kind}, which ends at {np.iinfo(kind).max}, and a strip's channels go to 255; "
                "export it with uint8 or with floats."
            )
        if options.scale == 1 or options.mean or options.std:
            raise UserError(
                f"{where}: reads whole numbers ({kind}), which have no --image-scale 1, --image-mean or --image-std; "
                "leave these out."
            )
        return 255
    if kind != np.float32:
        raise UserError(f"{where}: reads {kind}, which no picture has; export it with floats or bytes.")
    if options.scale is None:
        raise UserError(
            f"{where}: reads floats, and a file does not say whether white is 1 or 255; add --image-scale 1 or "
            "--image-scale 255."
        )
    return options.scale


def _each(given: tuple[float, ...], channels: int, usual: float, where: str) -> tuple[float, ...]:
    if not given:
        return (usual,) * channels
    if not all(map(math.isfinite, given)):
        raise UserError(f"{where}: --image-mean or --image-std has a number that is not finite; give plain numbers.")
    if len(given) not in (1, channels):
        raise UserError(
            f"{where}: has {channels} channels, and --image-mean or --image-std has {len(given)} numbers; give one "
            "for each channel, or one for all."
        )
    return given * (channels // len(given))
