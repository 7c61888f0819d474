"""Running statistics of what networks see."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from brax.training.acme import running_statistics as stats
from brax.training.acme import specs

from robomarl.lab.train.state import count_in


def test_they_know_how_little_a_value_far_from_zero_moves() -> None:
    """From the first batch on: single precision loses the square of 0.01 beside that of 100."""
    batches = 100 + 0.01 * np.random.default_rng(0).standard_normal((3, 64, 64, 2))
    found: Any = stats.init_state(specs.Array((2,), jnp.dtype("float32")))
    for count in (1, 2, 3):
        found = jax.jit(count_in)(found, jnp.asarray(batches[count - 1], jnp.float32))
        np.testing.assert_allclose(found.std, batches[:count].std((0, 1, 2)), rtol=0.01)
        np.testing.assert_allclose(found.mean, batches[:count].mean((0, 1, 2)), rtol=1e-6)


def test_they_are_those_of_all_batches() -> None:
    """Also of numbers, and of batches that are not alike."""
    batches = [np.random.default_rng(i).normal(3.0 * i, 1.0 + i, (50, 7)) for i in range(4)]
    found: Any = stats.init_state(specs.Array((), jnp.dtype("float32")))
    for batch in batches:
        found = count_in(found, jnp.asarray(batch, jnp.float32))
    np.testing.assert_allclose(found.std, np.std(batches), rtol=1e-4)
    np.testing.assert_allclose(found.mean, np.mean(batches), rtol=1e-4)
