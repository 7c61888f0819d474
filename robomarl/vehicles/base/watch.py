"""What a base does now: it drives only while everything is there that driving needs. No ROS, no clock.

A base that stops is at rest: unlike a vehicle in the air (`adapters.guard`) nothing has to be led to the ground, so the
state follows from what is seen now, and only an operator's stop is remembered.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class BaseState(StrEnum):
    """What the base does."""

    WAITING = "WAITING"
    """Something is missing: it is told to stop if it was driving."""
    READY = "READY"
    """Nobody commands it: likewise."""
    DRIVING = "DRIVING"
    """It follows commands."""
    STOPPED = "STOPPED"
    """The E-stop or an operator: it is told to stop for as long as that lasts."""


@dataclass(frozen=True)
class BaseRules:
    """How long to go on without what one needs."""

    stop_after_s: float
    """Of the vehicle file's `on_command_loss`."""
    odom_s: float = 0.5
    """A base whose odometry was not heard for so long is silent."""
    pose_s: float = 0.5
    """Without an estimate in the map for so long it does not know where it is."""


class BaseSighted(NamedTuple):
    """What is so at one moment."""

    command_age_s: float
    """Since the last command that counts."""
    odom_age_s: float
    """Since the base was last heard."""
    pose_age_s: float
    """Since the last estimate in the map."""
    pressed: bool = False
    """The E-stop."""
    stopped: bool = False
    """An operator stopped this base, and did not reset it."""
    unfit: str = ""
    """Battery, another who commands, a jump of the map; "" where it may drive."""


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
