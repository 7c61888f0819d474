"""`HeardTeam`: a team as its topics tell it, whether they are heard now or were recorded."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from geometry_msgs.msg import PointStamped, PoseStamped
from rclpy.serialization import deserialize_message

from robomarl.field.replay.ticks import TickTable
from robomarl.lab.scene.scene import SceneMoment
from robomarl.ros import convert, status_messages, topics
from robomarl.ros.convert import MessageError
from robomarl.ros.intake.judge import reader_of
from robomarl.ros.io import fast_messages
from robomarl.ros.io.node_base import message_class
from robomarl.ros.topics import Topic

Take = Callable[[bytes], None]
POSE, POINT = "geometry_msgs/msg/PoseStamped", "geometry_msgs/msg/PointStamped"
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


class HeardTeam:
    """The newest message of every topic of a team, put together as a moment."""

    def __init__(self, team: Sequence[str], base: str, task: str) -> None:
        """Start without a message.

        Args:
            team: names of the robots, in their order.
            base: namespace of the team, "" for none.
            task: task of the scenario, which says which topics the team has besides the usual ones.
        """
        count = len(team)
        self.graph = topics.graph_of(task)
        self.pos_m, self.quat_wxyz = np.full((count, 3), np.nan), np.tile(UPRIGHT, (count, 1))
        self.goal_m = np.full((count if self._own_goals else 1, 3), np.nan)
        self._plan_m = np.full((count, 2, 3), np.nan)
        self._nominal, self._command = np.zeros((count, 3)), np.zeros((count, 3))
        self._active, self._states = np.zeros(count, bool), [""] * count
        self._load_pose, self._ball_m = np.zeros(0), np.zeros(0)
        self._tables = [TickTable() for _ in team]
        self.changes = 0
        """Messages that were taken so far."""
        self.takes: dict[str, tuple[Topic, Take]] = {}
        """(topic, function that takes the bytes of a message) by absolute name."""
        for index, name in enumerate(team):
            self._listen(index, name, base)
        self._listen_to_world(base)

    @property
    def _own_goals(self) -> bool:
        """True if every robot has a goal of its own."""
        return self.graph.goal in (topics.GOAL, None)

    def take(self, name: str, data: bytes) -> None:
        """Take the bytes of a message of a topic; a message that cannot be read is left out."""
        if name in self.takes:
            try:
                self.takes[name][1](data)
                self.changes += 1
            except (MessageError, ValueError):
                return

    def moment(self, time_s: float) -> SceneMoment:
        """Return the team as the newest messages tell it; robots without a message stand at the origin."""
        goal, plan = self.goal_m, self._plan_m
        here = self.pos_m if self._own_goals else self.pos_m[:1]
        return SceneMoment(
            time_s=time_s,
            pos_m=np.nan_to_num(self.pos_m),
            quat_wxyz=self.quat_wxyz.copy(),
            goal_m=np.nan_to_num(np.where(np.isfinite(goal), goal, here)),
            active=self._active.copy(),
            nominal_m_s2=self._nominal.copy(),
            command_m_s2=self._command.copy(),
            plan_m=np.nan_to_num(np.where(np.isfinite(plan), plan, self.pos_m[:, None])),
            load_pose=self._load_pose.copy(),
            ball_m=self._ball_m.copy(),
            states=tuple(self._states),
        )

    def _listen(self, index: int, name: str, base: str) -> None:
        """Listen to the topics of one robot."""
        readers: dict[Topic, Take] = {
            topics.ODOMETRY: partial(self._odometry, index, fast_messages.odometry_reader(name)),
            topics.STATE_AND_PLAN: partial(self._broadcast, index, fast_messages.broadcast_reader(name)),
            topics.TICK: partial(self._tick, index),
            topics.ANNOUNCE: partial(self._announce, index, name),
        }
        if self.graph.goal == topics.GOAL:
            readers[topics.GOAL] = partial(self._goal, index)
        self.takes |= {topic.of(name, base): (topic, take) for topic, take in readers.items()}

    def _listen_to_world(self, base: str) -> None:
        """Listen to the team's own topics: a pose that is sensed is the load's, a point is the ball's."""
        for topic in self.graph.sensed:
            if topic.type == POSE:
                self.takes[topic.of(topics.WORLD, base)] = (topic, self._load)
        for where, topic in self.graph.beside:
            if topic.type == POINT:
                self.takes[topic.of(where, base)] = (topic, self._ball)
        if not self._own_goals and self.graph.goal is not None and self.graph.goal.type == POSE:
            self.takes[self.graph.goal.of(topics.WORLD, base)] = (self.graph.goal, partial(self._goal, 0))

    def _odometry(self, index: int, read: fast_messages.Reader, data: bytes) -> None:
        estimate, _ = read(data)
        self.pos_m[index], self.quat_wxyz[index] = estimate.pos_m, estimate.quat_wxyz

    def _broadcast(self, index: int, read: fast_messages.Reader, data: bytes) -> None:
        said, _ = read(data)
        self._plan_m[index] = said.plan.pos_m, said.plan.stop_m

    def _goal(self, index: int, data: bytes) -> None:
        goal = reader_of(topics.GOAL, convert.goal_to)(deserialize_message(data, PoseStamped))
        self.goal_m[index] = goal.pos_m

    def _load(self, data: bytes) -> None:
        pose = reader_of(topics.GOAL, convert.goal_to)(deserialize_message(data, PoseStamped))
        self._load_pose = np.concatenate([pose.pos_m, pose.quat_wxyz])

    def _ball(self, data: bytes) -> None:
        point = deserialize_message(data, PointStamped).point
        self._ball_m = np.array([point.x, point.y, point.z])

    def _tick(self, index: int, data: bytes) -> None:
        table = self._tables[index]
        rows = table.rows(data)
        if not len(rows) or table.columns is None:
            return
        row, columns = rows[-1], table.columns
        self._active[index] = row[columns.head["filtered"]] > 0 and row[columns.head["active"]] > 0
        for into, part in ((self._nominal, columns.nominal), (self._command, columns.command)):
            values = np.nan_to_num(row[part][:3])
            into[index, : len(values)] = values

    def _announce(self, index: int, name: str, data: bytes) -> None:
        message = deserialize_message(data, message_class(topics.ANNOUNCE.type))
        said = status_messages.announcement_to(message, name)  # type: ignore[arg-type]
        self._states[index] = said.state.name + (f": {said.why}" if said.why else "")
