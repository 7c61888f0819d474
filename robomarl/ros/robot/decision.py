"""What one tick of a robot came to. No ROS here."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from robomarl.core.types import FilterResult
from robomarl.core.view import Plan
from robomarl.ros.robot.inbox import InputSnapshot


class Held(IntEnum):
    """Why it was not the filter that decided. The filter's own reasons are 0 and above; `State` says what for."""

    INACTIVE = -1
    """The node is not active: nothing is sent."""
    BLIND = -2
    """Own state or goal lost: blind brake."""
    FAILED = -3
    """The policy or the filter raised an error: blind brake."""
    SILENT = -4
    """Stopped: nothing is sent, the vehicle looks after itself."""
    LANDED = -5
    """On the ground: the motors are told to stop."""


class Decision(NamedTuple):
    """What one tick came to."""

    reading: InputSnapshot
    command: np.ndarray | None
    """[A] what is sent; None: nothing."""
    nominal: np.ndarray
    """[A] what the policy asked for; NaN where it was not asked."""
    plan: Plan
    """[3] each: what the team is told."""
    reason: int
    """`Reason` of the filter, or `Held`."""
    filtered: bool
    """The command is not what the policy asked for."""
    solved: bool
    slack: float
    margin_m: float


def decision_of(reading: InputSnapshot, result: FilterResult, plan: Plan) -> Decision:
    """Of a tick in which the filter decided."""
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
