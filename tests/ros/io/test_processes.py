"""Nodes as child processes, without ROS: logs, ends, and what happens when the parent dies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
from robomarl.ros.operator.node_spec import NodeSpec

STUBBORN = (
    "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(60)\n"
)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes programs that run as nodes."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def make(name: str, source: str) -> NodeSpec:
        (tmp_path / f"{name}.py").write_text(source)
        return NodeSpec(name, name, name, "", {})

    return make


def wait_for(condition) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_lines_are_relayed_with_the_name_of_their_node(modules):
    lines: list[tuple[str, str]] = []
    with Processes(lambda name, line: lines.append((name, line))) as processes:
        processes.start([modules("talker", "print('one')\nprint('two')\n")], child_environment({}))
        wait_for(lambda: len(lines) == 2)
    assert lines == [("/talker", "one"), ("/talker", "two")]


def test_a_node_that_ended_is_noticed_with_its_last_words(modules):
    with Processes(lambda name, line: None) as processes:
        processes.start([modules("broken", "raise SystemExit('no such sensor')")], child_environment({}))
        wait_for(processes.dead)
        with pytest.raises(UserError, match="/broken ended with status 1: no such sensor"):
            processes.check()


def test_all_are_gone_at_the_end_even_the_stubborn(modules):
    seen: list[str] = []
    with Processes(lambda name, line: seen.append(line)) as processes:
        processes.start([modules("stubborn", STUBBORN)], child_environment({}))
        wait_for(lambda: "up" in seen)
        popen = processes.running["/stubborn"].popen
    assert popen.poll() is not None


PARENT = """
import sys, time
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.io.processes import Processes, child_environment
processes = Processes(lambda name, line: print(line, flush=True))
processes.start([NodeSpec("child", "child", "child", "", {})], child_environment({}))
time.sleep(60)
"""
CHILD = """
import os, time
from robomarl.ros.io.node_base import die_with_parent
die_with_parent()
print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the Linux kernel")
def test_children_die_with_their_parent_however_it_dies(modules, root: Path):
    pytest.importorskip("rclpy")
    modules("child", CHILD)
    environment = child_environment({})
    parent = subprocess.Popen([sys.executable, "-c", PARENT], env=environment, stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()

    def gone() -> bool:
        try:
            return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except FileNotFoundError:
            return True

    wait_for(gone)


def test_two_runners_get_different_domains():
    with claimed_domain(None) as first, claimed_domain(None) as second:
        assert first != second
        assert {first, second} <= set(range(1, 102))
    with claimed_domain(42) as given:
        assert given == 42
