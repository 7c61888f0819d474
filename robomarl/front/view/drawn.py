"""`Drawn`: a scene on a page of viser, and its moments as they are shown."""

from dataclasses import dataclass

import numpy as np
import trimesh
import viser

from robomarl.front.view.meshes import Mesh, merged
from robomarl.lab.scene.cables import laid
from robomarl.lab.scene.scene import RGB, RobotShape, Scene, SceneMoment

ALERT = (255, 150, 20)
"""Colour of the safety distance, and of the command that was sent, while the filter changes the command."""
ASKED = (150, 155, 165)
"""Colour of the acceleration that the policy asked for."""
ARROW_S2 = 0.08
"""Length of an arrow [m] for each m/s² of an acceleration."""
TRAIL_S, TRAIL_PARTS, TRAIL_STEP_S = 3.0, 60, 0.2
"""Length of trails [s], their pieces, and the time [s] after which they are drawn again."""
CABLE_M = 0.005
"""Radius of a cable, thicker than it is so that its colour is seen."""
HALO = 0.14
"""Opacity of safety distances."""


@dataclass(frozen=True)
class Layers:
    """The things that are shown besides robots."""

    goals: bool = True
    trails: bool = True
    safety: bool = True
    plans: bool = False
    commands: bool = True
    names: bool = True


class Drawn:
    """The handles of everything on the page."""

    def __init__(self, server: viser.ViserServer, scene: Scene, first: SceneMoment) -> None:
        """Draw the fixed things, and everything else in its state at the first moment."""
        self._scene, self._api = scene, server.scene
        self._count = len(first.pos_m)
        self._api.set_up_direction("+z")
        self._api.configure_default_lights()
        self._floor()
        for k, mesh in enumerate(merged(scene.solids) if scene.solids else ()):
            self._mesh(f"/solids/{k}", mesh)
        looks = {look: merged(look.parts) for look in dict.fromkeys(scene.looks)}
        self._robots = [self._robot(index, looks[look]) for index, look in enumerate(scene.looks)]
        self._halos = [self._halo(index, look) for index, look in enumerate(scene.looks)]
        self._names = [self._label(index, look) for index, look in enumerate(scene.looks)]
        self._goals = self._goal_marks(first)
        self._load = [self._mesh(f"/load/{k}", mesh) for k, mesh in enumerate(merged(scene.load) if scene.load else ())]
        self._ball = self._mesh("/ball", merged((scene.ball,))[0]) if scene.ball else None
        self._marks: list[viser.MeshHandle] = []
        self._mark_key: tuple = ()
        self._lines = {name: self._line(f"/{name}") for name in ("trails", "plans", "commands")}
        self._cables = [self._cable(index) for index in range(len(first.tied_m))]
        self._trail_s = -np.inf

    def show(self, moment: SceneMoment, trail: list[SceneMoment], layers: Layers) -> None:
        """Draw a moment; `trail` are the moments before it, oldest first."""
        for robot, place, turn in zip(self._robots, moment.pos_m, moment.quat_wxyz, strict=True):
            robot.position, robot.wxyz = place, turn
        self._show_safety(moment, layers)
        for label in self._names:
            label.visible = layers.names
        self._show_goals(moment, layers)
        self._show_carried(moment)
        self._draw_lines(moment, trail, layers)
        self._show_marks(moment)

    def _floor(self) -> None:
        low, high = np.array(self._scene.low_m), np.array(self._scene.high_m)
        low[2] = 0.0 if self._scene.flat else low[2]
        wide, deep, _ = (high - low).tolist()
        middle = (low + high) / 2
        under = min(0.0, low[2]) - 0.011
        self._api.add_grid(
            "/floor",
            width=1.6 * wide,
            height=1.6 * deep,
            cell_size=0.25 if wide < 8 else 1.0,
            section_size=1.0 if wide < 8 else 5.0,
            position=(middle[0], middle[1], under),
            plane_color=(214, 220, 228),
            plane_opacity=1.0,
            cell_color=(198, 205, 214),
            section_color=(168, 176, 188),
            shadow_opacity=0.35,
        )
        self._api.add_line_segments(
            "/arena", box_edges(low, high), (130, 140, 155), thickness=1.5, thickness_units="screen"
        )

    def _mesh(self, name: str, mesh: Mesh, own: RGB = ASKED) -> viser.MeshHandle:
        """Draw triangles; those without a colour have the robot's own."""
        return self._api.add_mesh_simple(
            name,
            mesh.vertices,
            mesh.faces,
            color=mesh.rgb or own,
            opacity=None if mesh.opacity == 1.0 else mesh.opacity,
            flat_shading=True,
        )

    def _robot(self, index: int, meshes: list[Mesh]) -> viser.FrameHandle:
        """Draw one robot. Returns the handle of its body frame: a pose is the least that a browser is told."""
        name = f"/robots/{self._scene.names[index]}"
        frame = self._api.add_frame(name, show_axes=False)
        for k, mesh in enumerate(meshes):
            self._mesh(f"{name}/{k}", mesh, self._scene.colours[index])
        return frame

    def _halo(self, index: int, look: RobotShape) -> viser.MeshHandle:
        """Draw the ellipsoid that the filter of one robot keeps, along the axes of the world."""
        ball = trimesh.creation.icosphere(2, 1.0)
        return self._api.add_mesh_simple(
            f"/safety/{self._scene.names[index]}",
            ball.vertices * np.array(look.keep_m),
            ball.faces,
            color=self._scene.colours[index],
            opacity=HALO,
            cast_shadow=False,
        )

    def _label(self, index: int, look: RobotShape) -> viser.LabelHandle:
        """Write the name of one robot above it."""
        name = self._scene.names[index]
        place = (0.0, 0.0, 0.7 * look.keep_m[0])
        return self._api.add_label(
            f"/safety/{name}/name", name, anchor="bottom-center", font_screen_scale=0.8, position=place
        )

    def _goal_marks(self, first: SceneMoment) -> viser.BatchedMeshHandle | None:
        """Draw a disc of the size in which a robot has arrived, at each goal."""
        count = len(first.goal_m)
        if not count:
            return None
        ring = trimesh.creation.annulus(0.8 * self._scene.goal_m, self._scene.goal_m, 0.01)
        colours = np.array(self._scene.colours if count == self._count else [(214, 158, 84)], np.uint8)
        return self._api.add_batched_meshes_simple(
            "/goals",
            ring.vertices,
            ring.faces,
            np.tile([1.0, 0, 0, 0], (count, 1)),
            first.goal_m,
            batched_colors=colours,
            cast_shadow=False,
            lod="off",
        )

    def _line(self, name: str) -> viser.LineSegmentsHandle:
        nothing = np.zeros((1, 2, 3), np.float32)
        return self._api.add_line_segments(name, nothing, ASKED, thickness=2.0, thickness_units="screen", visible=False)

    def _cable(self, index: int) -> viser.MeshHandle:
        """Draw one cable, 1 m long along z: its pose and scale lay it between robot and load."""
        rod = trimesh.creation.cylinder(CABLE_M, 1.0, sections=8)
        rod.apply_translation((0, 0, 0.5))
        name = f"/cables/{self._scene.names[index]}"
        return self._api.add_mesh_simple(name, rod.vertices, rod.faces, scale=(1.0, 1.0, 1.0))

    def _show_safety(self, moment: SceneMoment, layers: Layers) -> None:
        """Move the safety distances; that of a robot whose command the filter changed has another colour."""
        active = moment.active if len(moment.active) else np.zeros(self._count, bool)
        for index, (halo, place) in enumerate(zip(self._halos, moment.pos_m, strict=True)):
            colour = ALERT if active[index] else self._scene.colours[index]
            halo.position = place
            if halo.color != colour:
                halo.color = colour
            if (wanted := HALO if layers.safety else 0.0) != halo.opacity:
                halo.opacity = wanted

    def _show_goals(self, moment: SceneMoment, layers: Layers) -> None:
        if self._goals is None or not len(moment.goal_m):
            return
        self._goals.visible = layers.goals
        goals = moment.goal_m.astype(np.float32)
        if not np.array_equal(goals, self._goals.batched_positions):
            self._goals.batched_positions = goals

    def _show_carried(self, moment: SceneMoment) -> None:
        for handle in self._load if len(moment.load_pose) else ():
            handle.position, handle.wxyz = moment.load_pose[:3], moment.load_pose[3:]
        if self._ball and len(moment.ball_m):
            self._ball.position = moment.ball_m
        for handle, cable in zip(self._cables, laid(moment, self._scene.working_n), strict=True):
            if handle.visible != (cable is not None):
                handle.visible = cable is not None
            if cable is None:
                continue
            handle.position, handle.wxyz = cable.place_m, cable.turn
            if abs(handle.scale[2] - cable.length_m) > 0.01 * cable.length_m:  # type: ignore[index]
                handle.scale = (1.0, 1.0, cable.length_m)
            if handle.color != cable.rgb:
                handle.color = cable.rgb

    def _draw_lines(self, moment: SceneMoment, trail: list[SceneMoment], layers: Layers) -> None:
        own = np.array(self._scene.colours, np.uint8)
        if not 0 <= moment.time_s - self._trail_s < TRAIL_STEP_S or not layers.trails:
            self._trail_s = moment.time_s
            self._put("trails", *(trails(trail, own) if layers.trails else NO_LINES))
        plans = np.zeros((0, 2, 3)) if not layers.plans else moment.plan_m
        self._put("plans", plans, own[: len(plans)])
        self._put("commands", *(changes(moment) if layers.commands else NO_LINES))

    def _put(self, name: str, segments: np.ndarray, colours: np.ndarray) -> None:
        """Draw segments [S, 2, 3] in colours [S, 3], or nothing if there are none."""
        handle = self._lines[name]
        if len(segments):
            handle.points = segments.astype(np.float32)
            handle.colors = np.repeat(colours[:, None].astype(np.uint8), 2, 1)
        if handle.visible != bool(len(segments)):
            handle.visible = bool(len(segments))

    def _show_marks(self, moment: SceneMoment) -> None:
        """Draw the marks of the task again if they changed."""
        if moment.marks == self._mark_key:
            return
        for handle in self._marks:
            handle.remove()
        self._mark_key = moment.marks
        self._marks = [
            self._mesh(f"/marks/{k}", mesh) for k, mesh in enumerate(merged(moment.marks) if moment.marks else ())
        ]


NO_LINES = (np.zeros((0, 2, 3)), np.zeros((0, 3), np.uint8))


def box_edges(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the twelve edges of the box between two corners, [12, 2, 3]."""
    corners = np.array([[(low, high)[k >> axis & 1][axis] for axis in range(3)] for k in range(8)])
    pairs = [(k, k | 1 << axis) for k in range(8) for axis in range(3) if not k >> axis & 1]
    return corners[np.array(pairs)].astype(np.float32)


def trails(moments: list[SceneMoment], colours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return segments [S, 2, 3] and colours [S, 3] of the ways of all robots through moments, fading to white."""
    if len(moments) < 2:
        return NO_LINES
    picks = np.unique(np.linspace(0, len(moments) - 1, min(len(moments), TRAIL_PARTS)).round().astype(int))
    ways = np.stack([moments[k].pos_m for k in picks])
    segments = np.stack([ways[:-1], ways[1:]], 2).reshape(-1, 2, 3)
    age = np.linspace(0.15, 1.0, len(picks) - 1)[:, None, None]
    faded = colours[None] * age + 238 * (1 - age)
    return segments, faded.reshape(-1, 3)


def changes(moment: SceneMoment) -> tuple[np.ndarray, np.ndarray]:
    """Return two lines for each robot with a command changed by the filter: the wish of the policy, and
    the command sent.
    """
    robots = np.flatnonzero(moment.active)
    if not len(robots):
        return NO_LINES
    place = moment.pos_m[robots]
    asked = np.stack([place, place + ARROW_S2 * moment.nominal_m_s2[robots]], 1)
    sent = np.stack([place, place + ARROW_S2 * moment.command_m_s2[robots]], 1)
    colours = np.repeat(np.array([ASKED, ALERT], np.uint8), len(robots), 0)
    return np.concatenate([asked, sent]), colours
