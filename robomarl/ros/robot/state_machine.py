"""The states of one robot, and every way from one to another. Plain Python: no ROS, no clock, no memory.

    STANDBY <-> READY --arm, activate--> TAKEOFF -> PICKUP -> BLEND -> ACTIVE
                                            any of these --hold--> HOLD --activate--> BLEND
                                            any of these --land--> LAND -> STOP --reset--> STANDBY
    from everywhere: E-stop -> ESTOP, latched --reset, once it is released--> STANDBY

A robot moves in the states of `MOVING` only, and the one way into them is: every input fresh, the team agrees,
the E-stop's heartbeat is there, an operator arms, an operator activates. Nothing but `reset` leads out of STOP
and ESTOP.
"""

import math
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple


class State(IntEnum):
    """Current activity of a robot."""

    STANDBY = 0
    """Loaded and checked; an input or the team's agreement is missing. Sends nothing."""
    READY = 1
    """Could be activated. Sends nothing."""
    TAKEOFF = 2
    """Climbs to the hand-over altitude and waits there for its team."""
    PICKUP = 3
    """Climbs on until the load hangs free."""
    BLEND = 4
    """Goes over from the previous command to the policy's, over `blend_s`."""
    ACTIVE = 5
    """The policy flies."""
    HOLD = 6
    """Hovers where it came to rest."""
    LAND = 7
    """Descends where it is, to the ground."""
    STOP = 8
    """Landed, stopped or given up: sends nothing, the vehicle looks after itself. Latched."""
    ESTOP = 9
    """Emergency stop: sends nothing. Latched, also across a restart of the node."""


EXPLAINED = (State.HOLD, State.LAND, State.STOP, State.ESTOP)
"""States that an operator wants to know the reason of."""
MOVING = frozenset(
    (State.TAKEOFF, State.PICKUP, State.BLEND, State.ACTIVE, State.HOLD, State.LAND),
)
"""Commands are sent in these only."""
POLICY = frozenset((State.BLEND, State.ACTIVE))
"""The policy is asked in these only."""


class Order(StrEnum):
    """Orders of an operator."""

    ARM = "arm"
    PREPARE = "prepare"
    """Say whether `activate` would be carried out now; nothing changes."""
    ACTIVATE = "activate"
    HOLD = "hold"
    LAND = "land"
    STOP = "stop"
    RESET = "reset"
    ESTOP = "estop"


class TeamFallback(StrEnum):
    """Action of a robot when a teammate leaves or dies in flight (`on_robot_lost` of the fleet file)."""

    CONTINUE = "continue"
    HOLD = "hold"
    LAND = "land"


class Status(NamedTuple):
    """Status of a robot."""

    state: State = State.STANDBY
    armed: bool = False
    """An operator permits it to move."""


@dataclass(frozen=True)
class Patience:
    """Time limits without an input, and the actions after them."""

    max_gap_s: float = 0.1
    """Longer without a decision of the policy, and its memory starts again."""
    silent_after_s: float = 1.0
    """Time of blind braking after which the robot falls silent [s]."""
    blend_s: float = 0.5
    """Duration of the transition from hovering to the policy's command [s]."""
    takeoff_s: float = 60.0
    """A robot that is in TAKEOFF for longer lands: its team does not come."""
    arm_lasts_s: float = 60.0
    """Time [s] after which an armed robot that is not activated is disarmed."""
    robot_lost_after_s: float = 1.0
    """Time [s] without a message in flight after which a teammate is lost."""
    on_robot_lost: TeamFallback = TeamFallback.HOLD
    vehicle_alone_s: float = math.inf
    """Time [s] without a command from this robot after which its vehicle lands by itself, or stops its motors; +inf:
    never.
    """


class Conditions(NamedTuple):
    """Conditions at one moment; everything that a change of state may depend on."""

    ready: bool = False
    """Every input is fresh, parameters are in range, the team agrees."""
    link: bool = False
    """The heartbeat of the E-stop is there, from one monitor."""
    pressed: bool = False
    """The E-stop is pressed."""
    aloft: bool = False
    """True if the robot is at the hand-over altitude or above it."""
    team_aloft: bool = False
    """True if all teammates are, too."""
    lifted: bool = True
    """The load hangs free, or there is none."""
    blended: bool = False
    """True if the robot has been in BLEND for `blend_s`."""
    down: bool = False
    """Landed, and the motors have been told to stop."""
    lost: bool = False
    """Without its own state for longer than blind braking is good for."""
    away: bool = False
    """True if the process was stopped, and the vehicle had no command for the time after which it lands by itself."""
    held_up: bool = False
    """True if a certified robot can't land: its reference has not sunk for long, and it is not down. False with a load
    in the air, which would fall."""
    rejoins: bool = False
    """True if team-mates carry a load in the air, and hold a pact with this robot that its process does not remember or
    that ended."""
    expired: bool = False
    """Armed long ago and not activated since."""
    rule: TeamFallback = TeamFallback.CONTINUE
    """Action for the loss of a teammate now."""
    waited: bool = False
    """True if the robot has been in TAKEOFF for longer than the team may need."""
    rule_why: str = ""
    """Reason for `rule`, in words."""


def on_tick(status: Status, conditions: Conditions) -> Status:
    """Return the next status without an order; called once a tick."""
    state, armed = status
    if conditions.pressed or state is State.ESTOP:
        return Status(State.ESTOP)
    if state is State.STOP:
        return Status(State.STOP)
    if state in MOVING:
        state = _flown(state, conditions)
        return Status(state, armed and state in MOVING)
    return Status(
        State.READY if conditions.ready and conditions.link else State.STANDBY, armed and not conditions.expired
    )


def cause(before: State, after: State, conditions: Conditions) -> str:
    """Why `on_tick` led from one state in which the robot moves to another that is none of the flight's course.

    "" where it only goes on: up, to the policy, or to the end of a landing.
    """
    if after is State.ESTOP:
        return "the E-stop was pressed"
    if before not in MOVING or after not in (State.HOLD, State.LAND, State.STOP):
        return ""
    ends = {
        "the process stood still, and the vehicle lands by itself": conditions.away,
        "its own state was lost for too long": conditions.lost,
        "it could not sink further beside its team-mates, and the vehicle lands by itself": conditions.held_up,
    }
    if after is State.STOP:
        return next((why for why, is_so in ends.items() if is_so), "")
    if after is State.LAND and not conditions.link:
        return "no heartbeat of the E-stop"
    if conditions.rule is not TeamFallback.CONTINUE:
        return conditions.rule_why
    return "the team has not taken off in time"


def on_order(status: Status, order: Order, conditions: Conditions) -> tuple[Status, str]:
    """The next status after an order, and why it was refused ("" if it was not: then it is carried out)."""
    if order is Order.ESTOP:
        return Status(State.ESTOP), ""
    if order is Order.STOP:
        return (status if status.state is State.ESTOP else Status(State.STOP)), ""
    refusal = _REFUSALS[order](status, conditions)
    return (status, refusal) if refusal else (_CARRIED_OUT[order](status, conditions), "")


def _flown(state: State, conditions: Conditions) -> State:
    """Return the next state from a state in which the robot moves."""
    if conditions.lost or conditions.away:
        return State.STOP
    if state is State.LAND:
        return State.STOP if conditions.down or conditions.held_up else State.LAND
    if not conditions.link or conditions.rule is TeamFallback.LAND:
        return State.LAND
    if conditions.waited and state is State.TAKEOFF and conditions.rule is not TeamFallback.HOLD:
        return State.LAND
    if conditions.rule is TeamFallback.HOLD:
        return State.HOLD
    if state is State.TAKEOFF:
        return _taken_off(conditions)
    if state is State.PICKUP and conditions.lifted or state is State.BLEND and conditions.blended:
        return State.BLEND if state is State.PICKUP else State.ACTIVE
    return state


def _taken_off(conditions: Conditions) -> State:
    if not (conditions.aloft and conditions.team_aloft):
        return State.TAKEOFF
    return State.BLEND if conditions.lifted else State.PICKUP


def _refuses_arm(status: Status, conditions: Conditions) -> str:
    if status.state is State.READY:
        return ""
    return f"is in {status.state.name}, not in READY" + ("; reset it first" if status.state >= State.STOP else "")


def _refuses_activate(status: Status, conditions: Conditions) -> str:
    if status.state not in (State.READY, State.HOLD):
        return f"is in {status.state.name}; only READY and HOLD can be activated"
    if conditions.rejoins and status.state is State.READY:
        return "its team-mates carry the load without it, and it can't join them in the air; land them first"
    if not conditions.ready or not conditions.link:
        return "an input or the E-stop's heartbeat is missing"
    return "" if status.armed else "is not armed; an operator has to arm it first"


def _refuses_hold(status: Status, conditions: Conditions) -> str:
    if _may_rise(status) or status.state in MOVING - {State.LAND}:
        return ""
    return f"is in {status.state.name} and can't hold"


def _refuses_land(status: Status, conditions: Conditions) -> str:
    return "" if _may_rise(status) or status.state in MOVING else f"is in {status.state.name} and does not fly"


def _may_rise(status: Status) -> bool:
    """Return True on the ground while armed: an order to activate may be on its way. An order to hold or land that
    comes first disarms.
    """
    return status.armed and status.state not in MOVING


def _refuses_reset(status: Status, conditions: Conditions) -> str:
    if status.state in MOVING:
        return f"is in {status.state.name}; land or stop it first"
    return "the E-stop is still pressed" if conditions.pressed else ""


def _ended(status: Status, state: State) -> Status:
    """Held or landing; on the ground, no longer armed."""
    return Status(status.state) if _may_rise(status) else Status(state, status.armed)


def _activated(status: Status, conditions: Conditions) -> Status:
    if status.state is State.HOLD and conditions.aloft and conditions.lifted:
        return Status(State.BLEND, True)
    return Status(_taken_off(conditions) if conditions.aloft else State.TAKEOFF, True)


_REFUSALS = {
    Order.ARM: _refuses_arm,
    Order.PREPARE: _refuses_activate,
    Order.ACTIVATE: _refuses_activate,
    Order.HOLD: _refuses_hold,
    Order.LAND: _refuses_land,
    Order.RESET: _refuses_reset,
}
_CARRIED_OUT = {
    Order.ARM: lambda status, conditions: Status(State.READY, True),
    Order.PREPARE: lambda status, conditions: status,
    Order.ACTIVATE: _activated,
    Order.HOLD: lambda status, conditions: _ended(status, State.HOLD),
    Order.LAND: lambda status, conditions: _ended(status, State.LAND),
    Order.RESET: lambda status, conditions: Status(State.STANDBY),
}
