"""`pictures`: moments of a scene drawn by MuJoCo's renderer, without a screen and without a model of the robots."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from robomarl.core.config import UserError
from robomarl.core.geometry import rotate
from robomarl.lab.gl import find_gl
from robomarl.lab.scene.cables import laid
from robomarl.lab.scene.camera import Camera, fitted
from robomarl.lab.scene.scene import RGB, Primitive, Scene, SceneMoment
from robomarl.lab.scene.stage import empty_stage

ALERT: RGB = (196, 48, 28)
"""Colour of the safety distance of a robot whose command the filter changed."""
LOAD_GOAL: RGB = (214, 158, 84)
"""Colour of the goal of a load."""
TRAIL_PARTS, WAY_PARTS, CABLE_M = 32, 1000, 0.006
"""Pieces of a trail, and most of the whole way of an episode; radius of a cable [m]."""
THIN = 0.0035
"""Radius of a trail over the distance from which it is seen."""
JUMP_M = 0.5
"""Farther than this between two pieces of a trail, a robot did not drive or fly there."""
THROWN_M_S = 15.0
"""Faster than this a ball in the air was put elsewhere."""
MOST_GEOMS = 20_000
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
ORIGIN = np.zeros(3)
LIFT_M = 0.008
"""Height of goal discs above the place of a goal, so that a floor does not hide them."""
MARGIN_M, ROOF_M = 0.06, 0.1
"""Space around an arena and above its floor that is in the picture."""
RING_M, RING = 0.014, 1.35
"""Height of the discs around robots on a floor whose command the filter changed, above goals, and their radius over
that of the safety distance, so that a robot does not hide its disc."""
SHADOWS = 0.6
"""Part of the floor below a flying team that is in the picture, over the room of the team."""


@dataclass(frozen=True)
class View:
    """One picture: a moment, and the moments before it whose ways are drawn."""

    moment: SceneMoment
    trail: Sequence[SceneMoment] = ()


class Painter:
    """Draws moments of one scene, all from one place; a context manager, which holds the GL context."""

    def __init__(self, scene: Scene, seen: Sequence[SceneMoment], size: tuple[int, int]) -> None:
        """Make the floor, the light and the camera.

        Args:
            scene: the fixed things.
            seen: moments that all have to be in the picture.
            size: width and height [pixels].

        Raises:
            UserError: no GL library works here.
        """
        backend = find_gl()
        if not backend:
            raise UserError("films need OpenGL, and none works here; run: apt install libosmesa6")
        self._scene, self._size = scene, size
        self.camera = camera_of(scene, seen, size)
        self._trail_m = THIN * self.camera.distance_m / 2
        self._model = empty_stage(self.camera.look_m, self.camera.distance_m, size)
        self._data = mujoco.MjData(self._model)
        self._drawn = mujoco.MjvScene(self._model, maxgeom=MOST_GEOMS)
        self._gl = importlib.import_module(f"mujoco.{backend}").GLContext(*size)

    def __enter__(self) -> "Painter":
        """Open the GL context."""
        self._gl.make_current()
        self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        return self

    def __exit__(self, *error: object) -> None:
        """Close the GL context."""
        self._context.free()
        self._gl.free()

    def picture(self, view: View) -> np.ndarray:
        """Return [height, width, 3] uint8."""
        mujoco.mj_forward(self._model, self._data)
        option, every = mujoco.MjvOption(), mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(self._model, self._data, option, None, _of_mujoco(self.camera), every, self._drawn)
        self._draw(view)
        width, height = self._size
        area, pixels = mujoco.MjrRect(0, 0, width, height), np.empty((height, width, 3), np.uint8)
        mujoco.mjr_render(area, self._drawn, self._context)
        mujoco.mjr_readPixels(pixels, None, area, self._context)
        return pixels[::-1]

    def _draw(self, view: View) -> None:
        """Add everything of one picture to the drawn scene."""
        moment = view.moment
        for primitive in (*self._scene.solids, *moment.marks):
            self._primitive(primitive, ORIGIN, UPRIGHT)
        self._carried(moment)
        self._goals(moment)
        changed = moment.active if len(moment.active) else np.zeros(len(moment.pos_m), bool)
        for index, (place, turn) in enumerate(zip(moment.pos_m, moment.quat_wxyz, strict=True)):
            self._robot(index, place, turn, bool(changed[index]))
        self._trails(view.trail)

    def _carried(self, moment: SceneMoment) -> None:
        """Draw the load with its cables, and the ball."""
        for primitive in self._scene.load if len(moment.load_pose) else ():
            self._primitive(primitive, moment.load_pose[:3], moment.load_pose[3:])
        for cable in laid(moment, self._scene.working_n):
            if cable is not None:
                self._line(cable.place_m, cable.place_m + cable.along_m, CABLE_M, cable.rgb)
        if self._scene.ball is not None and len(moment.ball_m):
            self._primitive(self._scene.ball, moment.ball_m, UPRIGHT)

    def _goals(self, moment: SceneMoment) -> None:
        """Draw a disc of the size in which a robot has arrived, at each goal."""
        size = (self._scene.goal_m, 0.002, 0.0)
        for index, goal in enumerate(moment.goal_m if self._scene.goals else ()):
            colour = self._scene.colours[index] if len(moment.goal_m) > 1 else LOAD_GOAL
            self._geom("cylinder", size, goal + (0, 0, LIFT_M), np.eye(3), colour, 0.4)

    def _robot(self, index: int, place_m: np.ndarray, turn: np.ndarray, changed: bool) -> None:
        """Draw one robot, and its safety distance if the filter changed its command."""
        shape, colour = self._scene.looks[index], self._scene.colours[index]
        for primitive in shape.parts:
            self._primitive(primitive, place_m, turn, colour)
        if changed and self._scene.flat:
            disc = (RING * shape.keep_m[0], 0.001, 0.0)
            self._geom("cylinder", disc, place_m * (1, 1, 0) + (0, 0, RING_M), np.eye(3), ALERT, 0.45)
        elif changed:
            self._geom("sphere", shape.keep_m, place_m, np.eye(3), ALERT, 0.15)

    def _trails(self, trail: Sequence[SceneMoment]) -> None:
        """Draw the ways of all robots, and of the ball, fading towards their old ends."""
        if len(trail) < 2:
            return
        parts = TRAIL_PARTS if len(trail) < TRAIL_PARTS**2 / 4 else WAY_PARTS
        picks = np.unique(np.linspace(0, len(trail) - 1, parts + 1).round().astype(int))
        ways = [np.array([trail[k].pos_m[i] for k in picks]) for i in range(len(trail[0].pos_m))]
        for colour, way in zip(self._scene.colours, ways, strict=True):
            self._trail(way, colour)
        if self._scene.ball is not None and len(trail[0].ball_m):
            piece_s = (trail[-1].time_s - trail[0].time_s) / (len(picks) - 1)
            jump_m = JUMP_M if self._scene.flat else max(JUMP_M, THROWN_M_S * piece_s)
            self._trail(np.array([trail[k].ball_m for k in picks]), self._scene.ball.rgb or ALERT, jump_m)

    def _trail(self, way_m: np.ndarray, colour: RGB, jump_m: float = JUMP_M) -> None:
        """Draw one way [K, 3], on a floor just above it; pieces that are longer than `jump_m` are left out."""
        lift = np.array([0.0, 0.0, 2 * self._trail_m if self._scene.flat else 0.0])
        for k, (start, end) in enumerate(zip(way_m[:-1], way_m[1:], strict=True)):
            if np.linalg.norm(end - start) <= jump_m:  # farther: put elsewhere, as at a kick-off
                self._line(start + lift, end + lift, self._trail_m, colour, 0.1 + 0.75 * (k + 1) / len(way_m))

    def _primitive(self, part: Primitive, place_m: np.ndarray, turn: np.ndarray, own: RGB = LOAD_GOAL) -> None:
        """Draw a primitive of a thing that is at a place [3] and turned by a quaternion [4]."""
        colour = part.rgb or own
        start = place_m + rotate(turn, np.array(part.place_m))
        if part.kind == "capsule":
            self._line(start, place_m + rotate(turn, np.array(part.end_m)), part.size_m[0], colour, part.opacity)
            return
        x, y, z = part.size_m
        half = {"box": (x / 2, y / 2, z / 2), "cylinder": (x, z / 2, 0.0), "sphere": (x, x, x)}[part.kind]
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, np.asarray(turn, float))
        self._geom(part.kind, half, start, matrix.reshape(3, 3), colour, part.opacity)

    def _line(self, start: np.ndarray, end: np.ndarray, radius_m: float, rgb: RGB, opacity: float = 1.0) -> None:
        """Draw a capsule from a place to another, a cylinder if it is transparent: the ends of capsules add up."""
        if np.linalg.norm(end - start) < 1e-6:
            return
        name = "capsule" if opacity == 1 else "cylinder"
        geom = self._geom(name, (radius_m,) * 3, start, np.eye(3), rgb, opacity)
        if geom is not None:
            kind = getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}")
            mujoco.mjv_connector(geom, kind, radius_m, np.asarray(start, float), np.asarray(end, float))

    def _geom(
        self, kind: str, half_m: Sequence[float], place_m: np.ndarray, matrix: np.ndarray, rgb: RGB, opacity: float
    ) -> mujoco.MjvGeom | None:
        """Add one geom; None if the picture is full."""
        if self._drawn.ngeom >= MOST_GEOMS:
            return None
        geom, rgba = self._drawn.geoms[self._drawn.ngeom], np.array([*(c / 255 for c in rgb), opacity], np.float32)
        name = "ellipsoid" if kind == "sphere" else kind
        shape = getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}")
        mujoco.mjv_initGeom(geom, shape, np.array(half_m, float), np.asarray(place_m, float), matrix.ravel(), rgba)
        if opacity < 1:
            geom.category = mujoco.mjtCatBit.mjCAT_DECOR.value  # has no shadow
        self._drawn.ngeom += 1
        return geom


class ScenePicture(NamedTuple):
    """One finished picture."""

    pixels: np.ndarray
    """[height, width, 3] uint8"""
    at: Callable[[np.ndarray], np.ndarray]
    """Places [K, 3] -> their pixels [K, 2], x to the right and y downwards."""


def pictures(scene: Scene, views: Sequence[View], size: tuple[int, int]) -> Iterator[ScenePicture]:
    """Yield a picture for each view; raises `UserError` if no GL library works here."""
    with Painter(scene, [moment for view in views for moment in (view.moment, *view.trail[:1])], size) as painter:
        for view in views:
            yield ScenePicture(painter.picture(view), painter.camera.pixels)


def camera_of(scene: Scene, seen: Sequence[SceneMoment], size: tuple[int, int]) -> Camera:
    """Return a camera that sees all robots, goals and shadows of the moments; on a floor the whole arena."""
    if scene.flat:
        corners = [(x, y, z) for x in _ends(scene, 0) for y in _ends(scene, 1) for z in (0.0, ROOF_M)]
        return fitted(np.array(corners), size, 90, -52)
    places = np.concatenate([np.concatenate([moment.pos_m, moment.goal_m]) for moment in seen])
    margin = max(look.keep_m[0] for look in scene.looks)
    around = np.concatenate([places + margin * side for side in np.vstack([np.eye(3), -np.eye(3)])])
    middle = (places.min(0) + places.max(0)) / 2
    floor = (middle + SHADOWS * (places - middle)) * (1, 1, 0)
    shown = np.array(scene.shown_m).reshape(-1, 3)
    return fitted(np.concatenate([around, floor, shown]), size, 60, -28)


def _ends(scene: Scene, axis: int) -> tuple[float, float]:
    """Return the ends of the arena along an axis, with a margin."""
    return scene.low_m[axis] - MARGIN_M, scene.high_m[axis] + MARGIN_M


def _of_mujoco(camera: Camera) -> mujoco.MjvCamera:
    """Return a camera as MuJoCo has it."""
    made = mujoco.MjvCamera()
    made.lookat[:], made.distance = camera.look_m, camera.distance_m
    made.azimuth, made.elevation = camera.azimuth_deg, camera.elevation_deg
    return made
