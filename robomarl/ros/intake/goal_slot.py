"""`GoalSlot`: where a robot is told to go, checked when it is told. No ROS here."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robomarl.core.view import Goal


def _anywhere(place_m: np.ndarray) -> str:
    return ""


@dataclass(frozen=True)
class GoalLimits:
    """Limits on the positions of goals."""

    fault: Callable[[np.ndarray], str] = _anywhere
    """Function (goal [3]) -> reason why the robot, or its team's load, cannot rest there; "" if it can."""
    stay_m: Callable[[np.ndarray], np.ndarray] | None = None
    """Function (position [3] of a flying robot) -> position at which it stays instead of going to a rejected goal;
    None: the goal is that of the team's load, which keeps the last one.
    """


class GoalSlot:
    """The latest goal that a robot can rest at."""

    def __init__(self, limits: GoalLimits, fixed: Goal | None) -> None:
        """No goal has been told; `fixed` is one that is not told, None for robots that are told theirs."""
        self._limits = limits
        self.value = fixed
        """The goal; None: there is none."""
        self.count = 0
        """Goals that have arrived."""
        self._refusal = ""

    def put(self, goal: Goal, flying: Goal | None) -> str:
        """A goal arrived; returns why it is refused, "" if it is not.

        A robot in flight then stays where it is, and a load at its last goal, until another goal comes. On the ground
        there is no goal, so that nothing is activated.

        Args:
            goal: as it was told.
            flying: where a robot in flight is; None for one on the ground.
        """
        self.count += 1
        self._refusal = self._limits.fault(goal.pos_m)
        if not self._refusal:
            self.value = goal
        elif flying is None:
            self.value = None
        elif self._limits.stay_m:
            self.value = Goal(self._limits.stay_m(flying.pos_m), flying.quat_wxyz)
        return self._refusal

    @property
    def missing(self) -> str:
        """Why there is no goal; "" if there is one."""
        if self.value is not None:
            return ""
        return f"refused: {self._refusal}" if self._refusal else "none received yet"

    @property
    def refused(self) -> str:
        """Why the robot does not go where it was told last; "" if it does, or has no goal at all."""
        if self.value is None or not self._refusal:
            return ""
        what = "the robot stays where it is" if self._limits.stay_m else "the load stays at its last goal"
        return f"refused, {what}: {self._refusal}"
