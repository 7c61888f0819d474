"""Prediction and brake against simulated flights."""

import numpy as np
import pytest

from robomarl.core.filter.filter import SafetyParams
from robomarl.core.filter.memory import initial_carry
from robomarl.core.filter.model import motion, stacked
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.model.motion import NOWHERE, Floats, Motion, Predicted, Vec3
from robomarl.core.hardware.sections import DELAY_SPREAD


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
    pos, vel, accel, t = np.array((0.1, 0.2, 1.0)), np.array((0.5, -0.4, 0.1)), (1.0, -2.0, 0.5), c.horizon_s
    found = motion.predict(c, Motion(pos.tolist(), vel.tolist()), [accel] * 8, (NOWHERE, NOWHERE))
    np.testing.assert_allclose(found.motion.vel, vel + np.array(accel) * t, atol=1e-12)
    np.testing.assert_allclose(found.motion.pos, pos + vel * t + np.array(accel) * t**2 / 2, atol=1e-12)
    np.testing.assert_allclose((found.unsure_m, found.unsure_m_s), 0, atol=1e-12)
    assert found.last == accel


def test_a_bias_is_one_more_acceleration_and_its_doubt_is_unsure(params: SafetyParams, random: np.random.Generator):
    """Each axis for itself; what the delay leaves open comes on top. One robot and many are predicted alike."""
    c, own, t = constants_of(params), Motion((0.1, 0.2, 1.0), (0.5, -0.4, 0.1)), params.safety.delay_s
    commands = random.uniform(-3, 3, (8, 3))
    bias, doubt = np.array((0.3, -0.2, 0.5)), np.array((0.0, 0.2, 0.4))
    known = tuple(bias.tolist()), tuple(doubt.tolist())
    plain, found = (motion.predict(c, own, commands.tolist(), b) for b in ((NOWHERE, NOWHERE), known))
    np.testing.assert_allclose(found.motion.pos, plain.motion.pos + bias * t**2 / 2, atol=1e-12)
    np.testing.assert_allclose(found.motion.vel, plain.motion.vel + bias * t, atol=1e-12)
    np.testing.assert_allclose(found.unsure_m, plain.unsure_m + doubt * t**2 / 2, atol=1e-12)
    np.testing.assert_allclose(found.unsure_m_s, plain.unsure_m_s + doubt * t, atol=1e-12)
    assert (found.bias, found.doubt) == known
    learned = initial_carry(params).bias._replace(estimate_m_s2=bias, doubt_m_s2=doubt)
    arrays = Motion(tuple(map(np.array, own.pos)), tuple(map(np.array, own.vel)))
    many = stacked.predict(c, arrays, commands, learned, np)
    for one, other in zip(found[:-2], many[:-2], strict=True):  # neither has a gain that a policy asks for, nor a room
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("share", [DELAY_SPREAD, 0.75, 1.0])
def test_prediction_error_is_within_its_bound_for_every_delay(
    params: SafetyParams, random: np.random.Generator, share: float
):
    c = constants_of(params)
    own = Motion((0.1, 0.2, 1.0), (0.0, 0.0, 0.0))
    for _ in range(20):
        commands = random.uniform(-3, 3, (8, 3)).tolist()
        pos, vel = flown(*own, commands, share * params.safety.delay_s, params.period_s)
        found = motion.predict(c, own, commands, (NOWHERE, NOWHERE))
        assert (np.abs(vel - found.motion.vel) <= np.array(found.unsure_m_s) + 1e-9).all()
        assert (np.abs(pos - found.motion.pos) <= np.array(found.unsure_m) + 1e-9).all()


def test_any_mixture_of_the_commands_that_may_be_in_force_is_within_the_bound(
    params: SafetyParams, random: np.random.Generator
):
    """At each instant another one of those decided between half the delay and the delay ago, along every axis.

    And no bound is larger than what the worst for its axis makes.
    """
    c, steps = constants_of(params), 160
    dt = params.safety.delay_s / steps
    for _ in range(40):
        commands, toward = random.choice([-3.0, -1.0, 3.0], (8, 3)), random.normal(size=3)
        found = motion.predict(c, Motion(NOWHERE, NOWHERE), commands.tolist(), (NOWHERE, NOWHERE))
        # One after the other: a command that is far along a direction, a mixture, the largest of each axis.
        pos, vel = np.zeros((3, 3)), np.zeros((3, 3))
        for t in (np.arange(steps) + 0.5) * dt:
            # Command k, sent k periods ago, is the newest there may be from half the delay after it on.
            oldest = int(np.ceil((params.safety.delay_s - t) / params.period_s))
            newest = max(int(np.ceil((DELAY_SPREAD * params.safety.delay_s - t) / params.period_s)), 1)
            window = commands[8 - oldest : 8 - newest + 1]
            mixed = random.dirichlet(np.ones(len(window))) @ window
            accel = np.stack([window[(window @ toward).argmax()], mixed, window.max(0)])
            pos, vel = pos + vel * dt + accel * dt * dt / 2, vel + accel * dt
        faster, farther = vel - found.motion.vel, pos - found.motion.pos
        assert (np.abs(faster) <= np.array(found.unsure_m_s) + 1e-6).all()
        assert (np.abs(farther) <= np.array(found.unsure_m) + 1e-6).all()
        np.testing.assert_allclose(faster[2], found.unsure_m_s, atol=1e-6)
        np.testing.assert_allclose(farther[2], found.unsure_m, atol=1e-6)


@pytest.mark.parametrize("speed", [0.0, 1e-4, 0.1, 0.3, 1.5, 4.0])
def test_the_brake_opposes_the_velocity_and_never_reverses(params: SafetyParams, speed: float):
    c = constants_of(params)
    direction = np.array([0.6, -0.64, 0.48])
    own = Predicted(Motion(NOWHERE, tuple(speed * direction)), NOWHERE, NOWHERE)
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
    found = motion.predict(c, own, commands, (NOWHERE, NOWHERE))
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
    own = Predicted(Motion((1.0, 2.0, 3.0), (1.2, 0.0, -0.9)), NOWHERE, NOWHERE)
    after, stop = motion.committed(c, own, NOWHERE, Floats)
    # Lengths of 0 count as 1 um.
    np.testing.assert_allclose(np.array(stop) - after.pos, np.array([0.8, 0, -0.6]) * 1.5**2 / 3.2, atol=3e-6)
