"""Prediction, drift and brake against simulated flights."""

import numpy as np
import pytest

from robomarl.safety import motion
from robomarl.safety.constants import DELAY_SPREAD, constants_of
from robomarl.safety.filter import SafetyParams
from robomarl.safety.motion import Floats, Motion


def flown(pos, vel, commands, delay_s, period_s):
    """State when the next decision takes effect: command k was sent k periods ago and acts from `delay_s` on."""
    count, dt = len(commands), period_s / 200
    pos, vel = np.array(pos, float), np.array(vel, float)
    for t in np.arange(round(delay_s / dt)) * dt:
        sent_ago = int(np.floor((delay_s - t - dt / 2) / period_s)) + 1
        accel = np.array(commands[count - sent_ago])
        pos, vel = pos + vel * dt + accel * dt * dt / 2, vel + accel * dt
    return pos, vel


def test_prediction_is_exact_when_commands_are_steady(params: SafetyParams):
    c = constants_of(params)
    pos, vel, accel = (0.1, 0.2, 1.0), (0.5, -0.4, 0.1), [1.0, -2.0, 0.5]
    found = motion.predict(c, Motion(pos, vel), [accel] * 8, (0.0, 0.0, 0.0), Floats)
    assert found.motion.vel == pytest.approx(np.array(vel) + np.array(accel) * c.horizon_s)
    np.testing.assert_allclose(
        found.motion.pos, np.array(pos) + np.array(vel) * c.horizon_s + np.array(accel) * c.horizon_s**2 / 2, atol=2e-3
    )


@pytest.mark.parametrize("share", [DELAY_SPREAD, 0.75, 1.0])
def test_prediction_error_is_within_its_bound_for_every_delay(
    params: SafetyParams, random: np.random.Generator, share: float
):
    c = constants_of(params)
    own = Motion((0.1, 0.2, 1.0), (0.0, 0.0, 0.0))
    for _ in range(20):
        commands = random.uniform(-3, 3, (8, 3)).tolist()
        pos, vel = flown(*own, commands, share * params.safety.delay_s, params.period_s)
        found = motion.predict(c, own, commands, (0.0, 0.0, 0.0), Floats)
        assert np.linalg.norm(vel - found.motion.vel) <= found.error_m_s - c.own_error_m_s + 1e-9
        assert np.linalg.norm(pos - found.motion.pos) <= found.error_m - c.own_error_m + 1e-9


def test_drift_is_found(params: SafetyParams):
    c = constants_of(params)
    true, estimate, vel = 0.6, 0.0, 0.0
    for _ in range(300):
        expected = motion.expected_velocity(
            c, Motion((0, 0, 0), (vel, 0.0, 0.0)), [[0.5, 0, 0]] * 9, (estimate, 0.0, 0.0)
        )
        vel += (0.5 + true) * c.period_s
        estimate = motion.update_drift(c, estimate, vel - expected[0], Floats)
    assert estimate == pytest.approx(true, abs=0.01)
    assert motion.update_drift(c, 0.9, 5.0, Floats) == params.safety.accel_bias_m_s2


@pytest.mark.parametrize("speed", [0.0, 1e-4, 0.1, 0.3, 1.5, 4.0])
def test_the_brake_opposes_the_velocity_and_never_reverses(params: SafetyParams, speed: float):
    c = constants_of(params)
    direction = np.array([0.6, -0.64, 0.48])
    accel = np.array(motion.brake(c, tuple(speed * direction), Floats))
    after = speed * direction + accel * c.period_s
    assert direction @ after >= -1e-12
    assert np.linalg.norm(np.cross(direction, accel)) < 1e-9
    assert np.linalg.norm(accel) == pytest.approx(min(c.demand_m_s2, speed / (0.16 + 0.02)), abs=1e-4)


def test_the_stop_point_is_where_braking_ends(params: SafetyParams):
    c = constants_of(params)
    stop = motion.stop_point(c, Motion((1.0, 2.0, 3.0), (1.2, 0.0, -0.9)), Floats)
    np.testing.assert_allclose(stop, np.array([1, 2, 3]) + np.array([0.8, 0, -0.6]) * 1.5**2 / 3.2, atol=1e-9)
