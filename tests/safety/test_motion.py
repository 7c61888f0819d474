"""Prediction and brake against simulated flights."""

import numpy as np
import pytest

from robomarl.safety import motion
from robomarl.safety.constants import DELAY_SPREAD, constants_of
from robomarl.safety.filter import SafetyParams
from robomarl.safety.motion import NOWHERE, Floats, Motion, Predicted, Vec3


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
    found = motion.predict(c, Motion(pos, vel), [accel] * 8, (NOWHERE, NOWHERE), Floats)
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
        found = motion.predict(c, own, commands, (NOWHERE, NOWHERE), Floats)
        assert np.linalg.norm(vel - found.motion.vel) <= found.error_m_s - c.own_error_m_s + 1e-9
        assert np.linalg.norm(pos - found.motion.pos) <= found.error_m - c.own_error_m + 1e-9


def test_any_mixture_of_the_commands_that_may_be_in_force_is_within_the_bound(
    params: SafetyParams, random: np.random.Generator
):
    """At each instant another one of those decided between half the delay and the delay ago."""
    c, steps = constants_of(params), 160
    dt = params.safety.delay_s / steps
    for _ in range(40):
        commands = random.choice([-3.0, 3.0], (8, 3))
        found = motion.predict(c, Motion(NOWHERE, NOWHERE), commands.tolist(), (NOWHERE, NOWHERE), Floats)
        pos, vel = np.zeros(3), np.zeros(3)
        toward = random.normal(size=3)
        for t in (np.arange(steps) + 0.5) * dt:
            # Command k, sent k periods ago, is the newest there may be from half the delay after it on.
            oldest = int(np.ceil((params.safety.delay_s - t) / params.period_s))
            newest = max(int(np.ceil((DELAY_SPREAD * params.safety.delay_s - t) / params.period_s)), 1)
            window = commands[8 - oldest : 8 - newest + 1]
            accel = window[(window @ toward).argmax()]
            pos, vel = pos + vel * dt + accel * dt * dt / 2, vel + accel * dt
        assert np.linalg.norm(vel - found.motion.vel) <= found.error_m_s - c.own_error_m_s + 1e-6
        assert np.linalg.norm(pos - found.motion.pos) <= found.error_m - c.own_error_m + 1e-6


@pytest.mark.parametrize("speed", [0.0, 1e-4, 0.1, 0.3, 1.5, 4.0])
def test_the_brake_opposes_the_velocity_and_never_reverses(params: SafetyParams, speed: float):
    c = constants_of(params)
    direction = np.array([0.6, -0.64, 0.48])
    own = Predicted(Motion(NOWHERE, tuple(speed * direction)), 0.0, 0.0)
    accel = np.array(motion.brake(c, own, Floats))
    after = speed * direction + accel * c.period_s
    assert direction @ after >= -1e-12
    assert np.linalg.norm(np.cross(direction, accel)) < 1e-9
    # At the brake and the error that may push on; within the input box.
    most = params.safety.brake_m_s2 + params.safety.accel_error_m_s2
    assert np.linalg.norm(accel) == pytest.approx(min(most, speed / (0.16 + 0.02)), abs=1e-4)
    # Whatever the bias is within its doubt, the vehicle then brakes at `brake_m_s2` at least, and the box has room.
    bias, doubt = (0.2, -0.1, 0.4), (0.3, 0.2, 0.6)
    sure = np.array(motion.brake(c, own._replace(bias=bias, doubt=doubt), Floats))
    if speed > 0.6:
        worst = np.array(bias) + np.sign(direction) * doubt
        assert direction @ (sure + worst) <= -most + 1e-6
    assert (sure >= np.array(c.low) - 1e-9).all()
    assert (sure <= np.array(c.high) + 1e-9).all()


@pytest.mark.parametrize("share", [DELAY_SPREAD, 0.75, 1.0])
def test_the_stop_point_is_no_nearer_than_where_braking_ends(params: SafetyParams, share: float):
    """The same commands with every delay: braking from the plan's state on ends before the stop point."""
    c, steady, accel = constants_of(params), (0.5, 0.0, -0.3), [-1.0, 0.0, 2.0]
    commands: list[Vec3] = [*[steady] * 7, (2.0, 0.0, 1.0)]
    own = Motion((1.0, 2.0, 1.5), (1.0, 0.0, -0.6))
    found = motion.predict(c, own, commands, (NOWHERE, NOWHERE), Floats)
    after, stop = motion.committed(c, found, tuple(accel), Floats)
    lead = params.safety.delay_s
    pos, vel = flown(*own, [*commands, accel], share * lead, params.period_s)
    # `flown` ends when the newest command begins: it is in force for what is left of delay and period.
    left = (1 - share) * lead + params.period_s
    pos, vel = pos + vel * left + np.array(accel) * left**2 / 2, vel + np.array(accel) * left
    reach = np.linalg.norm(pos - after.pos) + vel @ vel / (2 * c.brake_m_s2)
    assert reach <= np.linalg.norm(np.array(stop) - after.pos) + 1e-3


def test_with_steady_commands_it_is_the_braking_distance(params: SafetyParams):
    c = constants_of(params)
    own = Predicted(Motion((1.0, 2.0, 3.0), (1.2, 0.0, -0.9)), c.own_error_m, c.own_error_m_s)
    after, stop = motion.committed(c, own, NOWHERE, Floats)
    np.testing.assert_allclose(np.array(stop) - after.pos, np.array([0.8, 0, -0.6]) * 1.5**2 / 3.2, atol=1e-6)
