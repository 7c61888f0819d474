"""`NodeClock`: the clock of stamps beside the steady clock, and detection of jumps when the clock is set."""

import time

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.robot.inbox import Now
from robomarl.ros.timing.stamp import Stamp, time_of
from robomarl.ros.timing.steady import steady_now_s
from robomarl.ros.topics import CLOCK

JUMP_S = 0.05
"""A change of the difference between both clocks by more than this is a jump."""
TRIES = 5
SLIP_S = 0.002
"""A change by more than this is a slip, which certified robots, whose courses are times, do not take for the truth."""


class NodeClock:
    """Time as one node sees it: the system's, or with `use_sim_time` that of `/clock`."""

    def __init__(self, node: Node) -> None:
        """Subscribe to `/clock` where it counts: between two ticks rclpy's own time source gets no turn."""
        self._node = node
        self._simulated = bool(node.get_parameter("use_sim_time").value)
        self._clock = Mailbox(node, CLOCK, CLOCK.name, _time_of) if self._simulated else None
        self._sim_s = 0.0
        self._before: Now | None = None
        self._apart_s = 0.0
        """Difference of both clocks at the last slip, or at the first moment [s]."""
        self.slip_s = 0.0
        """By how much the clock of stamps was set before the last tick [s]; 0 for less than `SLIP_S`."""

    def now(self) -> Now:
        """This moment."""
        if self._clock is None:
            return _both_now()
        for time_s, _ in self._clock.take():
            self._sim_s = time_s
        return Now(self._sim_s, steady_now_s())

    def tick(self) -> tuple[Now, float]:
        """This moment, and by how much the clock of stamps has jumped since the last tick [s]; 0: it has not."""
        now, before = self.now(), self._before
        self._before, self.slip_s = now, 0.0
        if before is None:
            self._apart_s = now.stamp_s - now.steady_s
            return now, 0.0
        passed_s = now.stamp_s - before.stamp_s
        # A simulation may run slower than real time or stand still, and starts at 0; it does not run backwards.
        expected_s = max(passed_s, 0.0) if self._simulated else now.steady_s - before.steady_s
        jump_s = passed_s - expected_s
        since_s = now.stamp_s - now.steady_s - self._apart_s
        if not self._simulated and abs(since_s) > SLIP_S:
            self.slip_s, self._apart_s = since_s, self._apart_s + since_s
        return now, jump_s if abs(jump_s) > JUMP_S else 0.0


def _both_now() -> Now:
    """Both clocks at one moment; read again where the process was stopped between them, as that looks like a slip."""
    for _ in range(TRIES):
        before_s = steady_now_s()
        now = Now(time.time(), steady_now_s())
        if now.steady_s - before_s < SLIP_S / 4:
            break
    return now


def _time_of(message: Clock) -> Stamp:
    return time_of(message.clock)
