"""Faults of processes and of people: who dies, who is there twice, who differs, who pressed the E-stop.

As `test_faults_flight`. The page of all faults is held here, after both.
"""

import os
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from std_msgs.msg import Bool

from robomarl.core.bundle.bundle import load_bundle
from robomarl.fleet.store import InstalledBundles as Stored
from robomarl.fleet.store import Store
from robomarl.ros import topics
from robomarl.ros.io.node_base import publisher
from robomarl.ros.robot.state_machine import Order, State
from tests.ros import test_faults_flight, test_freezes, test_recorder_lost
from tests.ros.bundles import make_bundle
from tests.ros.faultrig import LEFT, RIGHT, ROBOTS, ROWS, FaultRig, blind, fault

pytestmark = [pytest.mark.ros, pytest.mark.alone]


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/proc/self/task").is_dir(), reason="needs root, and Linux")
def test_who_ticks_goes_before_who_records(rig: FaultRig):
    """A recorder, and whatever else runs on a robot, puts no control loop aside; nor does the monitor wait for it."""

    def scheduled(name: str) -> set[int]:
        tasks = Path(f"/proc/{rig.team.processes.running[name].popen.pid}/task")
        return {os.sched_getscheduler(int(thread.name)) for thread in tasks.iterdir()}

    if scheduled("/monitor") == {os.SCHED_OTHER}:
        pytest.skip("this system lets nobody run in real time")
    for name in ("/left/policy_node", "/right/policy_node", "/sim", "/monitor"):
        assert scheduled(name) == {os.SCHED_RR}, name
    assert scheduled("/recorder") == {os.SCHED_OTHER}


@fault(
    "The monitor dies: no heartbeat of the E-stop",
    "all robots land; nobody can be armed",
    "1 tick after `heartbeat_after_s`",
    "policy_node: `LAND`, `monitor: no heartbeat of the E-stop`",
)
def test_monitor_killed(flying: FaultRig):
    flying.kill("/monitor")
    flying.wait_for_state(State.LAND, *ROBOTS)
    flying.wait_for_words(LEFT, "LAND (no heartbeat of the E-stop)")
    flying.wait_for_line("ACTIVE -> LAND: no heartbeat of the E-stop.")
    for name in ROBOTS:
        flying.order(Order.STOP, name)
        flying.order(Order.RESET, name)
    flying.wait_for_words(LEFT, "no heartbeat of the E-stop")
    assert "no heartbeat" in flying.order(Order.ARM, "left")
    flying.start("/monitor")


@fault(
    "A second monitor is started; two heartbeats are heard",
    "the second one ends and says why; nobody can be armed",
    "-",
    "policy_node: `monitor: 2 monitors send the heartbeat`",
)
@pytest.mark.slow
def test_two_monitors(flying: FaultRig):
    rig = flying
    for name in ROBOTS:
        rig.order(Order.STOP, name)
        rig.order(Order.RESET, name)
    rig.wait_for_state(State.READY, *ROBOTS)
    second = publisher(rig.node, topics.ESTOP, "/emergency_stop")

    def speak() -> bool:
        second.publish(Bool(data=False))
        rig.listen()
        texts = [text for text, _ in rig.said.get(LEFT, [])]
        return any("2 monitors" in text for text in texts)

    rig.console.wait(speak, 30, "the robots to hear both")
    rig.kill("/monitor")
    rig.start("/monitor")  # the one of the test is there before it
    rig.wait_for_line("another monitor runs; stop it, or use it")
    rig.node.destroy_publisher(second)
    rig.team.processes.kill("/monitor")
    rig.start("/monitor")
    rig.wait_for_state(State.READY, *ROBOTS)


@fault(
    "A policy process is killed and started again",
    "its vehicle hovers, then lands (`on_command_loss`); the mates follow the fleet's rule; the new process waits "
    "in STANDBY, and nothing moves",
    "mates: 1 tick after `robot_lost_after_s`",
    "monitor: `silent: left`; policy_node: `STANDBY`",
)
def test_policy_killed_and_restarted(flying: FaultRig):
    flying.kill(LEFT)
    flying.wait_for_state(State.HOLD, "right")
    flying.wait_for_words("/monitor: team", "silent: left")
    flying.start(LEFT)
    flying.configure("left")
    flying.wait_for_rows("left", lambda row: True, 10)
    assert {row["state"] for row in flying.rows["left"]} <= {State.STANDBY, State.READY}
    assert not any(row["active"] for row in flying.rows["left"])
    flying.wait_for_state(State.HOLD, "right")


@fault(
    "Robots carry different bundles; a robot is flashed while its node runs",
    "nobody can be armed",
    "-",
    "policy_node: `left: flies bundle X, this robot Y`; order refused: `was flashed since`",
)
def test_mixed_bundles_and_a_bundle_changed_under_a_node(rig: FaultRig, tmp_path: Path):
    other = make_bundle(tmp_path / "other", name="other")
    rig.kill(LEFT)
    rig.start(LEFT, bundle=str(other))
    rig.configure("left")
    rig.order(Order.STOP, "right")
    rig.order(Order.RESET, "right")
    ids = [load_bundle(path).id[:12] for path in (other, rig.files.bundle)]
    rig.wait_for_words(RIGHT, f"left: flies bundle {ids[0]}, this robot {ids[1]}")
    assert f"left: flies bundle {ids[0]}" in rig.order(Order.ARM, "right")
    assert f"right: flies bundle {ids[1]}" in rig.order(Order.ARM, "left")
    store, flown = Store(rig.files.folder / "left"), load_bundle(rig.files.bundle)
    with store.lock():
        store.add(flown.id, flown.files)
        store.switch(Stored(flown.id, None))
    rig.kill(LEFT)
    rig.start(LEFT, bundle=None)
    rig.configure("left")
    rig.wait_for_state(State.READY, *ROBOTS)
    with store.lock():
        store.switch(Stored(load_bundle(other).id, flown.id))
    assert "was flashed since" in rig.order(Order.ARM, "left")
    with store.lock():
        store.switch(Stored(flown.id, None))


@fault(
    "The E-stop is pressed in flight; nodes and the monitor are restarted",
    "all robots send nothing and land; it stays latched until an operator resets",
    "1 tick after the message",
    "monitor: `the E-stop is pressed`; policy_node: `ESTOP`",
)
def test_e_stop_outlives_the_node(flying: FaultRig):
    assert flying.order(Order.ESTOP, "all") == ""
    flying.wait_for_state(State.ESTOP, *ROBOTS)
    for name in ROBOTS:
        states = [row["state"] for row in flying.rows[name]]
        first = states.index(State.ESTOP)
        assert set(states[first:]) == {State.ESTOP}
        assert not any(row["active"] for row in flying.rows[name][first:])
    flying.wait_for_words("/monitor: team", "the E-stop is pressed")
    flying.kill("/monitor")
    flying.kill(LEFT)
    flying.start("/monitor")
    flying.start(LEFT)
    flying.configure("left")
    flying.wait_for_state(State.ESTOP, "left")
    flying.wait_for_words("/monitor: team", "the E-stop is pressed")
    assert "not in READY; reset it first" in flying.order(Order.ARM, "left")
    assert flying.order(Order.RESET, "all") == ""
    flying.wait_for_state(State.READY, *ROBOTS)


@fault(
    "The simulator dies: no robot knows its state",
    "blind brake, then silence (STOP); the processes stay",
    "1 tick after `delay_s`; STOP 1 tick after `silent_after_s`",
    "policy_node: `odometry: ... s old`, `STOP`",
)
def test_simulator_killed(flying: FaultRig):
    flying.kill("/sim")
    flying.wait_for_rows("left", blind, 5)
    flying.wait_for_words(LEFT, "odometry", "s old")


HEAD = """# Faults

What was done to a flying team of real processes over real DDS, what must happen, within how many ticks, and which
diagnostic says so. Made by `tests/ros/test_faults_*.py` from the tests themselves; every row is one of them.
Ticks are those of the robot that reacts; a limit in seconds is a parameter of the node or of the vehicle file.

| fault | what must happen | within | who says so |
| --- | --- | --- | --- |
"""


def test_the_page_of_faults_is_what_is_tested(root: Path):
    assert test_faults_flight.__doc__ and test_recorder_lost.__doc__  # their rows come first
    page = HEAD + "".join(f"| {' | '.join(row)} |\n" for row in ROWS) + test_freezes.page()
    path = root / "docs" / "faults.md"
    if os.environ.get("ROBOMARL_WRITE_DOCS"):
        path.write_text(page)
    assert path.read_text() == page, "run the test with ROBOMARL_WRITE_DOCS=1"
