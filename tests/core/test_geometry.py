"""Rotations against hand-computed values and against each other, in numpy and in JAX."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robomarl.core import geometry as g

UNIT = (
    st.tuples(*[st.floats(-1, 1)] * 4)
    .filter(lambda q: 0.1 < sum(x * x for x in q))
    .map(lambda q: np.array(q) / np.linalg.norm(q))
)
VECTOR = st.tuples(*[st.floats(-10, 10)] * 3).map(np.array)


def test_quarter_turn_about_z_takes_x_to_y() -> None:
    """(cos 45, 0, 0, sin 45) is a quarter turn about z."""
    quarter = g.quat_from_yaw(np.array(np.pi / 2))
    np.testing.assert_allclose(quarter, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    np.testing.assert_allclose(g.rotate(quarter, np.array([1.0, 0, 0])), [0, 1, 0], atol=1e-12)
    assert g.yaw_of(quarter) == pytest.approx(np.pi / 2)


@given(UNIT, UNIT, VECTOR)
def test_product_is_one_rotation_after_the_other(p: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
    """(p q) v = p (q v), lengths are kept, the conjugate undoes."""
    np.testing.assert_allclose(g.rotate(g.quat_multiply(p, q), v), g.rotate(p, g.rotate(q, v)), atol=1e-9)
    assert g.norm(g.rotate(q, v)) == pytest.approx(float(g.norm(v)), abs=1e-9)
    np.testing.assert_allclose(g.rotate(g.quat_conjugate(q), g.rotate(q, v)), v, atol=1e-9)


@given(UNIT, UNIT)
def test_angle_is_symmetric_and_knows_that_q_and_minus_q_are_one(p: np.ndarray, q: np.ndarray) -> None:
    """0 for the same attitude, the same both ways."""
    assert g.rotation_angle(q, -q) == pytest.approx(0.0, abs=1e-6)
    assert g.rotation_angle(p, q) == pytest.approx(float(g.rotation_angle(q, p)), abs=1e-9)


@given(UNIT, VECTOR)
def test_jax_and_numpy_agree(q: np.ndarray, v: np.ndarray) -> None:
    """The same function on both kinds of arrays; the result is of the kind that went in."""
    found = g.rotate(jnp.asarray(q, jnp.float32), jnp.asarray(v, jnp.float32))
    assert isinstance(found, type(jnp.zeros(1)))
    np.testing.assert_allclose(found, g.rotate(q, v), atol=2e-5)
    assert isinstance(g.rotate(q, v), np.ndarray)
