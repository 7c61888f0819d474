"""The monitor of A10: silent while strangers and sightings keep their bounds, and a stop where one is broken."""

import dataclasses
from typing import cast

import numpy as np
import pytest

from benchmarks.certificate.flight import Crowd
from benchmarks.certificate.hunted import Hunt, HuntedFlight, told_of
from benchmarks.filter.fallbacks.words import Words, words_of
from robomarl.core.certificate.course import rests_at_s, state_at
from robomarl.core.filter.model.strangers import Strangers
from robomarl.core.filter.params import SafetyParams
from robomarl.core.view import LocalView, blank_view
from robomarl.lab.prove.campaign.hunters import StrangerSightings
from robomarl.ros.robot.certified.carry import Doubts, RobotCarry, TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.certified.stranger_watch import strayed
from robomarl.ros.robot.decider import Decider
from tests.ros.autorig import PARAMS, Robot
from tests.ros.robot.certified.paper_team import VEHICLE

SECONDS, EPISODES, STRANGERS = 6.0, 8, 3
TOLD = told_of(words_of("crazyflie_21"), 1.0)


class WatchedFlight(HuntedFlight):
    """A hunt whose robots are told of strangers with shares of their speed and acceleration, and watch them."""

    def __init__(self, hunt: Hunt, speed_share: float = 1.0, accel_share: float = 1.0) -> None:
        self.shares = speed_share, accel_share
        self.spoke = np.zeros(hunt.crowd.episodes, bool)
        super().__init__(hunt)

    def declared(self, crowd: Crowd) -> tuple[SafetyParams, Words]:
        params, words = super().declared(crowd)
        speed, accel = self.told.speed_m_s * self.shares[0], self.told.accel_m_s2 * self.shares[1]
        told = dataclasses.replace(self.told, speed_m_s=speed, accel_m_s2=accel)
        return dataclasses.replace(params, strangers=told), words

    def sees(self, view: LocalView, step: int) -> LocalView:
        view = super().sees(view, step)
        if self.hunters is not None:
            seen = Strangers(*cast(StrangerSightings, view.sensed))
            now_s = self._clock_s + step * self.crowd.period_s
            found = strayed(self.figures, self.carry.course, seen, now_s, self.words.off_m)
            self.spoke |= found.any((-2, -1))
        return view


def watched(vehicle: str, shares: tuple[float, float] = (1.0, 1.0), sight_m: float = np.inf) -> WatchedFlight:
    crowd = Crowd(vehicle, "ring", count=3, episodes=EPISODES, seconds=SECONDS, seed=5)
    flight = WatchedFlight(Hunt(crowd, strangers=STRANGERS, sight_m=sight_m), *shares)
    for step in range(round(SECONDS / crowd.period_s)):
        flight.tick(step)
    return flight


@pytest.mark.parametrize("vehicle", ["crazyflie_21", "ssl_omni", "turtlebot3_burger"])
def test_it_is_silent_while_all_keep_their_bounds(vehicle: str):
    flight = watched(vehicle)
    assert not flight.spoke.any() and not flight.moving.any()
    assert flight.resting.any(), "strangers do reach robots"


@pytest.mark.parametrize(
    ("shares", "sight_m"),
    [((0.7, 0.7), np.inf), ((1.0, 0.2), np.inf), ((1.0, 1.0), 1.0), ((1.0, 1.0), 2.0)],
    ids=["faster", "stronger", "seen at 1 m", "seen at 2 m"],
)
def test_it_speaks_of_every_bound_that_let_a_robot_in_motion_be_hit(shares: tuple[float, float], sight_m: float):
    flight = watched("ssl_omni", shares, sight_m)
    assert flight.moving.any(), "the broken bound matters"
    assert flight.spoke[flight.moving].all()


GUARD = CertifiedRobot(dataclasses.replace(PARAMS, strangers=TOLD), VEHICLE.body.radius_m, TeamSeat(0, []))
HERE = np.array([0.0, 0.0, 1.0])


def sees(pos_m: np.ndarray, vel_m_s: tuple[float, float, float], away_m: float) -> LocalView:
    """A robot without teammates that sees a stranger this far ahead."""
    view = blank_view(0)
    place = (pos_m + [away_m, 0.0, 0.0])[None]
    sensed = StrangerSightings(np.ones(1, bool), place, np.array([vel_m_s]), np.zeros(1))
    return view._replace(own=view.own._replace(pos_m=pos_m, vel_m_s=np.zeros(3)), sensed=sensed)


def driven(carry: RobotCarry, ticks: int, stranger: tuple[tuple[float, float, float], float]) -> RobotCarry:
    """Decisions of a robot that wants ahead, and is where its reference is."""
    for _ in range(ticks):
        now_s = carry.now_s + GUARD.params.period_s if carry.now_s else 100.0
        carry = GUARD.hear(carry, [], now_s)
        course = carry.robot.course
        pos = state_at(course, np.array(now_s), np)[0] if carry.robot.placed else HERE
        carry, _ = GUARD(carry, sees(np.asarray(pos), *stranger), np.array([2.0, 0.0, 0.0, 0.0]))
    return carry


STILL, FAR_M = (0.0, 0.0, 0.0), 30.0


@pytest.mark.parametrize(
    "stranger", [(STILL, 0.4), ((-2 * TOLD.speed_m_s, 0.0, 0.0), FAR_M)], ids=["appears", "too fast"]
)
def test_a_robot_that_sees_one_rests_and_says_so_and_goes_on_afterwards(
    stranger: tuple[tuple[float, float, float], float],
):
    carry = driven(GUARD.init(), 60, (STILL, FAR_M))
    assert not GUARD.doubts(carry).strays
    assert float(rests_at_s(carry.robot.course, np)) > carry.now_s + GUARD.figures.lead_s, "it moves"
    after = driven(carry, 1, stranger)
    assert GUARD.doubts(after).strays
    # One such sighting is enough: the reference comes to rest, whatever is seen from then on.
    held = driven(after, 3, (STILL, FAR_M))
    assert GUARD.doubts(held).strays
    old = carry.robot.course
    assert all(np.array_equal(a, b) for a, b in zip(old[:3], held.robot.course[:3], strict=True))
    rested = driven(held, 100, (STILL, FAR_M))
    assert not GUARD.doubts(rested).strays
    assert rested.robot.course.pos_m[0] > old.pos_m[0] + 0.2, "it went on"


def test_log_and_diagnostics_name_it(monkeypatch: pytest.MonkeyPatch):
    guard = CertifiedRobot(PARAMS, VEHICLE.body.radius_m, TeamSeat(0, [1]))
    robot = Robot(safety=guard)  # pyright: ignore[reportArgumentType]
    robot.tick("odometry", "mate", "goal")
    assert robot.start() == ""
    monkeypatch.setattr(Decider, "doubts", property(lambda self: Doubts((), False, False, (), True)))
    assert robot.autopilot.doubts == "brakes, because a stranger is faster, or nearer, than its bounds let it be"
