"""Commands of a policy through vision's delay: the robot gets the acceleration that was meant."""

import math
from collections import deque
from typing import cast

import numpy as np
import pytest

pytest.importorskip("rclpy")

from robomarl.core.geometry import quat_from_yaw
from robomarl.core.hardware.ground import OmniRobot
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.domains.soccer.ros.messages import velocity_after
from robomarl.domains.soccer.vehicles.ssl.player_drive import PlayerDrive
from robomarl.ros.io.messages import Estimate

SSL = cast(OmniRobot, load_any_vehicle("ssl_omni"))
DT_S, PERIOD_S, LATE_S, LAG_S = 0.01, 0.04, 0.05, 0.04


class Robot:
    """A body under a speed loop, seen late."""

    def __init__(self, obeys: float = 1.0) -> None:
        self.pos, self.vel, self.yaw, self.rate, self.obeys = np.zeros(2), np.zeros(2), 0.0, 0.0, obeys
        self.seen: deque[tuple[float, Estimate]] = deque()

    def step(self, twist: np.ndarray, now_s: float) -> tuple[Estimate, float] | None:
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        world = np.array([c * twist[0] - s * twist[1], s * twist[0] + c * twist[1]])
        self.vel = self.vel + (world - self.vel) * DT_S / LAG_S
        self.rate += (self.obeys * twist[2] - self.rate) * DT_S / LAG_S
        self.pos, self.yaw = self.pos + self.vel * DT_S, self.yaw + self.rate * DT_S
        quat, rates = quat_from_yaw(np.float64(self.yaw)), np.array([0.0, 0.0, self.rate])
        self.seen.append((now_s, Estimate(np.array([*self.pos, 0.0]), quat, np.array([*self.vel, 0.0]), rates)))
        if self.seen[0][0] <= now_s - LATE_S + 1e-9:
            stamp_s, estimate = self.seen.popleft()
            return estimate, stamp_s
        return None


def play(robot: Robot, policy, duration_s: float = 2.0) -> tuple[PlayerDrive, list[bool]]:
    """The adapter's loop around one robot; `policy`: (estimate, time) -> [4] command."""
    drive, obeys = PlayerDrive(SSL, PERIOD_S, LAG_S), []
    own: Estimate | None = None
    own_s, twist, decided_s = 0.0, np.zeros(3), -1.0
    for k in range(round(duration_s / DT_S)):
        now_s = k * DT_S
        if (seen := robot.step(twist, now_s)) is not None:
            own, own_s = drive.now(seen[0], seen[1], now_s), now_s
            drive.note(own, now_s)
            obeys.append(drive.answers(seen[0], seen[1], DT_S))
        if own is None:
            continue
        if now_s - decided_s >= PERIOD_S - 1e-9:
            decided_s = now_s
            drive.command(velocity_after(policy(own, now_s), own, PERIOD_S), own_s)
        twist = drive.follow(own, now_s, DT_S)
    return drive, obeys


def test_a_constant_acceleration_arrives_while_the_robot_turns():
    robot = Robot()
    _, obeys = play(robot, lambda own, now_s: np.array([1.0, 0.5, 5.0, 0.0]), 1.5)
    ran_s = 1.5 - LATE_S - LAG_S
    assert robot.vel == pytest.approx([ran_s, ran_s / 2], rel=0.08)
    assert all(obeys)


def test_a_place_is_come_to_without_swinging():
    """A law that knows of no delay."""
    robot, goal = Robot(), np.array([1.0, -0.5])
    most = []

    def law(own: Estimate, now_s: float) -> np.ndarray:
        most.append(float(own.pos_m[0]))
        pull = 3.0 * (goal - own.pos_m[:2]) - 3.0 * own.vel_m_s[:2]
        return np.array([*np.clip(pull, -2.1, 2.1), 2.0, 0.0])

    play(robot, law, 5.0)
    assert robot.pos == pytest.approx(goal, abs=0.02) and max(most) < 1.05


@pytest.mark.parametrize("obeys", [0.0, -1.0])
def test_a_robot_that_does_not_turn_or_the_other_way_is_noticed(obeys: float):
    """Another robot answers to its number, or its pattern is seen in a mirror."""
    _, said = play(Robot(obeys), lambda own, now_s: np.array([0.0, 0.0, 3.0, 0.0]), 3.0)
    assert not said[-1] and said.index(False) * DT_S > 0.9


def test_a_policy_that_asks_for_another_turn_each_time_is_not_called_disobedient():
    random = np.random.default_rng(2)
    _, said = play(Robot(), lambda own, now_s: np.array([0, 0, random.choice([-9.0, 9.0]), 0.0]), 20.0)
    assert all(said)
