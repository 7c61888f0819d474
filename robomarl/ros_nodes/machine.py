"""The states of one robot, and every way from one to another. Plain Python: no ROS, no clock, no memory.

    STANDBY <-> READY --arm, activate--> TAKEOFF -> PICKUP -> BLEND -> ACTIVE
                                            any of these --hold--> HOLD --activate--> BLEND
                                            any of these --land--> LAND -> STOP --reset--> STANDBY
    from everywhere: E-stop -> ESTOP, latched --reset, once it is released--> STANDBY

A robot moves in the states of `MOVING` only, and the one way into them is: every input fresh, the team agrees,
the E-stop's heartbeat is there, an operator arms, an operator activates. Nothing but `reset` leads out of STOP
and ESTOP.
"""

from enum import IntEnum, StrEnum
from typing import NamedTuple


class State(IntEnum):
    """What a robot does now."""

    STANDBY = 0
    """Loaded and checked; an input or the team's agreement is missing. Sends nothing."""
    READY = 1
    """Could be activated. Sends nothing."""
    TAKEOFF = 2
    """Climbs to the hand-over altitude and waits there for its team."""
    PICKUP = 3
    """Climbs on until the load hangs free."""
    BLEND = 4
    """From what commanded the robot before to the policy, over `blend_s`."""
    ACTIVE = 5
    """The policy flies."""
    HOLD = 6
    """Hovers where it came to rest."""
    LAND = 7
    """Descends where it is."""
    STOP = 8
    """Landed, stopped or given up: sends nothing, the vehicle looks after itself. Latched."""
    ESTOP = 9
    """Emergency stop: sends nothing. Latched, also across a restart of the node."""


MOVING = frozenset(
    (State.TAKEOFF, State.PICKUP, State.BLEND, State.ACTIVE, State.HOLD, State.LAND),
)
"""Commands are sent in these only."""
POLICY = frozenset((State.BLEND, State.ACTIVE))
"""The policy is asked in these only."""


class Order(StrEnum):
    """What an operator may ask for."""

    ARM = "arm"
    ACTIVATE = "activate"
    HOLD = "hold"
    LAND = "land"
    STOP = "stop"
    RESET = "reset"
    ESTOP = "estop"


class Rule(StrEnum):
    """What a robot does when a team-mate leaves or dies in flight (`on_robot_lost` of the fleet file)."""

    CONTINUE = "continue"
    HOLD = "hold"
    LAND = "land"


class Status(NamedTuple):
    """Where a robot is."""

    state: State = State.STANDBY
    armed: bool = False
    """An operator permits it to move."""


class Facts(NamedTuple):
    """What is so at one moment; everything that a change of state may depend on."""

    ready: bool = False
    """Every input is fresh, parameters are in range, the team agrees."""
    link: bool = False
    """The heartbeat of the E-stop is there, from one monitor."""
    pressed: bool = False
    """The E-stop is pressed."""
    aloft: bool = False
    """At the hand-over altitude or above it."""
    team_aloft: bool = False
    """So are all team-mates."""
    lifted: bool = True
    """The load hangs free, or there is none."""
    blended: bool = False
    """In BLEND for `blend_s`."""
    down: bool = False
    """Landed, or as low as the filter lets it."""
    lost: bool = False
    """Without its own state for longer than blind braking is good for."""
    expired: bool = False
    """Armed long ago and not activated since."""
    rule: Rule = Rule.CONTINUE
    """What the loss of a team-mate asks for now."""


def advance(status: Status, facts: Facts) -> Status:
    """The next status when nobody gives an order; called once a tick."""
    state, armed = status
    if facts.pressed or state is State.ESTOP:
        return Status(State.ESTOP)
    if state is State.STOP:
        return Status(State.STOP)
    if state in MOVING:
        state = _flown(state, facts)
        return Status(state, armed and state in MOVING)
    return Status(State.READY if facts.ready and facts.link else State.STANDBY, armed and not facts.expired)


def obey(status: Status, order: Order, facts: Facts) -> tuple[Status, str]:
    """The next status after an order, and why it was refused ("" if it was not: then it is carried out)."""
    if order is Order.ESTOP:
        return Status(State.ESTOP), ""
    if order is Order.STOP:
        return (status if status.state is State.ESTOP else Status(State.STOP)), ""
    refusal = _REFUSALS[order](status, facts)
    return (status, refusal) if refusal else (_OBEYED[order](status, facts), "")


def _flown(state: State, facts: Facts) -> State:
    """From a state in which the robot moves."""
    if facts.lost:
        return State.STOP
    if state is State.LAND:
        return State.STOP if facts.down else State.LAND
    if not facts.link or facts.rule is Rule.LAND:
        return State.LAND
    if facts.rule is Rule.HOLD:
        return State.HOLD
    if state is State.TAKEOFF:
        return _taken_off(facts)
    if state is State.PICKUP and facts.lifted or state is State.BLEND and facts.blended:
        return State.BLEND if state is State.PICKUP else State.ACTIVE
    return state


def _taken_off(facts: Facts) -> State:
    if not (facts.aloft and facts.team_aloft):
        return State.TAKEOFF
    return State.BLEND if facts.lifted else State.PICKUP


def _refuses_arm(status: Status, facts: Facts) -> str:
    if status.state is State.READY:
        return ""
    return f"is in {status.state.name}, not in READY" + ("; reset it first" if status.state >= State.STOP else "")


def _refuses_activate(status: Status, facts: Facts) -> str:
    if status.state not in (State.READY, State.HOLD):
        return f"is in {status.state.name}; only READY and HOLD can be activated"
    if not facts.ready or not facts.link:
        return "an input or the E-stop's heartbeat is missing"
    return "" if status.armed else "is not armed; an operator has to arm it first"


def _refuses_hold(status: Status, facts: Facts) -> str:
    return "" if status.state in MOVING - {State.LAND} else f"is in {status.state.name} and can't hold"


def _refuses_land(status: Status, facts: Facts) -> str:
    return "" if status.state in MOVING else f"is in {status.state.name} and does not fly"


def _refuses_reset(status: Status, facts: Facts) -> str:
    if status.state in MOVING:
        return f"is in {status.state.name}; land or stop it first"
    return "the E-stop is still pressed" if facts.pressed else ""


def _activated(status: Status, facts: Facts) -> Status:
    if status.state is State.HOLD and facts.aloft and facts.lifted:
        return Status(State.BLEND, True)
    return Status(_taken_off(facts) if facts.aloft else State.TAKEOFF, True)


_REFUSALS = {
    Order.ARM: _refuses_arm,
    Order.ACTIVATE: _refuses_activate,
    Order.HOLD: _refuses_hold,
    Order.LAND: _refuses_land,
    Order.RESET: _refuses_reset,
}
_OBEYED = {
    Order.ARM: lambda status, facts: Status(State.READY, True),
    Order.ACTIVATE: _activated,
    Order.HOLD: lambda status, facts: Status(State.HOLD, status.armed),
    Order.LAND: lambda status, facts: Status(State.LAND, status.armed),
    Order.RESET: lambda status, facts: Status(State.STANDBY),
}
