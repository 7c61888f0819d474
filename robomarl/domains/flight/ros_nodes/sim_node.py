"""The node around `RealTimeTeam`: commands and goals in, odometry and truth out, in real time."""

import math
import sys
from pathlib import Path

from robomarl.config import UserError, to_dict
from robomarl.domains.flight.ros_nodes.sim_team import RealTimeTeam
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.payload.ros_nodes.sim_sensors import SENSORS
from robomarl.log import save_flight
from robomarl.ros_nodes import convert, topics
from robomarl.ros_nodes.fieldtask import field_task
from robomarl.ros_nodes.flight_score import Score
from robomarl.ros_nodes.io import fast_messages
from robomarl.ros_nodes.io.fast_messages import OdometryWriter, TruthWriter
from robomarl.ros_nodes.io.messages import Estimate
from robomarl.ros_nodes.io.node_base import Mailbox, now_s, publisher, run_node
from robomarl.ros_nodes.real_time import RealTimeNode
from robomarl.sim.scenario import load_scenario

TELL_S = 0.5
"""Goals are told again so often."""


class SimNode(RealTimeNode):
    """All robots of a team, simulated."""

    def __init__(self) -> None:
        """Compile the model, reset, and run.

        Raises:
            UserError: the scenario does not exist, or is for another number of robots.
        """
        super().__init__()
        settings = self.settings
        scenario = load_scenario(settings.scenario, FlightScenario)
        if scenario.count != len(settings.team):
            raise UserError(f"{settings.scenario}: is for {scenario.count} robots, the team has {len(settings.team)}.")
        self._team, self._names = self.made(scenario), settings.team
        self._connect()
        self.connect_robots()
        self._team.reset(settings.seed)
        self._show_goals()
        self.begin(self._team.dt_s)
        self.get_logger().info(
            f"{scenario.name}: {scenario.count} robots hover; physics at {scenario.rates.physics_hz:g} Hz."
        )

    def _connect(self) -> None:
        base, names = self.base, self._names
        task = self._team.scenario.task
        self._write_truth = TruthWriter(names)
        self._columns = topics.COMMAND_COLUMNS[self._team.width]
        field = field_task(to_dict(self._team.scenario))
        self._for_load = field.goal is not topics.GOAL
        told = [field.goal_name(n, base) for n in names]
        self._goals = [Mailbox(self, field.goal, n, convert.goal_to) for n in dict.fromkeys(told)]
        said = dict.fromkeys(told) if self.settings.tell_goals else ()
        self._tellers = {name: publisher(self, field.goal, name) for name in said}
        self._telling = list(self._tellers)
        self._shown = {t: publisher(self, t, t.of("sim", base)) for t in (topics.TRUTH, topics.SIM_GOALS)}
        self._sense = SENSORS.get(task)
        sensors = field.sensors if self._sense else ()
        self._sensed = {s.topic.name: publisher(self, s.topic, s.name("", base)) for s in sensors}

    def made(self, scenario: FlightScenario) -> RealTimeTeam:
        """The robots, in the air or on the ground."""
        return RealTimeTeam(scenario, self.settings.ground_start, self.settings.handover_m)

    def connect_robots(self) -> None:
        """What the robots hear and say themselves."""
        own, command, names, base = topics.ODOMETRY, topics.COMMAND, self._names, self.base
        self._odometry = [publisher(self, own, own.of(n, base)) for n in names]
        self._write = [OdometryWriter(name) for name in names]
        self._commands = [Mailbox(self, command, command.of(n, base), fast_messages.command_reader()) for n in names]

    def take_commands(self) -> None:
        """What the robots have been told since the last step."""
        for index, mailbox in enumerate(self._commands):
            for (command, _), _ in mailbox.take():
                self._team.command(index, command[self._columns])

    def tell_estimates(self, truth: Estimate, stamp_s: float) -> None:
        """What the robots' estimators say; `truth` is that of now."""
        for write, estimate, made in zip(self._write, self._team.estimates(truth), self._odometry, strict=True):
            made.publish(write(estimate, stamp_s))

    def step(self) -> None:
        """Take commands, step, and publish when a decision is due."""
        team = self._team
        self.take_commands()
        team.step()
        if math.isnan(self.began_s) and team.judge.flight_s:
            self.began_s = self.stamp_now_s()
        if self.is_pressed():
            team.stop()
        if self.steps % round(TELL_S / team.dt_s) == 0:
            self._tell_goals()
        if self.steps % team.every == 0:
            self._take_goals()
            self._publish()

    def restart(self, seed: int) -> None:
        """New places, goals, vehicles and weather; the goals are told to who asks."""
        self._team.reset(seed)
        self._show_goals()

    def _show_goals(self) -> None:
        """The goals that the scenario drew, to who asks."""
        self._drawn = self._team.goals
        self._shown[topics.SIM_GOALS].publish(convert.goals_from(self._drawn, now_s(self)))

    def _tell_goals(self) -> None:
        """To the robots, which may come late; somebody else who tells them takes over for good."""
        self._telling = [box.name for box in self._goals if box.name in self._telling and len(box.senders()) < 2]
        for index, (name, teller) in enumerate(self._tellers.items()):
            if name in self._telling:
                teller.publish(convert.goal_from(self._drawn[index], now_s(self)))

    def figures(self, slipped_s: float) -> Score:
        """The judge's score of the flight."""
        return self._team.score(slipped_s)

    def write_log(self, folder: Path) -> str:
        """The flight's true log."""
        if (log := self._team.judge.log()) is None:
            return ""
        path = folder / f"flight_{self._team.score().flight:03d}.npz"
        save_flight(path, log)
        return str(path)

    def _take_goals(self) -> None:
        for index, mailbox in enumerate(self._goals):
            for goal, _ in mailbox.take():
                if self._for_load:
                    self._team.set_load_goal(goal)
                else:
                    self._team.set_goal(index, goal.pos_m)

    def _publish(self) -> None:
        stamp_s = self.stamp_now_s()
        truth = self._team.truth()
        self.tell_estimates(truth, stamp_s)
        self._shown[topics.TRUTH].publish(self._write_truth(truth, stamp_s))
        if self._sense:
            for name, message in self._sense(self._team.scenario, self._team.world, stamp_s).items():
                self._sensed[name].publish(message)


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl sim_node`."""
    return run_node(SimNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
