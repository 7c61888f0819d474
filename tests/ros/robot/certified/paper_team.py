"""Certified robots on paper: guards, messages as bytes on a radio that loses, delays and repeats, point masses."""

from collections import deque

import numpy as np

from robomarl.core.certificate.course import state_at
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle, load_vehicle
from robomarl.core.view import Plan, blank_view
from robomarl.ros.io.fast_messages import BroadcastWriter, broadcast_reader
from robomarl.ros.io.messages import Broadcast
from robomarl.ros.robot.certified.carry import RobotCarry, TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.certified.words import TeamWords, told_to

PERIOD_S = 0.02
VEHICLE = load_vehicle("crazyflie_21")
PARAMS = from_vehicle(VEHICLE, PERIOD_S, Arena((-6.0, -6.0, 0.0), (6.0, 6.0, 4.0)))
BEGAN_S = 1.7e9
"""Time of day at the start: the numbers of real clocks."""


class PaperRobot:
    """One guard, its vehicle, and its end of the radio."""

    def __init__(
        self, names: tuple[str, ...], index: int, place_m: np.ndarray, goal_m: np.ndarray, other: str = ""
    ) -> None:
        """At rest; `other`: vehicle of every second robot."""
        count = len(names)
        others = [(index + 1 + k) % count for k in range(count - 1)]
        self.name, self.mates = names[index], tuple(names[k] for k in others)
        kinds = [(PARAMS, VEHICLE.body.radius_m)]
        if other:
            vehicle = load_any_vehicle(other)
            kinds.append((from_vehicle(vehicle, PERIOD_S, PARAMS.arena), vehicle.body.radius_m))
        own = kinds.pop(index % len(kinds))
        self.radius_m = own[1]
        self.guard = CertifiedRobot(*own, TeamSeat(index, others, kinds))
        self.writer = BroadcastWriter(self.name, self.mates)
        self.readers = {mate: broadcast_reader(mate) for mate in self.mates}
        self.newest = dict.fromkeys(self.mates)
        self.pos, self.vel, self.goal_m = np.array(place_m), np.zeros(3), goal_m
        self._empty()
        self.carry: RobotCarry = self.guard.init()
        self.alive = True

    def decide(self, now_s: float) -> bytes | None:
        """One tick: what was heard, a decision, and the message to send. A dead one brakes by itself."""
        if not self.alive:
            self._move(np.clip(-self.vel / PERIOD_S, -1.5, 1.5))
            return None
        told = [told_to(said.words, self.name) if said else None for said in self.newest.values()]
        self.carry = self.guard.hear(self.carry, told, now_s)
        view = blank_view(len(self.mates))
        view = view._replace(own=view.own._replace(pos_m=self.pos.copy(), vel_m_s=self.vel.copy()))
        led = self.guard.seen(self.carry, view).own
        away = self.goal_m - led.pos_m
        aside = np.array([-away[1], away[0], 0.0])  # all pass on one side, or they stand before each other
        wish = np.clip(1.5 * away + 0.6 * aside - 2.2 * led.vel_m_s, -3, 3)
        self.carry, result = self.guard(self.carry, view, np.append(wish, 0.0))
        self.queue.append(np.asarray(result.command[:3]))
        self._move(self.queue[0])
        rows = self.guard.said(self.carry)
        words = None if rows is None else TeamWords(self.mates, rows)
        plan = Plan(self.pos, self.vel, self.pos)
        return self.writer(Broadcast(self.pos, self.vel, plan, words=words), now_s, (0.1, 0.2))

    def hear(self, mate: str, data: bytes) -> None:
        """A message of a teammate arrives, new or old."""
        self.newest[mate], _ = self.readers[mate](data)

    def restart(self) -> None:
        """Its process dies, and another one begins: nothing is remembered."""
        self.carry, self.alive = self.guard.init(), True
        self.newest = dict.fromkeys(self.mates)
        self._empty()

    def _empty(self) -> None:
        length = self.guard.params.queue_length
        self.queue = deque([np.zeros(3)] * length, maxlen=length)

    @property
    def agreed(self) -> bool:
        """It has a pact with each teammate."""
        return bool((self.carry.robot.pact.number > 0).all())

    def _move(self, accel: np.ndarray) -> None:
        self.pos = self.pos + self.vel * PERIOD_S + accel * (PERIOD_S**2 / 2)
        self.vel = self.vel + accel * PERIOD_S


class PaperTeam:
    """Robots that swap places across a circle."""

    def __init__(self, count: int, loss: float = 0.0, seed: int = 0, radius_m: float = 1.6, other: str = "") -> None:
        """All at rest, each opposite to its goal; `other`: vehicle of every second robot."""
        self.random, self.loss, self.now_s = np.random.default_rng(seed), loss, BEGAN_S
        names = tuple(f"r{i}" for i in range(count))
        turn = 2 * np.pi * np.arange(count) / count
        places = np.stack([radius_m * np.cos(turn), radius_m * np.sin(turn), 0 * turn + 2.0], -1)
        self.robots = [PaperRobot(names, i, places[i], places[(i + count // 2) % count], other) for i in range(count)]
        self.said: dict[str, list[bytes]] = {name: [] for name in names}
        self.bodies_m = self.references_m = np.inf

    def tick(self) -> None:
        """One period of all; each hears any of the last four messages of each teammate, or none."""
        self.now_s += PERIOD_S
        for robot in self.robots:
            if (data := robot.decide(self.now_s)) is not None:
                self.said[robot.name].append(data)
        for robot in self.robots:
            for mate in robot.mates:
                if self.said[mate] and self.random.random() >= self.loss:
                    robot.hear(mate, self.said[mate][-1 - self.random.integers(min(4, len(self.said[mate])))])
        self._measure()

    def _measure(self) -> None:
        squash, ahead = np.array(self.robots[0].guard.figures.squash), self.robots[0].guard.figures.lead_s
        for i, a in enumerate(self.robots):
            for b in self.robots[:i]:
                self.bodies_m = min(self.bodies_m, float(np.linalg.norm(a.pos - b.pos)))
                if a.alive and b.alive and a.agreed and b.agreed:
                    at_s = np.array(self.now_s + ahead)
                    one, other = (state_at(r.carry.robot.course, at_s, np)[0] * squash for r in (a, b))
                    self.references_m = min(self.references_m, float(np.linalg.norm(one - other)))

    def fly(self, ticks: int = 700) -> None:
        """Tick until all have arrived."""
        for _ in range(ticks):
            self.tick()
            if self.arrived():
                return

    def arrived(self) -> bool:
        """All are at their goals."""
        return all(np.linalg.norm(robot.pos - robot.goal_m) < 0.15 for robot in self.robots)
