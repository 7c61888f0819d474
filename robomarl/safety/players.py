"""Commands of soccer robots: acceleration in the plane, yaw rate and kick. The filter's rows are on the acceleration.

A kick moves the ball, not the robot: it goes through, unless the filter has to fall back to braking.
"""

from typing import Any

import numpy as np

from robomarl.safety.carry import FilterCarry
from robomarl.safety.constants import Mode
from robomarl.safety.filter import SafetyFilter
from robomarl.safety.params import SafetyParams
from robomarl.spec import ActionSpec
from robomarl.types import Array, FilterResult
from robomarl.view import LocalView

KICK = "kick"


class PlayerFilter(SafetyFilter):
    """The filter for commands [..., 4] of a player: acceleration x and y, yaw rate, kick speed."""

    def __call__(
        self, carry: FilterCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """Filter one decision; as `SafetyFilter`, the view in the frame of the acceleration, the team's field."""
        ax, ay, turn, kick = np.moveaxis(np.asarray(nominal), -1, 0)
        carry, result = super().__call__(carry, view, np.stack([ax, ay, ax * 0, turn], -1), gain_per_s)
        fine = np.asarray(result.solved) & np.isfinite(kick)
        sent = np.asarray(result.command)
        command = np.stack([sent[..., 0], sent[..., 1], sent[..., 3], np.where(fine, kick, 0.0)], -1)
        return carry, result._replace(command=command, nominal=nominal)


def filter_for(action: ActionSpec, params: SafetyParams, mode: Mode = "qp", **more: Any) -> SafetyFilter:
    """The filter for commands of this kind."""
    plays = any(field.name == KICK for field in action.fields)
    return (PlayerFilter if plays else SafetyFilter)(params, mode, **more)
