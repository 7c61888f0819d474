"""`pictures`: moments of a scene drawn by MuJoCo's renderer, without a screen and without a model of the robots."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from robomarl.core.config import UserError
from robomarl.core.geometry import rotate
from robomarl.lab.gl import find_gl
from robomarl.lab.scene.cables import laid
from robomarl.lab.scene.scene import RGB, Primitive, Scene, SceneMoment

ALERT: RGB = (255, 158, 26)
"""Colour of the safety distance of a robot whose command the filter changed."""
TRAIL_PARTS, TRAIL_M, CABLE_M = 40, 0.006, 0.006
"""Pieces and radius of a trail, radius of a cable [m]."""
JUMP_M = 0.5
"""Farther than this between two pieces of a trail, a robot did not drive or fly there."""
MOST_GEOMS = 20_000
FOVY_DEG = 40.0
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
ORIGIN = np.zeros(3)
LIFT_M = 0.008
"""Height of goal discs above the place of a goal, so that a floor does not hide them."""


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
        self._model = _stage(scene, seen, size)
        self._data = mujoco.MjData(self._model)
        self._camera = _camera(scene, seen, size[0] / size[1])
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
        mujoco.mjv_updateScene(self._model, self._data, option, None, self._camera, every, self._drawn)
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
        for index, goal in enumerate(moment.goal_m):
            colour = self._scene.colours[index] if len(moment.goal_m) > 1 else ALERT
            self._geom("cylinder", size, goal + (0, 0, LIFT_M), np.eye(3), colour, 0.35)

    def _robot(self, index: int, place_m: np.ndarray, turn: np.ndarray, changed: bool) -> None:
        """Draw one robot, and its safety distance if the filter changed its command."""
        shape, colour = self._scene.looks[index], self._scene.colours[index]
        for primitive in shape.parts:
            self._primitive(primitive, place_m, turn, colour)
        if changed:
            self._geom("sphere", shape.keep_m, place_m, np.eye(3), ALERT, 0.2)

    def _trails(self, trail: Sequence[SceneMoment]) -> None:
        """Draw the ways of all robots, and of the ball, fading towards their old ends."""
        if len(trail) < 2:
            return
        picks = np.unique(np.linspace(0, len(trail) - 1, TRAIL_PARTS + 1).round().astype(int))
        ways = [np.array([trail[k].pos_m[i] for k in picks]) for i in range(len(trail[0].pos_m))]
        for colour, way in zip(self._scene.colours, ways, strict=True):
            for k, (start, end) in enumerate(zip(way[:-1], way[1:], strict=True)):
                if np.linalg.norm(end - start) > JUMP_M:  # put elsewhere, as at a kick-off
                    continue
                self._line(start, end, TRAIL_M, colour, 0.1 + 0.7 * (k + 1) / len(picks))

    def _primitive(self, part: Primitive, place_m: np.ndarray, turn: np.ndarray, own: RGB = ALERT) -> None:
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
        """Draw a capsule from a place to another."""
        if np.linalg.norm(end - start) < 1e-6:
            return
        geom = self._geom("capsule", (radius_m,) * 3, start, np.eye(3), rgb, opacity)
        if geom is not None:
            kind = mujoco.mjtGeom.mjGEOM_CAPSULE
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
        self._drawn.ngeom += 1
        return geom


def pictures(scene: Scene, views: Sequence[View], size: tuple[int, int]) -> Iterator[np.ndarray]:
    """Yield a picture [height, width, 3] uint8 for each view; raises `UserError` if no GL library works here."""
    with Painter(scene, [moment for view in views for moment in (view.moment, *view.trail[:1])], size) as painter:
        for view in views:
            yield painter.picture(view)


def _camera(scene: Scene, seen: Sequence[SceneMoment], aspect: float) -> mujoco.MjvCamera:
    """Return a camera that sees all robots and goals of the moments; on a floor the whole arena."""
    places = np.concatenate([np.concatenate([moment.pos_m, moment.goal_m]) for moment in seen])
    if scene.flat:
        places = np.array([(*scene.low_m[:2], 0.0), (*scene.high_m[:2], 0.0)])
    low, high = places.min(0), places.max(0)
    radius = float(np.linalg.norm(high - low)) / 2 + 0.2
    camera = mujoco.MjvCamera()
    camera.lookat[:] = (low + high) / 2 - [0, 0, 0.08 * radius]
    camera.distance = radius / np.tan(np.radians(FOVY_DEG) / 2) / min(1.0, aspect) * (0.6 if scene.flat else 0.72)
    camera.azimuth, camera.elevation = (90, -55) if scene.flat else (60, -28)
    return camera


def _stage(scene: Scene, seen: Sequence[SceneMoment], size: tuple[int, int]) -> mujoco.MjModel:
    """Return a model of nothing but sky, checkered floor and light."""
    spec, kind, pattern = mujoco.MjSpec(), mujoco.mjtTexture, mujoco.mjtBuiltin
    sky = spec.add_texture(name="sky", type=kind.mjTEXTURE_SKYBOX, builtin=pattern.mjBUILTIN_GRADIENT)
    sky.width, sky.height, sky.rgb1, sky.rgb2 = 64, 384, [0.86, 0.90, 0.95], [0.60, 0.70, 0.82]
    checker = spec.add_texture(name="floor", type=kind.mjTEXTURE_2D, builtin=pattern.mjBUILTIN_CHECKER)
    checker.width = checker.height = 512
    checker.rgb1, checker.rgb2 = [0.74, 0.77, 0.81], [0.69, 0.72, 0.77]
    material = spec.add_material(name="floor", texrepeat=[1, 1], texuniform=True)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "floor"
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], material="floor")
    floor.pos = [0, 0, -0.011]
    light = spec.worldbody.add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=[0.25, 0.2, -1])
    reach = float(np.ptp(np.concatenate([moment.pos_m for moment in seen]), axis=0).max()) + 1.0
    light.pos, light.diffuse, light.specular = [0, 0, 4 * reach], [0.5] * 3, [0.15] * 3
    spec.stat.center, spec.stat.extent = np.zeros(3), 2 * reach
    spec.visual.headlight.ambient = np.array([0.42] * 3)
    spec.visual.headlight.diffuse = np.array([0.25] * 3)
    spec.visual.headlight.specular = np.zeros(3)
    spec.visual.quality.shadowsize = 2048
    spec.visual.map.shadowclip = 2.0
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    spec.visual.global_.fovy = FOVY_DEG
    return spec.compile()
