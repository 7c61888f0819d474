"""Commands as references, attitudes, throttles and wheel speeds: both ways, on 10,000 random ones."""

import math
from dataclasses import replace

import numpy as np
import pytest

from robomarl.core.geometry import quat_from_yaw, rotation_matrix, yaw_of
from robomarl.core.hardware.ground import DriveConfig
from robomarl.core.hardware.vehicle import DifferentialDrive, OmniRobot, load_any_vehicle
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion import wheels
from robomarl.vehicles.conversion.attitude import ThrustMap, acceleration_and_yaw, attitude_and_thrust
from robomarl.vehicles.conversion.frames import roll_pitch_yaw, wrapped
from robomarl.vehicles.conversion.reference import Lead, Reference, advanced, reference_at

COUNT = 10_000
EXACT = 1e-6
NEVER_FORGETS = Lead(forget_s=1e12)


def estimate(reference: Reference) -> Estimate:
    return Estimate(reference.pos_m, quat_from_yaw(np.float64(reference.yaw_rad)), reference.vel_m_s, np.zeros(3))


def test_attitude_and_thrust_both_ways():
    rng = np.random.default_rng(0)
    accel, yaw = rng.uniform(-6, 6, (COUNT, 3)), rng.uniform(-math.pi, math.pi, COUNT)
    mass = 0.033
    quat, thrust = attitude_and_thrust(accel, yaw, mass)
    back, heading = acceleration_and_yaw(quat, thrust, mass)
    np.testing.assert_allclose(back, accel, atol=EXACT)
    assert np.abs(wrapped(heading - yaw)).max() < EXACT
    again, force = attitude_and_thrust(back, heading, mass)
    np.testing.assert_allclose(rotation_matrix(again), rotation_matrix(quat), atol=EXACT)
    np.testing.assert_allclose(force, thrust, atol=EXACT)
    assert (np.linalg.det(rotation_matrix(quat)) > 0.99).all()


def test_nose_down_accelerates_forward():
    quat, thrust = attitude_and_thrust(np.array([2.0, 0.0, 0.0]), np.array(0.0), 1.0)
    roll, pitch, yaw = roll_pitch_yaw(quat)
    assert pitch == pytest.approx(math.atan2(2.0, 9.81))
    assert roll == pytest.approx(0.0) and yaw == pytest.approx(0.0)
    assert thrust == pytest.approx(math.hypot(2.0, 9.81))


def test_nobody_turns_over_to_fall():
    quat, _ = attitude_and_thrust(np.array([0.0, 0.0, -30.0]), np.array(0.5), 1.0)
    np.testing.assert_allclose(rotation_matrix(quat)[:, 2], [0, 0, 1], atol=EXACT)


def test_throttle_both_ways():
    rng = np.random.default_rng(1)
    for curve, share, volts in rng.uniform((0.0, 0.0, 3.0), (1.0, 1.0, 4.2), (COUNT, 3)):
        made = ThrustMap(full_thrust_n=0.45, curve=curve, full_v=4.2)
        thrust = share * made.most_n(volts)
        assert made.thrust_n(made.throttle(thrust, volts), volts) == pytest.approx(thrust, abs=EXACT)
        assert made.throttle(made.thrust_n(share, volts), volts) == pytest.approx(share, abs=EXACT)


def test_an_empty_battery_gets_more_throttle_and_has_a_limit():
    made = ThrustMap(full_thrust_n=0.45, curve=0.6, full_v=4.2)
    hover = 0.033 * 9.81
    assert made.throttle(hover, 4.2) < made.throttle(hover, 3.8) < 1.0
    assert made.most_n(3.2) < 0.7 * made.most_n(4.2)
    assert made.throttle(10.0, 3.7) == 1.0 and made.throttle(-1.0, 3.7) == 0.0
    assert replace(made, full_v=None).throttle(hover) == made.throttle(hover, 4.2)
    with pytest.raises(ValueError, match="voltage"):
        made.throttle(hover)


def test_a_hover_that_was_measured_scales_the_map():
    made = ThrustMap(full_thrust_n=0.45, curve=0.6, full_v=4.2).scaled_to_hover(0.7, 0.033, 3.9)
    assert made.throttle(0.033 * 9.81, 3.9) == pytest.approx(0.7)


@pytest.mark.parametrize("wrong", [{"full_thrust_n": 0.0}, {"curve": 1.1}, {"full_v": 0.0}])
def test_a_map_out_of_range_is_refused(wrong: dict[str, float]):
    with pytest.raises(ValueError, match="from 0 to 1"):
        ThrustMap(**{"full_thrust_n": 1.0, **wrong})


def test_a_followed_reference_is_the_integral_of_its_command():
    rng, found = np.random.default_rng(2), []
    for _ in range(COUNT // 50):
        own = Estimate(rng.normal(size=3), quat_from_yaw(rng.uniform(-3, 3)), rng.normal(size=3), np.zeros(3))
        now, heading = reference_at(own), float(yaw_of(own.quat_wxyz))
        pos, vel = own.pos_m.copy(), own.vel_m_s.copy()
        for command in rng.uniform(-2, 2, (50, 4)):
            now = advanced(now, command, estimate(now), 0.02, NEVER_FORGETS)
            pos, vel = pos + 0.02 * vel + 0.0002 * command[:3], vel + 0.02 * command[:3]
            heading += 0.02 * command[3]
            found.append([*(now.pos_m - pos), *(now.vel_m_s - vel), wrapped(now.yaw_rad - heading)])
    assert len(found) == COUNT
    np.testing.assert_allclose(found, 0, atol=EXACT)


def test_a_held_vehicle_does_not_wind_its_reference_up():
    own = Estimate(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))
    lead, now = Lead(), reference_at(own)
    for _ in range(1000):
        now = advanced(now, np.array([3.0, -3.0, 2.9, 1.0]), own, 0.02, lead)
        assert np.linalg.norm(now.pos_m - own.pos_m) <= lead.pos_m + EXACT
        assert np.linalg.norm(now.vel_m_s - own.vel_m_s) <= lead.vel_m_s + EXACT
        assert abs(now.yaw_rad) <= lead.yaw_rad + EXACT
    for _ in range(150):  # released: what was wound up is forgotten, not flown
        now = advanced(now, np.zeros(4), own, 0.02, lead)
    assert np.linalg.norm(now.pos_m - own.pos_m) < 0.02
    assert np.linalg.norm(now.vel_m_s) < 0.005


def test_a_steady_disturbance_pulls_as_the_docstring_says():
    pull, lead, dt = 0.4, Lead(), 0.01
    pos, vel = np.zeros(3), np.zeros(3)
    now = reference_at(Estimate(pos, np.array([1.0, 0, 0, 0]), vel, np.zeros(3)))
    for _ in range(1000):
        vel = vel - np.array([pull, 0, 0]) * dt
        pos = pos + vel * dt
        now = advanced(now, np.zeros(4), Estimate(pos, np.array([1.0, 0, 0, 0]), vel, np.zeros(3)), dt, lead)
    assert (now.vel_m_s - vel)[0] == pytest.approx(pull * lead.forget_s, rel=0.05)
    assert (now.pos_m - pos)[0] == pytest.approx(pull * lead.forget_s**2, rel=0.05)


@pytest.mark.parametrize("wrong", [np.array([0.0, 0, np.nan, 0]), np.array([np.inf, 0, 0, 0])])
def test_what_is_not_finite_is_refused(wrong: np.ndarray):
    own = Estimate(np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="command is not finite"):
        advanced(reference_at(own), wrong, own, 0.02)
    with pytest.raises(ValueError, match="estimate is not finite"):
        reference_at(own._replace(pos_m=wrong[:3]))


def bases() -> dict[str, wheels.DifferentialBase | wheels.OmniBase]:
    burger, ssl = load_any_vehicle("turtlebot3_burger"), load_any_vehicle("ssl_omni")
    assert isinstance(burger, DifferentialDrive) and isinstance(ssl, OmniRobot)
    return {"differential": wheels.DifferentialBase(burger.drive), "omni": wheels.OmniBase(ssl.wheels)}


@pytest.mark.parametrize("kind", ["differential", "omni"])
def test_wheels_both_ways(kind: str):
    base, rng = bases()[kind], np.random.default_rng(3)
    twists = rng.uniform(-2, 2, (COUNT, 3)) * (1.0, kind == "omni", 5.0)
    driven = [base.wheels(twist) for twist in twists]
    np.testing.assert_allclose([base.twist(each) for each in driven], twists, atol=EXACT)
    slow = np.array([base.within(twist) for twist in twists])
    assert (np.linalg.norm(slow, axis=-1) <= np.linalg.norm(twists, axis=-1) + EXACT).all()
    np.testing.assert_allclose(np.cross(slow, twists), 0, atol=EXACT)


def test_wheels_are_no_faster_than_they_can():
    found = bases()
    assert np.abs(found["differential"].wheels(found["differential"].within(np.array([5.0, 0, 9.0])))).max() < 0.2201
    assert np.abs(found["omni"].wheels(found["omni"].within(np.array([9.0, -9.0, 30.0])))).max() < 3.6001


def test_a_turn_to_the_left_drives_the_right_wheel():
    left, right = bases()["differential"].wheels(np.array([0.0, 0.0, 1.0]))
    assert left == pytest.approx(-0.08) and right == pytest.approx(0.08)


def test_the_look_ahead_point_accelerates_as_commanded():
    """Against the point's place at three moments, from its definition."""
    rng, ahead, dt = np.random.default_rng(4), DriveConfig(0.16, 0.22, 0.1).look_ahead_m, 1e-4
    for _ in range(COUNT // 10):
        yaw, accel = rng.uniform(-3, 3), np.array([*rng.uniform(-0.5, 0.5, 2), 0.0])
        before = np.array([rng.uniform(-0.2, 0.2), 0.0, rng.uniform(-2, 2)])
        after = wheels.differential_twist(before, accel, quat_from_yaw(np.float64(yaw)), ahead, dt)

        def point_velocity(twist: np.ndarray, heading: float) -> np.ndarray:
            c, s = math.cos(heading), math.sin(heading)
            return np.array([twist[0] * c - ahead * twist[2] * s, twist[0] * s + ahead * twist[2] * c])

        turned = yaw + dt * (before[2] + after[2]) / 2
        made = (point_velocity(after, turned) - point_velocity(before, yaw)) / dt
        np.testing.assert_allclose(made, accel[:2], atol=3e-3)  # of the step, which is finite


def test_an_omnidirectional_base_takes_its_velocity_into_the_body():
    twist = wheels.omni_twist(np.array([0.0, 1.0, 0.0]), np.array([0.0, 2.0, 0.0, 0.7]), math.pi / 2, 0.1)
    np.testing.assert_allclose(twist, [1.2, 0.0, 0.7], atol=EXACT)
