"""`model_node`: the simulator of teams that are said by a `Model`. Commands in, odometry, senses and truth out.

It decides at the policy's rate: a command is in force from the decision after its arrival to the next one.
"""

import math
import sys
from pathlib import Path

import numpy as np

from robomarl.config import UserError, to_dict
from robomarl.domains.simulation import needed, simulation_of
from robomarl.ros_nodes import convert, topics
from robomarl.ros_nodes.fieldtask import field_task
from robomarl.ros_nodes.flight_score import Score
from robomarl.ros_nodes.io import fast_messages
from robomarl.ros_nodes.io.fast_messages import OdometryWriter, TruthWriter
from robomarl.ros_nodes.io.messages import Estimate
from robomarl.ros_nodes.io.node_base import Mailbox, now_s, publisher, run_node
from robomarl.ros_nodes.real_time import RealTimeNode
from robomarl.sim.model.batch import engines, make_model_sim
from robomarl.sim.scenario import load_scenario
from robomarl.view import Goal

TELL_S = 0.5
"""Goals are told again so often."""
JITTER_M = 1e-6
"""An estimate that stays the same in every bit is taken for a dead sensor: so far it moves even at rest."""
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


class ModelNode(RealTimeNode):
    """All robots of a team, simulated."""

    def __init__(self) -> None:
        """Load the scenario, reset, and run.

        Raises:
            UserError: the scenario does not exist, is for another number of robots, or its domain is no `Model`.
        """
        super().__init__()
        settings, scenario = self.settings, load_scenario(self.settings.scenario)
        self._scenario, self._names = scenario, settings.team
        self._model = needed(simulation_of(scenario).model, scenario, "model that this simulator knows")
        if scenario.count != len(settings.team):
            raise UserError(f"{settings.scenario}: is for {scenario.count} robots, the team has {len(settings.team)}.")
        self._resets = 0
        self._connect()
        self.restart(settings.seed)
        self.begin(scenario.period_s)
        self.get_logger().info(f"{scenario.name}: {scenario.count} robots on {engines(self._model)[-1]}.")

    def _connect(self) -> None:
        base, names = self.base, self._names
        own, command = topics.ODOMETRY, topics.COMMAND
        elements = tuple(field.name for field in self._model.action(self._scenario).fields)
        self._columns = topics.COMMANDS[elements]
        self._odometry = [(publisher(self, own, own.of(n, base)), OdometryWriter(n)) for n in names]
        self._write_truth = TruthWriter(names)
        self._commands = [Mailbox(self, command, command.of(n, base), fast_messages.command_reader()) for n in names]
        field, goal = field_task(to_dict(self._scenario)), topics.GOAL
        self._goals = [Mailbox(self, goal, goal.of(n, base), convert.goal_to) for n in names]
        said = names if self.settings.tell_goals else ()
        self._tellers = [publisher(self, goal, goal.of(n, base)) for n in said]
        self._shown = {t: publisher(self, t, t.of("sim", base)) for t in (topics.TRUTH, topics.SIM_GOALS)}
        self._sensed = {s.topic.name: publisher(self, s.topic, s.name("", base)) for s in field.sensors}

    def restart(self, seed: int) -> None:
        """New places and goals."""
        self._sim = make_model_sim(self._model, self._scenario, engines(self._model)[-1], 1, seed)
        self._seed, self._resets = seed, self._resets + 1
        self._drawn = [Goal(goal, UPRIGHT) for goal in self._sim.reset().goal_m[0].astype(float)]
        self._command = np.zeros((1, len(self._names), len(self._columns)), np.float32)
        self._flight, self._collisions, self._failed, self._touching = 0, 0, False, False
        self._succeeded_s, self._closest_m = math.nan, math.inf
        self._shown[topics.SIM_GOALS].publish(convert.goals_from(self._drawn, now_s(self)))

    def step(self) -> None:
        """Take commands, decide, and publish."""
        for index, mailbox in enumerate(self._commands):
            for (command, _), _ in mailbox.take():
                self._command[0, index] = command[self._columns]
                if math.isnan(self.began_s):
                    self.began_s = self.stamp_now_s()
        if self.is_pressed():
            self._command[:] = 0.0
        self._take_goals()
        self._sim.step(self._command)
        if not math.isnan(self.began_s):
            self._judge()
        if self.steps % max(1, round(TELL_S / self.dt_s)) == 0:
            for goal, teller in zip(self._drawn, self._tellers, strict=bool(self._tellers)):
                teller.publish(convert.goal_from(goal, now_s(self)))
        self._publish()

    def _take_goals(self) -> None:
        for index, mailbox in enumerate(self._goals):
            for goal, _ in mailbox.take():
                goals = self._sim.world.goal_m.copy()
                goals[0, index] = goal.pos_m
                self._sim.set_world(self._sim.world._replace(goal_m=goals))

    def _judge(self) -> None:
        world, scenario = self._sim.world, self._scenario
        self._flight += 1
        touching = bool(self._model.touching(scenario, world).any())
        self._collisions += touching and not self._touching
        self._touching, self._failed = touching, self._failed or bool(self._model.ended(scenario, world)[0])
        self._closest_m = min(self._closest_m, float(world.closest_m.min()))
        if math.isnan(self._succeeded_s) and self._model.succeeded(scenario, world)[0]:
            self._succeeded_s = self._flight * self.dt_s

    def _publish(self) -> None:
        stamp_s, world = self.stamp_now_s(), self._sim.world
        parts = (world.pos_m, world.quat_wxyz, world.vel_m_s, world.omega_rad_s)
        truth = Estimate(*(part[0].astype(float) for part in parts))
        for (made, write), *row in zip(self._odometry, *truth, strict=True):
            estimate = Estimate(*row)
            moved = estimate.pos_m + JITTER_M * (self.steps % 2)
            made.publish(write(estimate._replace(pos_m=moved), stamp_s))
        self._shown[topics.TRUTH].publish(self._write_truth(truth, stamp_s))
        for name, message in self._model.messages(self._scenario, world, stamp_s).items():
            self._sensed[name].publish(message)

    def figures(self, slipped_s: float) -> Score:
        """The judge's score of the flight."""
        flown = (self._flight * self.dt_s, self._succeeded_s, float(self._failed), self._collisions, self._closest_m)
        return Score(self._resets, self._seed, *flown, self._scenario.time_limit_s, slipped_s)

    def write_log(self, folder: Path) -> str:
        """None: the recording has all."""
        return ""


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl model_node`."""
    return run_node(ModelNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
