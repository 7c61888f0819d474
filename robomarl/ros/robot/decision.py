"""Result of one tick of a robot. No ROS here."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from robomarl.core.types import FilterResult
from robomarl.core.view import Plan
from robomarl.ros.robot.inbox import InputSnapshot


class Held(IntEnum):
    """Reason why the filter did not decide. The filter's own reasons are 0 and above; `State` gives the purpose."""

    INACTIVE = -1
    """The node is not active: nothing is sent."""
    BLIND = -2
    """Own state or goal lost: blind brake."""
    FAILED = -3
    """The filter raised an exception: blind brake."""
    SILENT = -4
    """Stopped: nothing is sent, the vehicle looks after itself."""
    LANDED = -5
    """Landed: the motors are commanded to stop."""
    RAISED = -6
    """The policy raised an exception, and the filter decided as if the policy had answered NaN."""


class Decision(NamedTuple):
    """Result of one tick."""

    reading: InputSnapshot
    command: np.ndarray | None
    """Command [A] to send; None: none."""
    nominal: np.ndarray
    """Command [A] of the policy; NaN if it was not asked."""
    plan: Plan
    """Plan that is sent to the team, [3] each."""
    reason: int
    """`Reason` of the filter, or `Held`."""
    filtered: bool
    """True if the command differs from the policy's."""
    solved: bool
    slack: float
    margin_m: float


def decision_of(reading: InputSnapshot, result: FilterResult, plan: Plan) -> Decision:
    """Return the decision of a tick in which the filter decided."""
    return Decision(
        reading=reading,
        command=np.asarray(result.command, float),
        nominal=np.asarray(result.nominal, float),
        plan=plan,
        reason=int(result.reason),
        filtered=bool(result.active),
        solved=bool(result.solved),
        slack=float(result.slack),
        margin_m=float(result.margin_m),
    )
