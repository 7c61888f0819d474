"""Fail closed: what a robot does when it does not know enough."""

import numpy as np
import pytest

from robomarl.hardware_configs.vehicle import load_vehicle
from robomarl.policies.pilot import Pilot
from robomarl.ros_nodes.autopilot import Autopilot, Held, Patience
from robomarl.ros_nodes.fallback import Fallback
from robomarl.ros_nodes.inbox import Broadcast, Count, Estimate, Inbox, InboxLimits, Now
from robomarl.ros_nodes.tick import Timing, tick_names, tick_values
from robomarl.safety.filter import Reason, SafetyFilter, from_vehicle
from robomarl.spec import ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.view import Goal, Plan

UP = np.array([1.0, 0, 0, 0])
PERIOD_S = 0.02
PARAMS = from_vehicle(load_vehicle("crazyflie_21"), PERIOD_S, min_mates=1)


class Wish:
    """A policy that wants what it is told to; it counts its decisions in its carry."""

    observation = ObservationSpec((ObservationField("goal_error", history=2), ObservationField("velocity")))
    action = ActionSpec(tuple(ActionField(n, "", "world", -3, 3) for n in ("x", "y", "z", "yaw_rate")))

    def __init__(self) -> None:
        self.wish = np.array([0.5, 0.0, 0.0, 0.0])
        self.carries: list[int] = []
        self.error: Exception | None = None

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        return (np.zeros(()),)

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        if self.error:
            raise self.error
        self.carries.append(int(carry[0]))
        return (carry[0] + 1,), self.wish.astype(np.float32)


class Robot:
    """An autopilot in a world in which time passes in ticks."""

    def __init__(self, patience: Patience = Patience()) -> None:  # noqa: B008
        self.policy = Wish()
        limits = InboxLimits(Fallback(PARAMS).max_own_age_s, PARAMS.safety.max_age_s)
        self.inbox = Inbox(("me", "mate"), 0, limits)
        self.autopilot = Autopilot(Pilot(self.policy, SafetyFilter(PARAMS)), self.inbox, patience)
        self.now_s, self.velocity = 100.0, np.zeros(3)
        self.random = np.random.default_rng(0)

    @property
    def now(self) -> Now:
        return Now(self.now_s, self.now_s - 90)

    def hear(self, *sources: str) -> "Robot":
        noise = self.random.normal(size=3) * 1e-4
        if "odometry" in sources:
            estimate = Estimate(np.array([0, 0, 1.0]) + noise, UP, self.velocity + noise, noise)
            self.inbox.put_own(estimate, self.now.stamp_s, self.now.steady_s)
        if "mate" in sources:
            place = np.array([2.0, 0, 1])
            said = Broadcast(place, np.zeros(3), Plan(place, np.zeros(3), place))
            self.inbox.put_mate("mate", said, self.now.stamp_s, self.now.steady_s)
        if "goal" in sources:
            self.inbox.put_goal(Goal(np.array([1.0, 0, 1]), UP))
        return self

    def tick(self, *sources: str):
        self.now_s += PERIOD_S
        self.hear(*sources)
        self.now_s += 1e-3
        decision = self.autopilot.tick(self.now)
        self.now_s -= 1e-3
        return decision


@pytest.fixture
def robot() -> Robot:
    made = Robot().hear("odometry", "mate", "goal")
    assert made.autopilot.activate(made.now) == ()
    return made


@pytest.mark.parametrize("missing", ["odometry", "mate", "goal"])
def test_it_does_not_start_without_an_input(missing: str):
    robot = Robot().hear(*{"odometry", "mate", "goal"} - {missing})
    problems = robot.autopilot.activate(robot.now)
    assert [p.source for p in problems] == [missing]
    assert robot.tick("odometry", "mate").command is None


def test_it_never_moves_before_it_is_activated():
    robot = Robot().hear("odometry", "mate", "goal")
    for _ in range(5):
        decision = robot.tick("odometry", "mate")
        assert (decision.command, decision.reason) == (None, Held.INACTIVE)
    assert not robot.policy.carries


def test_it_flies_with_everything_and_says_its_plan(robot: Robot):
    decision = robot.tick("odometry", "mate")
    assert decision.command is not None
    np.testing.assert_allclose(decision.command, robot.policy.wish, atol=1e-6)
    assert decision.reason == Reason.OK
    assert not decision.filtered
    assert decision.plan.vel_m_s[0] > 0  # it has just begun to accelerate
    assert robot.tick("odometry", "mate").reading.view.time_s == pytest.approx(2 * PERIOD_S, abs=2e-3)


def test_a_lost_estimate_brakes_within_one_tick_of_its_limit(robot: Robot):
    robot.velocity[:] = (0.8, 0, 0)
    for _ in range(5):
        robot.tick("odometry", "mate")
    reasons = []
    while not reasons or reasons[-1] != Held.BLIND:
        decision = robot.tick("mate")
        reasons.append(decision.reason)
        assert len(reasons) < 10
    late_s = decision.reading.view.own.age_s - Fallback(PARAMS).max_own_age_s
    assert 0 < late_s <= PERIOD_S
    assert decision.command is not None
    assert decision.command[0] == pytest.approx(-PARAMS.safety.brake_m_s2, rel=1e-3)
    assert [p.source for p in decision.reading.problems] == ["odometry"]


def test_blind_braking_stops_and_does_not_reverse(robot: Robot):
    robot.velocity[:] = (0.6, -0.4, 0.2)
    robot.policy.wish = np.zeros(4)
    robot.tick("odometry", "mate")
    speed = robot.velocity.copy()
    for _ in range(60):
        command = robot.tick("mate").command
        speed = speed if command is None else speed + command[:3] * PERIOD_S
        assert np.dot(speed, robot.velocity) > -0.01
    assert np.linalg.norm(speed) < 0.02


def test_blind_for_too_long_it_falls_silent_and_only_an_operator_wakes_it(robot: Robot):
    for _ in range(5):
        robot.tick("odometry", "mate")
    decisions = [robot.tick("mate") for _ in range(70)]
    silent = [d for d in decisions if d.reason == Held.SILENT]
    assert len([d for d in decisions if d.reason == Held.BLIND]) == pytest.approx(50, abs=2)
    assert all(d.command is None for d in silent)
    assert robot.autopilot.gave_up
    assert robot.tick("odometry", "mate").command is None
    assert robot.autopilot.activate(robot.now) == ()
    assert robot.tick("odometry", "mate").reason == Reason.OK


def test_it_goes_on_when_its_estimate_is_back_in_time_with_a_fresh_memory(robot: Robot):
    for _ in range(4):
        robot.tick("odometry", "mate")
    for _ in range(8):
        decision = robot.tick("mate")
    assert decision.reason == Held.BLIND
    decision = robot.tick("odometry", "mate")
    assert decision.reason == Reason.OK
    assert robot.policy.carries[-1] == 0


def test_a_gap_starts_the_memory_again_but_not_the_queue_of_commands(robot: Robot):
    for _ in range(6):
        robot.tick("odometry", "mate")
    assert robot.policy.carries == [0, 1, 2, 3, 4, 5]
    robot.now_s += 0.2  # the machine hung
    decision = robot.tick("odometry", "mate")
    assert robot.policy.carries[-1] == 0
    assert decision.plan.vel_m_s[0] > 0.8 * 5 * PERIOD_S * 0.5  # what was sent is still taken as coming


@pytest.mark.parametrize("heard", [True, False])
def test_a_mate_that_falls_silent_brakes_the_robot(robot: Robot, heard: bool):
    robot.velocity[:] = (0.5, 0, 0)
    for _ in range(30):
        decision = robot.tick("odometry", *(["mate"] if heard else []))
    assert decision.command is not None
    assert (decision.reason == Reason.OK) is heard
    assert (decision.command[0] < -0.5) is not heard


def test_a_policy_that_fails_brakes_the_robot_and_says_why(robot: Robot):
    robot.velocity[:] = (0.5, 0, 0)
    robot.tick("odometry", "mate")
    robot.policy.error = RuntimeError("no such kernel")
    decision = robot.tick("odometry", "mate")
    assert decision.reason == Held.FAILED
    assert decision.command is not None
    assert decision.command[0] < -0.5
    assert robot.autopilot.error == "RuntimeError: no such kernel"


def test_a_policy_that_wants_nothing_sane_brakes_the_robot(robot: Robot):
    robot.policy.wish = np.full(4, np.nan)
    decision = robot.tick("odometry", "mate")
    assert decision.reason == Reason.NON_FINITE
    assert decision.command is not None
    assert np.isfinite(decision.command).all()


def test_deactivated_it_sends_nothing_at_once(robot: Robot):
    robot.tick("odometry", "mate")
    robot.autopilot.deactivate()
    assert robot.tick("odometry", "mate").command is None
    assert not robot.autopilot.gave_up


def test_a_tick_as_numbers_has_a_name_for_each(robot: Robot):
    decision = robot.tick("odometry", "mate")
    names = tick_names(["ax", "ay", "az", "yaw_rate"], ("mate",))
    values = tick_values(decision, Timing(100.0, 10.0, 300.0, 2), True, [Count(7, 1), Count(9, 0)])
    tick = dict(zip(names, values, strict=True))
    assert tick["stamp_s"] == 100.0
    assert (tick["active"], tick["ready"], tick["reason"]) == (1, 1, Reason.OK)
    assert tick["command.ax"] == pytest.approx(0.5)
    assert (tick["odometry.received"], tick["odometry.lost"], tick["mate.received"]) == (7, 1, 9)
    assert tick["mate.source_age_s"] == pytest.approx(1e-3, abs=1e-6)
    held = tick_values(robot.autopilot.tick(robot.now), Timing(100.0, 10.0, 300.0, 2), True, [Count(7, 1)] * 2)
    assert len(held) == len(names)
