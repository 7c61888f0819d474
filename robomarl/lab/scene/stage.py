"""`empty_stage`: a MuJoCo model of nothing but sky, floor and light."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
import mujoco
import numpy as np

from robomarl.lab.scene.camera import FOVY_DEG

FLOOR_Z_M = -0.011
"""Height of the floor: below markings."""
SLICES = 24
"""Faces around a cylinder: as many as can be seen, for each costs time."""


def empty_stage(middle_m: np.ndarray, reach_m: float, size: tuple[int, int]) -> mujoco.MjModel:
    """Return the model.

    Args:
        middle_m: [3] place around which things have shadows.
        reach_m: distance from there within which they have some.
        size: width and height of the pictures [pixels].
    """
    spec = mujoco.MjSpec()
    _floor(spec)
    _light(spec, middle_m, reach_m)
    spec.visual.quality.numslices, spec.visual.quality.numstacks = SLICES, SLICES // 2
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    spec.visual.global_.fovy = FOVY_DEG
    return spec.compile()


def _floor(spec: mujoco.MjSpec) -> None:
    """Add the sky and a floor of squares of half a metre."""
    kind, pattern = mujoco.mjtTexture, mujoco.mjtBuiltin
    sky = spec.add_texture(name="sky", type=kind.mjTEXTURE_SKYBOX, builtin=pattern.mjBUILTIN_GRADIENT)
    sky.width, sky.height, sky.rgb1, sky.rgb2 = 64, 384, [0.95, 0.96, 0.98], [0.72, 0.80, 0.90]
    checker = spec.add_texture(name="floor", type=kind.mjTEXTURE_2D, builtin=pattern.mjBUILTIN_CHECKER)
    checker.width = checker.height = 512
    checker.rgb1, checker.rgb2 = [0.90, 0.91, 0.93], [0.85, 0.87, 0.90]
    material = spec.add_material(name="floor", texrepeat=[1, 1], texuniform=True)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "floor"
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], material="floor")
    floor.pos = [0, 0, FLOOR_Z_M]


def _light(spec: mujoco.MjSpec, middle_m: np.ndarray, reach_m: float) -> None:
    """Add a sun. All light on a thing that lies flat is 1 together, so that colours are those of the plots."""
    ray = np.array([0.25, 0.2, -1.0])
    sun = spec.worldbody.add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=ray)
    sun.pos, sun.diffuse, sun.specular = middle_m - 2 * reach_m * ray, [0.45] * 3, [0.1] * 3
    spec.stat.center, spec.stat.extent = middle_m, reach_m
    spec.visual.headlight.ambient = np.array([0.5] * 3)
    spec.visual.headlight.diffuse = np.array([0.12] * 3)
    spec.visual.headlight.specular = np.zeros(3)
    spec.visual.quality.shadowsize = 4096
    spec.visual.map.shadowclip = 1.5
