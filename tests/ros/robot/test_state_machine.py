"""The states: no way to motion without permission, whatever comes in whatever order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.ros.robot.state_machine import MOVING, Conditions, Order, State, Status, TeamFallback, on_order, on_tick

RULES = list(TeamFallback)


def some(number: int) -> Conditions:
    """Every combination of conditions has a number; one integer is drawn much faster than eleven values."""
    bits = [bool(number >> bit & 1) for bit in range(10)]
    return Conditions(*bits, rule=RULES[(number >> 10) % 3])


conditions = st.integers(0, 3 * 2**10 - 1).map(some)
steps = st.lists(st.tuples(st.one_of(st.none(), st.sampled_from(Order)), conditions), max_size=40)
GOOD = Conditions(ready=True, link=True, aloft=True, team_aloft=True)
PLAIN = settings(deadline=None, max_examples=200)


def go(status: Status, order: Order | None, known: Conditions) -> Status:
    return on_tick(status, known) if order is None else on_order(status, order, known)[0]


@PLAIN
@given(steps)
def test_nothing_moves_that_was_not_armed_and_activated_while_ready(walk):
    status, armed = Status(), False
    for order, known in walk:
        before = status
        status = go(status, order, known)
        if status.state in MOVING and before.state not in MOVING:
            assert order is Order.ACTIVATE
            assert armed and before.armed and known.ready and known.link
            assert before.state is State.READY
        if order is Order.ARM and before.state is State.READY:
            armed = True
        if status.state not in MOVING and not status.armed:
            armed = False


@PLAIN
@given(st.sampled_from((State.STANDBY, State.READY)), st.booleans(), conditions)
def test_who_is_told_to_stay_down_does_not_rise_by_an_order_that_comes_late(state: State, armed: bool, known):
    """An order to activate may have been on its way: it comes after the one to land, and to a robot that was armed."""
    for order in (Order.HOLD, Order.LAND):
        told, refusal = on_order(Status(state, armed), order, known)
        assert told == Status(state) and bool(refusal) is not armed
        assert on_order(told, Order.ACTIVATE, known)[0].state not in MOVING


@PLAIN
@given(steps)
def test_nothing_but_a_reset_leads_out_of_stop_and_estop(walk):
    status = Status()
    for order, known in walk:
        before = status
        status = go(status, order, known)
        if before.state is State.ESTOP and status.state is not State.ESTOP:
            assert order is Order.RESET and not known.pressed
            assert status == Status(State.STANDBY)
        if before.state is State.STOP and status.state not in (State.STOP, State.ESTOP):
            assert order is Order.RESET
            assert status == Status(State.STANDBY)


@PLAIN
@given(steps)
def test_a_pressed_e_stop_stops_at_the_next_tick_and_moving_is_armed(walk):
    status = Status()
    for order, known in walk:
        status = go(status, order, known)
        assert status.armed or status.state not in MOVING
        assert on_tick(status, known._replace(pressed=True)) == Status(State.ESTOP)


@PLAIN
@given(steps, conditions)
def test_without_the_heartbeat_no_state_moves_on_but_land(walk, known):
    status = Status()
    for order, seen in walk:
        status = go(status, order, seen)
    after = on_tick(status, known._replace(link=False, pressed=False))
    assert after.state in (State.STANDBY, State.LAND, State.STOP, State.ESTOP)


@PLAIN
@given(st.sampled_from(sorted(MOVING)), conditions)
def test_a_robot_that_has_lost_itself_stops(state: State, known: Conditions):
    known = known._replace(lost=True, pressed=False)
    assert on_tick(Status(state, True), known) == Status(State.STOP)


def test_the_way_of_a_flight():
    status = on_tick(Status(), GOOD)
    assert status.state is State.READY
    status, refusal = on_order(status, Order.ACTIVATE, GOOD)
    assert refusal == "is not armed; an operator has to arm it first"
    status, refusal = on_order(status, Order.ARM, GOOD)
    assert (status, refusal) == (Status(State.READY, True), "")
    low = GOOD._replace(aloft=False, lifted=False)
    status, _ = on_order(status, Order.ACTIVATE, low)
    assert status.state is State.TAKEOFF
    way = [low, GOOD._replace(team_aloft=False), GOOD._replace(lifted=False), GOOD, GOOD, GOOD._replace(blended=True)]
    states = []
    for known in way:
        status = on_tick(status, known)
        states.append(status.state)
    S = State  # noqa: N806
    assert states == [S.TAKEOFF, S.TAKEOFF, S.PICKUP, S.BLEND, S.BLEND, S.ACTIVE]
    status, _ = on_order(status, Order.HOLD, GOOD)
    assert status.state is State.HOLD
    status, _ = on_order(status, Order.ACTIVATE, GOOD)
    assert status.state is State.BLEND
    status, _ = on_order(status, Order.LAND, GOOD)
    assert [on_tick(status, GOOD).state, on_tick(status, GOOD._replace(down=True)).state] == [S.LAND, S.STOP]


@pytest.mark.parametrize(("rule", "state"), [("hold", State.HOLD), ("land", State.LAND), ("continue", State.ACTIVE)])
def test_a_lost_robot_is_handled_by_the_rule(rule: str, state: State):
    assert on_tick(Status(State.ACTIVE, True), GOOD._replace(rule=TeamFallback(rule))).state is state


def test_an_armed_robot_that_nobody_activates_is_disarmed():
    assert on_tick(Status(State.READY, True), GOOD).armed
    assert not on_tick(Status(State.READY, True), GOOD._replace(expired=True)).armed


@pytest.mark.parametrize("state", list(State))
def test_who_refuses_says_where_it_is(state: State):
    for order in (Order.ARM, Order.ACTIVATE, Order.HOLD, Order.LAND):
        status, refusal = on_order(Status(state, False), order, Conditions())
        assert (status.state == state) if refusal else True
        assert not refusal or state.name in refusal or "missing" in refusal or "armed" in refusal
