"""The observer of the bias: what is true stays inside, whatever the declared bounds allow."""

import dataclasses

import numpy as np
import pytest

from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.memory import LARGE, Bias, FilterCarry, initial_carry
from robomarl.core.filter.model import bias
from robomarl.core.filter.model.constants import constants_of
from tests.core.filter.views import PARAMS, make_view

C = constants_of(PARAMS)
SUBSTEPS = 10


def ball(random: np.random.Generator, radius: float) -> np.ndarray:
    """On the sphere or within it."""
    way = random.normal(size=3)
    return way / np.linalg.norm(way) * radius * random.choice([1.0, random.random()])


class Flight:
    """A vehicle with a bias; every error is anything within its bound, the command in force any that may be."""

    def __init__(self, true: np.ndarray, random: np.random.Generator | None) -> None:
        self.true, self.random = true, random
        self.vel, self.sent = np.zeros(3), np.zeros((PARAMS.queue_length, 3))
        self.memory: Bias = initial_carry(PARAMS).bias

    def step(self, accel: np.ndarray) -> None:
        """See, learn, decide; then fly for a period."""
        random, c, safety = self.random, C, PARAMS.safety
        seen = self.vel + (ball(random, safety.velocity_error_m_s) if random else 0.0)
        learned = bias.learn(c, self.memory, (seen, np.array(0.0), np.array(True)), np)
        sent = np.concatenate([self.sent, accel[None]])
        self.memory = bias.expect(c, learned, sent[: c.next_count], np)
        push = ball(random, safety.accel_error_m_s2) if random else np.zeros(3)
        for i in range(SUBSTEPS):
            # Decided `ago` periods before now, the new one at 0: from half the delay after that on it may be in force.
            t = (i + 0.5) / SUBSTEPS
            newest = int(np.ceil(safety.delay_s / 2 / c.period_s - t))
            oldest = min(int(np.ceil(safety.delay_s / c.period_s - t)), PARAMS.queue_length)
            ago = random.integers(newest, oldest + 1) if random else oldest
            self.vel = self.vel + (sent[-1 - ago] + self.true + push) * c.period_s / SUBSTEPS
        self.sent = sent[1:]

    def contains(self) -> bool:
        return bool((np.abs(self.true - self.memory.estimate_m_s2) <= self.memory.doubt_m_s2 + 1e-9).all())


@pytest.mark.parametrize("seed", range(12))
def test_the_true_bias_is_inside_whatever_the_bounds_allow(seed: int):
    random = np.random.default_rng(seed)
    bound = np.array(PARAMS.bias_m_s2)
    flight = Flight(bound * random.choice([-1.0, 1.0, random.uniform(-1, 1)], 3), random)
    accel = np.zeros(3)
    for i in range(300):
        if i % random.integers(1, 30) == 0:
            accel = random.uniform(C.low, C.high)
        flight.step(accel)
        assert flight.contains(), i
        assert (flight.memory.doubt_m_s2 <= bound + 1e-12).all()
    assert flight.memory.misfits == 0


def hovered(true: float = 1.0, seconds: float = 4.0) -> Flight:
    """Thrust makes up for the bias exactly; the velocity stays."""
    flight = Flight(np.array([0.0, 0.0, true]), None)
    flight.sent[:, 2] = -true
    for _ in range(round(seconds / C.period_s)):
        flight.step(np.array([0.0, 0.0, -true]))
    return flight


def test_four_seconds_of_hover_narrow_it():
    """What is left is w, two velocity errors over the window, and what the bias may have changed by."""
    flight, s = hovered(), PARAMS.safety
    assert flight.contains()
    half = s.accel_error_m_s2 + 2 * s.velocity_error_m_s / bias.WINDOW_S + 2 * C.forget_m_s2[2] * 100
    low = flight.memory.estimate_m_s2[2] - flight.memory.doubt_m_s2[2]
    assert low >= 1.0 - half - 1e-6
    assert flight.memory.doubt_m_s2[2] <= half / 2 + 1e-6 < PARAMS.bias_m_s2[2] / 3
    # Sideways nothing is learned: the bound is below what w leaves open.
    np.testing.assert_allclose(flight.memory.doubt_m_s2[:2], PARAMS.bias_m_s2[:2])


def test_a_jump_is_a_misfit_and_all_may_be_again():
    flight = hovered()
    flight.vel = flight.vel + np.array([0.0, 0.0, 3.0])
    flight.step(np.zeros(3))
    assert flight.memory.misfits == 1
    np.testing.assert_allclose(flight.memory.doubt_m_s2, PARAMS.bias_m_s2)
    np.testing.assert_allclose(flight.memory.estimate_m_s2, 0, atol=1e-12)
    np.testing.assert_allclose(flight.memory.anchor_m_s, flight.vel, atol=0.1)
    flight.step(np.zeros(3))
    assert flight.memory.misfits == 1


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_blind_ticks_keep_it(backend: str):
    safety = SafetyFilter(dataclasses.replace(PARAMS, arena=None), backend=backend)  # type: ignore[arg-type]
    known = hovered().memory
    vel = np.array([0.6, 0.0, 0.9])
    view = make_view((0, 0, 1.5), vel)
    carry: FilterCarry = safety(safety.init()._replace(bias=known), view, np.zeros(4))[0]._replace(bias=known)
    for _ in range(5):
        carry, command = safety.blind(carry, view, 0.1)
        assert vel @ (command[:3] + known.estimate_m_s2) < 0
        np.testing.assert_array_equal(carry.commands[-1], command)
    for name in ("estimate_m_s2", "doubt_m_s2", "misfits"):
        np.testing.assert_array_equal(getattr(carry.bias, name), getattr(known, name))
    assert (carry.bias.anchor_m_s >= LARGE).all(), "nothing tells the velocity since"
    # And the next sight is a new anchor, however far the velocity is from the old one.
    after, _ = safety(carry, make_view((0, 0, 1.5), (-1.0, 0.5, 0.2)), np.zeros(4))
    assert after.bias.misfits == known.misfits
    np.testing.assert_allclose(after.bias.anchor_m_s, [-1.0, 0.5, 0.2])
    np.testing.assert_allclose(
        after.bias.doubt_m_s2, np.minimum(known.doubt_m_s2 + C.forget_m_s2, C.bias_m_s2), atol=2e-3
    )
