"""Each way to learn from data, where the best action is known: one decision, and rewards that grow towards 0.5."""

from functools import partial

import jax
import numpy as np
import optax
import pytest
from brax.training.acme import running_statistics as stats
from brax.training.acme import specs

from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.lab.train.config import NetworkConfig, OfflineConfig
from robomarl.lab.train.networks import make_networks
from robomarl.lab.train.offline.fit import scaled_rewards, steps
from robomarl.lab.train.offline.learners import STEPS, Tools, acts, first
from robomarl.lab.train.offline.transitions import Transitions

BEST, SPREAD = 0.5, 0.4
"""Best action, and how far the data's actions are spread around 0."""


def one_decision() -> Transitions:
    rng = np.random.default_rng(0)
    obs, zero = rng.normal(size=(2000, 3)).astype(np.float32), np.zeros(2000, np.float32)
    action = rng.uniform(-SPREAD, SPREAD, (2000, 1)).astype(np.float32)
    reward = -((action[:, 0] - BEST) ** 2)
    return scaled_rewards(Transitions(obs, action, reward, obs, zero + 1, reward))


def learned_action(name: str) -> float:
    """Mean action after some hundred steps."""
    networks = make_networks(NetworkConfig((16,), (16,)), ObservationSpec((ObservationField("velocity"),)), 1)
    blank = stats.init_state(specs.Array((3,), np.dtype("float32")))
    tools = Tools(networks, blank, OfflineConfig(batch=64), 0.99, optax.adam(3e-3), (16,))
    actor = networks.actor.init(jax.random.key(0), (), np.zeros((1, 3), np.float32))
    rows = one_decision()
    start = first(tools, actor, rows, jax.random.key(1))
    learned, losses = jax.jit(partial(steps, tools, STEPS[name]))(start, rows, np.arange(600), jax.random.key(2))
    assert np.isfinite(losses).all()
    return float(acts(tools, learned.actor, rows.obs)[0].mean())


def test_cloning_does_what_the_data_do_on_average():
    assert learned_action("bc") == pytest.approx(0.0, abs=0.05)


def test_td3_bc_and_iql_do_better_than_the_data():
    assert learned_action("td3_bc") > 0.2
    assert 0.1 < learned_action("iql") < SPREAD + 0.05  # nothing that the data have not
