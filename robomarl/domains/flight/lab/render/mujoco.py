"""Pictures by MuJoCo's own renderer, without a screen."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
import importlib
from collections.abc import Iterator, Sequence

import mujoco
import numpy as np

from robomarl.core.log import FlightLog
from robomarl.domains.flight.lab.engines.mjcf import build_spec, robot_rgba
from robomarl.domains.flight.lab.render.cables import cable_rgb, drawn_m, has_cables
from robomarl.domains.flight.lab.render.shots import Shot
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.gl import BACKENDS, find_gl

TRAIL_PARTS = 24
"""Pieces of each trail: each costs a little of the time of every picture."""
CABLE_M = 0.008
"""Width of cables in films, thicker than they are, so that one sees their colour."""
ALERT_RGBA = np.array([1.0, 0.62, 0.1, 0.22], np.float32)
"""Colour of the safety ellipsoid of a robot with a command that the filter changed."""


def mujoco_frames(
    log: FlightLog, scenario: FlightScenario, shots: Sequence[Shot], size: tuple[int, int]
) -> Iterator[np.ndarray]:
    """Pictures [height, width, 3] uint8; see `robomarl.domains.flight.lab.render.render_frames`."""
    spec = build_spec(scenario, looks=True)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    model = spec.compile()
    data, camera = mujoco.MjData(model), aim(log, size[0] / size[1], model.vis.global_.fovy)
    scene, option = mujoco.MjvScene(model, maxgeom=10000), mujoco.MjvOption()
    backend = importlib.import_module(f"mujoco.{find_gl() or BACKENDS[0]}")
    gl = backend.GLContext(*size)
    gl.make_current()
    context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
    try:
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, context)
        for shot in shots:
            robots = np.concatenate([log.pos_m[shot.step], log.quat_wxyz[shot.step]], -1).ravel()
            data.qpos[:] = np.concatenate([robots, log.load_pose[shot.step : shot.step + 1].ravel()])
            if has_cables(log):
                fit_cables(model, log, scenario, shot.step)
            mujoco.mj_forward(model, data)
            mujoco.mjv_updateScene(model, data, option, None, camera, mujoco.mjtCatBit.mjCAT_ALL.value, scene)
            decorate(scene, log, scenario, shot)
            area, picture = mujoco.MjrRect(0, 0, *size), np.empty((size[1], size[0], 3), np.uint8)
            mujoco.mjr_render(area, scene, context)
            mujoco.mjr_readPixels(picture, None, area, context)
            yield picture[::-1]
    finally:
        context.free()
        gl.free()


def fit_cables(model: mujoco.MjModel, log: FlightLog, scenario: FlightScenario, step: int) -> None:
    """Lengths, colours, points at the load and the load's box as they are in the episode at this time."""
    load, _ = scenario.carried
    center, place = log.load_pose[step, :3], log.load_place_m[step]
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, log.load_pose[step, 3:])
    local = np.concatenate([log.tied_m[step], place[None]]) - center  # world; times the matrix: load frame
    local = local @ turn.reshape(3, 3)
    middle = (np.array(load.box_low_m) + load.box_high_m) / 2
    model.geom_pos[model.geom("load").id] = local[-1] + middle
    model.site_pos[[model.site(f"load_point{i}").id for i in range(scenario.count)]] = local[:-1]
    model.tendon_range[:, 1] = drawn_m(log, step)
    model.tendon_width[:] = CABLE_M
    model.tendon_rgba[:, :3] = cable_rgb(log, scenario, step)
    model.tendon_rgba[:, 3] = np.isfinite(log.cable_m[step])


def aim(log: FlightLog, aspect: float, fovy_deg: float) -> mujoco.MjvCamera:
    """A camera that sees the whole flight and all goals."""
    places = np.concatenate([log.pos_m.reshape(-1, 3), log.goal_m.reshape(-1, 3)])
    low, high = places.min(0), places.max(0)
    radius = np.linalg.norm(high - low) / 2 + 0.15
    camera = mujoco.MjvCamera()
    camera.lookat[:] = (low + high) / 2 - [0, 0, 0.1 * radius]
    camera.distance = radius / np.tan(np.radians(fovy_deg) / 2) / min(1.0, aspect) * 0.78
    camera.azimuth, camera.elevation = 60, -32
    return camera


def decorate(scene: mujoco.MjvScene, log: FlightLog, scenario: FlightScenario, shot: Shot) -> None:
    """Draw goals, trails, and a halo around robots with a command that the filter changed."""
    count = log.pos_m.shape[1]
    stretch = scenario.vehicle_config.safety.downwash_ratio
    half = log.separation_m / 2
    for i in range(count):
        color = np.array(robot_rgba(i, count), np.float32)
        goal = log.goal_m[shot.step, i]
        _add_geom(scene, mujoco.mjtGeom.mjGEOM_SPHERE, [0.05] * 3, goal, _faded(color, 0.55))
        ring = [scenario.success.position_m, 0.002, 0]
        _add_geom(scene, mujoco.mjtGeom.mjGEOM_CYLINDER, ring, goal, _faded(color, 0.3))
        _add_trail(scene, log.pos_m[shot.trail_from : shot.step + 1, i], color)
        if log.active[shot.step, i]:
            ellipsoid, size = mujoco.mjtGeom.mjGEOM_ELLIPSOID, [half, half, half * stretch]
            _add_geom(scene, ellipsoid, size, log.pos_m[shot.step, i], ALERT_RGBA)


def _add_trail(scene: mujoco.MjvScene, path: np.ndarray, color: np.ndarray) -> None:
    """A line that fades towards its old end."""
    parts = TRAIL_PARTS if len(path) < 100 else 4 * TRAIL_PARTS
    picks = np.unique(np.linspace(0, len(path) - 1, parts + 1).round().astype(int))
    for k, (a, b) in enumerate(zip(path[picks[:-1]], path[picks[1:]], strict=True)):
        faded = _faded(color, 0.15 + 0.75 * (k + 1) / len(picks))
        geom = _add_geom(scene, mujoco.mjtGeom.mjGEOM_CAPSULE, [0.01] * 3, a, faded)
        mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_CAPSULE, 0.008, a, b)


def _add_geom(
    scene: mujoco.MjvScene, kind: mujoco.mjtGeom, size: Sequence[float], pos: np.ndarray, rgba: np.ndarray
) -> mujoco.MjvGeom:
    geom = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(geom, kind, np.array(size, float), np.asarray(pos, float), np.eye(3).ravel(), rgba)
    geom.category = mujoco.mjtCatBit.mjCAT_DECOR
    scene.ngeom += 1
    return geom


def _faded(color: np.ndarray, alpha: float) -> np.ndarray:
    return np.array([*color[:3], alpha], np.float32)
