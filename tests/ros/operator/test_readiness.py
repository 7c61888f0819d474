"""What a fleet that stays up waits for: inputs of robots in STANDBY, causes before consequences."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.readiness import MissingInputs
from robomarl.ros.operator.rehearsal import stay_up
from robomarl.ros.robot.health import WARN, DiagnosticEntry
from tests.ros.faultrig import write_files

NOTHING = "nothing received yet"


def entry(robot: str, state: str, **lacks: str) -> DiagnosticEntry:
    values = {"state": state} | {f"input {name}": why for name, why in lacks.items()}
    return DiagnosticEntry(f"/{robot}/policy_node", WARN, "", values)


def test_teammates_are_named_only_when_they_are_the_cause():
    found = MissingInputs(("one", "two"))
    assert found.text() == "its first report of all robots"
    found.hear([entry("one", "STANDBY", odometry=NOTHING, two=NOTHING), entry("two", "STANDBY", one=NOTHING)])
    assert found.text() == f"odometry ({NOTHING}) of one"
    found.hear([entry("one", "READY"), DiagnosticEntry("/monitor: one", WARN, "", {})])
    assert found.text() == f"one ({NOTHING}) of two"
    found.hear([entry("two", "ACTIVE", goal="is not finite")])
    assert found.text() == ""


@pytest.mark.parametrize("state", ["WAITING", "READY", "DRIVING"])
def test_the_state_of_a_vehicles_adapter_is_not_that_of_the_robot(state: str):
    found = MissingInputs(("one",))
    found.hear([entry("one", "STANDBY", odometry=NOTHING)])
    found.hear([DiagnosticEntry("one/ssl", WARN, "", {"state": state}), DiagnosticEntry("one", WARN, "", {})])
    assert found.text() == f"odometry ({NOTHING}) of all robots"


@pytest.mark.ros
def test_up_without_a_simulator_says_what_robots_wait_for_and_what_comes_next(goto_bundle: Path, tmp_path: Path):
    files, lines = write_files(tmp_path, goto_bundle), []
    plan = PlanOptions(bundle=str(goto_bundle), root=str(files.folder))
    stay_up(load_fleet(str(files.fleet)), plan, lambda name, line: lines.append(line) if name == "up" else None, 5.0)
    told = "\n".join(lines)
    assert "robomarl fleet check pair`, then `ROS_DOMAIN_ID=" in told
    assert f"Waiting for odometry ({NOTHING}) of all robots" in told
