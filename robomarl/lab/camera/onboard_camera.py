"""`OnboardCamera`: pictures of a camera on a robot, by MuJoCo's renderer, with the lens of the vehicle file.

MuJoCo draws an ideal pinhole. The lens is put on by a table from each pixel of the picture to the pixel of the ideal
one that lies on its ray, so any intrinsics and distortions of `PinholeCamera` are drawn.
"""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
import importlib
import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from robomarl.core.camera.camera import FloatArray, PinholeCamera
from robomarl.core.camera.strip import Picture8
from robomarl.core.config import UserError
from robomarl.lab.gl import find_gl

Slopes = tuple[FloatArray, FloatArray]
"""Two of [H, W]."""
MARGIN = 1.02
"""Width of the ideal picture over that of the rays that are needed."""
MOST_PIXELS = 1600
"""Largest side of the ideal picture: a wider lens than that needs is no pinhole."""


def add_camera(body: mujoco._specs.MjsBody, camera: PinholeCamera, name: str, bottom_m: float) -> None:
    """Put a camera onto a body of a model that is being built.

    Args:
        body: the robot.
        camera: of the vehicle file.
        name: of the camera in the model.
        bottom_m: height of the body's origin above the ground.
    """
    right, down, _ = camera.axes
    x, y, z = camera.place_m
    made = body.add_camera(name=name, pos=[x, y, z - bottom_m])
    made.alt.type = mujoco.mjtOrientation.mjORIENTATION_XYAXES
    made.alt.xyaxes = [*right, *-down]
    made.fovy = math.degrees(2 * math.atan(ideal_slope(camera)[1]))


def ideal_slope(camera: PinholeCamera) -> tuple[float, float]:
    """Return the largest |x| / z and |y| / z of the rays of all pixels, with `MARGIN`."""
    rows, columns = np.arange(camera.height), np.arange(camera.width)
    top, left = np.zeros_like(columns), np.zeros_like(rows)
    edge = np.concatenate(
        [
            np.stack([columns, top], -1),
            np.stack([columns, top + camera.height - 1], -1),
            np.stack([left, rows], -1),
            np.stack([left + camera.width - 1, rows], -1),
        ]
    )
    slopes = np.abs(camera.rays(edge.astype(np.float64)) @ camera.axes.T)
    if not np.isfinite(slopes).all() or slopes[:, :2].max() > 5:
        raise UserError("camera: its lens sees wider than a pinhole can draw (157 degrees); name a narrower one.")
    return float(slopes[:, 0].max() * MARGIN), float(slopes[:, 1].max() * MARGIN)


class OnboardCamera:
    """Draws pictures of cameras of one kind; a context manager, which holds the GL context."""

    def __init__(self, model: mujoco.MjModel, camera: PinholeCamera, detail: float = 1.0) -> None:
        """Prepare the lens and the GL context.

        Args:
            model: model with cameras that `add_camera` has made.
            camera: of the vehicle file.
            detail: pixels of the ideal picture over those of the camera, along each side; less is faster and coarser.

        Raises:
            UserError: no GL library works here, or the lens is too wide.
        """
        if not (backend := find_gl()):
            raise UserError("pictures need OpenGL, and none works here; run: apt install libosmesa6")
        self.camera, self._model = camera, model
        self._size, self._slopes = ideal_size(camera, detail), ray_slopes(camera)
        self._pixel = ideal_pixels(camera, self._slopes, self._size)
        self._context: mujoco.MjrContext | None = None
        self._drawn = mujoco.MjvScene(model, maxgeom=1000)
        self._seen, self._option = mujoco.MjvCamera(), mujoco.MjvOption()
        self._seen.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._gl = importlib.import_module(f"mujoco.{backend}").GLContext(*self._size)
        self._ideal = np.empty((self._size[1], self._size[0], 3), np.uint8)

    def __enter__(self) -> "OnboardCamera":
        """Open the GL context."""
        width, height = self._size
        visual = self._model.vis
        visual.global_.offwidth, visual.global_.offheight = width, height
        self._gl.make_current()
        self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        return self

    def __exit__(self, *error: object) -> None:
        """Close the GL context."""
        if self._context:
            self._context.free()
        self._gl.free()

    def picture(self, data: mujoco.MjData, name: str, turn_rad_s: float = 0.0) -> Picture8:
        """Return the picture [H, W, 3] of a camera; `data` has been brought forward.

        Args:
            data: the robots when the middle row is read.
            name: of the camera.
            turn_rad_s: yaw rate of its robot, which bends the picture of a rolling shutter.
        """
        self._seen.fixedcamid = self._model.camera(name).id
        every = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(self._model, data, self._option, None, self._seen, every, self._drawn)
        area = mujoco.MjrRect(0, 0, *self._size)
        mujoco.mjr_render(area, self._drawn, self._context)
        mujoco.mjr_readPixels(self._ideal, None, area, self._context)
        pixel, camera = self._pixel, self.camera
        if turn_rad_s * camera.readout_s != 0:
            pixel = ideal_pixels(camera, bent_slopes(camera, self._slopes, turn_rad_s), self._size)
        return self._ideal.reshape(-1, 3).take(pixel, 0).reshape(camera.height, camera.width, 3)


def ideal_size(camera: PinholeCamera, detail: float = 1.0) -> tuple[int, int]:
    """Return width and height of the ideal picture."""
    focal = detail * max(camera.fx, camera.fy)
    width, height = (min(2 * math.ceil(focal * slope), MOST_PIXELS) for slope in ideal_slope(camera))
    return width, height


def ray_slopes(camera: PinholeCamera) -> Slopes:
    """Return right and down over forward of the rays of all pixels."""
    column, row = np.meshgrid(np.arange(float(camera.width)), np.arange(float(camera.height)))
    x, y, _ = np.moveaxis(camera.rays(np.stack([column, row], -1)) @ camera.axes.T, -1, 0)
    return x, y


def bent_slopes(camera: PinholeCamera, slopes: Slopes, turn_rad_s: float) -> Slopes:
    """Return the slopes in the frame of the middle row, of a robot that turns while a rolling shutter reads rows."""
    angle = turn_rad_s * camera.readout_s * (np.arange(camera.height) / (camera.height - 1) - 0.5)
    c, s, zero, one = np.cos(angle), np.sin(angle), 0 * angle, 0 * angle + 1
    turns = np.stack([c, -s, zero, s, c, zero, zero, zero, one], -1).reshape(-1, 3, 3)  # about the body's z axis
    turns = (camera.axes @ turns @ camera.axes.T)[..., None]  # [H, 3, 3, 1] about the same axis, optical frame
    x, y, ahead = (turns[:, i, 0] * slopes[0] + turns[:, i, 1] * slopes[1] + turns[:, i, 2] for i in range(3))
    return x / ahead, y / ahead


def ideal_pixels(camera: PinholeCamera, slopes: Slopes, size: tuple[int, int]) -> NDArray[np.int64]:
    """Return the [H W] index of the ideal picture's pixel, bottom row first, on rays with these slopes."""
    (width, height), (x, y) = size, slopes
    scale = height / (2 * ideal_slope(camera)[1])  # MuJoCo's pixels are square, and `fovy` is that of the height
    across = np.clip(np.rint(x * scale + (width - 1) / 2), 0, width - 1).astype(np.int64)
    up = np.clip(np.rint(-y * scale + (height - 1) / 2), 0, height - 1).astype(np.int64)
    return (up * width + across).ravel()
