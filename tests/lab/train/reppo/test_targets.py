"""Targets of REPPO's critic: sums by hand, and histograms that have the mean that they encode."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from robomarl.lab.train.reppo.critic import QNetwork
from robomarl.lab.train.reppo.histogram import cross_entropy, encode, mean_of
from robomarl.lab.train.reppo.targets import soft_returns

SUPPORT = (5.0, 41)
"""Largest deviation, and bins."""


def test_soft_targets_of_three_steps_are_the_sums_by_hand() -> None:
    """Gamma 0.5, lambda 0.8; the next action counts with its entropy bonus, the first action's is not in it."""
    reward, value = jnp.array([1.0, 2.0, 3.0]), jnp.array([9.0, 10.0, 20.0, 40.0])
    bonus = jnp.array([7.0, 0.1, 0.2, 0.4])
    third = 3 + 0.5 * (40 + 0.4)
    second = 2 + 0.5 * (0.2 + 0.2 * 20 + 0.8 * third)
    first = 1 + 0.5 * (0.1 + 0.2 * 10 + 0.8 * second)
    found = soft_returns(reward, value, bonus, jnp.zeros(3), (0.5, 0.8))
    np.testing.assert_allclose(found, [first, second, third], rtol=1e-6)


def test_nothing_comes_after_an_end_and_what_was_cut_goes_on() -> None:
    """The second decision ends the episode: with a contact it is worth its reward alone, and where it was only cut what
    the decision itself was worth, its own bonus included."""
    reward, value = jnp.array([1.0, 2.0, 3.0]), jnp.array([9.0, 10.0, 20.0, 40.0])
    bonus, done = jnp.array([7.0, 0.1, 0.2, 0.4]), jnp.array([0.0, 1.0, 0.0])
    ended = soft_returns(reward, value, bonus, done, (0.5, 0.8))
    np.testing.assert_allclose(ended[:2], [1 + 0.5 * (0.1 + 0.2 * 10 + 0.8 * 2), 2.0], rtol=1e-6)
    cut = soft_returns(reward, value, bonus, done, (0.5, 0.8), done)
    second = 2 + 0.5 * (10 + 0.1)
    np.testing.assert_allclose(cut[:2], [1 + 0.5 * (0.1 + 0.2 * 10 + 0.8 * second), second], rtol=1e-6)
    np.testing.assert_allclose(cut[2], ended[2])


@pytest.mark.parametrize("value", [-5.0, -1.234, 0.0, 0.06, 3.3, 5.0])
def test_a_histogram_has_the_mean_that_it_encodes(value: float) -> None:
    """To a ten-thousandth of a deviation, up to the ends of the support; and it is a distribution."""
    shares = encode(jnp.array(value), *SUPPORT)
    assert float(shares.sum()) == pytest.approx(1.0, abs=1e-5)
    assert float(shares.min()) >= 0
    assert float((shares * (np.asarray(mean_of(jnp.log(jnp.eye(SUPPORT[1])), *SUPPORT)))).sum()) == pytest.approx(
        value, abs=1e-4
    )


def test_outside_the_support_the_end_of_it_is_encoded() -> None:
    np.testing.assert_array_equal(encode(jnp.array([70.0, -70.0]), *SUPPORT), encode(jnp.array([5.0, -5.0]), *SUPPORT))


def test_the_gradient_of_the_cross_entropy_is_what_is_said_minus_what_is_so() -> None:
    """softmax(logits) - target, bin by bin; zero where the critic says the target itself."""
    logits = jax.random.normal(jax.random.key(0), (SUPPORT[1],))
    target = encode(jnp.array(1.7), *SUPPORT)
    slope = jax.grad(lambda x: cross_entropy(x, target))(logits)
    np.testing.assert_allclose(slope, jax.nn.softmax(logits) - target, atol=1e-6)
    right = jnp.log(target + 1e-12)
    np.testing.assert_allclose(jax.grad(lambda x: cross_entropy(x, target))(right), np.zeros(SUPPORT[1]), atol=1e-6)
    assert float(mean_of(right, *SUPPORT)) == pytest.approx(1.7, abs=1e-4)


def test_a_critic_learns_a_quadratic_and_its_slope() -> None:
    """Q(s, a) = 1 - (a - s / 2)^2 from samples: the mean of its histogram, and where the best action is."""
    net, (width, bins) = QNetwork((32, 32), 41, "tanh"), (2.0, 41)
    key = jax.random.key(1)
    seen, action = jax.random.uniform(key, (2, 512, 1), minval=-1, maxval=1)
    target = encode(1 - (action - seen / 2)[:, 0] ** 2, width, bins)
    params: Any = net.init(key, seen, action)
    flat, shaped = ravel_pytree(params)

    def loss(x: jax.Array) -> jax.Array:
        return cross_entropy(net.apply(shaped(x), seen, action), target).mean()  # type: ignore[arg-type]

    @jax.jit
    def step(_: int, now: tuple) -> tuple:
        x, speed = now
        speed = 0.9 * speed + jax.grad(loss)(x)
        return x - 0.05 * speed, speed

    flat, _ = jax.lax.fori_loop(0, 600, step, (flat, flat * 0))

    def q(s: float, a: float) -> jax.Array:
        logits: Any = net.apply(shaped(flat), jnp.array([s]), jnp.array([a]))
        return mean_of(logits, width, bins)

    assert float(q(0.4, 0.2)) == pytest.approx(1.0, abs=0.1)
    assert float(q(-0.6, 0.5)) == pytest.approx(1 - 0.8**2, abs=0.15)
    assert float(jax.grad(q, 1)(0.0, 0.6)) == pytest.approx(-1.2, abs=0.3)
