"""What an operator relies on: a rehearsal that becomes READY by itself, one monitor, orders to all that are whole."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.view import Goal
from robomarl.ros import convert, topics
from robomarl.ros.io.environment import environment
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
from robomarl.ros.operator.console import open_console
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import bring_up
from robomarl.ros.robot.decision import Held
from robomarl.ros.robot.state_machine import MOVING, Order, State
from tests.ros.faultrig import ROBOTS, FaultRig, write_files
from tests.ros.truth import truth_to

pytestmark = pytest.mark.ros


@pytest.fixture(scope="module")
def rehearsal(goto_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultRig]:
    """The nodes that a launch file starts: nobody tells goals by hand."""
    files = write_files(tmp_path_factory.mktemp("rehearsal"), goto_bundle)
    plan = PlanOptions(
        bundle=str(goto_bundle), root=str(files.folder), sim=True, tell_goals=True, params_file=files.plan().params_file
    )
    fleet, lines = load_fleet(str(files.fleet)), []
    with bring_up(fleet, plan, None, lambda name, line: lines.append(f"{name} {line}")) as team:
        team.configure()
        yield FaultRig(team, lines, files, plan_fleet(fleet, plan))


def fly(rig: FaultRig) -> None:
    for order in (Order.STOP, Order.RESET, Order.ARM, Order.ACTIVATE):
        assert rig.order(order, "all") == ""
        if order is Order.RESET:
            rig.console.wait_until_ready(ROBOTS, 30)
    rig.wait_for_state(State.ACTIVE, *ROBOTS)
    rig.forget()


def test_a_rehearsal_becomes_ready_by_itself(rehearsal: FaultRig):
    rehearsal.wait_for_state(State.READY, *ROBOTS)


def test_who_tells_goals_by_hand_is_not_talked_over(rehearsal: FaultRig):
    goals: dict[str, Goal] = dict(zip(ROBOTS, reversed(rehearsal.console.reset()), strict=True))
    rehearsal.console.send_goals(goals)
    told = Mailbox(rehearsal.node, topics.GOAL, "/left/goal", convert.goal_to, depth=100)
    rehearsal.console.wait(lambda: sender_stopped(told), 10, "the simulator to be silent")


def sender_stopped(told: Mailbox) -> bool:
    """Nothing has come for two periods of the simulator's."""
    time.sleep(1.2)
    return told.latest() is None


def test_one_robot_in_hold_goes_on_while_its_mates_fly(rehearsal: FaultRig):
    fly(rehearsal)
    assert rehearsal.order(Order.HOLD, "left") == ""
    rehearsal.wait_for_state(State.HOLD, "left")
    rehearsal.wait_for_words("/monitor: left", "HOLD: hold was ordered")
    assert rehearsal.order(Order.ACTIVATE, "all") == ""
    rehearsal.wait_for_state(State.ACTIVE, *ROBOTS)
    assert {row["state"] for row in rehearsal.rows["right"]} == {State.ACTIVE}


def test_orders_to_all_follow_each_other_at_once(rehearsal: FaultRig):
    """A reset has not made anybody silent, and those who become READY are waited for."""
    for order in (Order.STOP, Order.RESET):
        assert rehearsal.order(order, "all") == ""
    said = rehearsal.order(Order.ACTIVATE, "all")
    assert "silent" not in said
    assert said.count("is not armed") == len(ROBOTS)


def test_if_one_refuses_nobody_flies(rehearsal: FaultRig):
    rehearsal.order(Order.STOP, "all")
    rehearsal.order(Order.RESET, "all")
    rehearsal.console.wait_until_ready(ROBOTS, 30)
    assert rehearsal.order(Order.ARM, "right") == ""
    rehearsal.forget()
    assert rehearsal.order(Order.ACTIVATE, "all") == "left: is not armed; an operator has to arm it first"
    rehearsal.wait_for_rows("right", lambda row: row["state"] == State.READY, 10)
    assert not {row["state"] for row in rehearsal.rows["right"]} & MOVING


def test_if_one_does_not_answer_nobody_flies(rehearsal: FaultRig):
    """Its process stands still; the monitor has just heard that it is READY."""
    rehearsal.order(Order.STOP, "all")
    rehearsal.order(Order.RESET, "all")
    rehearsal.console.wait_until_ready(ROBOTS, 30)
    assert rehearsal.order(Order.ARM, "all") == ""
    rehearsal.send(signal.SIGSTOP, "/left/policy_node")
    begin_s = time.monotonic()
    try:
        said = rehearsal.order(Order.ACTIVATE, "all")
    finally:
        rehearsal.send(signal.SIGCONT, "/left/policy_node")
    assert "left: does not answer" in said
    assert time.monotonic() - begin_s < 3.0
    rehearsal.console.wait_until_ready(ROBOTS, 30)
    assert not {row["state"] for name in ROBOTS for row in rehearsal.rows[name]} & MOVING


def test_a_landing_ends_on_the_ground_with_its_motors_told_to_stop(rehearsal: FaultRig):
    """What the simulator's truth says when the robots fall silent; the vehicles do nothing of their own then."""
    truth = Mailbox(rehearsal.node, topics.TRUTH, "/sim/truth", truth_to, depth=1)
    rehearsal.console.reset()
    fly(rehearsal)
    assert rehearsal.order(Order.LAND, "all") == ""
    rehearsal.wait_for_state(State.STOP, *ROBOTS)
    latest, radius_m = truth.latest(), load_vehicle("crazyflie_21").body.radius_m
    assert latest is not None
    found, _ = latest
    assert found.pos_m[:, 2] == pytest.approx([radius_m] * 2, abs=0.01)
    assert abs(found.vel_m_s).max() < 0.05
    for name in ROBOTS:
        reasons = [row["reason"] for row in rehearsal.rows[name] if row["state"] == State.LAND]
        assert reasons.count(Held.LANDED) >= 5
        assert reasons[-1] == Held.LANDED


def test_of_four_monitors_that_start_at_once_one_stays():
    given = {"team": ["left"], "base": ""}
    specs = [NodeSpec("monitor_node", "robomarl.ros.monitor_node", f"monitor_{k}", "", given) for k in range(4)]
    with claimed_domain(None) as domain, Processes(lambda name, line: None) as processes:
        shared = environment(True, domain)
        with open_console((), shared, sim=False) as console:
            processes.start(specs, child_environment(shared))
            console.wait(lambda: len(processes.dead()) == 3, 30, "three to give way")
            with pytest.raises(UserError):
                console.wait(lambda: len(processes.dead()) > 3, 4, "nobody")
