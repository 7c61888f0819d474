"""`RunningStage`: a fleet that runs now, over ROS, as moments of a scene. It listens; goals are all that it sends."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from robomarl.core.view import Goal
from robomarl.field.scene.heard_team import HeardTeam
from robomarl.fleet.waiting import Waiting
from robomarl.lab.scene.scene import Scene, SceneMoment
from robomarl.ros import convert, topics
from robomarl.ros.environment_check.check import check_environment
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.node_base import now_s, publisher, secured

NODE = "robomarl_view"
STEP_S = 0.03
"""Least time between two moments."""
DEPTH = 20
"""Messages of a topic that wait until the next moment."""


class RunningStage:
    """The newest messages of a fleet."""

    sets_goals = True

    def __init__(self, node: Node, team: tuple[str, ...], base: str, scene: Scene, task: str) -> None:
        """Listen to all topics of the team.

        Args:
            node: where subscriptions belong to; nothing has to spin it.
            team: names of the robots, in their order.
            base: namespace of the team.
            scene: the scene of the fleet's scenario.
            task: task of the scenario.
        """
        self.scene = replace(scene, names=team, period_s=STEP_S)
        self._node, self._team = node, HeardTeam(team, base, task)
        self._begun_s, self._shown = time.monotonic(), 0
        domain = os.environ.get("ROS_DOMAIN_ID", "0")
        self._waiting = Waiting(
            f"a message of {', '.join(team)} in ROS domain {domain}; `robomarl up` starts their nodes"
        )
        takes = self._team.takes.items()
        self._mailboxes = {name: Mailbox(node, topic, name, depth=DEPTH) for name, (topic, _) in takes}
        goal = self._team.graph.goal
        places = team if goal in (topics.GOAL, None) else (topics.WORLD,)
        self._goals = [publisher(node, goal, goal.of(place, base)) for place in places] if goal else []
        self.moment = self._team.moment(0.0)

    def restart(self) -> SceneMoment:
        """Return the newest moment: a fleet is not started again from here."""
        return self.advance() or self.moment

    def advance(self) -> SceneMoment | None:
        """Return the newest moment if a message has come since the last one, and not sooner than `STEP_S` after it."""
        at_s = time.monotonic() - self._begun_s
        if at_s - self.moment.time_s < STEP_S:
            return None
        for name, mailbox in self._mailboxes.items():
            for data, _ in mailbox.take():
                self._team.take(name, data)
        if self._team.changes == self._shown:
            if not self._shown:
                self._waiting.look()
            return None
        self._shown = self._team.changes
        self.moment = self._team.moment(at_s)
        return self.moment

    def set_goal(self, robot: int, place_m: np.ndarray) -> None:
        """Publish a goal [3] for a robot, or for the load of the team."""
        if self._goals:
            goal = Goal(place_m.astype(float), np.array([1.0, 0, 0, 0]))
            self._goals[robot if len(self._goals) > 1 else 0].publish(convert.goal_from(goal, now_s(self._node)))

    @property
    def has_own_goals(self) -> bool:
        """True if every robot has a goal of its own."""
        return len(self._goals) == len(self._team.pos_m)

    @property
    def reaches_robots(self) -> bool:
        """True if every topic of goals has a subscriber besides this node."""
        return all(goal.get_subscription_count() > 1 for goal in self._goals)


@contextmanager
def view_node(name: str = NODE) -> Iterator[Node]:
    """Yield a node with a ROS context of its own.

    Raises:
        UserError: ROS refuses to start, in its own words.
    """
    check_environment()
    context = Context()
    secured(lambda: rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO))
    node = secured(lambda: Node(name, context=context, start_parameter_services=False))
    try:
        yield node
    finally:
        node.destroy_node()
        context.try_shutdown()
