"""The node around `RealTimeTeam`: commands and goals in, odometry and truth out, in real time.

Services `~/reset` (new places, goals and weather from the parameter `seed`, which then counts on) and `~/finish`
(write the flight's true log; the answer's text is the judge's score as JSON, with the path of the log and the
time of the first command, `began_s`).
"""

import json
import math
import sys
import threading
import time
from pathlib import Path

import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

from robomarl.config import UserError, to_dict
from robomarl.flight import save_flight
from robomarl.ros_nodes import convert, topics, wire
from robomarl.ros_nodes.fieldtask import field_task
from robomarl.ros_nodes.rosnode import Mailbox, declare, now_s, publisher, read, run_node
from robomarl.ros_nodes.settings import SimSettings
from robomarl.ros_nodes.sim_node.judge import Score
from robomarl.ros_nodes.sim_node.sensors import SENSORS
from robomarl.ros_nodes.sim_node.team import RealTimeTeam
from robomarl.ros_nodes.ticker import Beat, Ticker
from robomarl.ros_nodes.wire import OdometryWriter, TruthWriter
from robomarl.sim.scenario import Scenario, load_scenario

MAX_STEPS = 25
"""Steps that are made up for at once when the machine was busy; what is missed beyond them is counted as slipped."""
STATUS_HZ = 10
STATUS_LABEL = ",".join(Score._fields)


class SimNode(Node):
    """All robots of a team, simulated."""

    def __init__(self) -> None:
        """Compile the model, reset, and run.

        Raises:
            UserError: the scenario does not exist, or is for another number of robots.
        """
        super().__init__("sim")
        self.failed = False
        declare(self, SimSettings)
        settings = read(self, SimSettings)
        scenario = load_scenario(settings.scenario)
        if scenario.count != len(settings.team):
            raise UserError(f"{settings.scenario}: is for {scenario.count} robots, the team has {len(settings.team)}.")
        self._team, self._names = made(scenario, settings), settings.team
        self._log_dir = Path(settings.log_dir) if settings.log_dir else None
        self._sim_clock = publisher(self, topics.CLOCK, topics.CLOCK.name) if settings.clock else None
        self._began_clock_s = time.time()
        self._connect()
        self._lock = threading.Lock()
        self._steps = self._skipped = self._slipped = 0
        self._began_s = math.nan
        self._team.reset(settings.seed)
        self.create_service(Trigger, "~/reset", self._on_reset)
        self.create_service(Trigger, "~/finish", self._on_finish)
        self._ticker = Ticker(self._team.dt_s, self._tick, self._died)
        self.get_logger().info(
            f"{scenario.name}: {scenario.count} robots hover; physics at {scenario.rates.physics_hz:g} Hz."
        )

    def destroy_node(self) -> None:
        """Stop the physics first."""
        if hasattr(self, "_ticker"):
            self._ticker.stop()
        super().destroy_node()

    def _connect(self) -> None:
        base, names = self.get_namespace().rstrip("/"), self._names
        task = self._team.scenario.task
        own, command = topics.ODOMETRY, topics.COMMAND
        self._odometry = [publisher(self, own, own.of(n, base)) for n in names]
        self._write = [OdometryWriter(name) for name in names]
        self._write_truth = TruthWriter(names)
        self._commands = [Mailbox(self, command, command.of(n, base), wire.command_reader()) for n in names]
        self._columns = topics.COMMAND_COLUMNS[self._team.width]
        field = field_task(to_dict(self._team.scenario))
        self._for_load = field.goal is not topics.GOAL
        told = [field.goal_name(n, base) for n in names]
        self._goals = [Mailbox(self, field.goal, n, convert.goal_to) for n in dict.fromkeys(told)]
        self._shown = {topic: publisher(self, topic, topic.of("sim", base)) for topic in topics.SIM_TOPICS}
        self._estop = Mailbox(self, topics.ESTOP, topics.ESTOP.of("", base), lambda message: message.data)
        self._sense = SENSORS.get(task)
        sensors = field.sensors if self._sense else ()
        self._sensed = {s.topic.name: publisher(self, s.topic, s.name("", base)) for s in sensors}

    def _tick(self, beat: Beat) -> None:
        """Catch up with the clock, a physics step at a time."""
        due = 1 + beat.skipped - self._skipped
        self._skipped = beat.skipped
        self._slipped += max(due - MAX_STEPS, 0)
        with self._lock:
            for _ in range(min(due, MAX_STEPS)):
                self._step()

    def _step(self) -> None:
        team = self._team
        for index, mailbox in enumerate(self._commands):
            for (command, _), _ in mailbox.take():
                team.command(index, command[self._columns])
        team.step()
        if math.isnan(self._began_s) and team.judge.flight_s:
            self._began_s = self._now_s()
        self._steps += 1
        self._publish_clock()
        if any(pressed for pressed, _ in self._estop.take()):
            team.onboard.stop()
        if self._steps % team.every == 0:
            self._take_goals()
            self._publish()
        if self._steps % round(1 / (team.dt_s * STATUS_HZ)) == 0:
            self._publish_status()

    def _take_goals(self) -> None:
        for index, mailbox in enumerate(self._goals):
            for goal, _ in mailbox.take():
                if self._for_load:
                    self._team.set_load_goal(goal)
                else:
                    self._team.set_goal(index, goal.pos_m)

    def _publish(self) -> None:
        stamp_s = self._now_s()
        truth = self._team.truth()
        for write, estimate, made in zip(self._write, self._team.estimates(truth), self._odometry, strict=True):
            made.publish(write(estimate, stamp_s))
        self._shown[topics.TRUTH].publish(self._write_truth(truth, stamp_s))
        if self._sense:
            for name, message in self._sense(self._team.scenario, self._team.world, stamp_s).items():
                self._sensed[name].publish(message)

    def _now_s(self) -> float:
        """The clock of stamps: the system's, or the simulated one that this node publishes."""
        return now_s(self) if self._sim_clock is None else self._began_clock_s + self._steps * self._team.dt_s

    def _publish_clock(self) -> None:
        if self._sim_clock is not None:
            self._sim_clock.publish(Clock(clock=convert.header(self._now_s()).stamp))

    def _publish_status(self) -> None:
        values = np.array(self._score(), float)
        self._shown[topics.SIM_STATUS].publish(convert.numbers_from(STATUS_LABEL, values))

    def _score(self) -> Score:
        return self._team.score(self._slipped * self._team.dt_s)

    def _reset(self) -> int:
        seed = self.get_parameter("seed").get_parameter_value().integer_value
        self._team.reset(seed)
        self._began_s = math.nan
        self.set_parameters([Parameter("seed", value=seed + 1)])
        self._shown[topics.SIM_GOALS].publish(convert.goals_from(self._team.goals, now_s(self)))
        return seed

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            seed = self._reset()
            self._publish_status()
        response.success, response.message = True, f"seed {seed}"
        return response

    def _on_finish(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        with self._lock:
            score, log, began_s = self._score(), self._team.judge.log(), self._began_s
        path = ""
        if log is not None and self._log_dir is not None:
            path = str(self._log_dir / f"flight_{score.flight:03d}.npz")
            self._log_dir.mkdir(parents=True, exist_ok=True)
            save_flight(Path(path), log)
        response.success, response.message = True, json.dumps({**score._asdict(), "began_s": began_s, "log": path})
        return response

    def _died(self, error: BaseException) -> None:
        """A step raised what nobody expected: the process ends, the robots' odometry goes stale."""
        if not self.context.ok():
            return  # we were told to stop, and a message was on its way out
        self.get_logger().fatal(f"the simulation failed: {type(error).__name__}: {error}")
        self.failed = True
        self.context.try_shutdown()


def made(scenario: Scenario, settings: SimSettings) -> RealTimeTeam:
    """The robots, in the air or on the ground."""
    return RealTimeTeam(scenario, settings.ground_start, settings.handover_m)


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl sim_node`."""
    return run_node(SimNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
