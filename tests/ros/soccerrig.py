"""Players without DDS: the senses of all policy nodes of a game, fed with messages, decision by decision."""

from collections import deque
from typing import Any

import numpy as np

from robomarl.core.config import to_dict
from robomarl.core.view import LocalView, Plan
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.views import flat, turned, upright
from robomarl.domains.soccer.ros import messages
from robomarl.domains.soccer.ros.playing import Sighting, Thing, kind_of
from robomarl.domains.soccer.ros.topics import KICKER, SIGHTING
from robomarl.ros import convert
from robomarl.ros.fieldtask import Seat, field_task
from robomarl.ros.io import away_frame
from robomarl.ros.io.messages import Broadcast, Estimate
from robomarl.ros.robot.inbox import Inbox, InboxLimits, Now

EPOCH_S = 1000.0
NOWHERE = Plan(np.zeros(3), np.zeros(3), np.zeros(3))


class Senses:
    """The inboxes of all players; what they hear is what a simulator and their mates send them."""

    def __init__(self, scenario: SoccerScenario, trained_in: SoccerScenario | None = None) -> None:
        self.scenario, count = scenario, scenario.count
        self.names = tuple(f"robot_{i}" for i in range(scenario.players))
        self.teams = (self.names[:count], self.names[count:])
        limits = InboxLimits(0.08, 0.3)
        pitch_m = (scenario.field.length_m, scenario.field.width_m) if trained_in else (0.0, 0.0)
        seats = [Seat(i % count, count, i >= count, pitch_m) for i in range(scenario.players)]
        self.tasks = [field_task(to_dict(trained_in or scenario), seat) for seat in seats]
        self.inboxes = [
            Inbox(self.teams[seat.away], seat.index, limits, task) for seat, task in zip(seats, self.tasks, strict=True)
        ]
        latency = round(scenario.radio.latency_s / scenario.period_s)
        self._air: deque[list[tuple[Any, float]]] = deque(maxlen=latency)
        self._poses: deque[tuple[float, Any]] = deque(maxlen=1 + round(scenario.eyes.latency_s / scenario.period_s))

    def hear(self, game: SoccerWorld) -> list[LocalView]:
        """One decision: everything is sent as a message and read; the views of all players."""
        now_s = EPOCH_S + float(game.step[0]) * self.scenario.period_s
        now = Now(now_s, now_s)
        if not self._poses:  # the picture of before the start, which shows nothing
            self._poses.append((now_s - self.scenario.eyes.latency_s, game.pose))
        self._poses.append((now_s, game.pose))
        for i, inbox in enumerate(self.inboxes):
            self._own(inbox, i, game, now)
        if len(self._air) == self._air.maxlen:
            for i, (message, stamp_s) in enumerate(self._air[0]):
                self._deliver(i, message, stamp_s, now)
        views = [inbox.read(now, now_s - EPOCH_S).view for inbox in self.inboxes]
        self._air.append([(self._said(i, view, now_s), now_s) for i, view in enumerate(views)])
        return views

    def _own(self, inbox: Inbox, index: int, game: SoccerWorld, now: Now) -> None:
        name, away = self.names[index], self.tasks[index].away
        on_map = estimate_of(game.pose, index)
        sent = convert.odometry_from(away_frame.turned(on_map) if away else on_map, now.stamp_s, name)
        read, stamp_s = convert.odometry_to(sent)
        inbox.put_own(away_frame.turned(read) if away else read, stamp_s, now.steady_s)
        taken_s, there = self._poses[0]
        picture = messages.sighting_from(Sighting(taken_s, things_of(game, there, index)), name)
        inbox.put_sensed(SIGHTING.name, *messages.sighting_to(picture), now.steady_s)
        kicker = messages.kicker_from(now.stamp_s + float(game.robots.charge_s[0, index]), now.stamp_s)
        inbox.put_sensed(KICKER.name, *messages.kicker_to(kicker), now.steady_s)

    def _said(self, index: int, view: LocalView, stamp_s: float) -> Any:
        task = self.tasks[index]
        told = task.told(view.sensed, 0.0)
        said = Broadcast(np.asarray(view.own.pos_m), np.asarray(view.own.vel_m_s), NOWHERE, told)
        said = away_frame.turned_broadcast(said) if task.away else said
        return convert.broadcast_from(said, stamp_s, self.names[index], (0.1, 0.2))

    def _deliver(self, index: int, message: Any, stamp_s: float, now: Now) -> None:
        said, read_s = convert.broadcast_to(message)
        assert abs(read_s - stamp_s) < 1e-6
        for name, inbox, task in zip(self.names, self.inboxes, self.tasks, strict=True):
            if self.names[index] in inbox.mates:
                assert name != self.names[index]
                heard = away_frame.turned_broadcast(said) if task.away else said
                inbox.put_mate(self.names[index], heard, read_s, now.steady_s)


def estimate_of(pose: Any, index: int) -> Estimate:
    """One robot's estimate, in its team's field frame."""
    x, y, vx, vy, c, s, turn = (part[0, index].astype(float) for part in pose)
    return Estimate(flat(x, y), turned(c, s), flat(vx, vy), upright(turn))


def things_of(game: SoccerWorld, there: Any, index: int) -> tuple[Thing, ...]:
    """What one robot's picture shows, by plane geometry: places in the body frame of where it thought it was."""
    seen, x, y, vx, vy = (part[0, index].astype(float) for part in game.sights[-1])
    px, py, _, _, c, s, _ = (float(part[0, index]) for part in there)
    size = np.hypot(c, s)
    c, s = c / size, s / size
    found = []
    for row in np.flatnonzero(seen):
        dx, dy = x[row] - px, y[row] - py
        place = np.array([c * dx + s * dy, c * dy - s * dx, 0.0])
        motion = np.array([c * vx[row] + s * vy[row], c * vy[row] - s * vx[row], 0.0])
        found.append(Thing(kind_of(int(row)), place, motion))
    return tuple(found)
