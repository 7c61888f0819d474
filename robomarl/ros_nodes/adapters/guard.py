"""The guard of an adapter: what stands between commands and a vehicle's motors. Plain Python: no ROS, no clock.

    WAITING <-> READY --a command--> ARMING -> TAKEOFF -> FLYING <-> HOLDING
                                        ARMING, TAKEOFF, FLYING, HOLDING -> LANDING -> LANDED
    LANDED --commands have stopped, disarmed--> WAITING
    from everywhere: killed, latched --reset, once nothing presses--> WAITING

A frozen status and what is seen now go in, the next status comes out; `DEEDS` says what the adapter does in each
state. The guard has its own watchdog on the age of the commands: what the vehicle file says of lost commands happens
here, next to the vehicle, whoever sends them. It leads to the ground from every state in which the vehicle flies, and
nothing but commands leads from the ground into the air: nodes send them only once an operator has armed and
activated the robot.
"""

import math
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Literal, NamedTuple

from robomarl.hardware_configs.sections import CommandLossConfig


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
}
AIRBORNE = frozenset((GuardState.TAKEOFF, GuardState.FLYING, GuardState.HOLDING, GuardState.LANDING))
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


class GuardStatus(NamedTuple):
    """Where the guard is."""

    state: GuardState = GuardState.WAITING
    held_s: float = 0.0
    """So long already."""
    why: str = ""
    """What led here, for an operator."""


def stepped(status: GuardStatus, seen: Sighted, rules: GuardRules, dt_s: float) -> GuardStatus:
    """The next status.

    Args:
        status: before.
        seen: now.
        rules: of this vehicle.
        dt_s: since the last step.
    """
    held_s = status.held_s + dt_s
    state, why = _overruled(status, seen, rules) or _NEXT[status.state](status._replace(held_s=held_s), seen, rules)
    if state is status.state:
        return GuardStatus(state, held_s, why if state is GuardState.WAITING else status.why)
    return GuardStatus(state, 0.0, why)


Next = tuple[GuardState, str]


def _overruled(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next | None:
    """What leads out of every state alike; None where nothing does."""
    state = status.state
    if state is GuardState.KILLED:
        return None
    if seen.kill:
        return GuardState.KILLED, "an operator stopped the motors"
    if seen.dead and (state in AIRBORNE or state is GuardState.ARMING):
        return GuardState.KILLED, f"the vehicle gave up: {seen.unfit or 'tumbled, crashed or locked'}"
    if seen.pressed and (state in AIRBORNE or state is GuardState.ARMING):
        if rules.on_estop == "kill":
            return GuardState.KILLED, "the E-stop was pressed"
        if state is not GuardState.LANDING:
            return GuardState.LANDING, "the E-stop was pressed"
    return None


def missing(seen: Sighted, rules: GuardRules) -> str:
    """Why a vehicle on the ground may not start; "" where it may."""
    if seen.link_age_s > rules.link_s:
        return "the vehicle does not answer"
    if seen.dead or seen.unfit:
        return seen.unfit or "the vehicle is tumbled, crashed or locked"
    if seen.pressed:
        return "the E-stop is pressed"
    if seen.pose_age_s > rules.pose_s:
        return "no pose"
    return "the battery is low" if seen.low else ""


def _fails(seen: Sighted, rules: GuardRules) -> str:
    """Why a vehicle in the air has to land; "" where it need not."""
    if seen.link_age_s > rules.link_s:
        return "the link is lost"
    if seen.pose_age_s > rules.pose_s:
        return "the pose is lost"
    return "the battery is low" if seen.low else "" if seen.armed else "the vehicle disarmed itself"


def _waiting(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    if seen.flies and seen.armed and seen.link_age_s <= rules.link_s:
        return GuardState.HOLDING, "found in the air"
    why = missing(seen, rules)
    return (GuardState.WAITING, why) if why else (GuardState.READY, "")


def _ready(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    if seen.flies and seen.armed or missing(seen, rules):
        return _waiting(status, seen, rules)
    # A command that says "stop the motors" is the end of a landing, and no wish to fly.
    wanted = seen.command_age_s <= rules.loss.hover_after_s and not seen.told_off
    return (GuardState.ARMING, "") if wanted else (GuardState.READY, "")


def _arming(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    if why := missing(seen, rules):
        return GuardState.LANDED, f"not armed: {why}"
    if seen.command_age_s > rules.loss.hover_after_s:
        return GuardState.LANDED, "commands stopped before it was armed"
    if seen.armed:
        return (GuardState.FLYING if seen.aloft else GuardState.TAKEOFF), ""
    if status.held_s > rules.arm_s:
        return GuardState.LANDED, "the vehicle refuses to arm"
    return GuardState.ARMING, ""


def _takeoff(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    if why := _fails(seen, rules):
        return GuardState.LANDING, why
    if seen.command_age_s > rules.loss.hover_after_s:
        return GuardState.LANDING, "commands stopped during the take-off"
    if seen.moved_origin:
        return GuardState.LANDING, "the estimate was reset during the take-off"
    if seen.aloft:
        return GuardState.FLYING, ""
    if status.held_s > rules.takeoff_s:
        return GuardState.LANDING, "the vehicle did not leave the ground"
    return GuardState.TAKEOFF, ""


def _flying(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    if why := _fails(seen, rules):
        return GuardState.LANDING, why
    if seen.told_off:
        return GuardState.LANDED, "landed by command"
    if seen.moved_origin:
        return GuardState.HOLDING, "the estimate was reset"
    if seen.command_age_s > rules.loss.hover_after_s:
        return GuardState.HOLDING, "commands stopped"
    return GuardState.FLYING, ""


def _holding(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    if why := _fails(seen, rules):
        return GuardState.LANDING, why
    # One that was found in the air has never been commanded: it counts from then on.
    silent_s = min(seen.command_age_s, rules.loss.hover_after_s + status.held_s)
    off_s = rules.loss.motors_off_after_s
    if off_s is not None and silent_s > off_s:
        return (GuardState.LANDING if seen.grounded else GuardState.KILLED), "commands stopped under a load"
    if silent_s > rules.loss.land_after_s:
        return GuardState.LANDING, "commands stopped for too long"
    settled = status.held_s >= rules.settle_s and not seen.moved_origin
    if settled and seen.command_age_s <= rules.loss.hover_after_s:
        return GuardState.FLYING, ""
    return GuardState.HOLDING, ""


def _landing(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    heard = seen.link_age_s <= rules.link_s
    if seen.grounded or heard and not seen.armed and not seen.flies:
        return GuardState.LANDED, status.why
    if status.held_s > rules.landing_s:
        return GuardState.LANDED, f"{status.why}; the ground was not found in {rules.landing_s:g} s"
    return GuardState.LANDING, ""


def _landed(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    silent = seen.command_age_s > rules.loss.hover_after_s
    down = not seen.armed and not seen.flies and seen.link_age_s <= rules.link_s
    return (GuardState.WAITING, status.why) if silent and down else (GuardState.LANDED, "")


def _killed(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    free = seen.reset and not seen.pressed and not seen.kill and not seen.dead and not seen.armed
    return (GuardState.WAITING, "reset") if free else (GuardState.KILLED, "")


_NEXT = {
    GuardState.WAITING: _waiting,
    GuardState.READY: _ready,
    GuardState.ARMING: _arming,
    GuardState.TAKEOFF: _takeoff,
    GuardState.FLYING: _flying,
    GuardState.HOLDING: _holding,
    GuardState.LANDING: _landing,
    GuardState.LANDED: _landed,
    GuardState.KILLED: _killed,
}
