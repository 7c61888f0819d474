"""What the compiler is told: once, without a word against the user's own flags, and nothing that changes a value."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.lab.sim.engines import compiler
from robomarl.lab.sim.engines.compiler import OPTION, SHARED, compiled_once, settle, share_results


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", SHARED),
        ("--xla_cpu_enable_fast_math=false", f"--xla_cpu_enable_fast_math=false {SHARED}"),
        (f"{OPTION}=xla_cpu_optimize_for_size", f"{OPTION}=xla_cpu_optimize_for_size"),
        (SHARED, SHARED),
    ],
)
def test_flags_of_the_user_stay(before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", before)
    share_results()
    assert os.environ["XLA_FLAGS"] == after


def test_settled_values_are_the_same_and_so_is_their_gradient() -> None:
    pair = (np.arange(3.0), [np.ones(2)])
    assert settle(pair) is pair
    np.testing.assert_array_equal(settle((jnp.arange(3.0),))[0], [0, 1, 2])
    slope = jax.vmap(jax.grad(lambda x: sum(settle((x * x, 3 * x)))))(jnp.array([1.0, 2.0]))
    np.testing.assert_array_equal(slope, [5.0, 7.0])


def test_a_program_that_runs_once_says_the_same_also_where_the_compiler_knows_no_haste(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = jax.jit(lambda x: (jnp.sin(x).sum(), x * 2)).lower(jnp.arange(3.0))
    for options in (compiler.IN_HASTE, {"an_option_of_nobody": True}):
        monkeypatch.setattr(compiler, "IN_HASTE", options)
        total, twice = compiled_once(program)(jnp.arange(3.0))
        np.testing.assert_allclose(total, np.sin([0.0, 1.0, 2.0]).sum(), rtol=1e-6)
        np.testing.assert_array_equal(twice, [0.0, 2.0, 4.0])
