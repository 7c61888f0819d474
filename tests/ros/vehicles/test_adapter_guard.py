"""Every state of the guard with every combination of what it may see, and the ways of a flight."""

import itertools
import math

import pytest

from robomarl.core.hardware.sections import CommandLossConfig
from robomarl.vehicles.guard import missing, stepped
from robomarl.vehicles.guard_terms import AIRBORNE, DEEDS, FLOWN, Deed, GuardRules, GuardState, GuardStatus, Sighted

LOSS = CommandLossConfig(hover_after_s=0.25, land_after_s=2.0)
RULES = GuardRules(LOSS)
CARRIES = GuardRules(CommandLossConfig(0.25, 2.0, motors_off_after_s=1.0))
KILLS = GuardRules(LOSS, on_estop="kill")
FINE = Sighted(0.0, 0.0, 0.0)
UP = FINE._replace(armed=True, flies=True, aloft=True)
DT_S = 0.02

AGES = ((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
"""Of command, link and pose: all there, and one of them missing."""
FLAGS = ("pressed", "kill", "reset", "low", "armed", "flies", "dead", "aloft", "grounded", "told_off", "moved_origin")
S = GuardState
EDGES = {
    S.WAITING: {S.READY, S.HOLDING, S.KILLED},
    S.READY: {S.WAITING, S.HOLDING, S.ARMING, S.KILLED},
    S.ARMING: {S.TAKEOFF, S.FLYING, S.LANDING, S.LANDED, S.KILLED},
    S.TAKEOFF: {S.FLYING, S.LANDING, S.KILLED},
    S.FLYING: {S.HOLDING, S.LANDING, S.LANDED, S.KILLED},
    S.HOLDING: {S.FLYING, S.LANDING, S.KILLED},
    S.LANDING: {S.LANDED, S.KILLED},
    S.LANDED: {S.WAITING, S.KILLED},
    S.KILLED: {S.WAITING},
    S.RELEASED: {S.LANDING, S.LANDED, S.KILLED},
}
"""Every way from one state to another, written down apart from the code; into RELEASED leads one that is not here."""


def all_seen() -> list[Sighted]:
    flags = [dict(zip(FLAGS, row, strict=True)) for row in itertools.product((False, True), repeat=len(FLAGS))]
    return [Sighted(*ages, **flag) for ages in AGES for flag in flags]


@pytest.fixture(scope="module")
def steps() -> list[tuple[GuardRules, GuardStatus, Sighted, GuardStatus]]:
    """Every state, short and long held, with everything that may be seen."""
    found = []
    for rules, seen in itertools.product((RULES, KILLS), all_seen()):
        if rules is KILLS and not seen.pressed:
            continue  # they differ in nothing else
        for state in GuardState:
            # A third of them each: the product of all would only repeat what depends on one of the two.
            held_s = (0.0, 1.0, 30.0)[(hash(seen) + state) % 3]
            before = GuardStatus(state, held_s, "so")
            found.append((rules, before, seen, stepped(before, seen, rules, DT_S)))
    return found


def test_the_ways_are_those_that_are_written_down(steps: list):
    found: dict[GuardState, set[GuardState]] = {state: set() for state in GuardState}
    for _, before, _, after in steps:
        if after.state is not before.state:
            found[before.state].add(after.state)
    assert found == EDGES


def test_commands_are_followed_only_while_all_is_well(steps: list):
    for rules, _, seen, after in steps:
        if DEEDS[after.state] is Deed.FOLLOW:
            assert seen.command_age_s <= LOSS.hover_after_s and seen.armed
            assert not (seen.pressed or seen.kill or seen.dead or seen.low)
            assert seen.link_age_s <= rules.link_s and seen.pose_age_s <= rules.pose_s


def test_a_kill_is_a_kill_from_everywhere(steps: list):
    for rules, before, seen, after in steps:
        if seen.kill or seen.pressed and rules is KILLS and before.state in AIRBORNE:
            assert after.state is S.KILLED


def test_the_estop_brings_everybody_down(steps: list):
    for _, before, seen, after in steps:
        if seen.pressed and before.state not in (S.WAITING, S.READY):
            assert after.state in (S.LANDING, S.LANDED, S.KILLED, S.WAITING)
        if seen.pressed and before.state in AIRBORNE:
            assert after.state in (S.LANDING, S.LANDED, S.KILLED)


def test_a_kill_is_left_by_a_reset_only(steps: list):
    for _, before, seen, after in steps:
        if before.state is S.KILLED and after.state is not S.KILLED:
            assert seen.reset and not (seen.pressed or seen.kill or seen.dead or seen.armed)


def test_nobody_leaves_the_ground_without_commands(steps: list):
    for _, before, seen, after in steps:
        if before.state in (S.WAITING, S.READY, S.LANDED, S.KILLED) and after.state not in (
            *(S.WAITING, S.READY, S.LANDED, S.KILLED),
        ):
            found_in_air = seen.armed and seen.flies and after.state is S.HOLDING
            assert found_in_air or seen.command_age_s <= LOSS.hover_after_s and not missing(seen, RULES)


def test_time_counts_from_the_change(steps: list):
    for _, before, _, after in steps:
        same = after.state is before.state
        assert after.held_s == (before.held_s + DT_S if same else 0.0)


def test_every_landing_has_a_reason(steps: list):
    for _, before, _, after in steps:
        if after.state is not before.state and after.state in (S.HOLDING, S.LANDING, S.LANDED, S.KILLED):
            assert after.why


@pytest.mark.parametrize("state", sorted(FLOWN))
@pytest.mark.parametrize("rules", [RULES, KILLS, CARRIES])
def test_everything_lost_ends_on_the_ground_in_bounded_time(state: GuardState, rules: GuardRules):
    status, seen = GuardStatus(state), Sighted(armed=True, flies=True, low=True)
    for _ in range(math.ceil((LOSS.land_after_s + rules.takeoff_s + rules.landing_s + 1) / DT_S)):
        status = stepped(status, seen, rules, DT_S)
    assert status.state in (S.LANDED, S.KILLED)


def run(status: GuardStatus, seen: Sighted, seconds: float, rules: GuardRules = RULES) -> GuardStatus:
    """Hold one sight for so long, the command's age growing with it."""
    for i in range(round(seconds / DT_S)):
        age_s = seen.command_age_s + i * DT_S if seen.command_age_s else 0.0
        status = stepped(status, seen._replace(command_age_s=age_s), rules, DT_S)
    return status


def test_a_flight_from_the_ground_to_the_ground():
    status = run(GuardStatus(), FINE._replace(command_age_s=math.inf), 1.0)
    assert status.state is S.READY
    status = run(status, FINE, 0.1)
    assert status.state is S.ARMING
    status = run(status, FINE._replace(armed=True), 1.0)
    assert status.state is S.TAKEOFF
    status = run(status, UP, 1.0)
    assert status.state is S.FLYING
    status = run(status, UP._replace(told_off=True, grounded=True), 0.02)
    assert (status.state, status.why) == (S.LANDED, "landed by command")
    status = run(status, FINE, 1.0)
    assert status.state is S.LANDED, "commands go on: it stays down"
    status = run(status, FINE._replace(command_age_s=1.0), 0.1)
    assert status.state in (S.WAITING, S.READY)


def test_lost_commands_do_what_the_vehicle_file_says_when_it_says():
    status, silent = GuardStatus(S.FLYING), UP._replace(command_age_s=DT_S)
    assert run(status, silent, 0.24).state is S.FLYING
    assert run(status, silent, 0.30).state is S.HOLDING
    assert run(status, silent, 1.98).state is S.HOLDING
    assert run(status, silent, 2.04).state is S.LANDING
    assert run(status, silent, 1.04, CARRIES).state is S.KILLED
    assert run(status, silent._replace(grounded=True), 1.02, CARRIES).state is S.LANDING


def test_commands_that_come_back_are_followed():
    held = run(GuardStatus(S.FLYING), UP._replace(command_age_s=DT_S), 1.0)
    assert run(held, UP, 0.04).state is S.FLYING


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (UP._replace(low=True), "the battery is low"),
        (UP._replace(link_age_s=0.6), "the link is lost"),
        (UP._replace(pose_age_s=0.4), "the pose is lost"),
        (UP._replace(pressed=True), "the E-stop was pressed"),
        (UP._replace(wrong="NED is read as ENU"), "NED is read as ENU"),
        (UP._replace(armed=False), "the vehicle disarmed itself"),
    ],
)
def test_who_can_not_go_on_lands_and_says_why(seen: Sighted, why: str):
    status = run(GuardStatus(S.FLYING), seen, DT_S)
    assert (status.state, status.why) == (S.LANDING, why)
    assert run(status, UP, 1.0).state is S.LANDING, "a landing is not taken back"
    assert run(status, UP._replace(grounded=True), 0.1).state is S.LANDED


def test_a_vehicle_that_refuses_to_arm_is_not_told_for_ever():
    status = run(GuardStatus(S.READY), FINE, 2.9)
    assert status.state is S.ARMING
    status = run(status, FINE, 0.3)
    assert (status.state, status.why) == (S.LANDED, "the vehicle refuses to arm")
    assert run(status, FINE, 5.0).state is S.LANDED
    said = run(GuardStatus(S.ARMING, 2.99), FINE._replace(refusal="denied, no home"), 0.1)
    assert said.why == "the vehicle refuses to arm: denied, no home"


@pytest.mark.parametrize("state", sorted(FLOWN))
def test_who_is_flown_by_others_is_left_to_them(state: GuardState):
    taken = UP._replace(taken="a pilot flies it")
    status = run(GuardStatus(state), taken, DT_S)
    assert (status.state, status.why) == (S.RELEASED, "a pilot flies it") and DEEDS[status.state] is Deed.NOTHING
    assert run(status, UP, 5.0).state is S.RELEASED, "nobody takes it back"
    assert run(status, UP._replace(low=True, command_age_s=9.0), 5.0).state is S.RELEASED
    assert run(status, taken._replace(pressed=True), 1.0).state is S.LANDING, "but the E-stop"
    down = run(status, FINE._replace(command_age_s=9.0), DT_S)
    assert (down.state, down.why) == (S.LANDED, "landed by others (a pilot flies it)")


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (FINE._replace(unfit="firmware 7 is not known"), "firmware 7 is not known"),
        (FINE._replace(low=True), "the battery is low"),
        (FINE._replace(pose_age_s=9.0), "no pose"),
        (FINE._replace(link_age_s=9.0), "the vehicle does not answer"),
        (FINE._replace(dead=True), "the vehicle is tumbled, crashed or locked"),
        (FINE._replace(pressed=True), "the E-stop is pressed"),
        (FINE._replace(wrong="NED is read as ENU"), "NED is read as ENU"),
    ],
)
def test_who_is_not_fit_does_not_arm_and_says_why(seen: Sighted, why: str):
    for state in (S.WAITING, S.READY):
        status = run(GuardStatus(state), seen, 1.0)
        assert (status.state, status.why) == (S.WAITING, why)


def test_a_reset_of_the_estimate_is_waited_out():
    status = run(GuardStatus(S.FLYING), UP._replace(moved_origin=True), DT_S)
    assert (status.state, status.why) == (S.HOLDING, "the estimate was reset")
    assert run(status, UP, 0.4).state is S.HOLDING
    assert run(status, UP, 0.6).state is S.FLYING


def test_a_vehicle_that_is_found_in_the_air_is_held_and_landed():
    seen = UP._replace(command_age_s=math.inf)
    assert run(GuardStatus(), seen, DT_S).state is S.HOLDING
    assert run(GuardStatus(), seen, 1.7).state is S.HOLDING
    assert run(GuardStatus(), seen, 1.9).state is S.LANDING
    assert run(GuardStatus(), UP, 1.0).state is S.FLYING, "or flown on by who commands it"


def test_a_landing_whose_ground_is_not_found_ends():
    blind = Sighted(math.inf, math.inf, math.inf, armed=True, flies=True)
    status = run(GuardStatus(S.LANDING, 0.0, "the pose is lost"), blind, 20.1)
    assert status.state is S.LANDED and "not found" in status.why
