"""A recorder that is killed is missed: the monitor says so, and whoever started it starts it again."""

import signal
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.launch_plan import arguments, launch_plan
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import bring_up
from tests.ros.faultrig import FaultRig, fault, write_files

WATCH = "/monitor: recorder"


@fault(
    "The recorder dies or hangs",
    "the flight goes on; `up` and launch files start it again, and it records beside its first recording",
    "3.0 s of silence",
    "monitor: `recorder`: `silent for ... s: nothing is recorded; start recorder_node`; `the recorder is there again`",
)
@pytest.mark.ros
def test_the_monitor_misses_it_and_sees_it_come_back(rig: FaultRig):
    rig.wait_for_words(WATCH, "")
    rig.kill("/recorder")
    rig.wait_for_line("[monitor]: the recorder is silent: nothing is recorded; start recorder_node.")
    rig.wait_for_words(WATCH, "nothing is recorded; start recorder_node")
    rig.start("/recorder")
    rig.wait_for_line("[monitor]: the recorder is there again.")
    rig.forget()
    rig.wait_for_words(WATCH, "recording")
    assert (rig.files.folder / "bag_2" / "metadata.yaml").is_file(), "beside what the first one recorded"
    assert (rig.files.folder / "bag" / "metadata.yaml").is_file()


@pytest.mark.ros
def test_a_recorder_that_hangs_is_missed_too(rig: FaultRig):
    rig.send(signal.SIGSTOP, "/recorder")
    rig.forget()
    rig.wait_for_words(WATCH, "silent for", "nothing is recorded")
    rig.send(signal.SIGCONT, "/recorder")
    rig.forget()
    rig.wait_for_words(WATCH, "recording")


@pytest.mark.ros
def test_up_starts_it_again(goto_bundle: Path, tmp_path: Path):
    files = write_files(tmp_path, goto_bundle)
    plan = replace(files.plan(), link=False, record=str(tmp_path / "flight"), tell_goals=True)
    with bring_up(load_fleet(str(files.fleet)), plan, None, lambda name, line: None) as team, team.respawning():
        running = team.processes.running
        first = running["/recorder"].popen
        team.console.wait(lambda: any((tmp_path / "flight").glob("*.mcap")), 30, "the first recording")
        first.kill()
        team.console.wait(lambda: any((tmp_path / "flight_2").glob("*.mcap")), 30, "the second recording")
        assert running["/recorder"].popen is not first


def test_a_launch_file_starts_it_again(tmp_path: Path):
    plan = plan_fleet(load_fleet("local_4"), PlanOptions(sim=True, record=str(tmp_path / "bag")))
    (recorder,) = [spec for spec in plan if spec.executable == "recorder_node"]
    assert recorder.respawn and recorder.parameters["again"] is True


def test_a_recording_that_exists_is_refused_before_anything_starts(tmp_path: Path):
    """The recorder itself would go on beside it."""
    given = {name: argument.default or "" for name, argument in arguments().items()}
    with pytest.raises(UserError, match="exists already; name another folder"):
        launch_plan({**given, "fleet": "local_4", "record_dir": str(tmp_path)})
    with pytest.raises(UserError, match="exists already; name another folder"):
        with bring_up(load_fleet("local_4"), PlanOptions(sim=True, record=str(tmp_path)), None, lambda *_: None):
            pass
