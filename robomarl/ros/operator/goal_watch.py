"""`GoalWatch`: the goals that a team's robots are told, and whether any two are nearer than robots rest."""

from collections.abc import Sequence

import numpy as np
from rclpy.node import Node

from robomarl.core.hardware.vehicle import AnyVehicle
from robomarl.ros import convert, topics
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.robot.certified.rest import rest_of, team_faults
from robomarl.ros.robot.health import OK, WARN, DiagnosticEntry


class GoalWatch:
    """Listens to the goals of all robots, each of which knows its own only."""

    def __init__(
        self, node: Node, team: tuple[str, ...], base: str, vehicles: Sequence[AnyVehicle], filter_name: str = "full"
    ) -> None:
        """Subscribe, and compute how near to each other the vehicles can rest.

        Args:
            node: node of the team's monitor.
            team: names of all robots.
            base: namespace of the team.
            vehicles: the robots' one vehicle, or that of each; empty for a team without goals for single robots, which
                is not watched.
            filter_name: safety filter of the robots, as in the fleet file.
        """
        goal, told = topics.GOAL, team if vehicles else ()
        each = tuple(vehicles) if len(vehicles) == len(team) else (*vehicles,) * len(team)
        kinds = tuple({one.name: one for one in each}.values())
        rests = {one.name: rest_of(one, filter_name, kinds if len(kinds) > 1 else ())[0] for one in kinds}
        self._rest = {name: rests[one.name] for name, one in zip(told, each, strict=False)}
        self._boxes = {name: Mailbox(node, goal, goal.of(name, base), convert.goal_to) for name in told}
        self._goals_m: dict[str, np.ndarray] = {}

    def faults(self) -> list[str]:
        """Read new goals and return the faults of the latest ones, the nearest pair first."""
        for name, mailbox in self._boxes.items():
            for goal, _ in mailbox.take():
                self._goals_m[name] = goal.pos_m
        return team_faults(self._rest, self._goals_m) if self._rest else []

    def entries(self, monitor: str) -> list[DiagnosticEntry]:
        """For `/diagnostics`; empty for a team that is not watched."""
        if not self._rest:
            return []
        faults = self.faults()
        values = {name: " ".join(f"{value:g}" for value in goal) for name, goal in self._goals_m.items()}
        text = "; ".join(faults) or "robots can rest at their goals beside each other"
        return [DiagnosticEntry(f"{monitor}: goals", WARN if faults else OK, text, values)]
