"""What never moves does not give way where no command holds all rows."""

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.safety.qp.candidates import over
from robomarl.safety.qp.least import clear

BOX = (np.full((3, 64), -4.0), np.full((3, 64), 4.0))


def rows_of(count: int) -> np.ndarray:
    """[count, 4, 64] half-spaces that all have the point 0, which keeps them from being at odds."""
    rng = np.random.default_rng(count)
    normals = rng.normal(size=(count, 3, 64))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return np.concatenate([normals, rng.uniform(0.0, 1.0, (count, 1, 64))], 1)


def test_one_row_is_kept_by_the_nearest_command():
    rows, u = rows_of(1), np.random.default_rng(0).uniform(-2, 2, (3, 64))
    found = clear(u, rows, BOX, np)  # type: ignore[arg-type]
    assert over(rows, found).max() <= 1e-12
    np.testing.assert_allclose(found, u - np.maximum(over(rows, u), 0) * rows[0, :3], atol=1e-12)


def test_it_is_the_same_in_jax():
    rows, u = rows_of(12), np.random.default_rng(1).uniform(-4, 4, (3, 64))
    found = jax.jit(lambda rows, u: clear(u, rows, BOX, jnp))(rows, u)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, clear(u, rows, BOX, np), atol=1e-5)  # type: ignore[arg-type]
