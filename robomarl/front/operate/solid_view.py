"""`SolidView`: the scene in 3-D on the page, with the shapes and colours of `robomarl view`."""

import io

import numpy as np
import trimesh
from nicegui import ui
from nicegui.elements.scene.scene_object3d import Object3D

from robomarl.core.geometry import rotation_matrix
from robomarl.front.operate.map_picture import hex_of
from robomarl.front.view.meshes import Mesh, merged
from robomarl.lab.scene.scene import RGB, Scene, SceneMoment

MOVED_M, TURNED = 0.005, 0.01
"""Smallest motion [m] and turn that is drawn."""
DARK: RGB = (120, 126, 134)


def stl_of(mesh: Mesh) -> bytes:
    """Return triangles as a file that browsers load."""
    file = io.BytesIO()
    trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(file, file_type="stl")
    return file.getvalue()


def stl_files(scene: Scene) -> dict[str, tuple[Mesh, bytes]]:
    """Return the meshes of a scene by their names on the server."""
    kinds = {"robot": scene.looks[0].parts if scene.looks else (), "solid": scene.solids, "load": scene.load}
    return {
        f"{kind}_{k}.stl": (mesh, stl_of(mesh))
        for kind, parts in kinds.items()
        if parts
        for k, mesh in enumerate(merged(parts))
    }


class SolidView:
    """Three.js behind NiceGUI."""

    def __init__(self, scene: Scene, moment: SceneMoment) -> None:
        """Draw everything once, into the open slot."""
        low, high = np.array(scene.low_m), np.array(scene.high_m)
        wide = float(max(high[:2] - low[:2]))
        meshes = {name: mesh for name, (mesh, _) in stl_files(scene).items()}
        self._view = ui.scene(
            width=640, height=400, grid=(round(2 * wide), round(4 * wide)), background_color="#f6f7f9"
        )
        self._view.props('aria-label="3-D view of the field"').classes("solid").style("width: 100%")
        with self._view as view:
            middle = ((low + high) / 2).tolist()
            size = (high - low).tolist()
            view.box(*size, wireframe=True).move(*middle).material("#4a5560", 0.25)
            for name in (name for name in meshes if name.startswith("solid")):
                self._stl(view, name, meshes[name], DARK)
            self._goals = [
                view.sphere(max(scene.goal_m, 0.05)).material(hex_of(scene.colours[k % len(scene.colours)]), 0.5)
                for k in range(len(moment.goal_m))
            ]
            self._load = [self._stl(view, name, meshes[name], (176, 122, 60)) for name in meshes if name[0] == "l"]
            self._robots = [self._robot(view, scene, k, meshes) for k in range(len(scene.names))]
        self._view.move_camera(
            x=middle[0], y=low[1] - 0.25 * wide, z=high[2] + 0.2 * wide,
            look_at_x=middle[0], look_at_y=middle[1], look_at_z=middle[2], duration=0,
        )  # fmt: skip
        self._drawn: dict[int, np.ndarray] = {}
        self.update(moment)

    def update(self, moment: SceneMoment) -> None:
        """Move what has moved."""
        for goal, place in zip(self._goals, moment.goal_m, strict=False):
            self._move(goal, place)
        for robot, place, quat in zip(self._robots, moment.pos_m, moment.quat_wxyz, strict=True):
            self._move(robot, place, quat)
        if len(moment.load_pose):
            for load in self._load:
                self._move(load, moment.load_pose[:3], moment.load_pose[3:])

    def _move(self, thing: Object3D, place_m: np.ndarray, quat: np.ndarray | None = None) -> None:
        """Move a thing if one can see it."""
        pose = np.concatenate([place_m, quat if quat is not None else np.array([1.0, 0, 0, 0])])
        before = self._drawn.get(id(thing))
        if before is not None and np.abs(pose - before).max() < min(MOVED_M, TURNED):
            return
        self._drawn[id(thing)] = pose
        thing.move(*pose[:3].tolist())
        if quat is not None:
            thing.rotate_R(rotation_matrix(quat).tolist())

    def _robot(self, view: ui.scene, scene: Scene, index: int, meshes: dict[str, Mesh]) -> ui.scene.group:
        with view.group() as robot:
            for name in (name for name in meshes if name.startswith("robot")):
                self._stl(view, name, meshes[name], scene.colours[index])
            view.sphere(1.0).scale(*scene.looks[index].keep_m).material(hex_of(scene.colours[index]), 0.18)
            view.text(scene.names[index], "font: 600 15px system-ui; color: #14181d").move(z=0.25)
        return robot

    def _stl(self, view: ui.scene, name: str, mesh: Mesh, own: RGB) -> ui.scene.stl:
        return view.stl(f"/mesh/{name}").material(hex_of(mesh.rgb or own), mesh.opacity)
