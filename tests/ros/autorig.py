"""An autopilot without ROS, in a world in which time passes in ticks."""

import numpy as np

from robomarl.core.bundle.pilot import Pilot
from robomarl.core.filter.filter import SafetyFilter, from_vehicle
from robomarl.core.filter.give_way import GiveWay
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.spec import ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.core.view import Goal, Plan
from robomarl.ros.recording.tick_record import Timing
from robomarl.ros.robot.autopilot import Autopilot, TeamWatch
from robomarl.ros.robot.blind_brake import Fallback
from robomarl.ros.robot.command_layout import FLYING
from robomarl.ros.robot.heartbeat import Heartbeat
from robomarl.ros.robot.hover.control import HoverConfig, HoverController
from robomarl.ros.robot.inbox import Broadcast, Estimate, Inbox, InboxLimits, Now
from robomarl.ros.robot.state_machine import Order, Patience, State
from robomarl.ros.robot.team_agreement import Announcement, TeamAgreement

UP = np.array([1.0, 0, 0, 0])
PERIOD_S = 0.02
TIMING = Timing(100.0, 10.0, 300.0, 150.0, 2000.0, 2)
PARAMS = from_vehicle(load_vehicle("crazyflie_21"), PERIOD_S, min_mates=1)


class Wish:
    """A policy that wants what it is told to; it counts its decisions in its carry."""

    observation = ObservationSpec((ObservationField("goal_error", history=2), ObservationField("velocity")))
    action = ActionSpec(tuple(ActionField(n, "", "world", -3, 3) for n in FLYING))

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

    def __init__(
        self,
        patience: Patience = Patience(blend_s=0.0),  # noqa: B008
        handover_m: float = 0.0,
        rules: GiveWay | None = None,
        safety: SafetyFilter | None = None,
    ) -> None:
        self.policy = Wish()
        limits = InboxLimits(Fallback(PARAMS).max_own_age_s, PARAMS.safety.max_age_s)
        self.inbox = Inbox(("me", "mate"), 0, limits)
        own = Announcement("me", "b" * 64, "c", "v", 0, State.STANDBY)
        self.mate = Announcement("mate", "b" * 64, "c", "v", 1, State.READY)
        self.agreement, self.heartbeat = TeamAgreement(own, ("me", "mate"), 3.0), Heartbeat(1.0)
        hover = HoverController(HoverConfig(handover_m))
        team = TeamWatch(self.agreement, self.heartbeat, hover)
        pilot = Pilot(self.policy, safety or SafetyFilter(PARAMS), rules)
        self.autopilot = Autopilot(pilot, self.inbox, team, patience)
        self.now_s, self.velocity, self.height_m, self.link = 100.0, np.zeros(3), 1.0, True
        self.random = np.random.default_rng(0)

    @property
    def now(self) -> Now:
        return Now(self.now_s, self.now_s - 90)

    def hear(self, *sources: str) -> "Robot":
        noise = self.random.normal(size=3) * 1e-4
        if self.link:
            self.heartbeat.hear("monitor", False, self.now.steady_s)
            self.agreement.hear(self.mate, self.now.steady_s)
        if "odometry" in sources:
            estimate = Estimate(np.array([0, 0, self.height_m]) + noise, UP, self.velocity + noise, noise)
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

    def start(self) -> str:
        """All that an operator has to do; returns why not."""
        self.autopilot.order(Order.RESET, self.now)
        self.autopilot.tick(self.now)
        refused = self.autopilot.order(Order.ARM, self.now) or self.autopilot.order(Order.ACTIVATE, self.now)
        return refused
