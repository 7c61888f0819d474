"""`PinholeCamera`: a robot's camera as its vehicle file says it, and its projection.

The projection is the one of ROS's `sensor_msgs/CameraInfo` with the distortion model `plumb_bob`
(the radial and tangential terms of D. C. Brown, "Close-Range Camera Calibration", 1971). The optical frame has x to
the right, y down and z forward. The body frame has x forward, y left, z up, and its origin on the ground.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from robomarl.core.config import Count, NonNegative, Positive, Range

FloatArray = NDArray[np.float64]
Pair = tuple[float, float]
UNDISTORT_STEPS = 40
"""Fixed-point steps by which `PinholeCamera.rays` undoes the distortion."""


@dataclass(frozen=True)
class CameraRanges:
    """Ranges [low, high] from which training draws a camera and its pictures, uniform."""

    light: Pair = (0.6, 1.4)
    """Factor of the brightness that is left after automatic exposure."""
    colour: Pair = (0.88, 1.12)
    """Factor of each colour channel: error of the white balance."""
    blur: Pair = (0.0, 0.8)
    """Standard deviation of the blur by lens and motion, in cells of the network's picture."""
    noise: Pair = (0.0, 0.04)
    """Standard deviation of a pixel's noise, as a share of the full scale."""
    lens: Pair = (0.98, 1.02)
    """Factor of the focal length."""
    mount_error_rad: Pair = (-0.035, 0.035)
    """Error of the mount about each axis: 2 degrees."""


@dataclass(frozen=True)
class PinholeCamera:
    """Intrinsics, mount and timing of one camera, and what training randomizes about it."""

    width: Count
    """Columns of a picture [pixels]."""
    height: Count
    """Rows of a picture [pixels]."""
    fx: Positive
    """Horizontal focal length [pixels]."""
    fy: Positive
    """Vertical focal length [pixels]."""
    cx: float
    """Column of the principal point [pixels], from the centre of the first."""
    cy: float
    """Row of the principal point [pixels], from the centre of the first."""
    distortion: tuple[float, float, float, float, float]
    """k1, k2, p1, p2, k3 of `plumb_bob`."""
    place_m: tuple[float, float, float]
    """Place of the optical centre in the body frame; the third number is its height above the ground."""
    pitch_rad: Annotated[float, Range(-math.pi / 2, math.pi / 2)]
    """Angle by which the optical axis looks down from the body's x axis."""
    rate_hz: Positive
    """Pictures per second."""
    latency_s: NonNegative
    """Time from the middle of the exposure to the arrival of the picture."""
    exposure_s: NonNegative
    """Longest exposure of a pixel."""
    readout_s: NonNegative
    """Time between the first and the last row of a rolling shutter; 0 for a global shutter."""
    randomize: CameraRanges = CameraRanges()

    def __post_init__(self) -> None:
        """Check that the camera stands above the ground; raises `ValueError`."""
        if self.place_m[2] <= 0:
            raise ValueError(f"place_m[2] = {self.place_m[2]:g} must be above 0: it is the height above the ground.")

    @property
    def axes(self) -> FloatArray:
        """[3, 3] right, down and forward of the optical frame as rows, body frame."""
        c, s = math.cos(self.pitch_rad), math.sin(self.pitch_rad)
        return np.array([[0.0, -1.0, 0.0], [-s, 0.0, -c], [c, 0.0, -s]])

    def pixels(self, directions: FloatArray) -> FloatArray:
        """Return the pixels [..., 2] (column, row) at which directions [..., 3] in the body frame are seen; NaN
        for directions behind the camera."""
        x, y, depth = np.moveaxis(np.asarray(directions) @ self.axes.T, -1, 0)
        ahead = np.where(depth > 1e-9, depth, np.nan)
        u, v = self._distorted(x / ahead, y / ahead)
        return np.stack([self.fx * u + self.cx, self.fy * v + self.cy], -1)

    def rays(self, pixels: FloatArray) -> FloatArray:
        """Return the directions [..., 3] of pixels [..., 2], body frame, with a length of 1 along the optical axis."""
        column, row = np.moveaxis(np.asarray(pixels, np.float64), -1, 0)
        u, v = (column - self.cx) / self.fx, (row - self.cy) / self.fy
        x, y = u, v
        for _ in range(UNDISTORT_STEPS):
            du, dv = (a - b for a, b in zip(self._distorted(x, y), (x, y), strict=True))
            x, y = (x + u - du) / 2, (y + v - dv) / 2
        return np.stack([x, y, np.ones_like(x)], -1) @ self.axes

    def _distorted(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return distorted normalized coordinates."""
        k1, k2, p1, p2, k3 = self.distortion
        square = x * x + y * y
        radial = 1 + square * (k1 + square * (k2 + square * k3))
        u = x * radial + 2 * p1 * x * y + p2 * (square + 2 * x * x)
        return u, y * radial + p1 * (square + 2 * y * y) + 2 * p2 * x * y
