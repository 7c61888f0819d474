"""`mission_node`: gives a carrying team the goals of its load, and the order to land at the end.

It moves no robot: until an operator has armed and activated the robots it only repeats the first
set-point. Its time begins when all robots are ACTIVE. A robot that is lost then does not stop the
mission: the remaining team has its own fallback, and all its robots are asked to land at the end.
Set-points are repeated, so that late receivers have them.
"""

import sys
import time

from rclpy.node import Node
from std_srvs.srv import Trigger

from robomarl.core.config import UserError
from robomarl.domains.flight.ros.payload.mission import load_mission
from robomarl.domains.flight.ros.payload.settings import MissionSettings
from robomarl.domains.flight.ros.payload.topics import LOAD_GOAL
from robomarl.ros import convert, status_messages, topics
from robomarl.ros.io.node_base import Mailbox, now_s, publisher, run_node
from robomarl.ros.parameters import declare, read
from robomarl.ros.robot.state_machine import MOVING, Order, State

PERIOD_S = 0.1
REPEAT = 10
"""Periods from one telling of a set-point to the next, and from one order to land to the next."""


class MissionNode(Node):
    """Node that publishes the set-points of a load, one after another."""

    def __init__(self) -> None:
        """Read the mission, and wait.

        Raises:
            UserError: there is no such mission, or the team carries nothing.
        """
        super().__init__("mission")
        self.failed = False
        declare(self, MissionSettings)
        settings = read(self, MissionSettings)
        if topics.graph_of(settings.task).goal is not LOAD_GOAL:
            raise UserError(f"mission {settings.mission}: is for a team that carries a load, task lift.")
        self._mission, base = load_mission(settings.mission), settings.base
        said = topics.ANNOUNCE
        self._announced = {
            n: Mailbox(self, said, said.of(n, base), status_messages.announcement_reader(n)) for n in settings.team
        }
        self._states: dict[str, State] = {}
        self._goal = publisher(self, LOAD_GOAL, LOAD_GOAL.of(topics.WORLD, base))
        self._land = self.create_client(Trigger, f"{base}/all/{Order.LAND}")
        status = topics.SIM_STATUS
        self._status = Mailbox(self, status, status.of("sim", base), convert.numbers_to) if settings.sim else None
        self._flight_s = 0.0
        self._began_s = self._told = None
        self._periods, self._ordered = 0, -REPEAT
        self.create_timer(PERIOD_S, self._tick)
        self.get_logger().info(f"{self._mission.name}: waits until all robots are ACTIVE.")

    def _tick(self) -> None:
        for name, mailbox in self._announced.items():
            for said, _ in mailbox.take():
                self._states[name] = said.state
        now_s = self._now_s()
        if self._began_s is None and self._is_active():
            self._began_s = now_s
            self.get_logger().info(f"{self._mission.name}: begins.")
        time_s = 0.0 if self._began_s is None else now_s - self._began_s
        if time_s >= self._mission.land_s:
            self._end()
        else:
            self._tell(time_s)

    def _now_s(self) -> float:
        """The steady clock, or in a rehearsal the time of the simulated flight."""
        if self._status is None:
            return time.monotonic()
        if (status := self._status.latest()) is not None:
            self._flight_s = status["flight_s"]
        return self._flight_s

    def _is_active(self) -> bool:
        return all(self._states.get(name) is State.ACTIVE for name in self._announced)

    def _tell(self, time_s: float) -> None:
        point = self._mission.at(time_s)
        self._periods += 1
        if point is not self._told or self._periods % REPEAT == 0:
            self._goal.publish(convert.goal_from(point.goal, now_s(self)))
        if point is not self._told:
            self.get_logger().info(f"{self._mission.name}: {time_s:.1f} s: the load goes to {list(point.pos_m)}.")
        self._told = point

    def _end(self) -> None:
        """Order the landing, and again as long as a robot flies on: an order may be lost, or refused."""
        fly_on = [name for name, state in self._states.items() if state in MOVING and state is not State.LAND]
        self._periods += 1
        if not fly_on or self._periods - self._ordered < REPEAT or not self._land.service_is_ready():
            return
        self._ordered = self._periods
        self._land.call_async(Trigger.Request())
        self.get_logger().info(f"{self._mission.name}: all robots are told to land; {', '.join(fly_on)} fly.")


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl mission_node`."""
    return run_node(MissionNode, args)


if __name__ == "__main__":
    sys.exit(main())
