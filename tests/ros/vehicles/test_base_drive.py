"""Accelerations become twists that wheels can follow: by hand, in all cases, and against a unicycle that lags."""

import itertools
import math
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.core.geometry import quat_from_yaw
from robomarl.core.hardware.ground import DifferentialDrive, OmniRobot
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.base.anchor import JUMP_M, MapAnchor, PlanarPose, placed, planar
from robomarl.vehicles.base.drive import BaseDrive, TwistLead
from robomarl.vehicles.base.watch import BaseRules, BaseSighted, BaseState, watched
from robomarl.vehicles.conversion.wheels import DifferentialBase, OmniBase

BURGER = cast(DifferentialDrive, load_any_vehicle("turtlebot3_burger"))
SSL = cast(OmniRobot, load_any_vehicle("ssl_omni"))
AHEAD_M = BURGER.drive.look_ahead_m
DT_S = 0.05


def moving(x: float, y: float, yaw: float, speed: float, rate: float, left: float = 0.0) -> Estimate:
    c, s = math.cos(yaw), math.sin(yaw)
    vel = np.array([c * speed - s * left, s * speed + c * left, 0.0])
    return Estimate(np.array([x, y, 0.0]), quat_from_yaw(np.float64(yaw)), vel, np.array([0.0, 0.0, rate]))


def test_of_a_differential_drive_by_hand():
    """Heading north at 0.1 m/s, turning at 0.5 rad/s; the point 0.1 m ahead is accelerated by 0.2 north, 0.1 west."""
    own = moving(0, 0, math.pi / 2, 0.1, 0.5)
    twist = BaseDrive(BURGER).follow(np.array([-0.1, 0.2, 0.0, 9.0]), own, DT_S)
    assert twist[0] == pytest.approx(
        0.1 + DT_S * (0.2 + AHEAD_M * 0.5**2)
    )  # along the heading, and the centripetal part
    assert twist[1] == 0.0
    assert twist[2] == pytest.approx(0.5 + DT_S * (0.1 - 0.1 * 0.5) / AHEAD_M)  # across it, over the distance ahead


def test_of_an_omnidirectional_base_by_hand():
    own = moving(0, 0, math.pi / 2, 0.5, 0.0, left=0.2)
    twist = BaseDrive(SSL).follow(np.array([1.0, 2.0, 0.0, 0.7]), own, DT_S)
    assert twist == pytest.approx([0.5 + 2 * DT_S, 0.2 - 1 * DT_S, 0.7])


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**31),
    kind=st.sampled_from(["burger", "ssl"]),
    size=st.sampled_from([0.1, 1.0, 30.0]),
)
def test_wheels_are_never_faster_than_they_can(seed: int, kind: str, size: float):
    rng = np.random.default_rng(seed)
    vehicle = BURGER if kind == "burger" else SSL
    drive = BaseDrive(vehicle)
    for _ in range(20):
        x, y, speed, rate = (rng.normal(size=4) * [1.0, 1.0, 0.3, 0.3]).tolist()
        own = moving(x, y, rng.uniform(-3, 3), speed, rate)
        twist = drive.follow(rng.normal(size=4) * size, own, rng.uniform(0, 1))
        if isinstance(vehicle, DifferentialDrive):
            wheels, most = DifferentialBase(vehicle.drive).wheels(twist), vehicle.drive.wheel_speed_m_s
            assert twist[1] == 0.0
        else:
            wheels, most = OmniBase(vehicle.wheels).wheels(twist), vehicle.wheels.speed_rad_s * vehicle.wheels.radius_m
        assert np.abs(wheels).max() <= most * (1 + 1e-9)
        assert abs(twist[2]) <= vehicle.limits.yaw_rate_rad_s + 1e-9


def test_a_base_that_is_held_does_not_wind_up():
    drive, still = BaseDrive(BURGER), moving(0, 0, 0.0, 0.0, 0.0)
    for _ in range(200):
        twist = drive.follow(np.array([0.5, 0.0, 0.0, 0.0]), still, DT_S)
    assert twist[0] <= TwistLead().vel_m_s + 0.5 * DT_S + 1e-9
    assert drive.rest() == pytest.approx(np.zeros(3))
    assert drive.follow(np.zeros(4), still, DT_S) == pytest.approx(np.zeros(3)), "what was commanded is forgotten"


@pytest.mark.parametrize("bad", [np.array([math.nan, 0, 0, 0]), np.array([0, math.inf, 0, 0])])
def test_what_is_not_finite_is_refused(bad: np.ndarray):
    with pytest.raises(ValueError, match="command is not finite"):
        BaseDrive(BURGER).follow(bad, moving(0, 0, 0, 0, 0), DT_S)


@pytest.mark.parametrize("goal_m", [(1.0, 0.0), (-1.0, 0.5), (0.0, -1.0), (0.3, 0.3)])
def test_the_point_ahead_goes_to_a_place_through_wheels_that_lag(goal_m: tuple[float, float]):
    """A unicycle whose wheels follow with 0.15 s; the law damps the point, which is all that it knows of."""
    drive, state, twist = BaseDrive(BURGER), np.zeros(3), np.zeros(3)
    speed = rate = 0.0
    for _ in range(round(30 / DT_S)):
        x, y, yaw = state.tolist()
        own = moving(x, y, yaw, float(speed), float(rate))
        head = np.array([math.cos(state[2]), math.sin(state[2])])
        point = state[:2] + AHEAD_M * head
        velocity = speed * head + AHEAD_M * rate * np.array([-head[1], head[0]])
        accel = 0.6 * np.clip(np.array(goal_m) - point, -0.15, 0.15) - 1.2 * velocity
        twist = drive.follow(np.array([*accel, 0.0, 0.0]), own, DT_S)
        speed, rate = np.array([speed, rate]) + (twist[[0, 2]] - [speed, rate]) * DT_S / 0.15
        state = state + DT_S * np.array([speed * math.cos(state[2]), speed * math.sin(state[2]), rate])
    assert math.dist(state[:2] + AHEAD_M * np.array([math.cos(state[2]), math.sin(state[2])]), goal_m) < 0.02
    assert abs(speed) < 0.01 and abs(rate) < 0.05


def test_an_omnidirectional_base_that_turns_goes_straight_on():
    """Its wheels follow with 0.1 s; the twist that it leads by is turned back under the body that turns."""
    drive, yaw, rate, vel = BaseDrive(SSL), 0.0, 0.0, np.zeros(2)
    for _ in range(100):
        own = moving(0.0, 0.0, yaw, 0.0, rate)._replace(vel_m_s=np.array([*vel, 0.0]))
        twist = drive.follow(np.array([1.0, 0.0, 0.0, 6.0]), own, 0.01)
        c, s = math.cos(yaw), math.sin(yaw)
        world = np.array([c * twist[0] - s * twist[1], s * twist[0] + c * twist[1]])
        vel, rate = vel + (world - vel) * 0.1, rate + (twist[2] - rate) * 0.1
        yaw += rate * 0.01
    assert vel[0] == pytest.approx(0.9, abs=0.1) and abs(vel[1]) < 0.08


RULES = BaseRules(stop_after_s=0.5)


def test_it_drives_only_while_everything_is_there():
    """All combinations of what may be missing."""
    for ages in itertools.product((0.0, 0.4, 0.6, math.inf), repeat=3):
        for pressed, stopped, unfit in itertools.product((False, True), (False, True), ("", "low")):
            state, why = watched(BaseSighted(ages[0], ages[1], ages[2], pressed, stopped, unfit), RULES)
            fine = max(ages) <= 0.5 and not (pressed or stopped or unfit)
            assert (state is BaseState.DRIVING) == fine
            assert bool(why) == (not fine)
            assert (state is BaseState.STOPPED) == (pressed or stopped)


poses = st.tuples(st.floats(-5, 5), st.floats(-5, 5), st.floats(-3, 3)).map(lambda row: PlanarPose(*row))


@settings(max_examples=25)
@given(poses, poses)
def test_poses_in_the_plane_are_undone(a: PlanarPose, b: PlanarPose):
    back = a.then(b).then(b.inverse())
    assert math.hypot(back.x_m - a.x_m, back.y_m - a.y_m) < 1e-9
    assert abs(math.remainder(back.yaw_rad - a.yaw_rad, 2 * math.pi)) < 1e-9


@settings(max_examples=25)
@given(poses, poses)
def test_the_place_in_the_map_follows_from_both(anchor: PlanarPose, wheels: PlanarPose):
    """The same as by matrices, and velocity turns with it."""
    inner = moving(*wheels, 0.1, 0.2)
    made = placed(inner, anchor)
    found, wanted = planar(made.pos_m, made.quat_wxyz), anchor.then(wheels)
    assert found[:2] == pytest.approx(wanted[:2], abs=1e-9)
    assert abs(math.remainder(found.yaw_rad - wanted.yaw_rad, 2 * math.pi)) < 1e-9
    assert made.vel_m_s[:2] == pytest.approx([0.1 * math.cos(wanted.yaw_rad), 0.1 * math.sin(wanted.yaw_rad)], abs=1e-9)


def test_localization_that_comes_late_belongs_to_where_the_wheels_were():
    anchor = MapAnchor(None)
    assert anchor.drive(moving(0, 0, 0, 1.0, 0), 0.0) is None and "has not said" in anchor.problem
    for k in range(1, 11):
        anchor.drive(moving(0.1 * k, 0, 0, 1.0, 0), 0.1 * k)
    anchor.locate(PlanarPose(5.2, 3.0, 0.0), 0.2)  # a stamp 0.8 s old, when the wheels said 0.2
    found = anchor.drive(moving(1.1, 0, 0, 1.0, 0), 1.1)
    assert found is not None and found.pos_m == pytest.approx([6.1, 3.0, 0.0])


@pytest.mark.parametrize("to", [PlanarPose(0.25, 0, 0), PlanarPose(0, 3, 0), PlanarPose(0, 0, math.radians(21))])
def test_what_localization_takes_for_another_robot_or_flips_is_refused_while_the_robot_is_commanded(to: PlanarPose):
    anchor = MapAnchor(PlanarPose(0, 0, 0))
    anchor.free = False
    anchor.anchor_at(to)
    for k in range(100):
        assert anchor.drive(moving(0, 0, 0, 0.0, 0), 0.1 * k) is None, "also at rest"
    anchor.free = True
    assert anchor.drive(moving(0, 0, 0, 0.0, 0), 10.0) is not None


def test_corrections_are_slow_while_it_drives_and_large_ones_wait_until_it_rests():
    anchor = MapAnchor(PlanarPose(0, 0, 0))
    anchor.drive(moving(0, 0, 0, 0.2, 0), 0.0)
    anchor.anchor_at(PlanarPose(0.2, 0, 0))
    found = anchor.drive(moving(0, 0, 0, 0.2, 0), 0.1)
    assert found is not None and found.pos_m[0] == pytest.approx(0.01)
    anchor.anchor_at(PlanarPose(0.02 + JUMP_M, 0, 0))
    assert anchor.drive(moving(0, 0, 0, 0.2, 0), 0.2) is None and "at rest" in anchor.problem
    found = anchor.drive(moving(0, 0, 0, 0.0, 0), 0.3)
    assert found is not None and found.pos_m[0] == pytest.approx(0.02 + JUMP_M)
