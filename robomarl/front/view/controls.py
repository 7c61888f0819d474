"""`Controls`: buttons, sliders and goal handles of a page. Each writes into a queue that the loop of the page reads."""

from collections.abc import Callable
from dataclasses import fields
from queue import Empty, SimpleQueue

import numpy as np
import viser

from robomarl.front.view.drawn import Layers
from robomarl.front.view.timeline import Timeline
from robomarl.lab.scene.scene import Scene, SceneMoment

HANDLES = 8
"""Teams up to this size have a handle at each goal; in larger teams the followed robot has one."""
FREE = "free camera"
SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "5x")
Action = Callable[[], None]


class Controls:
    """The panel beside the picture."""

    def __init__(self, server: viser.ViserServer, scene: Scene, timeline: Timeline, title: str, ends: bool) -> None:
        """Make the panel.

        Args:
            server: the page.
            scene: the fixed things.
            timeline: the moments that are shown.
            title: first line of the panel.
            ends: True if all moments are known, as in a recording.
        """
        self._scene, self._timeline, self._gui, self._ends = scene, timeline, server.gui, ends
        self._actions: SimpleQueue[Action] = SimpleQueue()
        self._moves_slider = False
        self.told = self._gui.add_markdown(f"**{title}**")
        self._play = self._gui.add_button("Pause", icon=viser.Icon.PLAYER_PAUSE)
        self._play.on_click(lambda _: self._actions.put(self._toggle))
        jumps = self._gui.add_button_group("Step", ("◀", "▶", "Restart"))
        jumps.on_click(lambda event: self._actions.put(lambda: self._jump(str(event.target.value))))
        self._time = self._gui.add_slider("Time [s]", 0.0, 1.0, 0.01, 0.0)
        self._time.on_update(self._scrubbed)
        self._speed = self._gui.add_dropdown("Speed", SPEEDS, initial_value="1x")
        self._speed.on_update(lambda _: self._actions.put(self._set_speed))
        self._follow = self._gui.add_dropdown("Follow", (FREE, *scene.names), initial_value=FREE)
        with self._gui.add_folder("Show"):
            self._layers = {
                field.name: self._gui.add_checkbox(field.name.capitalize(), bool(field.default))
                for field in fields(Layers)
            }

    @property
    def layers(self) -> Layers:
        """The things that the boxes ask for."""
        return Layers(**{name: box.value for name, box in self._layers.items()})

    @property
    def followed(self) -> int | None:
        """Index of the robot that the camera follows; None for a free camera."""
        return None if self._follow.value == FREE else self._scene.names.index(self._follow.value)

    def run(self) -> bool:
        """Do everything that was clicked since the last call. Returns True if anything was."""
        done = False
        while True:
            try:
                self._actions.get_nowait()()
            except Empty:
                return done
            done = True

    def put(self, action: Action) -> None:
        """Let the loop of the page do something at its next turn."""
        self._actions.put(action)

    def update(self, moment: SceneMoment) -> None:
        """Bring the slider and the button to the moment that is shown."""
        first, last = self._timeline.span_s
        self._moves_slider = True
        if abs(self._time.max - last) > (1e-6 if self._ends else 1.0) or last > self._time.max:
            self._time.max = max(round(last, 2) if self._ends else np.ceil(last / 5) * 5 + 5, first + 0.01)
        self._time.min = min(first, self._time.max - 0.01)
        self._time.value = float(np.clip(moment.time_s, self._time.min, self._time.max))
        self._moves_slider = False

    def _toggle(self) -> None:
        self._timeline.playing = not self._timeline.playing
        self._show_playing()

    def _show_playing(self) -> None:
        self._play.label = "Pause" if self._timeline.playing else "Play"
        self._play.icon = viser.Icon.PLAYER_PAUSE if self._timeline.playing else viser.Icon.PLAYER_PLAY

    def _jump(self, name: str) -> None:
        if name == "Restart":
            self._timeline.restart()
            return
        self._timeline.playing = False
        self._show_playing()
        self._timeline.step(1 if name == "▶" else -1)

    def _scrubbed(self, event: viser.GuiEvent) -> None:
        """Go to the time of the slider, unless the page itself moved it."""
        if event.client is None or self._moves_slider:
            return
        wanted = float(self._time.value)

        def go() -> None:
            self._timeline.playing = False
            self._show_playing()
            self._timeline.seek(wanted)

        self._actions.put(go)

    def _set_speed(self) -> None:
        self._timeline.speed = float(self._speed.value.rstrip("x"))


class GoalHandles:
    """Handles that drag goals, and number fields for keyboards."""

    def __init__(self, server: viser.ViserServer, scene: Scene, controls: Controls, timeline: Timeline) -> None:
        """Make the panel; handles come with the first moment that has goals."""
        self._server, self._scene, self._controls, self._timeline = server, scene, controls, timeline
        self._handles: dict[int, viser.TransformControlsHandle] = {}
        self._held: set[int] = set()
        with server.gui.add_folder("Goal"):
            self._robot = server.gui.add_dropdown("Robot", scene.names, initial_value=scene.names[0])
            self._place = server.gui.add_vector3("Place [m]", (0.0, 0.0, 0.0), step=0.05)
            server.gui.add_button("Set goal").on_click(lambda _: controls.put(self._set_by_numbers))
        self._robot.on_update(lambda _: controls.put(self._show_numbers))
        self._goals = np.zeros((0, 3))

    def update(self, moment: SceneMoment, visible: bool) -> None:
        """Bring the handles to the goals, except one that is being dragged."""
        first, self._goals = not len(self._goals), moment.goal_m
        for robot in self._wanted():
            handle = self._handles.get(robot) or self._make(robot)
            handle.visible = visible
            if robot not in self._held and not np.allclose(handle.position, moment.goal_m[robot], atol=1e-6):
                handle.position = moment.goal_m[robot]
        if first and len(self._goals):
            self._robot.visible = len(self._goals) == len(self._scene.names)  # a load has one goal for all
            self._show_numbers()

    def _wanted(self) -> list[int]:
        """Return the robots with a handle at their goal, and take all other handles away."""
        wanted = list(range(len(self._goals)))
        if len(wanted) > HANDLES:
            followed = self._controls.followed
            wanted = [] if followed is None else [followed]
        for robot in [robot for robot in self._handles if robot not in wanted]:
            self._handles.pop(robot).remove()
        return wanted

    def _make(self, robot: int) -> viser.TransformControlsHandle:
        handle = self._server.scene.add_transform_controls(
            f"/goal_handles/{robot}",
            scale=0.22,
            line_width=2.0,
            active_axes=(True, True, not self._scene.flat),
            disable_rotations=True,
            depth_test=False,
            position=self._goals[robot],
        )
        handle.on_update(lambda event: self._dragged(robot, event))
        self._handles[robot] = handle
        return handle

    def _dragged(self, robot: int, event: viser.TransformControlsEvent) -> None:
        """Set the goal while its handle is dragged, and let the handle follow the goal again afterwards."""
        place_m = np.array(event.target.position)
        if event.phase == "end":
            self._controls.put(lambda: self._release(robot, place_m))
        else:
            self._held.add(robot)
            self._controls.put(lambda: self._timeline.set_goal(robot, place_m))

    def _release(self, robot: int, place_m: np.ndarray) -> None:
        """Leave the goal where its handle was let go, and show its numbers."""
        self._timeline.set_goal(robot, place_m)
        self._held.discard(robot)
        self._goals = self._timeline.moment.goal_m
        self._robot.value = self._scene.names[robot]
        self._show_numbers()

    def _show_numbers(self) -> None:
        robot = min(self._scene.names.index(self._robot.value), len(self._goals) - 1)
        x, y, z = (round(float(part), 3) for part in self._goals[robot])
        self._place.value = (x, y, z)

    def _set_by_numbers(self) -> None:
        robot = min(self._scene.names.index(self._robot.value), len(self._goals) - 1)
        self._timeline.set_goal(robot, np.array(self._place.value))
