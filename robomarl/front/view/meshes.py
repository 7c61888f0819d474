"""Parts of a scene as triangles (trimesh)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import trimesh

from robomarl.lab.scene.scene import RGB, Primitive


@dataclass(frozen=True)
class Mesh:
    """Triangles of one colour."""

    vertices: np.ndarray
    """[V, 3] in the frame of the thing that the parts belong to [m]."""
    faces: np.ndarray
    """[F, 3]"""
    rgb: RGB | None
    """None: the colour of the robot."""
    opacity: float


def merged(parts: Sequence[Primitive]) -> list[Mesh]:
    """Return one mesh for each colour and opacity of the parts."""
    kinds = dict.fromkeys((part.rgb, part.opacity) for part in parts)
    meshes = []
    for rgb, opacity in kinds:
        solids = [solid(part) for part in parts if (part.rgb, part.opacity) == (rgb, opacity)]
        before = np.cumsum([0, *(len(each.vertices) for each in solids)])
        faces = np.concatenate([each.faces + count for each, count in zip(solids, before, strict=False)])
        meshes.append(Mesh(np.concatenate([each.vertices for each in solids]), faces, rgb, opacity))
    return meshes


def solid(part: Primitive) -> trimesh.Trimesh:
    """Return the triangles of one part."""
    x, y, z = part.size_m
    if part.kind == "box":
        made = trimesh.creation.box((x, y, z))
    elif part.kind == "cylinder":
        made = trimesh.creation.cylinder(x, z, sections=32)
    elif part.kind == "sphere":
        made = trimesh.creation.icosphere(2, x)
    else:
        return _capsule(np.array(part.place_m), np.array(part.end_m), x)
    made.apply_translation(part.place_m)
    return made


def _capsule(start_m: np.ndarray, end_m: np.ndarray, radius_m: float) -> trimesh.Trimesh:
    """Return a capsule around the axis between two points [3]; a sphere if they coincide."""
    along = end_m - start_m
    length = float(np.linalg.norm(along))
    if length < 1e-9:
        made = trimesh.creation.icosphere(2, radius_m)
    else:
        made = trimesh.creation.capsule(length, radius_m, count=(10, 12))
        made.apply_translation((0, 0, -made.bounds.mean(0)[2]))
        made.apply_transform(trimesh.geometry.align_vectors((0, 0, 1), along / length))
    made.apply_translation((start_m + end_m) / 2)
    return made
