"""Guard of an adapter, between commands and a vehicle's motors. Plain Python: no ROS, no clock.

    WAITING <-> READY --a command--> ARMING -> TAKEOFF -> FLYING <-> HOLDING
                                        ARMING, TAKEOFF, FLYING, HOLDING -> LANDING -> LANDED
    LANDED --commands have stopped, disarmed--> WAITING
    TAKEOFF, FLYING, HOLDING, LANDING --another pilot flies it--> RELEASED --disarmed--> WAITING
    from everywhere: killed, latched --reset, once nothing presses--> WAITING

A frozen status and present observations go in, the next status comes out; `guard_terms.DEEDS` has
the adapter's action in each state. The guard has its own watchdog on the age of the commands: the
vehicle file's rules for lost commands are carried out here, next to the vehicle, for any sender. It
leads to the ground from every state in which the adapter flies the vehicle, and nothing but
commands leads from the ground into the air: nodes send them only once an operator has armed and
activated the robot.
"""

from robomarl.vehicles.guard_terms import AIRBORNE, FLOWN, GuardRules, GuardState, GuardStatus, Sighted


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
    """Return the transition that leads out of every state alike; None if there is none."""
    state = status.state
    if state is GuardState.KILLED:
        return None
    if seen.kill:
        return GuardState.KILLED, "an operator stopped the motors"
    if state not in AIRBORNE and state is not GuardState.ARMING:
        return None
    if seen.dead:
        return GuardState.KILLED, f"the vehicle gave up: {seen.unfit or 'tumbled, crashed or locked'}"
    if seen.pressed and rules.on_estop == "kill":
        return GuardState.KILLED, "the E-stop was pressed"
    if seen.pressed and state is not GuardState.LANDING:
        return GuardState.LANDING, "the E-stop was pressed"
    if seen.taken and state in FLOWN and not seen.pressed:
        return GuardState.RELEASED, seen.taken
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
    return seen.wrong or ("the battery is low" if seen.low else "")


def _fails(seen: Sighted, rules: GuardRules) -> str:
    """Why a vehicle in the air has to land; "" where it need not."""
    if seen.link_age_s > rules.link_s:
        return "the link is lost"
    if seen.pose_age_s > rules.pose_s:
        return "the pose is lost"
    if seen.wrong:
        return seen.wrong
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
        return GuardState.LANDED, "the vehicle refuses to arm" + (f": {seen.refusal}" if seen.refusal else "")
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
    if seen.command_age_s > rules.loss.hover_after_s:  # long, if the adapter stood still meanwhile
        return _left_alone(seen.command_age_s, seen, rules) or (GuardState.HOLDING, "commands stopped")
    if seen.moved_origin:
        return GuardState.HOLDING, "the estimate was reset"
    return GuardState.FLYING, ""


def _left_alone(silent_s: float, seen: Sighted, rules: GuardRules) -> Next | None:
    """Return the transition that ends a hover without commands; None while it lasts."""
    off_s = rules.loss.motors_off_after_s
    if off_s is not None and silent_s > off_s:
        return (GuardState.LANDING if seen.grounded else GuardState.KILLED), "commands stopped under a load"
    if silent_s > rules.loss.land_after_s:
        return GuardState.LANDING, "commands stopped for too long"
    return None


def _holding(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    if why := _fails(seen, rules):
        return GuardState.LANDING, why
    # One that was found in the air has never been commanded: it counts from then on.
    silent_s = min(seen.command_age_s, rules.loss.hover_after_s + status.held_s)
    if alone := _left_alone(silent_s, seen, rules):
        return alone
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


def _released(status: GuardStatus, seen: Sighted, rules: GuardRules) -> Next:
    heard = seen.link_age_s <= rules.link_s
    if heard and not seen.armed and not seen.flies:
        return GuardState.LANDED, f"landed by others ({status.why})"
    return GuardState.RELEASED, ""


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
    GuardState.RELEASED: _released,
}
