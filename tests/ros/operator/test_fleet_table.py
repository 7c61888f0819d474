"""The fleet as the monitor sees it: whose E-stop it remembers after a reset."""

import pytest

pytest.importorskip("rclpy")

from robomarl.ros.monitor_node import NO_ANSWER, _reset_or_silent
from robomarl.ros.operator.fleet_table import FleetTable
from robomarl.ros.robot.state_machine import State
from robomarl.ros.robot.team_agreement import Announcement


def _table(**states: State) -> FleetTable:
    table = FleetTable(tuple(states), 1.0)
    for index, (name, state) in enumerate(states.items()):
        table.hear(Announcement(name, "bundle", "contract", "crazyflie_21", index, state), 0.0)
    return table


def test_a_reset_forgets_the_stops_of_the_robots_that_it_reset():
    table = _table(left=State.ESTOP, right=State.ESTOP)
    table.forget_stops(["left"])
    assert table.is_stopped(), "the right robot refused"
    table.forget_stops(["right"])
    assert not table.is_stopped()


def test_a_robot_that_is_switched_off_keeps_nobody_in_estop():
    """One that answers and refuses does."""
    refused = {"left": "the E-stop is still pressed", "right": NO_ANSWER}
    table = _table(left=State.ESTOP, right=State.ESTOP, middle=State.ESTOP)
    table.forget_stops(_reset_or_silent(table.team, refused))
    assert table.is_stopped()
    table.forget_stops(_reset_or_silent(table.team, {"right": NO_ANSWER}))
    assert not table.is_stopped()


def test_a_reset_keeps_all_other_states():
    table = _table(left=State.STANDBY, right=State.STOP)
    table.forget_stops(["left", "right", "unheard"])
    assert table.states(0.0) == {"left": State.STANDBY, "right": State.STOP}
