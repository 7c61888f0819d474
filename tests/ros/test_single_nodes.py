"""What a node refuses when it starts, each in a process of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from robomarl.core.config import UserError
from robomarl.ros.io.environment import environment
from robomarl.ros.io.processes import child_environment, claimed_domain
from robomarl.ros.io.security import WITH_SECURITY, check_security, is_enforced

ENFORCED = {"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_STRATEGY": "Enforce"}


def started(module: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """A node that is to end by itself."""
    with claimed_domain(None) as domain:
        whole = {**child_environment(environment(True, domain)), **variables}
        command = [sys.executable, "-m", f"robomarl.ros.{module}", "--ros-args", *arguments]
        return subprocess.run(command, env=whole, capture_output=True, text=True, timeout=60)


@pytest.mark.ros
@pytest.mark.parametrize("module", ["policy_node", "monitor_node"])
def test_with_security_enforced_and_none_there_a_node_does_not_start(module: str, tmp_path: Path):
    """The wheels have no DDS security; a distribution that has it fails for want of the enclave's keys."""
    done = started(module, **ENFORCED, ROS_SECURITY_KEYSTORE=str(tmp_path))
    assert done.returncode == 1
    assert "ROS_SECURITY_STRATEGY=Enforce: " in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_middleware_that_is_not_known_to_enforce_is_refused():
    with pytest.raises(UserError, match="not known that rmw_new enforces it"):
        check_security("rmw_new", ENFORCED)
    check_security("rmw_new", {})
    for middleware in WITH_SECURITY:
        check_security(middleware, ENFORCED)
    assert not is_enforced({"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_STRATEGY": "Permissive"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("ROS_SECURITY_ENABLE", value) for value in ("True", "TRUE", "1", "yes", " true")),
        *(("ROS_SECURITY_STRATEGY", value) for value in ("enforce", "ENFORCE", "Enforced", "strict")),
    ],
)
def test_a_word_that_ros_takes_for_no_security_is_refused(name: str, value: str):
    with pytest.raises(UserError, match=f"{name}={value}: ROS would start this node without security"):
        check_security(WITH_SECURITY[0], {**ENFORCED, name: value})


@pytest.mark.ros
def test_a_parameter_out_of_range_is_refused_by_its_name():
    done = started("policy_node", "-p", "silent_after_s:=-1.0")
    assert done.returncode == 1
    assert "silent_after_s" in done.stderr


@pytest.mark.ros
def test_a_recorder_does_not_begin_on_a_disk_that_is_nearly_full(tmp_path: Path):
    free_mb = shutil.disk_usage(tmp_path).free / 1e6
    pairs = {"folder": str(tmp_path / "bag"), "min_free_mb": f"{min(free_mb + 1e4, 1e6):.1f}"}
    if free_mb > 9e5:
        pytest.skip("the disk is too large for the parameter's range")
    done = started("recorder_node", *(word for name, value in pairs.items() for word in ("-p", f"{name}:={value}")))
    assert done.returncode == 1
    assert "MB are free" in done.stderr
    assert "make room" in done.stderr


GROUP = Path("/proc/self/autogroup")
HURRIED = """
import os
from robomarl.ros.timing.priority import hurry
hurry()
print(os.getpriority(os.PRIO_PROCESS, 0), open("/proc/self/autogroup").read())
"""


@pytest.mark.skipif(not GROUP.is_file() or os.geteuid() != 0, reason="needs root, and a kernel that groups sessions")
def test_a_control_loop_goes_before_other_sessions_too():
    """Where the kernel shares the processor between sessions first, a process's own niceness does nothing."""
    command = [sys.executable, "-c", HURRIED]
    alone = subprocess.run(command, capture_output=True, text=True, check=True, start_new_session=True)
    assert (alone.stdout.split()[0], alone.stdout.split()[-1]) == ("-10", "-10")
    before = GROUP.read_text()  # empty where this session is the system's own
    among_others = subprocess.run(command, capture_output=True, text=True, check=True)
    assert among_others.stdout.split()[0] == "-10"
    assert GROUP.read_text() == before, "the session is not this process's own"


REAL_TIME = """
import os, threading
from robomarl.ros.timing.priority import real_time
threading.Thread(target=threading.Event().wait, daemon=True).start()
for on in (True, False):
    real_time(on)
    print(*sorted(os.sched_getscheduler(int(thread)) for thread in os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/proc/self/task").is_dir(), reason="needs root, and Linux")
def test_all_threads_go_before_those_of_others_and_no_longer():
    done = subprocess.run([sys.executable, "-c", REAL_TIME], capture_output=True, text=True, check=True)
    during, after = (set(line.split()) for line in done.stdout.splitlines())
    if during == {str(os.SCHED_OTHER)}:
        pytest.skip("this system lets nobody run in real time")
    assert during == {str(os.SCHED_RR)} and after == {str(os.SCHED_OTHER)}
    nobody = REAL_TIME.replace("for on", "os.setgid(65534)\nos.setuid(65534)\nfor on")
    done = subprocess.run([sys.executable, "-c", nobody], capture_output=True, text=True)
    assert set(done.stdout.split()) == {str(os.SCHED_OTHER)}, done.stderr


def test_no_parameter_reaches_a_shell(root: Path):
    """Nothing in the nodes' package starts programs but `processes`, which takes a list of words and no shell."""
    for path in [file for floor in ("ros", "vehicles") for file in (root / "robomarl" / floor).rglob("*.py")]:
        if path.parent.name == "install":  # at the operator's, before there is a node
            continue
        text = path.read_text()
        assert "os.system" not in text and "shell=True" not in text and "eval(" not in text, path
        if path.name != "processes.py":
            assert "subprocess" not in text, path
