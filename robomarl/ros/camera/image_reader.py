"""`ImageReader`: messages of a robot's camera become strips and the network's outputs, or are refused with a sentence.

A refused picture ages its source as if nothing had come, so that a covered, frozen or turned camera is a camera that
is silent: after the maximum age of pictures the robot is blind. Layout of the bytes: see `cdr`.
"""

import io
import struct
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

import numpy as np

from robomarl.core.bundle.perception import Perception
from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import Picture8
from robomarl.fleet.checks.camera_fit import DISTORTION, LENS_SHARE
from robomarl.ros.intake.judge import stamp_of
from robomarl.ros.intake.sound import MessageError
from robomarl.ros.io import cdr
from robomarl.ros.io.messages import Message

MIN_CONTRAST = 3.0
"""Least standard deviation of a strip's brightness [levels of 255]: a covered lens shows noise only."""
_COUNT, _TWO = struct.Struct("<I"), struct.Struct("<II")


Check = Callable[[Picture8], str]
"""Function (strip) -> why it shows nothing that a robot in its place can see; "" if it does."""


class CameraSight(NamedTuple):
    """One picture, as the rest of the node uses it."""

    stamp_s: float
    strip: Picture8
    """[R, C, 3]"""
    sight: np.ndarray
    """[S] the network's outputs."""


class ImageAt(NamedTuple):
    """A `sensor_msgs/Image` in its bytes."""

    frame: str
    height: int
    width: int
    encoding: str
    step: int
    """Bytes of a row."""
    data: memoryview


class ImageReader:
    """Reads `sensor_msgs/Image`, or `CompressedImage`, of one robot's camera; for `Mailbox`."""

    takes_bytes = True

    def __init__(self, perception: Perception, check: Check, compressed: bool = False) -> None:
        """Expect pictures of the bundle's camera.

        Args:
            perception: the bundle's network.
            check: a further check of strips.
            compressed: messages are `CompressedImage`: JPEG or PNG, which needs Pillow.
        """
        self._perception, self._check, self._compressed = perception, check, compressed
        self._last = memoryview(b"")

    def __call__(self, data: bytes) -> tuple[CameraSight, float]:
        """Return what is seen, and the picture's stamp [s].

        Raises:
            MessageError: another size, encoding or frame; equal in every bit to the picture before it; no contrast; or
                `check` refuses it.
        """
        try:
            stamp_s = cdr.stamp_s(data)
            found = compressed_at(data, self._perception.image.camera) if self._compressed else image_at(data)
        except (cdr.LayoutError, struct.error, UnicodeDecodeError) as error:
            raise MessageError(f"is no picture: {error}") from None
        picture = self._picture(found)
        if len(found.data) == len(self._last) and found.data == self._last:
            raise MessageError(
                "is equal in every bit to the picture before it; the camera hangs, start its driver anew"
            )
        self._last = found.data
        return seen_in(self._perception.to_strip(picture), stamp_s, self._perception, self._check), stamp_s

    def _picture(self, found: ImageAt) -> Picture8:
        image = self._perception.image
        if not f"/{found.frame}".endswith(f"/{image.frame}"):
            raise MessageError(f"header.frame_id is {found.frame!r}, and must be NAME/{image.frame} or {image.frame}")
        check_size(found.width, found.height, image.camera)
        if found.encoding != image.encoding:
            raise MessageError(f"has encoding {found.encoding!r}, not {image.encoding!r}; set the driver to it")
        if found.step != 3 * found.width or len(found.data) != found.step * found.height:
            raise MessageError(f"has {len(found.data)} bytes in rows of {found.step}, not {3 * found.width} a row")
        return np.frombuffer(found.data, np.uint8).reshape(found.height, found.width, 3)


class StripReader:
    """Reads the strips that a policy node publishes for the recorder: what its network was given."""

    takes_bytes = True

    def __init__(self, perception: Perception, check: Check) -> None:
        """Expect strips of the bundle's network; see `ImageReader`."""
        self._perception, self._check = perception, check

    def __call__(self, data: bytes) -> tuple[CameraSight, float]:
        """As `ImageReader`.

        Raises:
            MessageError: the strip has other sizes than the bundle's, or is refused.
        """
        try:
            stamp_s, found = cdr.stamp_s(data), image_at(data)
        except (cdr.LayoutError, struct.error, UnicodeDecodeError) as error:
            raise MessageError(f"is no strip: {error}") from None
        strip = cells_of(found, self._perception)
        return seen_in(strip, stamp_s, self._perception, self._check), stamp_s


class CameraInfoReader:
    """Compares `sensor_msgs/CameraInfo` with the bundle's camera."""

    def __init__(self, perception: Perception) -> None:
        """Expect the camera of the bundle."""
        self._camera = perception.image.camera

    def __call__(self, message: Message) -> tuple[bool, float]:
        """Return True, and the stamp [s].

        Raises:
            MessageError: the camera is another one; names the number, here and in the bundle.
        """
        camera, (fx, _, cx, _, fy, cy, *_) = self._camera, message.k
        for name, ours, theirs, most in (
            ("width", camera.width, message.width, 0),
            ("height", camera.height, message.height, 0),
            ("fx", camera.fx, fx, LENS_SHARE * camera.fx),
            ("fy", camera.fy, fy, LENS_SHARE * camera.fy),
            ("cx", camera.cx, cx, LENS_SHARE * camera.width),
            ("cy", camera.cy, cy, LENS_SHARE * camera.width),
        ):
            self._compare(name, ours, theirs, most)
        self._check_whole(message)
        if message.distortion_model not in ("", "plumb_bob"):
            raise MessageError(f"distortion_model is {message.distortion_model!r}, and the bundle's is 'plumb_bob'")
        d = [*message.d, 0.0, 0.0, 0.0, 0.0, 0.0][:5]
        for name, ours, theirs in zip(("k1", "k2", "p1", "p2", "k3"), camera.distortion, d, strict=True):
            self._compare(name, ours, theirs, DISTORTION)
        return True, stamp_of(message.header)

    def _check_whole(self, message: Message) -> None:
        """Raise `MessageError` if the driver bins pixels, or sends a part of the picture: 0 means all."""
        for name in ("binning_x", "binning_y"):
            if (binned := getattr(message, name)) > 1:
                raise MessageError(f"{name} is {binned}, and the bundle's camera has 1; set the driver to 1")
        roi, whole = message.roi, (0, 0, self._camera.width, self._camera.height)
        part = roi.x_offset, roi.y_offset, roi.width, roi.height
        if part not in ((0, 0, 0, 0), whole):
            raise MessageError(f"roi is {part}, and the bundle's camera sends {whole}; set the driver to no roi")

    @staticmethod
    def _compare(name: str, ours: float, theirs: float, most: float) -> None:
        if not abs(ours - theirs) <= most:
            raise MessageError(
                f"{name} is {theirs:g}, and the bundle's camera has {ours:g} (allowed difference: {most:.3g}); "
                "calibrate the camera, or fly a bundle for it"
            )


def seen_in(strip: Picture8, stamp_s: float, perception: Perception, check: Check) -> CameraSight:
    """Return what a strip shows.

    Raises:
        MessageError: it shows nothing that a robot in its place can see, or the network's outputs are not finite.
    """
    contrast = float(strip[..., 1].std())  # green has most of the brightness
    if contrast < MIN_CONTRAST:
        raise MessageError(
            f"has next to no contrast: its brightness varies by {contrast:.1f} of 255, below {MIN_CONTRAST:g}; "
            "uncover or clean the lens, or light the field"
        )
    if why := check(strip):
        raise MessageError(why)
    sight = perception(strip)
    if not np.isfinite(sight).all():  # one such number would stay in the tracker's belief for ever
        at = int(np.isfinite(sight).argmin())
        raise MessageError(f"can't be used: output {at} of perception.onnx is {sight[at]:g}; fly another bundle")
    return CameraSight(stamp_s, strip, sight)


def cells_of(found: ImageAt, perception: Perception) -> Picture8:
    """Return the strip [R, C, 3] of an image.

    Raises:
        MessageError: it has another size or encoding than the bundle's strips.
    """
    rows, columns, _ = shape = perception.image.strip.shape
    told, wanted = (found.height, found.width, found.encoding), (rows, columns, perception.image.encoding)
    if told != wanted or len(found.data) != rows * columns * 3:
        raise MessageError(f"is no strip: has {told} and {len(found.data)} bytes, and the bundle's strips {wanted}")
    return np.frombuffer(found.data, np.uint8).reshape(shape)


def check_size(width: int, height: int, camera: PinholeCamera) -> None:
    """Raise `MessageError` unless a picture has the camera's size [pixels]."""
    if (width, height) != (camera.width, camera.height):
        raise MessageError(
            f"has {width} x {height} pixels, and the bundle's camera {camera.width} x {camera.height}; "
            "set the driver to that size"
        )


def image_at(data: bytes) -> ImageAt:
    """Return the parts of a serialized `sensor_msgs/Image`; the pixels are not copied.

    Raises:
        LayoutError, struct.error, UnicodeDecodeError: it is none.
    """
    frame, at = cdr.text_at(data, 12)
    height, width = _TWO.unpack_from(data, at := _aligned4(at))
    encoding, at = cdr.text_at(data, at + 8)
    (step,) = _COUNT.unpack_from(data, at := _aligned4(at + 1))  # behind is_bigendian, which 8 bits do not have
    return ImageAt(frame.decode(), height, width, encoding.decode(), step, _bytes_at(data, at + 4))


def compressed_at(data: bytes, camera: PinholeCamera) -> ImageAt:
    """Return the parts of a serialized `sensor_msgs/CompressedImage` of the camera, unpacked to rgb8.

    Raises:
        LayoutError, struct.error, UnicodeDecodeError: it is none.
        MessageError: it has another size, which is looked at before it is unpacked because a small message can hold a
            picture that fills the memory; it is damaged; or Pillow is not installed.
    """
    frame, at = cdr.text_at(data, 12)
    _, at = cdr.text_at(data, at)
    try:
        pillow = import_module("PIL.Image")
    except ModuleNotFoundError:
        raise MessageError("needs Pillow; run: pip install pillow, or take raw pictures") from None
    try:
        with pillow.open(io.BytesIO(_bytes_at(data, _aligned4(at))), formats=("JPEG", "PNG")) as packed:
            width, height = packed.size
            check_size(width, height, camera)
            pixels = packed.convert("RGB").tobytes()
    except MessageError:
        raise
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError, pillow.DecompressionBombWarning) as error:
        raise MessageError(f"can't be unpacked: {error}") from None
    return ImageAt(frame.decode(), height, width, "rgb8", 3 * width, memoryview(pixels))


def _aligned4(at: int) -> int:
    return (at + 3) & ~3


def _bytes_at(data: bytes, at: int) -> memoryview:
    """The elements of a sequence of bytes."""
    (count,) = _COUNT.unpack_from(data, at)
    if at + 4 + count > len(data):
        raise cdr.LayoutError("its pixels are cut off")
    return memoryview(data)[at + 4 : at + 4 + count]
