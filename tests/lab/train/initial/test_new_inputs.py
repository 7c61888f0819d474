"""A policy that goes on with more inputs: it does what it did, whatever the new ones say; their scales are flown."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax.training.acme import running_statistics as stats
from brax.training.acme import specs

from robomarl.core.config import UserError
from robomarl.core.spec import NeighbourRule, ObservationSpec
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import init_state, training_env
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.initial.new_inputs import fitted, with_scales
from robomarl.lab.train.mappo import normalize
from robomarl.lab.train.networks import deterministic_policy
from robomarl.lab.train.recipe_networks import networks_of
from robomarl.lab.train.stages.check import check_plan
from robomarl.lab.train.stages.read import load_plan

SMALL = TrainConfig(num_envs=2, unroll=4, minibatches=1, network=NetworkConfig((6,), (4,)))
FLAT = NetworkConfig((6,), (4,))
LOOKS = replace(FLAT, encoder="attention")
NETWORKS = (
    FLAT,
    replace(LOOKS, memory="gru", gru_size=5),
    pytest.param(replace(FLAT, memory="gru", gru_size=5), marks=pytest.mark.slow),
    pytest.param(LOOKS, marks=pytest.mark.slow),
    replace(FLAT, encoder="graph", heads=2),
)


def env_of(config: TrainConfig, **other: Any) -> Any:
    return training_env(config, replace(load_scenario("swap_4"), count=2, time_limit_s=0.2, **other))


def parts_of(config: TrainConfig, env: Any) -> dict[str, Any]:
    """What is learned, of an untrained policy; see `weights_of`. A critic sees what the robot sees, or 5 numbers."""
    networks, size = networks_of(config, env), env.observation_size
    known = size if config.algorithm == "ippo" else 5
    return {
        "params": {
            "actor": networks.actor.init(jax.random.key(0), networks.init_carry(()), jnp.zeros(size)),
            "critic": networks.critic.init(jax.random.key(1), jnp.zeros(known)),
        },
        "obs_stats": statistics_of(size),
        "critic_stats": statistics_of(known),
        "obs_range": (jnp.zeros(size), jnp.zeros(size)),
    }


def statistics_of(size: int) -> stats.RunningStatisticsState:
    return stats.update(stats.init_state(specs.Array((size,), jnp.dtype("float32"))), jnp.zeros((7, size)))


def weights_like(config: TrainConfig, env: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Weights and statistics of a policy that does something."""
    leaves = jax.tree_util.tree_flatten_with_path(parts_of(config, env))[0]
    weights = {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}
    moved = {
        name: rng.normal(0.0, 0.3, value.shape).astype(value.dtype) for name, value in weights.items() if value.ndim
    }
    return weights | {n: np.abs(v) + 0.5 if ".std" in n or "variance" in n else v for n, v in moved.items()}


def with_arrays(parts: Any, weights: Mapping[str, np.ndarray]) -> Any:
    """The same tree with these arrays."""
    leaves, tree = jax.tree_util.tree_flatten_with_path(parts)
    found = [weights[jax.tree_util.keystr(path)] for path, _ in leaves]
    assert [np.shape(array) for array in found] == [np.shape(leaf) for _, leaf in leaves]
    return jax.tree.unflatten(tree, found)


def actions(config: TrainConfig, env: Any, weights: Mapping[str, np.ndarray], obs: np.ndarray) -> np.ndarray:
    """Of a memory that is not empty."""
    parts, networks = with_arrays(parts_of(config, env), weights), networks_of(config, env)
    policy = deterministic_policy(networks, parts["params"]["actor"], parts["obs_stats"], env.action)
    carry = tuple(c + 0.3 for c in networks.init_carry((len(obs),)))
    return np.asarray(jax.jit(policy)(carry, jnp.asarray(obs))[1])


def both(network: NetworkConfig, algorithm: str = "mappo") -> tuple:
    """Recipe, environments without and with the mean, observations of both, and weights without and with it.

    What the second sees of the first is the same, and on the new inputs it sees anything."""
    config, rng = replace(SMALL, network=network, algorithm=algorithm), np.random.default_rng(0)
    before, after = env_of(config, remembered_s=0.0), env_of(config, remembered_s=0.7)
    weights = weights_like(config, before, rng)
    wide = fitted(weights, before.observation, config, after, "it")
    new = 100.0 * rng.normal(size=(64, after.observation_size)).astype(np.float32)
    obs = new[:, : before.observation_size] = new[:, : before.observation_size] / 100.0
    return config, before, after, obs, new, weights, wide


@pytest.mark.parametrize("network", NETWORKS, ids=lambda n: f"{n.encoder}-{n.memory}")
def test_an_input_that_is_new_changes_no_action(network: NetworkConfig):
    config, before, after, obs, new, weights, wide = both(network)
    assert new.shape[1] == obs.shape[1] + 3
    found, wanted = actions(config, after, wide, new), actions(config, before, weights, obs)
    assert np.ptp(wanted, 0).min() > 0.1
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


def test_nor_what_a_critic_that_sees_what_the_robot_sees_says():
    config, before, after, obs, new, weights, wide = both(FLAT, "ippo")
    values = []
    for env, own, seen in ((before, weights, obs), (after, wide, new)):
        parts = with_arrays(parts_of(config, env), own)
        critic = networks_of(config, env).value(parts["params"]["critic"], normalize(seen, parts["critic_stats"]))
        values.append(np.asarray(critic))
    np.testing.assert_allclose(values[1], values[0], rtol=0, atol=1e-6)
    assert np.ptp(values[0]) > 0.1


def test_inputs_in_another_order_are_found_by_their_names():
    config, _, env, _, obs, _, wide = both(FLAT)
    spec = env.observation
    turned = ObservationSpec(spec.fields[::-1], spec.neighbours)
    place = [spec.element_names().index(name) for name in turned.element_names()]
    rows = {n: np.take(v, place, -1 if v.ndim == 1 else 0) for n, v in wide.items() if env.observation_size in v.shape}
    found = fitted({**wide, **rows}, turned, config, env, "it")
    assert all((found[name] == value).all() for name, value in wide.items())
    assert any((value != wide[name]).any() for name, value in rows.items())
    assert np.isfinite(actions(config, env, found, obs)).all()


@pytest.mark.slow
def test_new_inputs_have_the_scales_that_they_have_in_flight_and_all_else_stays():
    config, _, env, obs, _, _, _ = both(FLAT)
    own = obs.shape[1]
    fresh = jax.jit(partial(init_state, config, env))(jax.random.key(0))
    unseen = tuple(jnp.where(jnp.arange(own + 3) < own, 1.0, bound) for bound in fresh.obs_range)
    first = fresh._replace(obs_range=unseen)
    state = with_scales(config, env, first)
    for old, now in zip(jax.tree.leaves(first), jax.tree.leaves(state), strict=True):
        if not jnp.issubdtype(old.dtype, jax.dtypes.prng_key) and (old != now).any():
            assert old.shape == (own + 3,) and not (old != now)[:own].any()
    std = np.asarray(state.obs_stats.std)[own:]
    assert (std > 1e-4).all() and (std < 0.1).all()
    low, high = (np.asarray(bound)[own:] for bound in state.obs_range)
    assert (low < high).all() and (np.abs([low, high]) <= 0.1 + 1e-6).all()
    assert with_scales(config, env, state) is state, "all was seen"


def test_what_can_not_be_kept_is_refused():
    config, before, after, _, _, weights, wide = both(FLAT)
    assert fitted(weights, before.observation, config, before, "it") is weights
    with pytest.raises(UserError, match=r"^it: its policy sees near_error.x@mean, near_error.y@mean, .*does not show"):
        fitted(wide, after.observation, config, before, "it")
    more = env_of(config, remembered_s=0.0, radio=replace(before.scenario.radio, neighbours=4))
    assert more.observation.neighbours == NeighbourRule(4, 12.0, 0.5)
    assert fitted(weights, before.observation, config, more, "it")["['obs_stats'].mean"].shape == (43,)
    looks = replace(config, network=LOOKS)
    with pytest.raises(UserError, match=r"^it: its policy looks at 3 neighbours as a set, and swap_4 shows 4"):
        fitted(weights_like(looks, before, np.random.default_rng(0)), before.observation, looks, more, "it")


@pytest.mark.slow
def test_stages_of_swap_4_calm_fit_each_other():
    plan = load_plan("swap_4_calm")
    assert plan is not None
    assert [stage.config.scenario for stage in plan.stages] == ["swap_4_plain", "swap_4_plain", "swap_4", "swap_4"]
    assert [load_scenario(name).remembered_s for name in ("swap_4_plain", "swap_4")] == [0.0, 0.7]
    check_plan(plan)
