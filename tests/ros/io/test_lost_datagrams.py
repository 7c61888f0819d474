"""What the network loses is sent again soon: an order that reaches a robot after 3 s is none."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from rcl_interfaces.srv import ListParameters

from robomarl.ros import topics
from robomarl.ros.io.environment import environment
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
from robomarl.ros.operator.console import open_console
from robomarl.ros.operator.node_spec import NodeSpec

pytestmark = [pytest.mark.ros, pytest.mark.alone]
JUNK, DATAGRAMS = (bytes(8192), b"0"), 500
"""More than a socket's buffer holds; small ones go where a large one does not."""
STANDS_S = 3.5
"""Fast DDS says once in 3 s what it has sent, unless it is told otherwise: that is lost, too."""


def ports_of(pid: int) -> Iterator[int]:
    """UDP ports that a process listens to (Linux)."""
    links = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    for line in Path("/proc/net/udp").read_text().splitlines()[1:]:
        words = line.split()
        if f"socket:[{words[9]}]" in links:
            yield int(words[1].split(":")[1], 16)


def fill(pid: int) -> None:
    """Nothing that is sent to a process that stands still arrives any more."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for port in ports_of(pid):
            for junk in JUNK:
                for _ in range(DATAGRAMS):
                    sender.sendto(junk, ("127.0.0.1", port))


def heard(beats: Mailbox) -> int:
    """Heartbeats so far."""
    list(beats.take())
    return beats.count.received


def test_a_request_that_was_lost_is_answered_within_a_second_of_heartbeats():
    """Seconds are counted by the `emergency_stop` of the node that is asked, ten times a second: machines are busy."""
    spec = NodeSpec("monitor_node", "robomarl.ros.monitor_node", "monitor", "", {"team": ["a"], "base": ""})
    with claimed_domain(None) as domain, Processes(lambda name, line: None) as processes:
        shared = environment(True, domain)
        with open_console((), shared, sim=False, watch=processes.check) as console:
            processes.start([spec], child_environment(shared))
            asked = console._node.create_client(ListParameters, "/monitor/list_parameters")
            console.wait(asked.service_is_ready, 30, "the monitor")
            beats = Mailbox(console._node, topics.ESTOP, topics.ESTOP.of("", ""), depth=1000)
            console.wait(lambda: heard(beats) > 5, 30, "its heartbeats")
            node = processes.running[spec.full_name].popen
            node.send_signal(signal.SIGSTOP)
            fill(node.pid)
            before = heard(beats)
            answer = asked.call_async(ListParameters.Request())
            time.sleep(STANDS_S)
            node.send_signal(signal.SIGCONT)
            console.wait(lambda: heard(beats) > before and answer.done(), 30, "the answer, and a heartbeat")
            assert heard(beats) - before < 10
