"""Terms of the guard of an adapter: its states, the action in each, its rules, and its inputs."""

import math
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Literal, NamedTuple

from robomarl.core.hardware.sections import CommandLossConfig


class GuardState(IntEnum):
    """Control of the vehicle now."""

    WAITING = 0
    """A condition is missing, which `why` names. Nothing is sent."""
    READY = 1
    """Fit, disarmed, on the ground, without commands. Nothing is sent."""
    ARMING = 2
    """The vehicle was told to arm and has not said that it is."""
    TAKEOFF = 3
    """Climbs off the ground by itself; commands count from the hand-over on."""
    FLYING = 4
    """Follows commands."""
    HOLDING = 5
    """Hovers where it came to rest: commands are missing, or the estimate was reset."""
    LANDING = 6
    """Descends where it is. Commands don't count any more."""
    LANDED = 7
    """Is disarmed, until commands have stopped."""
    KILLED = 8
    """Motors off at once. Latched."""
    RELEASED = 9
    """The vehicle is in the air, and a pilot or its own fail-safe flies it. Nothing is sent."""


class Deed(StrEnum):
    """Actions of the adapter."""

    NOTHING = "nothing"
    ARM = "arm"
    TAKE_OFF = "take off"
    FOLLOW = "follow"
    HOLD = "hold"
    LAND = "land"
    DISARM = "disarm"
    KILL = "kill"


DEEDS = {
    GuardState.WAITING: Deed.NOTHING,
    GuardState.READY: Deed.NOTHING,
    GuardState.ARMING: Deed.ARM,
    GuardState.TAKEOFF: Deed.TAKE_OFF,
    GuardState.FLYING: Deed.FOLLOW,
    GuardState.HOLDING: Deed.HOLD,
    GuardState.LANDING: Deed.LAND,
    GuardState.LANDED: Deed.DISARM,
    GuardState.KILLED: Deed.KILL,
    GuardState.RELEASED: Deed.NOTHING,
}
FLOWN = frozenset((GuardState.TAKEOFF, GuardState.FLYING, GuardState.HOLDING, GuardState.LANDING))
"""States in which the adapter has the vehicle in the air."""
AIRBORNE = FLOWN | {GuardState.RELEASED}
"""States in which the vehicle may be in the air."""


@dataclass(frozen=True)
class GuardRules:
    """Time limits without an input, and the actions after them."""

    loss: CommandLossConfig
    """The vehicle file's rules for lost commands: when to hover, when to land, when to stop the motors."""
    on_estop: Literal["land", "kill"] = "land"
    """Action of the E-stop on a vehicle in the air."""
    arm_s: float = 3.0
    """Time [s] after which a vehicle that has not armed counts as refusing."""
    takeoff_s: float = 8.0
    """Time [s] after which a vehicle that has not left the ground is landed."""
    settle_s: float = 0.5
    """Time [s] to hold after the estimate was reset."""
    link_s: float = 0.5
    """Time [s] without a message after which a vehicle has lost its link."""
    pose_s: float = 0.3
    """Time [s] without a pose after which the vehicle lands."""
    landing_s: float = 20.0
    """Time [s] after which a landing counts as over, because the height is not known any more."""


class Sighted(NamedTuple):
    """Observations at one moment."""

    command_age_s: float = math.inf
    """Time since the last command that counts [s]."""
    link_age_s: float = math.inf
    """Time since the last message of the vehicle [s]."""
    pose_age_s: float = math.inf
    """Time since the last estimate that can be trusted [s]."""
    unfit: str = ""
    """Why the vehicle's own checks, its type or its firmware don't let it fly; "" where they do."""
    pressed: bool = False
    """The E-stop."""
    kill: bool = False
    """An operator wants the motors off at once."""
    reset: bool = False
    """True if an operator resets the latched state."""
    low: bool = False
    """The battery has to be charged."""
    armed: bool = False
    """True if the vehicle reports that it is armed."""
    flies: bool = False
    """True if the vehicle reports that its motors lift."""
    dead: bool = False
    """True if the vehicle reports that it is tumbled, crashed or locked."""
    aloft: bool = False
    """High enough to hand over to commands."""
    grounded: bool = False
    """Low and at rest, or so says the vehicle."""
    told_off: bool = False
    """The newest command says: stop the motors; low and slow."""
    moved_origin: bool = False
    """The estimator's reset counter changed just now."""
    wrong: str = ""
    """The mistake of frames or units that its data show; "" for none."""
    refusal: str = ""
    """Reason of the vehicle's last refusal; "" for none."""
    taken: str = ""
    """Description of the pilot or fail-safe that flies it instead of the adapter; "" if there is none."""


class GuardStatus(NamedTuple):
    """Status of the guard."""

    state: GuardState = GuardState.WAITING
    held_s: float = 0.0
    """Time in this state so far [s]."""
    why: str = ""
    """Reason for this state, for an operator."""
