"""A policy that goes on with a wider network: it does what it did, and every new unit learns."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.lab.train.config import NetworkConfig
from robomarl.lab.train.initial.new_inputs import fitted
from robomarl.lab.train.initial.wider import widened
from robomarl.lab.train.recipe_networks import networks_of
from tests.lab.train.initial.test_new_inputs import (
    FLAT,
    LOOKS,
    SMALL,
    actions,
    env_of,
    parts_of,
    weights_like,
    with_arrays,
)

NETWORKS = (
    (FLAT, NetworkConfig((9,), (7,))),
    (replace(FLAT, actor_hidden=(6, 5)), NetworkConfig((9, 8), (7,))),
    (
        replace(LOOKS, memory="gru", gru_size=5),
        replace(LOOKS, actor_hidden=(9,), critic_hidden=(7,), memory="gru", gru_size=8),
    ),
)


def policies(narrow: NetworkConfig, wide: NetworkConfig) -> tuple:
    """Recipe, environment and weights of both, and observations."""
    rng = np.random.default_rng(0)
    before, after = (replace(SMALL, network=network) for network in (narrow, wide))
    env = env_of(before)
    weights = weights_like(before, env, rng)
    obs = rng.normal(size=(64, env.observation_size)).astype(np.float32)
    return before, after, env, obs, weights, widened(weights, env.observation, after, env)


@pytest.mark.parametrize("pair", NETWORKS, ids=["flat", "deep", "attention-gru"])
def test_a_wider_network_changes_no_action_and_no_value(pair: tuple[NetworkConfig, NetworkConfig]):
    before, after, env, obs, weights, wide = policies(*pair)
    found, wanted = actions(after, env, wide, obs), actions(before, env, weights, obs)
    assert np.ptp(wanted, 0).min() > 0.1
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
    values = []
    for config, own in ((before, weights), (after, wide)):
        parts = with_arrays(parts_of(config, env), own)
        values.append(networks_of(config, env).value(parts["params"]["critic"], jnp.asarray(obs[:, :5])))
    np.testing.assert_allclose(values[1], values[0], rtol=0, atol=1e-6)
    assert np.ptp(values[0]) > 0.1


def test_what_new_units_say_is_learned_from_the_first_gradient_on():
    _, after, env, obs, _, wide = policies(*NETWORKS[2])
    parts, networks = with_arrays(parts_of(after, env), wide), networks_of(after, env)
    carry = networks.init_carry((len(obs),))
    loss = lambda params: networks.act(params, carry, jnp.asarray(obs))[1].sum()  # noqa: E731
    gradient = jax.grad(loss)(parts["params"]["actor"])["params"]
    head = np.asarray(gradient["MLP_0"]["Dense_0"]["kernel"])
    assert head.shape == (8, 9)
    assert (np.abs(head[5:, :6]).max(1) > 1e-6).all(), "new units of the memory, where they go to old ones"


def test_a_network_that_is_not_wider_stays_as_it_is():
    narrow, wide = NETWORKS[0]
    _, _, env, _, before, weights = policies(narrow, wide)
    for network in (wide, narrow, replace(wide, encoder="graph", heads=3)):
        assert widened(weights, env.observation, replace(SMALL, network=network), env) is weights
    both = [own["['params']['actor']['params']['MLP_0']['Dense_0']['kernel']"].shape[1] for own in (before, weights)]
    assert both == [6, 9]


def test_a_stage_may_be_wider_and_see_more_than_the_one_before():
    narrow, wide = NETWORKS[2]
    before, after = (replace(SMALL, network=network) for network in (narrow, wide))
    less, more = env_of(before, remembered_s=0.0), env_of(after, remembered_s=0.7)
    rng = np.random.default_rng(0)
    weights = weights_like(before, less, rng)
    obs = rng.normal(size=(64, more.observation_size)).astype(np.float32)
    wanted = actions(before, less, weights, obs[:, : less.observation_size])
    found = actions(after, more, fitted(weights, less.observation, after, more, "it"), obs)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)
