"""Actors: order of neighbours, recurrent state, and the same numbers in ONNX."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import pytest
from brax.training.acme import running_statistics, specs
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.core.config import UserError
from robomarl.core.domain.registry import find_features
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.lab.export.graph import to_onnx
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.layers import GraphAttention, MateSet
from robomarl.lab.train.mappo import unroll
from robomarl.lab.train.networks import (
    Actor,
    Carry,
    Networks,
    deterministic_policy,
    entity_slices,
    make_networks,
    mate_sets,
)
from robomarl.lab.train.rollout import forget
from robomarl.lab.train.state import Batch

ENV = make_env(load_scenario("swap_4"))
HEARD = [i for i, name in enumerate(ENV.observation.element_names()) if name.endswith(".heard")]
KINDS = {
    "flat": NetworkConfig((16,), (8,)),
    "gru": NetworkConfig((16,), (8,), memory="gru", gru_size=12),
    "attention": NetworkConfig((16,), (8,), encoder="attention", activation="elu"),
    "attention and gru": NetworkConfig((16,), (8,), encoder="attention", memory="gru", gru_size=12),
    "graph": NetworkConfig((16,), (8,), encoder="graph", heads=2),
    "graph and gru": NetworkConfig((16,), (8,), encoder="graph", heads=2, memory="gru", gru_size=12),
}


def _make(kind: str) -> tuple[Networks, dict, running_statistics.RunningStatisticsState]:
    networks = make_networks(KINDS[kind], ENV.observation, ENV.action_size)
    params = networks.actor.init(jax.random.key(0), networks.init_carry(()), jnp.zeros(ENV.observation_size))
    params = jax.tree.map(lambda p: p + 0.3 * jax.random.normal(jax.random.key(1), p.shape), params)
    stats = running_statistics.init_state(specs.Array((ENV.observation_size,), jnp.dtype("float32")))
    stats = running_statistics.update(stats, 2 * jax.random.normal(jax.random.key(2), (64, ENV.observation_size)) + 1)
    return networks, params, stats


def _obs(*shape: int) -> jax.Array:
    """Observations, in which every mate is heard."""
    obs = jax.random.normal(jax.random.key(3), (*shape, ENV.observation_size))
    return obs.at[..., jnp.array(HEARD)].set(1.0)


@pytest.mark.parametrize("kind", ["attention", "attention and gru", "graph", "graph and gru"])
def test_order_of_the_neighbours_does_not_change_the_action(kind: str) -> None:
    """Swap the rows of two neighbours in the raw observation: the action stays. The flat actor does not do that."""
    (start, count, width), obs = entity_slices(ENV.observation)[0], _obs()
    rows = obs[start : start + count * width].reshape(count, width)
    mixed = obs.at[start : start + count * width].set(rows[jnp.array([2, 0, 1])].reshape(-1))
    for name, same in ((kind, True), ("flat", False)):
        networks, params, stats = _make(name)
        policy = deterministic_policy(networks, params, stats, ENV.action)
        one, other = (policy(networks.init_carry(()), o)[1] for o in (obs, mixed))
        assert np.allclose(one, other, atol=1e-5) == same


@settings(deadline=None, max_examples=25)
@given(
    heard=st.lists(st.booleans(), min_size=3, max_size=3),
    order=st.permutations(range(5)),
    seed=st.integers(0, 2**16),
)
def test_a_graph_is_of_those_who_are_there(heard: list[bool], order: list[int], seed: int) -> None:
    """Three rows, some of them empty, give what five rows in any order give whose empty ones hold anything at all;
    where nobody is there, the summary is 0."""
    rng = np.random.default_rng(seed)
    own, rows = rng.normal(size=2), rng.normal(size=(3, 3))
    rows[:, 2] = heard
    more = np.concatenate([rows, [[*rng.normal(size=2), 0.0]] * 2])
    more[more[:, 2] == 0, :2] = 100 * rng.normal(size=2)
    graphs = [GraphAttention((MateSet(((2, len(r), 3),), 2),), 8, 2, "tanh") for r in (rows, more)]
    few, many = (jnp.asarray([*own, *r.reshape(-1)], jnp.float32) for r in (rows, more[list(order)]))
    params = graphs[0].init(jax.random.key(seed), few)
    found = [np.asarray(graph.apply(params, obs)) for graph, obs in zip(graphs, (few, many), strict=True)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)
    np.testing.assert_allclose(found[0][:2], own, atol=1e-6)
    assert any(heard) == bool(np.abs(found[0][2:]).max() > 1e-4)


def test_graph_of_a_policy_gives_an_absent_mate_no_weight_and_no_scale() -> None:
    """What stands in the rows of a mate that is not heard changes nothing, and gets no gradient."""
    (start, _, width), obs = entity_slices(ENV.observation)[0], _obs()
    obs = obs.at[HEARD[1]].set(0.0)
    networks, params, stats = _make("graph")

    def action(obs: jax.Array) -> jax.Array:
        return networks.act(params, (), networks.normalize(obs, stats))[1]

    slope = np.asarray(jax.jacobian(action)(obs))
    absent = slice(start + width, start + 2 * width)
    assert (slope[:, absent] == 0).all()
    assert np.abs(slope[:, start : start + width - 1]).min(0).max() > 0
    normalized = np.asarray(networks.normalize(obs, stats))
    np.testing.assert_array_equal(normalized[HEARD], np.asarray(obs)[HEARD])


def test_rows_of_the_same_mates_are_one_set() -> None:
    """`mates_plan` has no element of its own that says who is there: it is more of the same mates."""
    find_features(["mates_in_plane", "mates_plan"])
    rule, names = ENV.observation.neighbours, ("velocity", "mates_in_plane", "mates_plan")
    spec = ObservationSpec(tuple(map(ObservationField, names)), rule)
    assert mate_sets(spec) == (MateSet(((3, 3, 5), (18, 3, 2)), 4),)
    with pytest.raises(UserError, match=r"no input says which mates are heard"):
        mate_sets(ObservationSpec((ObservationField("velocity"), ObservationField("mates_plan")), rule))
    with pytest.raises(ValueError, match="need a layer each at least"):
        NetworkConfig(actor_hidden=())
    with pytest.raises(ValueError, match=r"heads = 3 must divide the first of actor_hidden = 16"):
        NetworkConfig((16,), encoder="graph", heads=3)


@pytest.mark.parametrize("kind", KINDS)
def test_unrolling_equals_the_steps_one_by_one_and_forgets_at_the_end_of_an_episode(kind: str) -> None:
    """[B, T] at once against a loop that carries the state and drops it where done is 1."""
    networks, params, _ = _make(kind)
    obs, done = _obs(2, 5, 3), jnp.array([[0, 1, 0, 0, 0], [0, 0, 0, 1, 0]], jnp.float32)
    none = jnp.zeros((2, 5, 3))
    batch = Batch(networks.init_carry((2, 3)), done, obs, none, none, none, none, none)
    carry, outputs = batch.carry, []
    for t in range(5):
        carry, output = networks.actor.apply(params, carry, obs[:, t])
        carry = forget(carry, done[:, t])
        outputs.append(output)
    np.testing.assert_allclose(
        unroll(networks, params, batch.carry, batch.obs, batch.done), jnp.stack(outputs, 1), atol=1e-5
    )


@pytest.mark.parametrize("kind", KINDS)
def test_onnx_graph_gives_the_same_actions_with_the_carry_as_named_inputs(kind: str) -> None:
    """Ten decisions in a row, a batch of three: JAX against onnxruntime to 1e-5."""
    networks, params, stats = _make(kind)
    policy = deterministic_policy(networks, params, stats, ENV.action)
    _same_in_onnx(policy, networks.init_carry((3,)), list(_obs(10, 3)))


def _same_in_onnx(policy: Callable, carry: Carry, observations: list[jax.Array]) -> None:
    """The policy and its graph along a sequence of observations, [B, O] each."""

    def flat(obs, *carry):
        after, action = policy(tuple(carry), obs)
        return (action, *after)

    inputs = {"obs": observations[0].shape[1:], **{f"carry.{i}": c.shape[1:] for i, c in enumerate(carry)}}
    graph = to_onnx(flat, inputs, ["action", *(f"next.{i}" for i in range(len(carry)))])
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    held = [np.asarray(c) for c in carry]
    for obs in observations:
        carry, action = policy(carry, obs)
        feed = {"obs": np.asarray(obs), **{f"carry.{i}": c for i, c in enumerate(held)}}
        found, *held = session.run(None, feed)
        np.testing.assert_allclose(np.asarray(found), action, atol=1e-5)


ROLES = ObservationSpec(
    (ObservationField("velocity"), ObservationField("own_index"), ObservationField("neighbours")),
    ENV.observation.neighbours,
)
"""A role is a one-hot block of the observation, read from `LocalView.role` and nothing else."""


def _by_role(kind: str) -> tuple[Networks, dict, running_statistics.RunningStatisticsState]:
    networks = make_networks(dataclasses.replace(KINDS[kind], roles=3), ROLES, ENV.action_size)
    params = networks.actor.init(jax.random.key(0), networks.init_carry(()), jnp.zeros(ROLES.size))
    params = jax.tree.map(lambda p: p + 0.3 * jax.random.normal(jax.random.key(1), p.shape), params)
    stats = running_statistics.init_state(specs.Array((ROLES.size,), jnp.dtype("float32")))
    return networks, params, running_statistics.update(stats, _role_obs(64))


def _role_obs(rows: int) -> jax.Array:
    """Observations [rows, O] of robots of roles 0, 1, 2, 0, ..."""
    obs = 2 * jax.random.normal(jax.random.key(4), (rows, ROLES.size)) + 1
    return obs.at[:, 3:9].set(jax.nn.one_hot(jnp.arange(rows) % 3, 6))


@pytest.mark.parametrize("kind", ["flat", pytest.param("attention and gru", marks=pytest.mark.slow)])
def test_every_role_has_an_actor_of_its_own(kind: str) -> None:
    """The output is that of the role's own parameters, and no other role's parameters touch it."""
    networks, params, stats = _by_role(kind)
    single = Actor(KINDS[kind], ENV.action_size, networks.actor.sets)
    carry, obs = networks.init_carry((6,)), networks.normalize(_role_obs(6), stats)
    after, output = networks.act(params, carry, obs)
    for i in range(6):
        own = {"params": jax.tree.map(lambda p, i=i: p[i % 3], next(iter(params["params"].values())))}
        wanted_after, wanted = single.apply(own, jax.tree.map(lambda c, i=i: c[i], carry), obs[i])
        np.testing.assert_allclose(output[i], np.asarray(wanted), atol=1e-5)
        for a, b in zip(after, wanted_after, strict=True):
            np.testing.assert_allclose(a[i], b, atol=1e-5)
    gradient = jax.grad(lambda p: networks.act(p, carry[:0] or jax.tree.map(lambda c: c[:1], carry), obs[:1])[1].sum())
    sizes = [jnp.abs(leaf).reshape(3, -1).sum(-1) for leaf in jax.tree.leaves(gradient(params))]
    assert all((size[1:] == 0).all() for size in sizes) and any(size[0] > 0 for size in sizes)


@pytest.mark.parametrize("kind", ["flat", "attention and gru"])
def test_one_onnx_graph_selects_the_parameters_by_role(kind: str) -> None:
    """Robots of three roles in one batch, five decisions: JAX against onnxruntime to 1e-5."""
    networks, params, stats = _by_role(kind)
    policy = deterministic_policy(networks, params, stats, ENV.action)
    _same_in_onnx(policy, networks.init_carry((6,)), [_role_obs(6)] * 5)


def test_roles_that_the_observation_does_not_know_are_named() -> None:
    """One sentence with the key and the mend."""
    with pytest.raises(UserError, match=r"network.roles = 2, but the task's observation knows no role; make it 1"):
        make_networks(NetworkConfig(roles=2), ENV.observation, 4)
    with pytest.raises(UserError, match=r"network.roles = 7, .* knows 6 roles"):
        make_networks(NetworkConfig(roles=7), ROLES, 4)


def test_recurrent_policy_remembers() -> None:
    """The same observation after another past gives another action."""
    networks, params, stats = _make("gru")
    policy, start = deterministic_policy(networks, params, stats, ENV.action), networks.init_carry(())
    now = _obs()
    past, _ = policy(start, -now)
    assert not np.allclose(policy(start, now)[1], policy(past, now)[1], atol=1e-4)


def test_default_recipe_is_feed_forward() -> None:
    """The carry of the default network is empty, so that its graph has one input."""
    networks = make_networks(TrainConfig().network, ENV.observation, ENV.action_size)
    assert networks.init_carry((2,)) == ()
