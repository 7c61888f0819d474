"""`court_node`: drones that play volleyball behind the topics of real ones, their tracking system and their referee.

The referee serves by itself, and names the next way-point of a drone on the topic of its goal; `~/hide_ball`
(std_srvs/SetBool) makes the tracking system blind for the ball, or see it again.
"""

import sys
from collections import deque
from pathlib import Path

from std_srvs.srv import SetBool

from robomarl.core.domain.scenario import needed
from robomarl.core.view import Goal
from robomarl.domains.volleyball.core.log import save_rally
from robomarl.domains.volleyball.field.messages import messages
from robomarl.domains.volleyball.field.real_time_court import RallyFigures, RealTimeCourt
from robomarl.domains.volleyball.field.tracking import LateMessages
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.world import Rally
from robomarl.domains.volleyball.ros.tracked_ball import BALL
from robomarl.field.simulated.team_sim_node import TeamSimNode
from robomarl.lab.simulation import simulation_of
from robomarl.ros import convert, topics
from robomarl.ros.io.messages import Message
from robomarl.ros.io.node_base import now_s, publisher, run_node


class CourtNode(TeamSimNode[VolleyScenario]):
    """All drones, the ball and the court."""

    kind = VolleyScenario
    _team: RealTimeCourt

    def made(self, scenario: VolleyScenario) -> RealTimeCourt:
        """The drones of one team or of two."""
        model = needed(simulation_of(scenario).model, scenario, "model that this simulator knows")
        return RealTimeCourt(model, scenario)

    def count_of(self, scenario: VolleyScenario) -> int:
        """Drones of all teams."""
        return scenario.robots

    def connect(self) -> None:
        """Connect the usual topics, and the service that hides the ball."""
        super().connect()
        self._hidden = False
        names = self._names if self._scenario.waypoints_m else ()
        self._named = [publisher(self, topics.GOAL, topics.GOAL.of(name, self.base)) for name in names]
        self._places: list[list[float]] = []
        self.create_service(SetBool, "~/hide_ball", self._on_hide)

    def restart(self, seed: int) -> None:
        """A new rally."""
        sensor = self._scenario.ball_sensor
        self._latency_s = sensor.latency_s if sensor else 0.0
        self._tracking = LateMessages(self._latency_s, sensor.loss if sensor else 0.0, seed)
        self._records: deque[tuple[float, Rally]] = deque()
        super().restart(seed)

    def take_goal(self, index: int, goal: Goal) -> None:
        """A robot was given another goal; way-points are the referee's, and stay."""
        if not self._named:
            super().take_goal(index, goal)

    def decide(self) -> None:
        """A decision is due: the referee names new way-points before the drones hear where they are."""
        goals = self._team.goals
        places = [goal.pos_m.tolist() for goal in goals]
        if self._named and places != self._places:
            self._places = places
            for goal, named in zip(goals, self._named, strict=True):
                named.publish(convert.goal_from(goal, now_s(self)))
        super().decide()

    def _tell_goals(self) -> None:
        """Tell the goals again to robots that come late; way-points are told as they are now."""
        if not self._named:
            super()._tell_goals()
        elif self._tellers:
            self._places = []

    def sense(self, stamp_s: float) -> dict[str, Message]:
        """Return the referee's message, and the ball's if one has arrived."""
        world, in_play = self._team.world, self._team.in_play
        self._records.append((stamp_s, world.own.rally))
        while len(self._records) > 1 and self._records[1][0] + self._latency_s <= stamp_s:
            self._records.popleft()  # the referee judges by the ball as it is tracked
        seen = world._replace(own=world.own._replace(rally=self._records[0][1])) if in_play else world
        made = messages(self._scenario, seen, stamp_s, in_play)
        self._tracking.send(made.pop(BALL.name), stamp_s)
        ball = self._tracking.arrived(stamp_s)
        return made if ball is None or self._hidden else {**made, BALL.name: ball}

    def figures(self, slipped_s: float) -> RallyFigures:
        """Return the referee's counts."""
        return self._team.figures(slipped_s)

    def write_log(self, folder: Path) -> str:
        """The rally's true log."""
        if (log := self._team.log()) is None:
            return ""
        figures = self._team.figures(0.0)
        path = folder / f"rally_{figures.flight:03d}.npz"
        save_rally(path, log)
        return str(path)

    def _on_hide(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        with self.lock:
            self._hidden = request.data
        response.success = True
        return response


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl court_node`."""
    return run_node(CourtNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
