"""`Visit`: one open page: its operator, and what it has chosen. No library of pages here."""

from dataclasses import dataclass

import numpy as np

from robomarl.front.operate.operators import FieldOperator
from robomarl.front.operate.station import Station
from robomarl.lab.scene.scene import Scene
from robomarl.ros.desk.fleet_watch import ALL

DEFAULT_M = 1.0
"""Height of a goal [m] of a robot that has no goal yet, and stands on the ground."""


@dataclass
class Visit:
    """The choices of one operator."""

    station: Station
    operator: FieldOperator
    selected: int | None = None
    """Index of the robot that goals and orders are for; None: orders are for the whole team."""
    pending_m: np.ndarray | None = None
    """[3] goal that has been chosen and not sent."""

    @property
    def target(self) -> str:
        """Name of the selected robot, or "all"."""
        return ALL if self.selected is None else self.station.names[self.selected]

    @property
    def whom(self) -> str:
        """The target in a sentence."""
        return "the whole team" if self.selected is None else self.target

    def select(self, robot: int | None) -> None:
        """Select a robot, or with None the team; the selected robot again selects the team."""
        self.selected = None if robot == self.selected else robot
        self.pending_m = None

    def choose(self, x: float, y: float) -> str:
        """Choose a goal at the height of the present one; return why not, "" if it is chosen."""
        if self.selected is None:
            if self.station.own_goals:
                return "Select a robot first, on the map or on its card."
            self.selected = 0
        moment = self.station.snapshot.moment
        goal = moment.goal_m[self.selected if self.station.own_goals else 0] if len(moment.goal_m) else np.zeros(3)
        height = float(goal[2]) if goal[2] > 0.1 or self.station.scene.flat else DEFAULT_M
        self.pending_m = np.array([round(x, 2), round(y, 2), round(height, 2)])
        return beyond(self.station.scene, self.pending_m)

    def send(self) -> str:
        """Send the chosen goal; return why not, "" if it is sent."""
        if self.selected is None or self.pending_m is None:
            return "Choose a robot and a place first."
        if fault := beyond(self.station.scene, self.pending_m):
            return fault
        self.station.send_goal(self.target, self.pending_m, self.operator.name)
        self.pending_m = None
        return ""


def beyond(scene: Scene, place_m: np.ndarray) -> str:
    """Return why a place is no goal; "" if it is inside the arena. Robots judge obstacles and margins themselves."""
    if not np.isfinite(place_m).all():
        return "The goal needs three numbers."
    axes = "xy" if scene.flat else "xyz"
    for axis, value, low, high in zip(axes, place_m, scene.low_m, scene.high_m, strict=False):
        if not low <= value <= high:
            return f"The goal is outside the arena: {axis} = {value:g} m, and it reaches from {low:g} to {high:g} m."
    return ""
