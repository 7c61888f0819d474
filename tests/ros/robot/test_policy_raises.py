"""A policy that raises has no wish: the filter goes on with its memory, and keeps all of its constraints."""

from collections import deque
from typing import NamedTuple

import numpy as np
import pytest

from robomarl.core.filter.filter import Reason, SafetyFilter
from robomarl.ros.io.messages import Broadcast, Estimate
from robomarl.ros.robot.decision import Decision, Held
from robomarl.ros.robot.state_machine import State
from tests.ros.autorig import PARAMS, PERIOD_S, UP, Robot

APART_M, SECONDS = 0.9, 8.0
SAFETY, LIMITS = PARAMS.safety, PARAMS.limits


class Bounds(NamedTuple):
    """Shares of the declared bounds, all towards the other robot."""

    bias: float = 1.0
    push: float = 1.0
    error: float = 1.0


class Pair:
    """Two robots above the ground that are pushed at each other along x, each behind an autopilot of its own.

    The vehicle does what it was told `delay_s` ago, and is off by its bias and its disturbance.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.robots, self.bounds = (Robot(), Robot()), bounds
        self.toward = np.array([[1.0, 0, 0], [-1.0, 0, 0]])
        self.pos = -APART_M / 2 * self.toward + [0, 0, 1.5]
        self.vel, self.least_m, self.step = np.zeros((2, 3)), np.inf, 0
        late = round(SAFETY.delay_s / PERIOD_S)
        self.queues = [deque([np.zeros(3)] * late) for _ in self.robots]
        self.said = [Broadcast(p, v, robot.autopilot._fallback.plan(None)) for p, v, robot in self._each()]
        self.decisions: list[list[Decision]] = [[], []]
        for i, robot in enumerate(self.robots):
            robot.policy.wish = np.append(self.toward[i] * LIMITS.accel_max_m_s2, 0.0)
            robot.mate = robot.mate._replace(state=State.ACTIVE)
            robot.hear("goal")
            self._hear(i)
            assert robot.start() == ""

    def _each(self):
        return zip(self.pos, self.vel, self.robots, strict=True)

    def _hear(self, i: int) -> None:
        """An estimate that is wrong by its bounds, away from the other robot, and the other robot's message."""
        robot, off = self.robots[i], -self.bounds.error * self.toward[i]
        robot.hear()
        noise = robot.random.normal(size=3) * 1e-6
        pos, vel = self.pos[i] + off * SAFETY.position_error_m + noise, self.vel[i] + off * SAFETY.velocity_error_m_s
        robot.inbox.put_own(Estimate(pos, UP, vel, np.zeros(3)), robot.now.stamp_s, robot.now.steady_s)
        robot.inbox.put_mate("mate", self.said[1 - i], robot.now.stamp_s, robot.now.steady_s)

    def tick(self, raises: tuple[bool, bool]) -> None:
        """One period, in which the policies raise that are named."""
        for i, robot in enumerate(self.robots):
            robot.now_s += PERIOD_S
            robot.policy.error = RuntimeError("no such kernel") if raises[i] else None
            self._hear(i)
        for i, robot in enumerate(self.robots):
            decision = robot.autopilot.tick(robot.now)
            self.decisions[i].append(decision)
            own = robot.inbox.own
            assert own is not None
            self.said[i] = Broadcast(own.pos_m, own.vel_m_s, decision.plan)
            command = np.zeros(3) if decision.command is None else decision.command[:3]
            self.queues[i].append(command)
            pushed = self.bounds.bias * PARAMS.bias_m_s2[0] + self.bounds.push * SAFETY.accel_error_m_s2
            accel = self.queues[i].popleft() + pushed * self.toward[i]
            self.pos[i] += self.vel[i] * PERIOD_S + accel * PERIOD_S**2 / 2
            self.vel[i] += accel * PERIOD_S
        self.least_m = min(self.least_m, float(np.linalg.norm(self.pos[1] - self.pos[0])))
        self.step += 1


SCHEDULES = {
    "every second tick": lambda step: (step % 2 == 0, step % 2 == 0),
    "in turn": lambda step: (step % 2 == 0, step % 2 == 1),
    "always": lambda _: (True, True),
    "one of them always": lambda _: (True, False),
    "every half second": lambda step: (step % 50 < 25, step % 50 < 25),
    "at random": lambda step: tuple(np.random.default_rng(step).random(2) < 0.5),
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("bounds", [Bounds(), Bounds(0.0, 0.0, 0.0), Bounds(-1.0, 1.0, 1.0)])
def test_two_robots_with_policies_that_raise_keep_their_separation(name: str, bounds: Bounds):
    """Without its memory the filter had no constraints: 0.00 m with "every half second", 0.16 m with "in turn"."""
    pair = Pair(bounds)
    for step in range(round(SECONDS / PERIOD_S)):
        pair.tick(SCHEDULES[name](step))
    assert pair.least_m > SAFETY.separation_m
    assert all(robot.autopilot.state is State.ACTIVE for robot in pair.robots)
    reasons = {int(decision.reason) for decisions in pair.decisions for decision in decisions}
    assert Held.RAISED in reasons
    assert not reasons & {Held.FAILED, Held.BLIND}


def raised(robot: Robot) -> Decision:
    robot.policy.error = RuntimeError("no such kernel")
    return robot.tick("odometry", "mate")


def flying() -> Robot:
    robot = Robot().hear("odometry", "mate", "goal")
    assert robot.start() == ""
    return robot


def test_a_policy_that_raises_in_its_first_tick_costs_that_command_only():
    robot = flying()
    decision = raised(robot)
    assert (decision.reason, decision.command is None) == (Held.RAISED, False)
    robot.policy.error = None
    assert robot.tick("odometry", "mate").reason == Reason.OK


def test_the_memory_of_policy_and_filter_goes_on_after_an_exception():
    robot = flying()
    for _ in range(4):
        robot.tick("odometry", "mate")
    learned = robot.autopilot.bias
    raised(robot)
    robot.policy.error = None
    robot.tick("odometry", "mate")
    assert robot.policy.carries == [0, 1, 2, 3, 4]
    assert learned is not None
    assert robot.autopilot.bias is not None
    assert robot.autopilot.bias.since_s > learned.since_s


@pytest.mark.parametrize("blind_too", [False, True])
def test_a_filter_that_raises_brakes_blindly_and_the_robot_stops_if_it_goes_on(
    blind_too: bool, monkeypatch: pytest.MonkeyPatch
):
    def raises(*_: object) -> None:
        raise ValueError("broken")

    robot = flying()
    robot.velocity[:] = (0.5, 0, 0)
    robot.tick("odometry", "mate")
    monkeypatch.setattr(SafetyFilter, "__call__", raises)
    if blind_too:
        monkeypatch.setattr(SafetyFilter, "blind", raises)
    decision = robot.tick("odometry", "mate")
    assert decision.reason == Held.FAILED
    assert decision.command is not None
    assert decision.command[0] < -0.5
    for _ in range(60):
        robot.tick("odometry", "mate")
    assert robot.autopilot.state is State.STOP
