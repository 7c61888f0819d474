"""`sim_node`: the simulator of flying teams, and of the load that a team may carry."""

import sys
from collections.abc import Callable
from pathlib import Path

from robomarl.core.log import save_flight
from robomarl.core.view import Goal
from robomarl.domains.flight.field.sim_team import RealTimeTeam
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.domains.flight.ros.payload.topics import LOAD_POSE
from robomarl.field.simulated.team_sim_node import TeamSimNode
from robomarl.ros import convert
from robomarl.ros.fieldtask import FieldTask, Sensor
from robomarl.ros.io.messages import Message
from robomarl.ros.io.node_base import run_node

Sense = Callable[[FlightScenario, FlightWorld, float], dict[str, Message]]
"""(scenario, world with axes [1, ...], stamp [s]) -> message, or its bytes, by the name of the sensor's topic."""


def sense_load(scenario: FlightScenario, world: FlightWorld, stamp_s: float) -> dict[str, Message]:
    """The load's pose as motion capture has it: one measurement for all robots."""
    measured = Goal(world.carried.measured_pos_m[0, 0], world.carried.measured_quat[0, 0])
    return {LOAD_POSE.name: convert.goal_from(measured, stamp_s)}


SENSORS: dict[str, Sense] = {"lift": sense_load}
"""Sensor functions by the name of the task."""


class SimNode(TeamSimNode[FlightScenario]):
    """All robots of a team, simulated."""

    kind = FlightScenario
    _team: RealTimeTeam

    def made(self, scenario: FlightScenario) -> RealTimeTeam:
        """The robots, in the air or on the ground."""
        return RealTimeTeam(scenario, self.settings.ground_start, self.settings.handover_m)

    def sensors(self, field: FieldTask) -> tuple[Sensor, ...]:
        """Those of a load."""
        return field.sensors if self._scenario.task in SENSORS else ()

    def sense(self, stamp_s: float) -> dict[str, Message]:
        """Return the measurements of a load."""
        senses = SENSORS.get(self._scenario.task)
        return senses(self._team.scenario, self._team.world, stamp_s) if senses else {}

    def stand_still(self, duration_s: float) -> None:
        """The vehicles' own time-outs go on."""
        self._team.stand_still(duration_s)

    def take_goal(self, index: int, goal: Goal) -> None:
        """Take in the goal of a robot, or of the load."""
        if self._team.scenario.load is not None:
            self._team.set_load_goal(goal)
        else:
            super().take_goal(index, goal)

    def write_log(self, folder: Path) -> str:
        """The flight's true log."""
        if (log := self._team.judge.log()) is None:
            return ""
        path = folder / f"flight_{self._team.score().flight:03d}.npz"
        save_flight(path, log)
        return str(path)


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl sim_node`."""
    return run_node(SimNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
