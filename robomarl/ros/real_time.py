"""`RealTimeNode`: common parts of all simulators behind ROS: the clock, catching up with it, reset and
finish.

Services `~/reset` (new places and weather from the parameter `seed`, which then counts on) and
`~/finish` (write the true log; the answer's text is the judge's figures as JSON, with the path of
the log and `began_s`, the time of the first command).
"""

import json
import math
import threading
import time
from abc import abstractmethod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

from robomarl.ros import convert, topics
from robomarl.ros.intake.estop_listener import EstopListener
from robomarl.ros.intake.unheard import unheard_of
from robomarl.ros.io.node_base import now_s, publisher
from robomarl.ros.parameters import declare, read
from robomarl.ros.settings import SimSettings
from robomarl.ros.timing.failed import told
from robomarl.ros.timing.rate_timer import Beat, Ticker

MAX_STEPS = 25
"""Maximum number of steps made up for at once after the machine was busy; further missed steps count as slipped."""
STATUS_HZ = 10


class RealTimeNode(Node):
    """Steps a simulation in real time. A subclass makes it, then calls `begin`."""

    dt_s: float
    """Time that one step takes."""

    def __init__(self) -> None:
        """Read the parameters; nothing moves before `begin`."""
        super().__init__("sim")
        self.failed = False
        declare(self, SimSettings, {"seed"})
        self.settings = settings = read(self, SimSettings)
        self._log_dir = Path(settings.log_dir) if settings.log_dir else None
        self.base = self.get_namespace().rstrip("/")
        self._sim_clock = publisher(self, topics.CLOCK, topics.CLOCK.name) if settings.clock else None
        self._began_clock_s = time.time()
        self.status = publisher(self, topics.SIM_STATUS, topics.SIM_STATUS.of("sim", self.base))
        self.estop = EstopListener(self, self.base)
        self.lock = threading.Lock()
        self.steps = self._skipped = self._slipped = 0
        self.began_s = math.nan
        """When the first command came, by the clock of stamps."""

    def begin(self, dt_s: float) -> None:
        """Run from now on."""
        self.dt_s = dt_s
        self.create_service(Trigger, "~/reset", self._on_reset)
        self.create_service(Trigger, "~/finish", self._on_finish)
        self.create_timer(1.0, self._look_around)
        self._ticker = Ticker(dt_s, self._tick, self._died)

    def destroy_node(self) -> None:
        """Stop the physics first."""
        if hasattr(self, "_ticker"):
            self._ticker.stop()
        super().destroy_node()

    @abstractmethod
    def step(self) -> None:
        """Make one step of the physics, and publish its results."""

    def stand_still(self, duration_s: float) -> None:
        """Note that this real time [s] has passed without a step: limits that vehicles keep by the clock go on."""

    @abstractmethod
    def restart(self, seed: int) -> None:
        """New places and weather."""

    @abstractmethod
    def figures(self, slipped_s: float) -> NamedTuple:
        """The judge's figures now; `slipped_s`: how much the simulator fell behind real time."""

    @abstractmethod
    def write_log(self, folder: Path) -> str:
        """Write the true log since the reset into a folder; returns its path, "" if there is none."""

    def stamp_now_s(self) -> float:
        """The clock of stamps: the system's, or the simulated one that this node publishes."""
        return now_s(self) if self._sim_clock is None else self._began_clock_s + self.steps * self.dt_s

    def is_pressed(self) -> bool:
        """The E-stop has been pressed since the last call."""
        return any([word.pressed for word in self.estop.take()])

    def _tick(self, beat: Beat) -> None:
        """Catch up with the clock, a physics step at a time."""
        due = 1 + beat.skipped - self._skipped
        self._skipped = beat.skipped
        missed = max(due - MAX_STEPS, 0)
        self._slipped += missed
        with self.lock:
            if missed:
                self.stand_still(missed * self.dt_s)
            for _ in range(min(due, MAX_STEPS)):
                self.steps += 1
                self._publish_clock()
                self.step()
                if self.steps % round(1 / (self.dt_s * STATUS_HZ)) == 0:
                    self._publish_status()

    def _look_around(self) -> None:
        """Log publishers on this node's topics that it does not receive."""
        unheard_of(self).look(self)

    def _publish_clock(self) -> None:
        if self._sim_clock is not None:
            self._sim_clock.publish(Clock(clock=convert.header(self.stamp_now_s()).stamp))

    def _publish_status(self) -> None:
        found = self._figures()
        self.status.publish(convert.numbers_from(",".join(found._fields), np.array(found, float)))

    def _figures(self) -> Any:
        return self.figures(self._slipped * self.dt_s)

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self.lock:
            seed = self.get_parameter("seed").get_parameter_value().integer_value
            self.began_s = math.nan
            self.set_parameters([Parameter("seed", value=seed + 1)])
            self.restart(seed)
            self._publish_status()
        response.success, response.message = True, f"seed {seed}"
        return response

    def _on_finish(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self.lock:
            found, began_s, path = self._figures(), self.began_s, ""
            if self._log_dir is not None:
                self._log_dir.mkdir(parents=True, exist_ok=True)
                path = self.write_log(self._log_dir)
        response.success, response.message = True, json.dumps({**found._asdict(), "began_s": began_s, "log": path})
        return response

    def _died(self, error: BaseException) -> None:
        """End the process after an unexpected error in a step: the robots' odometry goes stale."""
        if not self.context.ok():
            return  # we were told to stop, and a message was on its way out
        self.get_logger().fatal(f"the simulation failed: {told(error)}")
        self.failed = True
        self.context.try_shutdown()
