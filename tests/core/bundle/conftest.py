"""A run without training: random parameters are as good as any for parity."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.export import export_bundle
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario


@dataclass(frozen=True)
class Stats:
    mean: np.ndarray
    std: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Recipe:
    algorithm: str = "none"
    learning_rate: float = 1 / 3


@dataclass(frozen=True)
class TinyRun:
    """What export asks of a run, around a function (carry, normalized obs) -> (carry, unsquashed action)."""

    body: Callable[[tuple, jax.Array], tuple[tuple, jax.Array]]
    init_carry: tuple = ()
    name: str = "tiny"
    seed: int = 7
    commit: str = "0" * 40
    averaged: tuple[str, ...] = ()
    experts: tuple["TinyRun", ...] = ()
    scenario: FlightScenario = field(default_factory=lambda: load_scenario("swap_4"))
    config: Any = Recipe()

    @property
    def observation_stats(self) -> Stats:
        size = make_env(self.scenario).observation_size
        ramp = np.linspace(0.1, 1.3, size, dtype=np.float32)
        return Stats(ramp / 7, ramp, -3 * ramp, 3 * ramp)

    @property
    def weights(self) -> dict[str, np.ndarray]:
        return {"params": np.arange(3.0)}

    @property
    def policy_fn(self) -> Callable[[tuple, jax.Array], tuple[tuple, jax.Array]]:
        stats, spec = self.observation_stats, make_env(self.scenario).action
        middle, half = (spec.high + spec.low) / 2, (spec.high - spec.low) / 2

        def policy(carry: tuple, obs: jax.Array) -> tuple[tuple, jax.Array]:
            carry, raw = self.body(carry, jnp.clip((obs - stats.mean) / stats.std, -10.0, 10.0))
            return carry, jnp.asarray(middle + half * jnp.tanh(raw))

        return policy  # type: ignore[return-value]


def mlp_run(activation: str = "tanh", **changes: Any) -> TinyRun:
    """A feed-forward run."""
    act = {"tanh": nn.tanh, "elu": nn.elu, "relu": nn.relu}[activation]
    network = nn.Sequential([nn.Dense(32), act, nn.Dense(32), act, nn.Dense(4)])
    run = TinyRun(lambda carry, x: (carry, x[..., :4]), **changes)
    params = network.init(jax.random.key(3), jnp.zeros(make_env(run.scenario).observation_size))
    return TinyRun(lambda carry, x: (carry, network.apply(params, x)), **changes)  # type: ignore[return-value]


def gru_run() -> TinyRun:
    """A recurrent run."""
    cell, head = nn.GRUCell(16), nn.Dense(4)
    size = make_env(load_scenario("swap_4")).observation_size
    cell_params = cell.init(jax.random.key(0), jnp.zeros(16), jnp.zeros(size))
    head_params = head.init(jax.random.key(1), jnp.zeros(16))

    def body(carry: tuple, x: jax.Array) -> tuple[tuple, jax.Array]:
        hidden, out = cell.apply(cell_params, carry[0], x)  # type: ignore[misc]
        return (hidden,), head.apply(head_params, out)  # type: ignore[return-value]

    return TinyRun(body, init_carry=(np.zeros(16, np.float32),), name="gru")


@pytest.fixture(scope="session")
def tiny_run() -> TinyRun:
    return mlp_run()


@cache
def sealed_once() -> Path:
    """An exported bundle, made once for all tests of this process."""
    temporary = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, temporary)
    return export_bundle(mlp_run(), Path(temporary) / "tiny").folder


@pytest.fixture(scope="session")
def sealed() -> Path:
    """Folder of an exported bundle; copy it before you change anything."""
    return sealed_once()
