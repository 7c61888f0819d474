"""The words of the guard of an adapter: its states, what is done in each, its rules, and what it is told."""

import math
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Literal, NamedTuple

from robomarl.core.hardware.sections import CommandLossConfig


class GuardState(IntEnum):
    """What moves the vehicle now."""

    WAITING = 0
    """Something is missing: `why` says what. Nothing is sent."""
    READY = 1
    """Fit, disarmed, on the ground; nobody commands it. Nothing is sent."""
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
    """In the air, and somebody else flies it: a pilot, or the vehicle's own fail-safe. Nothing is sent."""


class Deed(StrEnum):
    """What the adapter does."""

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
    """How long to go on without what one needs."""

    loss: CommandLossConfig
    """Of the vehicle file: when to hover, when to land, when to stop the motors."""
    on_estop: Literal["land", "kill"] = "land"
    """What the E-stop does to a vehicle in the air."""
    arm_s: float = 3.0
    """A vehicle that has not armed after so long refuses."""
    takeoff_s: float = 8.0
    """One that has not left the ground after so long never does."""
    settle_s: float = 0.5
    """It holds so long after its estimate was reset."""
    link_s: float = 0.5
    """A vehicle that was not heard for so long has lost its link."""
    pose_s: float = 0.3
    """Without a pose for so long it lands."""
    landing_s: float = 20.0
    """A landing that takes longer is over: nobody knows the height any more."""


class Sighted(NamedTuple):
    """What is so at one moment."""

    command_age_s: float = math.inf
    """Since the last command that counts."""
    link_age_s: float = math.inf
    """Since the vehicle was last heard."""
    pose_age_s: float = math.inf
    """Since the last estimate that can be trusted."""
    unfit: str = ""
    """Why the vehicle's own checks, its type or its firmware don't let it fly; "" where they do."""
    pressed: bool = False
    """The E-stop."""
    kill: bool = False
    """An operator wants the motors off at once."""
    reset: bool = False
    """An operator resets what is latched."""
    low: bool = False
    """The battery has to be charged."""
    armed: bool = False
    """So says the vehicle."""
    flies: bool = False
    """So says the vehicle: its motors lift."""
    dead: bool = False
    """So says the vehicle: tumbled, crashed or locked."""
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
    """What the vehicle said when it last refused; "" for nothing."""
    taken: str = ""
    """What flies it instead of the adapter; "" where nothing does."""


class GuardStatus(NamedTuple):
    """Where the guard is."""

    state: GuardState = GuardState.WAITING
    held_s: float = 0.0
    """So long already."""
    why: str = ""
    """What led here, for an operator."""
