"""`TeamSimNode`: the simulator of a team behind ROS: commands and goals in, odometry, senses and truth out.

The simulated team is a `RealTimeRobots`, without ROS; a kind of team adds its robots' further
inputs, outputs and sensors.
"""

import math
from abc import abstractmethod
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rclpy.publisher import Publisher

from robomarl.core.config import UserError, to_dict
from robomarl.core.view import Goal
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.ros import convert, topics
from robomarl.ros.fieldtask import FieldTask, Sensor, field_task
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io import fast_messages
from robomarl.ros.io.fast_messages import OdometryWriter, TruthWriter
from robomarl.ros.io.messages import Estimate, Message, MessageInfo
from robomarl.ros.io.node_base import now_s, publisher
from robomarl.ros.real_time import RealTimeNode
from robomarl.ros.timing.steady import AWAY_S, Absence, steady_now_s

TELL_S = 0.5
"""Goals are told again so often."""


class RealTimeRobots(Protocol):
    """All robots, one step at a time; axes [N, ...] in the order of their indices."""

    every: int
    """Steps from one decision of the policies to the next."""

    @property
    def dt_s(self) -> float:
        """Time that one step takes."""
        ...

    def reset(self, seed: int) -> None:
        """New places and weather, drawn from the seed."""
        ...

    def stop(self) -> None:
        """The E-stop is pressed, and the vehicles hear it."""
        ...

    def step(self) -> None:
        """One step of the physics."""
        ...

    def truth(self) -> Estimate:
        """True states of all robots, [N, ...] each."""
        ...


S = TypeVar("S", bound=Scenario)
"""Scenarios that a node simulates."""


class TeamSimNode(RealTimeNode, Generic[S]):
    """All robots, simulated."""

    kind: type[S]
    """Class of scenarios that can be simulated."""

    def __init__(self) -> None:
        """Load the scenario, make the robots, reset, and run.

        Raises:
            UserError: the scenario does not exist, or is for another number of robots.
        """
        super().__init__()
        scenario, self._names = load_scenario(self.settings.scenario, self.kind), self.settings.team
        if (count := self.count_of(scenario)) != len(self._names):
            raise UserError(f"{self.settings.scenario}: is for {count} robots, the team has {len(self._names)}.")
        self._scenario = scenario
        self._team: Any = self.made(scenario)
        self._truth = publisher(self, topics.TRUTH, topics.TRUTH.of("sim", self.base))
        self._write, self._write_truth = [OdometryWriter(name) for name in self._names], TruthWriter(self._names)
        self._goals: list[Mailbox] = []
        self._absence = Absence()
        self._tellers: dict[str, Publisher] = {}
        self.connect()
        self.connect_robots()
        self.restart(self.settings.seed)
        self.begin(self._team.dt_s)
        self.get_logger().info(f"{scenario.name}: {count} robots; {1 / self._team.dt_s:g} steps of physics a second.")

    @abstractmethod
    def made(self, scenario: S) -> RealTimeRobots:
        """Make the robots, with the members that all further methods use."""

    @abstractmethod
    def sense(self, stamp_s: float) -> dict[str, Message]:
        """Return the sensor data of now besides odometry: a message, or its bytes, by the name of the sensor's
        topic.
        """

    def count_of(self, scenario: S) -> int:
        """Robots of all teams."""
        return scenario.count

    def connect(self) -> None:
        """Connect the goals, and the sensors of the task."""
        base, names = self.base, self._names
        field = field_task(to_dict(self._scenario))
        told = dict.fromkeys(field.goal_name(n, base) for n in names)
        self._goals = [Mailbox(self, field.goal, name, convert.goal_to) for name in told]
        said = told if self.settings.tell_goals else ()
        self._tellers = {name: publisher(self, field.goal, name) for name in said}
        self._telling = list(self._tellers)
        self._shown_goals = publisher(self, topics.SIM_GOALS, topics.SIM_GOALS.of("sim", base))
        self._sensed = {s.topic.name: publisher(self, s.topic, s.name("", base)) for s in self.sensors(field)}

    def sensors(self, field: FieldTask) -> tuple[Sensor, ...]:
        """Those of the task that are simulated."""
        return field.sensors

    def connect_robots(self) -> None:
        """Connect the inputs and outputs of the robots themselves."""
        own, command, names, base = topics.ODOMETRY, topics.COMMAND, self._names, self.base
        sent = simulation_of(self._scenario).action(self._scenario).sent
        self._columns = topics.command_columns(field.name for field in sent)
        self._odometry = [publisher(self, own, own.of(n, base)) for n in names]
        self._commands = [Mailbox(self, command, command.of(n, base), fast_messages.command_reader(n)) for n in names]

    def take_commands(self) -> None:
        """Apply the commands that the robots have received since the last step."""
        for index, mailbox in enumerate(self._commands):
            for (command, _), info in mailbox.take():
                if not self.waited(info):
                    self._team.command(index, command[self._columns])

    def waited(self, info: MessageInfo) -> bool:
        """Return True if a command waited for a simulator that stood still: no vehicle takes it for a current one."""
        return self._absence.waited_s(info) > AWAY_S

    def tell_estimates(self, truth: Estimate, stamp_s: float) -> None:
        """Publish the state estimates of the robots' estimators; `truth` is that of now."""
        for write, estimate, made in zip(self._write, self._team.estimates(truth), self._odometry, strict=True):
            made.publish(write(estimate, stamp_s))

    def take_goal(self, index: int, goal: Goal) -> None:
        """A robot, or the team where there is one goal only, was given another goal."""
        self._team.set_goal(index, goal.pos_m)

    def has_begun(self) -> bool:
        """The flight is under way."""
        return self._team.score().flight_s > 0

    def step(self) -> None:
        """Take commands, step, and publish when a decision is due."""
        team = self._team
        self._absence.look(steady_now_s())
        self.take_commands()
        team.step()
        if math.isnan(self.began_s) and self.has_begun():
            self.began_s = self.stamp_now_s()
        if self.is_pressed():
            team.stop()
        if self.steps % max(1, round(TELL_S / team.dt_s)) == 0:
            self._tell_goals()
        if self.steps % team.every == 0:
            self.decide()

    def decide(self) -> None:
        """A decision is due."""
        for index, mailbox in enumerate(self._goals):
            for goal, _ in mailbox.take():
                self.take_goal(index, goal)
        stamp_s, truth = self.stamp_now_s(), self._team.truth()
        self.tell_estimates(truth, stamp_s)
        self._truth.publish(self._write_truth(truth, stamp_s))
        for name, message in self.sense(stamp_s).items():
            self._sensed[name].publish(message)

    def restart(self, seed: int) -> None:
        """Draw new places, goals, robots and weather; the goals are published to any subscriber."""
        self._team.reset(seed)
        self._drawn = self._team.goals
        self._shown_goals.publish(convert.goals_from(self._drawn, now_s(self)))

    def _tell_goals(self) -> None:
        """Publish the goals to the robots, which may come late; another node that publishes them takes over for
        good.
        """
        if not self._tellers:
            return
        self._telling = [box.name for box in self._goals if box.name in self._telling and len(box.senders()) < 2]
        for index, (name, teller) in enumerate(self._tellers.items()):
            if name in self._telling:
                teller.publish(convert.goal_from(self._drawn[index], now_s(self)))

    def figures(self, slipped_s: float) -> NamedTuple:
        """The judge's score of the flight."""
        return self._team.score(slipped_s)

    def write_log(self, folder: Path) -> str:
        """None: the recording has all."""
        return ""
