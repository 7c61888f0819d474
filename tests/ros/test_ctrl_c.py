"""Ctrl-C in `robomarl up`: while it starts, while it stays up, pressed again and again. Real processes and signals."""

import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

pytestmark = pytest.mark.ros
UP = "all nodes are up"


def pressed(folder: Path, bundle: Path, moment: str, times: int) -> tuple[int, str]:
    """Exit status and output of `up`, told to stop at the first line that matches, as a terminal does that."""
    words = ["-m", "robomarl", "up", "local_4", "--sim", "mujoco", "--no-record", "--bundle", str(bundle)]
    process = subprocess.Popen(
        [sys.executable, *words, "--root", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        start_new_session=True,
    )
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if times and re.search(moment, line):
            for _ in range(times):
                os.killpg(process.pid, signal.SIGINT)
            times = 0
    return process.wait(), "".join(lines)


def left_over(folder: Path) -> list[str]:
    """Command lines of processes that were started with the folder and still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(folder) in text and str(os.getpid()) != path.parent.name:
            found.append(text)
    return found


@pytest.mark.parametrize("times", [1, 2, 20])
@pytest.mark.parametrize(("moment", "status"), [("watches robot_0", 130), (UP, 0)])
def test_it_ends_without_a_traceback_and_leaves_nothing(
    tmp_path: Path, goto_bundle: Path, moment: str, status: int, times: int
):
    code, said = pressed(tmp_path, goto_bundle, moment, times)
    assert code == status, said
    assert "Traceback" not in said and "KeyboardInterrupt" not in said, said
    assert left_over(tmp_path) == []
    if status == 130:
        assert said.rstrip().endswith("robomarl up: stopped.")


def test_nodes_that_still_import_end_without_a_word(tmp_path: Path, goto_bundle: Path):
    """The first node speaks while others read their modules: they used to print where they were."""
    code, said = pressed(tmp_path, goto_bundle, "INFO", 1)
    assert (code, "Traceback" in said) == (130, False), said


def test_a_node_that_is_interrupted_twice_ends_without_a_traceback():
    """As under a shell and a launcher, which both tell it."""
    words = [sys.executable, "-m", "robomarl.ros.monitor_node", "--ros-args", "-p", "team:=[one]"]
    for _ in range(3):
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        assert process.stderr
        said = process.stderr.readline()
        assert "watches one" in said
        for _ in range(5):
            process.send_signal(signal.SIGINT)
        said += process.stderr.read()
        assert process.wait() == 0, said
        assert "Traceback" not in said


HALF_BUILT = """
import os, signal, time
import rclpy.executors

class Pressed:
    def __init__(self, context):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(2)

rclpy.executors.SignalHandlerGuardCondition = Pressed
from robomarl.ros.io.node_base import run_node
from rclpy.node import Node

raise SystemExit(run_node(lambda: Node("one"), []))
"""


def test_ctrl_c_while_rclpy_builds_its_executor_leaves_no_word():
    """The destructor of an executor that is half built asks for an attribute that it lacks (rclpy 10)."""
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # shells ignore it in the background
    words = [sys.executable, "-c", HALF_BUILT]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, preexec_fn=heard)
    assert (done.returncode, done.stderr) == (0, "")
