"""Publishers with another quality of service or message type than robots ask for, as real processes over real DDS."""

import re
from contextlib import suppress

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.config import UserError
from robomarl.ros.robot.state_machine import Order, State
from tests.ros.faultrig import LEFT, RIGHT, ROBOTS, FaultRig
from tests.ros.strangers import DEFAULT, LATCHED, SENSOR, stranger

pytestmark = [pytest.mark.ros, pytest.mark.alone]
STRANGERS = {"button", "joystick", *(f"of_{word}" for word in (
    "goal_posestamped", "goal_pose", "announce_diagnosticstatus", "odometry_posestamped", "state_and_plan_string",
))}  # fmt: skip
BOOL, POSE = "std_msgs/msg/Bool", "geometry_msgs/msg/PoseStamped"


@pytest.mark.parametrize(("name", "qos", "words"), [
    ("button", DEFAULT, "it publishes reliable, volatile, this node asks for reliable, transient local"),
    ("joystick", SENSOR, "it publishes best effort, volatile, this node asks for reliable, transient local"),
])  # fmt: skip
def test_a_press_of_any_quality_of_service_stops_all(flying: FaultRig, name: str, qos: tuple[str, str], words: str):
    with stranger(flying.team.environment, name, "/emergency_stop", BOOL, qos, "{'data': True}"):
        flying.wait_for_state(State.ESTOP, *ROBOTS)
        for node in (LEFT, RIGHT):
            flying.wait_for_line(f"[{node.strip('/').replace('/', '.')}]: E-STOP PRESSED by ")
            flying.wait_for_line(f"/emergency_stop: nothing is received from /{name}: {words}")
            flying.wait_for_words(node, "/emergency_stop", f"nothing is received from /{name}: {words}")
            flying.wait_for_words(node, "durability TRANSIENT_LOCAL; a press of it stops this robot all the same")
        assert flying.order(Order.RESET, "all"), "somebody still presses"
    flying.wait(lambda: not flying.order(Order.RESET, "all"), "the reset of a team that nobody presses any more")
    flying.forget()
    flying.wait_for_state(State.READY, *ROBOTS)


def test_a_release_of_another_quality_of_service_permits_nothing(flying: FaultRig):
    """A default publisher says that the E-stop is released: it is no second monitor, and replaces none."""
    with stranger(flying.team.environment, "button", "/emergency_stop", BOOL, DEFAULT, "{'data': False}"):
        flying.wait_for_words(LEFT, "nothing is received from /button")
        assert flying.order(Order.ESTOP, "all") == ""
        flying.wait_for_state(State.ESTOP, *ROBOTS)
        flying.forget()
        flying.wait_for_rows("left", lambda row: row["state"] == State.ESTOP, 10)
        flying.kill("/monitor")
        flying.forget()
        flying.wait_for_rows("left", lambda row: row["state"] == State.ESTOP, 10)
    flying.start("/monitor")

    def released() -> bool:
        with suppress(UserError):  # the killed monitor is in discovery for a while, and does not answer
            return not flying.console.order(Order.RESET, ["all"], 3.0)["all"]
        return False

    flying.wait(released, "the reset by the new monitor")


@pytest.mark.parametrize(("topic", "kind", "qos", "words"), [
    ("/left/goal", POSE, SENSOR, "it publishes best effort, volatile, this node asks for reliable, volatile; publish "
     "it with reliability RELIABLE"),
    ("/left/goal", "geometry_msgs/msg/Pose", DEFAULT, "it publishes geometry_msgs/msg/Pose, this node reads "
     "geometry_msgs/msg/PoseStamped; publish that type"),
    ("/right/announce", "diagnostic_msgs/msg/DiagnosticStatus", DEFAULT, "asks for reliable, transient local"),
    ("/left/link/left/odometry", "geometry_msgs/msg/PoseStamped", SENSOR, "this node reads nav_msgs/msg/Odometry"),
    ("/left/link/right/state_and_plan", "std_msgs/msg/String", SENSOR, "this node reads trajectory_msgs/"),
])  # fmt: skip
def test_what_is_not_received_is_named(rig: FaultRig, topic: str, kind: str, qos: tuple[str, str], words: str):
    """On all topics that a robot subscribes to: once in the log, and in the diagnostics while it is there."""
    name = f"of_{topic.rpartition('/')[2]}_{kind.rpartition('/')[2].lower()}"
    rig.forget()
    with stranger(rig.team.environment, name, topic, kind, qos):
        rig.wait_for_words(LEFT, topic, f"nothing is received from /{name}: ", words)
        rig.wait_for_line(f"{topic}: nothing is received from /{name}: ")
        rig.forget()
        rig.wait_for_words(LEFT, f"nothing is received from /{name}: ")
    told = [line for line in rig._lines if f"{topic}: nothing is received from /{name}:" in line and LEFT in line]
    assert len(told) == 1


def test_publishers_that_are_received_are_not_named(rig: FaultRig):
    """Ours, all of them, and a stranger's goal with any quality of service that is enough."""
    rig.forget()
    with stranger(rig.team.environment, "planner", "/left/goal", POSE, LATCHED):
        rig.wait_for_words(LEFT, "refused /left/goal", "of /planner")
        rig.wait_for_rows("left", lambda row: True, 100)
    said = [(text, values) for entries in rig.said.values() for text, values in entries]
    assert len(said) > 5
    names = {name for text, values in said for name in re.findall(r"received from /(\w+)", f"{text} {values}")}
    assert not names - STRANGERS, "those that were killed stay in the graph for a while"
