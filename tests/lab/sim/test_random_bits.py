"""Noise within an episode: uniform, and independent over steps, robots and episodes."""

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.lab.sim.random_bits import seed_words, uniform


def _sample(episodes: int = 64, steps: int = 64) -> np.ndarray:
    words = jax.vmap(seed_words)(jax.random.split(jax.random.key(0), episodes))
    over_steps = jax.vmap(uniform, (None, 0, None, None))
    return np.asarray(jax.vmap(over_steps, (0, None, None, None))(words, jnp.arange(steps), 4, 12))


def test_draws_are_uniform() -> None:
    """Mean 1/2, variance 1/12, a flat histogram (chi-squared over 64 cells within 5 deviations), all below 1."""
    x = _sample()
    assert 0 <= x.min() and x.max() < 1
    assert abs(x.mean() - 0.5) < 5 / np.sqrt(12 * x.size)
    assert abs(x.var() - 1 / 12) < 5e-4
    counts = np.histogram(x, 64, (0, 1))[0]
    expected = x.size / 64
    assert abs(((counts - expected) ** 2 / expected).sum() - 63) < 5 * np.sqrt(2 * 63)


def test_draws_are_independent_along_every_axis() -> None:
    """Neighbours along episodes, steps, robots and columns are uncorrelated, and no draw repeats itself often."""
    x = _sample() - 0.5
    for axis in range(4):
        a, b = np.take(x, range(x.shape[axis] - 1), axis), np.take(x, range(1, x.shape[axis]), axis)
        assert abs((a * b).mean() * 12) < 5 / np.sqrt(a.size)
    assert len(np.unique(x)) > 0.98 * x.size


def test_same_seed_and_step_give_the_same_draws() -> None:
    """Pure: nothing is hidden."""
    words = seed_words(jax.random.key(4))
    np.testing.assert_array_equal(uniform(words, jnp.int32(3), 2, 5), uniform(words, jnp.int32(3), 2, 5))
    assert not np.array_equal(uniform(words, jnp.int32(3), 2, 5), uniform(words, jnp.int32(4), 2, 5))
