"""REPPO: its slopes against finite differences, its two multipliers, and an actor that waits and then learns."""

import dataclasses
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax.envs.base import State
from jax.flatten_util import ravel_pytree

from robomarl.core.config import UserError
from robomarl.core.spec import ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import NetworkConfig, NoiseConfig, TrainConfig
from robomarl.lab.train.distribution import distribution, divergence
from robomarl.lab.train.networks import make_networks
from robomarl.lab.train.optimizer import init_optimizer
from robomarl.lab.train.reppo import learner
from robomarl.lab.train.reppo.config import ReppoConfig
from robomarl.lab.train.reppo.critic import QNetwork, QNetworks, q_networks
from robomarl.lab.train.state import TrainState
from tests.lab.train.learners import blank_state

SMALL = TrainConfig(algorithm="reppo", num_envs=2, unroll=3, minibatches=1, epochs=1, network=NetworkConfig((8,), (8,)))
FREE = dataclasses.replace(SMALL, reppo=ReppoConfig(kl_bound=1e9), noise=NoiseConfig(0.6, 0.05, 0.05))
BEST = jnp.array([0.4, -0.3])


class Quadratic(QNetworks):
    """A critic that knows: Q(s, a) = -|a - best - s_xy / 4|^2, whatever its parameters are."""

    def action_value(self, params: Any, seen: jax.Array, action: jax.Array, config: ReppoConfig) -> jax.Array:
        return -((action - BEST - seen[..., :2] / 4) ** 2).sum(-1)


@pytest.fixture(scope="module")
def networks() -> Quadratic:
    actor = make_networks(NetworkConfig((8,), (8,)), ObservationSpec((ObservationField("velocity"),)), 2).actor
    return Quadratic(actor, QNetwork((8,), SMALL.reppo.bins, "tanh"))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def samples(networks: Quadratic) -> tuple[Any, learner.Played]:
    """An actor, and samples of four teams of two robots in five decisions that it played."""
    keys = jax.random.split(jax.random.key(0), 3)
    obs, action = jax.random.normal(keys[0], (4, 5, 2, 3)), jnp.zeros((4, 5, 2, 2))
    actor: Any = networks.actor.init(keys[1], (), obs)
    done, target = jnp.zeros((4, 5)), jnp.full((4, 5, 2, SMALL.reppo.bins), 1 / SMALL.reppo.bins)
    return actor, learner.Played((), done, obs, obs, action, networks.act(actor, (), obs)[1], target)


def weighing(temperature: float = 0.0, multiplier: float = 1.0) -> learner.Weighing:
    return learner.Weighing((), jnp.array(temperature), jnp.array(multiplier), jnp.array(0.05))


def test_the_slope_is_that_of_finite_differences(networks: Quadratic, samples: tuple[Any, learner.Played]) -> None:
    """Of value and entropy at actions of a squashed Gaussian, along the slope and two other ways."""
    actor, batch = samples
    noise = jax.random.normal(jax.random.key(3), batch.action.shape)
    flat, shaped = ravel_pytree(actor)

    @jax.jit
    def loss(x: jax.Array) -> jax.Array:
        return learner.actor_loss(shaped(x), FREE, networks, batch, noise, weighing(0.1))[0]

    slope = jax.grad(loss)(flat)
    for way in (slope / jnp.linalg.norm(slope), *(jax.random.normal(jax.random.key(k), flat.shape) for k in range(2))):
        found = (loss(flat + 1e-2 * way) - loss(flat - 1e-2 * way)) / 2e-2
        assert float(found) == pytest.approx(float(slope @ way), rel=0.02, abs=2e-3)


def test_up_the_slope_is_where_the_value_is_largest(networks: Quadratic, samples: tuple[Any, learner.Played]) -> None:
    """With the critic that knows, the squashed mean comes to the best action of each state."""
    actor, batch = samples
    flat, shaped = ravel_pytree(actor)

    @jax.jit
    def step(k: jax.Array, x: jax.Array) -> jax.Array:
        noise = jax.random.normal(jax.random.key(k), batch.action.shape)  # type: ignore[arg-type]
        return x - 0.3 * jax.grad(lambda x: learner.actor_loss(shaped(x), FREE, networks, batch, noise, weighing())[0])(
            x
        )

    flat = jax.lax.fori_loop(0, 800, step, flat)
    mean = jnp.tanh(networks.act(shaped(flat), (), batch.obs)[1][..., :2])
    best = jnp.clip(BEST + batch.obs[..., :2] / 4, -0.9, 0.9)
    assert float(jnp.abs(mean - best).mean()) < 0.08


def test_beyond_the_bound_only_the_way_back_counts(networks: Quadratic, samples: tuple[Any, learner.Played]) -> None:
    """An actor that has moved far in all states: the slope is that of the multiplier times the divergence alone."""
    actor, batch = samples
    away = jax.tree.map(lambda x: x + 0.7, actor)
    noise = jax.random.normal(jax.random.key(3), batch.action.shape)

    def back(x: Any) -> jax.Array:
        said = (
            distribution(y, SMALL.noise, jnp.array(0.05)) for y in (batch.played, networks.act(x, (), batch.obs)[1])
        )
        return 3.0 * divergence(*said).mean()

    slope, terms = jax.grad(learner.actor_loss, has_aux=True)(
        away, SMALL, networks, batch, noise, weighing(0.1, multiplier=3.0)
    )
    assert float(terms["loss/over_bound"]) == 1.0
    for a, b in zip(jax.tree.leaves(slope), jax.tree.leaves(jax.grad(back)(away)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_the_divergence_is_that_of_samples() -> None:
    """KL(before | after) of two Gaussians: the mean of the difference of their log probabilities."""
    noise = NoiseConfig()
    before, after = (
        distribution(jnp.array(x), noise, jnp.array(0.05)) for x in ([0.1, 0.2, 0.3, -0.4], [0.5, 0.1, 0.0, 0.2])
    )
    drawn = before.loc + before.scale * jax.random.normal(jax.random.key(0), (200_000, 2))
    found = (before.log_prob(drawn) - after.log_prob(drawn)).sum(-1).mean()
    assert float(divergence(before, after)) == pytest.approx(float(found), abs=0.01)
    assert float(divergence(before, before)) == 0.0


@pytest.mark.parametrize(
    ("bound", "entropy", "rises"), [(1e-6, 9.0, (True, True)), (1e6, -9.0, (False, False)), (1e6, 9.0, (True, False))]
)
def test_multipliers_rise_while_their_bound_is_not_kept(
    networks: Quadratic, samples: tuple[Any, learner.Played], bound: float, entropy: float, rises: tuple[bool, bool]
) -> None:
    """Temperature where the entropy is below its target, multiplier where the divergence is above its bound."""
    config = dataclasses.replace(SMALL, reppo=ReppoConfig(bound, entropy=entropy, final_entropy=entropy))
    actor, batch = samples
    moved = jax.tree.map(lambda x: x + 0.1, actor)
    duals = {"temperature": jnp.zeros(()), "multiplier": jnp.zeros(())}
    state: TrainState = blank_state({"actor": moved, "critic": {}, "duals": duals}, 3)
    state = state._replace(optimizer=init_optimizer({"actor": moved, "duals": duals}))
    noise = jax.random.normal(jax.random.key(3), batch.action.shape)
    for _ in range(3):
        state, _ = learner.move_actor(config, networks, state._replace(steps=jnp.ones(())), batch, noise)
    after = state.params["duals"]
    assert (float(after["temperature"]) > 0, float(after["multiplier"]) > 0) == rises


def test_what_does_not_fit_is_refused() -> None:
    env = make_env(load_scenario("swap_4"))
    with pytest.raises(UserError, match=r"values the action of one robot; make network.critic .robot."):
        q_networks(dataclasses.replace(SMALL, network=NetworkConfig(critic="team")), env)
    with pytest.raises(UserError, match=r"reppo.bins = 6 must be more than 6, which are margins"):
        q_networks(dataclasses.replace(SMALL, reppo=ReppoConfig(bins=6)), env)


class Place(NamedTuple):
    """The toy's world: where the robots are, and how many decisions ago that began."""

    at: jax.Array
    step: jax.Array


class Episode(NamedTuple):
    """What the toy carries."""

    world: Place


class Homing:
    """Two robots on a plane, each paid for being near its origin; a command in [-1, 1] is a fifth of a step there."""

    action = ActionSpec(tuple(ActionField(name, "m/s", "world", -2.0, 2.0) for name in ("velocity.x", "velocity.y")))
    observation = ObservationSpec((ObservationField("velocity"),))
    scenario = SimpleNamespace(count=2, max_steps=12, period_s=0.1)
    num_agents, observation_size, action_size, decision_s, law = 2, 3, 2, 0.1, None

    def reset(self, key: jax.Array) -> State:
        place = Place(jax.random.uniform(key, (2, 2), minval=-1, maxval=1), jnp.zeros((), int))
        return self._state(place, jnp.zeros(2), jnp.zeros(()))

    def step(self, state: State, action: jax.Array) -> State:
        world: Any = state.pipeline_state.world  # type: ignore[union-attr]
        place = Place(world.at + 0.1 * action, world.step + 1)
        return self._state(place, -(place.at**2).sum(-1), (place.step >= 12).astype(float))

    def privileged(self, state: State) -> jax.Array:
        world: Any = state.pipeline_state.world  # type: ignore[union-attr]
        return jnp.concatenate([world.at, jnp.broadcast_to(world.step / 12, (2, 1))], -1)

    def _state(self, place: Place, reward: jax.Array, done: jax.Array) -> State:
        obs, zero = jnp.concatenate([place.at, jnp.zeros((2, 1))], -1), jnp.zeros(())
        told: Any = ({"success": zero, "contact": zero}, {"truncation": done})
        return State(Episode(place), obs, reward, done, *told)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_actor_waits_and_then_learns() -> None:
    """While the critic learns alone the policy stays bit-equal; then the team finds home: a reward of -0.67 where it
    stands still, -0.06 where it goes straight there."""
    env: Any = Homing()
    config = dataclasses.replace(
        SMALL, num_envs=64, unroll=8, minibatches=4, epochs=4, learning_rate=3e-3, critic_first=3.5 * 64 * 8 * 2
    )
    config = dataclasses.replace(config, value_horizon_s=0.5, noise=NoiseConfig(0.6, 0.05, 0.05), total_steps=150_000)
    config = dataclasses.replace(config, network=NetworkConfig((32, 32), (32, 32)))
    update, first = jax.jit(learner.make_update(config, env)), learner.init_state(config, env, jax.random.key(0))
    state = first
    for _ in range(3):
        state, _ = update(state)
    for name, same in (("actor", True), ("duals", True), ("critic", False)):
        pairs = zip(jax.tree.leaves(first.params[name]), jax.tree.leaves(state.params[name]), strict=True)
        assert all(np.array_equal(a, b) for a, b in pairs) == same
    pairs = zip(jax.tree.leaves(first.obs_stats), jax.tree.leaves(state.obs_stats), strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs), "the scales of what it sees are part of the policy"
    metrics = {}
    for _ in range(40):
        state, metrics = update(state)
    assert all(np.isfinite(float(x)) for x in metrics.values())
    assert float(metrics["reward"]) > -0.1


@pytest.mark.parametrize("memory", ["none", "gru"])
def test_gradient_steps_are_on_the_policy_that_played(memory: Literal["none", "gru"]) -> None:
    """Before the first step nothing has moved: no divergence, along a recurrent state too."""
    network = NetworkConfig((4,), (4,), memory=memory, gru_size=4)
    env: Any = Homing()
    config = dataclasses.replace(SMALL, network=network)
    state = learner.init_state(config, env, jax.random.key(0))
    after, metrics = jax.jit(learner.make_update(config, env))(state)
    assert float(metrics["loss/kl"]) == pytest.approx(0.0, abs=1e-6)
    assert float(metrics["loss/over_bound"]) == 0.0
    assert jax.tree.structure(after) == jax.tree.structure(state)
