"""`MapPanel`: the field from above and in 3-D, and goals that are chosen on it."""

import math
from functools import partial
from html import escape

import numpy as np
from nicegui import ui
from nicegui.events import GenericEventArguments, MouseEventArguments

from robomarl.front.operate.map_picture import WIDTH, MapMarks, frame_of, ground_svg, moving_svg, robot_at
from robomarl.front.operate.solid_view import SolidView
from robomarl.front.operate.visit import Visit

MAP_VH = 48
"""Largest height of the map, in percent of the window's."""


class MapPanel:
    """Map, 3-D and goal of one page."""

    def __init__(self, visit: Visit) -> None:
        """Draw the panel into the open slot."""
        self._visit, self._frame = visit, frame_of(visit.station.scene)
        self._solid: SolidView | None = None
        with ui.element("section").classes("panel").props('aria-label="Field"'):
            with ui.element("div").classes("orders"):
                self._tabs = {name: self._tab(name) for name in ("Map", "3-D")}
            self._flat = ui.element("div")
            with self._flat:
                self._map = ui.interactive_image(
                    size=(WIDTH, round(self._frame.height)),
                    content=ground_svg(visit.station.scene, self._frame),
                    on_mouse=self._clicked,
                    events=["click"],
                    sanitize=False,
                )
                self._map.classes("map").props(
                    'role="img" aria-label="Map of the field; cards and numbers do the same"'
                )
                self._map.style(f"max-width: calc({MAP_VH}vh * {WIDTH / self._frame.height:.3f})")
                self._moving = self._map.add_layer()
            self._deep = ui.element("div")
            self._goal_row()
        self._show("Map")

    def update(self) -> None:
        """Draw the newest moment."""
        visit, snapshot = self._visit, self._visit.station.snapshot
        moment, robots = snapshot.moment, snapshot.report.robots
        levels = tuple(robot.level if math.isfinite(robot.age_s) else None for robot in robots)
        marks = MapMarks(visit.selected, visit.pending_m, levels)
        if self._flat.visible:
            self._moving.set_content(moving_svg(visit.station.scene, self._frame, moment, marks))
        elif self._solid:
            self._solid.update(moment)
        self._update_goal()

    def _tab(self, name: str) -> ui.element:
        with ui.element("button").classes("act").props('type="button"') as tab:
            ui.html(name, sanitize=False, tag="span")
        return tab.on("click", partial(self._show, name))

    def _show(self, name: str) -> None:
        for label, tab in self._tabs.items():
            tab.props(f'aria-pressed="{"true" if label == name else "false"}"')
        self._flat.set_visibility(name == "Map")
        self._deep.set_visibility(name != "Map")
        if name != "Map" and self._solid is None:
            with self._deep:
                self._solid = SolidView(self._visit.station.scene, self._visit.station.snapshot.moment)

    def _goal_row(self) -> None:
        self._hint = ui.html("", sanitize=False, tag="p").classes("hint").props('aria-live="polite"')
        self._row = ui.element("div").classes("orders goal")
        self._numbers: list[ui.element] = []
        with self._row:
            for axis in range(2 if self._visit.station.scene.flat else 3):
                with ui.element("label"):
                    ui.html(f"{'xyz'[axis]} [m] ", sanitize=False, tag="span")
                    box = ui.element("input").props('type="number" step="0.05"')
                    self._numbers.append(
                        box.on("change", partial(self._typed, axis), args=["target.value"], js_handler=VALUE)
                    )
            for label, style, act in (("Send goal", "act main", self._send), ("Drop", "act", self._drop)):
                with ui.element("button").classes(style).props('type="button"').on("click", act):
                    ui.html(label, sanitize=False, tag="span")
        self._shown: tuple[object, ...] = ()

    def _update_goal(self) -> None:
        """Show the chosen goal where it changed."""
        visit = self._visit
        chosen = tuple(np.round(visit.pending_m, 2).tolist()) if visit.pending_m is not None else ()
        if (shown := (visit.selected, chosen)) == self._shown:
            return
        self._shown = shown
        self._row.set_visibility(bool(visit.selected is not None or not visit.station.own_goals))
        for box, value in zip(self._numbers, chosen or ("", "", ""), strict=False):
            box.props(f'value="{value}"')
        self._hint.set_content(self._advice())

    def _advice(self) -> str:
        visit = self._visit
        if visit.selected is None:
            return "Select a robot on the map or on its card to send it to a goal."
        whom = escape(visit.target if visit.station.own_goals else "the team")
        if visit.pending_m is None:
            return f"Click on the map, or enter numbers, to choose a goal for {whom}."
        return f"Goal for {whom} chosen; it is not sent yet."

    def _clicked(self, event: MouseEventArguments) -> None:
        moment = self._visit.station.snapshot.moment
        robot = robot_at(self._frame, moment, event.image_x, event.image_y)
        if robot is not None:
            self._visit.select(robot)
        elif fault := self._visit.choose(*self._frame.place_m(event.image_x, event.image_y)):
            ui.notify(fault, type="warning")
        self.update()

    def _typed(self, axis: int, event: GenericEventArguments) -> None:
        visit = self._visit
        if visit.pending_m is None:
            here = visit.station.snapshot.moment.pos_m[visit.selected or 0]
            visit.choose(float(here[0]), float(here[1]))
        try:
            value = float(event.args)
        except (TypeError, ValueError):
            value = math.nan
        if visit.pending_m is not None and math.isfinite(value):
            visit.pending_m[axis] = value
        self.update()

    def _send(self) -> None:
        if fault := self._visit.send():
            ui.notify(fault, type="warning")
        else:
            ui.notify("Goal sent.", type="positive")
        self.update()

    def _drop(self) -> None:
        self._visit.pending_m = None
        self.update()


VALUE = "(event) => emit(event.target.value)"
"""Sends the text of an input to the server."""
