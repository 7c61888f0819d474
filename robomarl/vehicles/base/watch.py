"""State of a base: it drives only while all conditions for driving hold. No ROS, no clock.

A base that stops is at rest. Unlike a vehicle in the air (`vehicles.guard`) it need not be led to
the ground, so the state follows from present observations, and only an operator's stop is
remembered.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class BaseState(StrEnum):
    """State of the base."""

    WAITING = "WAITING"
    """Something is missing: it is told to stop if it was driving."""
    READY = "READY"
    """No node commands it: it is told to stop if it was driving."""
    DRIVING = "DRIVING"
    """It follows commands."""
    STOPPED = "STOPPED"
    """The E-stop or an operator: it is told to stop for as long as that lasts."""


@dataclass(frozen=True)
class BaseRules:
    """Time limits without an input."""

    stop_after_s: float
    """Time limit without a command [s], from the vehicle file's `on_command_loss`."""
    odom_s: float = 0.5
    """Time [s] without odometry after which a base is silent."""
    pose_s: float = 0.5
    """Time [s] without an estimate in the map after which a base does not know its position."""


class BaseSighted(NamedTuple):
    """Observations at one moment."""

    command_age_s: float
    """Time since the last command that counts [s]."""
    odom_age_s: float
    """Time since the last message of the base [s]."""
    pose_age_s: float
    """Time since the last estimate in the map [s]."""
    pressed: bool = False
    """The E-stop."""
    stopped: bool = False
    """An operator stopped this base, and did not reset it."""
    unfit: str = ""
    """Reason not to drive: battery, another node that commands, a jump of the map; "" if it may drive."""


def watched(seen: BaseSighted, rules: BaseRules) -> tuple[BaseState, str]:
    """The state, and why; "" where it drives."""
    if seen.pressed:
        return BaseState.STOPPED, "the E-stop is pressed"
    if seen.stopped:
        return BaseState.STOPPED, "an operator stopped it"
    if seen.odom_age_s > rules.odom_s:
        return BaseState.WAITING, "the base says nothing of its wheels"
    if seen.unfit:
        return BaseState.WAITING, seen.unfit
    if seen.pose_age_s > rules.pose_s:
        return BaseState.WAITING, "it does not know where in the map it is"
    if seen.command_age_s > rules.stop_after_s:
        return BaseState.READY, "no command"
    return BaseState.DRIVING, ""
