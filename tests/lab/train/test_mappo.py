"""The mathematics of the trainer: hand-computed advantages, clipping, statistics, and that it learns."""

import dataclasses
import math
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from robomarl.core.config import UserError
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import NetworkConfig, NoiseConfig, TrainConfig, load_recipe
from robomarl.lab.train.distribution import check_noise, distribution, log_prob, noise_along, squash
from robomarl.lab.train.mappo import Batch, change_loss, compute_gae, make_train, make_update, mappo_loss
from robomarl.lab.train.networks import Networks, make_networks
from robomarl.lab.train.optimizer import adapt_learning_rate, init_optimizer, optimizer_step
from robomarl.lab.train.rollout import collect_rollout, noise_floor
from robomarl.lab.train.run.profile import profile, simulate, table
from robomarl.lab.train.run.weights import weights_of, with_weights
from robomarl.lab.train.stages.versions import renewed_run
from robomarl.lab.train.state import TrainState
from tests.lab.train.learners import first_state

TINY = TrainConfig(num_envs=8, unroll=4, minibatches=2, epochs=2, total_steps=8 * 4 * 4 * 3)


def test_gae_equals_the_sum_by_hand() -> None:
    """Three steps, gamma 0.5, lambda 0.5, no end: deltas 1.5, 1, 2.5; then A2 = 2.5, A1 = 1 + A2/4, A0 = 1.5 + A1/4."""
    reward, value = jnp.array([1.0, 1.0, 2.0]), jnp.array([0.5, 2.0, 4.0, 9.0])
    deltas = reward + 0.5 * value[1:] - value[:-1]
    np.testing.assert_allclose(deltas, [1.5, 1.0, 2.5])
    a2 = 2.5
    a1 = 1.0 + 0.25 * a2
    a0 = 1.5 + 0.25 * a1
    np.testing.assert_allclose(compute_gae(reward, value, jnp.zeros(3), 0.5, 0.5), [a0, a1, a2])


def test_time_constants_mean_the_same_at_every_rate() -> None:
    """By hand: what is worth 1 / e after 2 s is worth 0.99005 of it a decision at 50 Hz, and two of those at 25 Hz."""
    config = TrainConfig(value_horizon_s=2.0, credit_s=0.5)
    gamma, lam = config.gamma_lambda(0.02)
    assert (gamma**100, lam**25) == pytest.approx((math.exp(-1), math.exp(-1)))
    assert config.gamma_lambda(0.04) == pytest.approx((gamma**2, lam**2))
    old = renewed_run({"discount": gamma, "gae_lambda": lam, "epochs": 2}, 0.02, "config.json")
    assert old == pytest.approx({"value_horizon_s": 2.0, "credit_s": 0.5, "epochs": 2})


def test_gae_stops_at_the_end_of_an_episode() -> None:
    """Nothing of the next episode reaches over a `done`: the middle advantage is its reward minus its value."""
    advantage = compute_gae(
        jnp.array([1.0, 1.0, 100.0]), jnp.array([0.0, 0.25, 0, 50.0]), jnp.array([0, 1.0, 0]), 0.9, 0.9
    )
    assert advantage[1] == pytest.approx(0.75)


def test_what_would_have_come_after_a_time_out_counts_where_it_was_only_stopped_being_watched() -> None:
    """By hand: 1 + 0.9 * 0.25 - 0.25, the value of a decision before in place of that of the next episode."""
    rows = jnp.array([1.0, 1.0, 100.0]), jnp.array([0.0, 0.25, 0, 50.0]), jnp.array([0, 1.0, 0])
    advantage = compute_gae(*rows, 0.9, 0.9, jnp.array([0, 1.0, 0]))
    assert advantage[1] == pytest.approx(0.975)
    assert advantage[0] == pytest.approx(1 + 0.9 * 0.25 + 0.81 * 0.975)


def _batch(config: TrainConfig, networks: Networks, params: dict, key: jax.Array) -> Batch:
    k1, k2, k3 = jax.random.split(key, 3)
    obs, seen = jax.random.normal(k1, (1, 6, 1, 5)), jax.random.normal(k2, (1, 6, 1, 7))
    dist = distribution(networks.act(params["actor"], (), obs)[1], config.noise, jnp.asarray(0.1))
    raw = dist.sample(k3)
    advantage = (jnp.arange(6.0) - 2.5).reshape(1, 6, 1)
    return Batch((), jnp.zeros((1, 6)), obs, seen, raw, log_prob(dist, raw), advantage, advantage * 0)


def _small() -> tuple[Networks, dict]:
    networks = make_networks(NetworkConfig((4,), (4,)), ObservationSpec((ObservationField("velocity"),)), 2)
    actor = networks.actor.init(jax.random.key(0), (), jnp.zeros(5))
    return networks, {"actor": actor, "critic": networks.critic.init(jax.random.key(1), jnp.zeros(7))}


def test_loss_at_the_old_policy_is_the_mean_advantage_and_has_no_kl() -> None:
    """With ratio 1 nothing is clipped: the policy loss is minus the mean advantage, here 0, and the KL is 0."""
    networks, params = _small()
    batch = _batch(TINY, networks, params, jax.random.key(2))
    _, terms = mappo_loss(params, TINY, networks, batch, jnp.asarray(0.1))
    assert terms["loss/policy"] == pytest.approx(0.0, abs=1e-6)
    assert terms["loss/kl"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("shift", "advantage", "has_gradient"),
    [(1.0, 1.0, False), (1.0, -1.0, True), (-1.0, -1.0, False), (-1.0, 1.0, True)],
)
def test_clipping_stops_the_gradient_only_where_the_ratio_has_gone_far_enough(
    shift: float, advantage: float, has_gradient: bool
) -> None:
    """A ratio beyond the clip in the direction that the advantage asks for has no gradient; otherwise it has."""
    networks, params = _small()
    batch = _batch(TINY, networks, params, jax.random.key(2))
    batch = batch._replace(log_prob=batch.log_prob - shift, advantage=jnp.full((1, 6, 1), advantage))
    config = TrainConfig(entropy_cost=0.0, value_cost=0.0)
    grads, _ = jax.grad(mappo_loss, has_aux=True)(params, config, networks, batch, jnp.asarray(0.1))
    size = sum(float(jnp.abs(g).sum()) for g in jax.tree.leaves(grads["actor"]))
    assert (size > 1e-6) == has_gradient


def test_what_a_policy_changes_from_one_decision_to_the_next_costs_within_an_episode() -> None:
    """By hand: means 0, 0.5, 0.5, -0.5 of one component; the last change is from one episode to another."""
    mean = jnp.arctanh(jnp.array([0.0, 0.5, 0.5, -0.5])).reshape(1, 4, 1, 1)
    dist = distribution(jnp.concatenate([mean, mean * 0], -1), NoiseConfig(), jnp.asarray(0.1))
    assert change_loss(dist, jnp.zeros((1, 4))) == pytest.approx((0.25 + 0.0 + 1.0) / 3)
    assert change_loss(dist, jnp.array([[0.0, 0, 1, 0]])) == pytest.approx(0.25 / 3)
    networks, params = _small()
    batch = _batch(TINY, networks, params, jax.random.key(2))
    _, plain = mappo_loss(params, TINY, networks, batch, jnp.asarray(0.1))
    total, calm = mappo_loss(params, dataclasses.replace(TINY, change_cost=2.0), networks, batch, jnp.asarray(0.1))
    base = plain["loss/policy"] + TINY.value_cost * plain["loss/value"] - TINY.entropy_cost * plain["loss/entropy"]
    assert float(total - base) == pytest.approx(2 * float(calm["loss/change"]), rel=1e-3)


def test_log_prob_integrates_to_one_over_the_squashed_action() -> None:
    """The density of the squashed action, by the trapezoid rule on (-1, 1)."""
    dist = distribution(jnp.array([0.3, 0.0]), NoiseConfig(start_std=0.7), jnp.asarray(0.1))
    action = jnp.linspace(-0.9999, 0.9999, 20001)
    density = jnp.exp(jax.vmap(lambda a: log_prob(dist, jnp.arctanh(a)[None]))(action))
    assert float(jnp.trapezoid(density, action)) == pytest.approx(1.0, abs=2e-3)


def test_each_component_may_have_noise_of_its_own() -> None:
    """The factor is on the first deviation and on the least one; a factor for each component, or none."""
    noise, action = NoiseConfig(start_std=0.2, scale=(5.0, 1.0)), make_env(load_scenario("swap_4")).action
    dist = distribution(jnp.array([0.0, 0.0, 0.0, -9.0]), noise, jnp.asarray(0.1))
    np.testing.assert_allclose(dist.scale, [1.0, 0.1], rtol=1e-6)
    check_noise(NoiseConfig(), action)
    with pytest.raises(UserError, match=r"noise.scale has 2 factors, but the command has 4: acceleration.x, "):
        check_noise(noise, action)


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_noise_lasts_as_long_as_the_recipe_says_and_stays_of_unit_variance(correlation: float) -> None:
    """Every decision's noise is standard normal by itself; that of two in a row has the correlation."""
    config = TrainConfig(unroll=8, noise=NoiseConfig(correlation=correlation))
    noise = np.asarray(noise_along(config, jax.random.key(0), (4000, 5)))
    assert noise.shape == (8, 4000, 5)
    np.testing.assert_allclose(noise.std((1, 2)), 1.0, atol=0.03)
    for lag in (1, 3):
        found = (noise[:-lag] * noise[lag:]).mean()
        assert found == pytest.approx(correlation**lag, abs=0.02)


def test_a_team_explores_with_noise_that_lasts() -> None:
    """An untrained actor's mean is nearly constant: what varies along a rollout is the noise."""
    config = TrainConfig(num_envs=64, unroll=8, noise=NoiseConfig(correlation=0.9))
    env = make_env(load_scenario("swap_4"))
    networks = make_networks(config.network, env.observation, env.action_size)
    _, rollout = jax.jit(lambda s: collect_rollout(config, env, networks, s))(first_state(config, env))
    raw = np.asarray(rollout.raw_action)
    assert (raw[1:] * raw[:-1]).mean() / (raw**2).mean() == pytest.approx(0.9, abs=0.05)


def test_squash_stays_within_the_limits_and_maps_zero_to_the_middle() -> None:
    """The action's range is the vehicle's, whatever the network says."""
    env = make_env(load_scenario("swap_4"))
    assert np.all(squash(jnp.full(4, 50.0), env.action) <= env.action.high)
    np.testing.assert_allclose(squash(jnp.zeros(4), env.action), (env.action.high + env.action.low) / 2)


def test_noise_floor_falls_to_its_end_value() -> None:
    """Linear in the steps."""
    config = TrainConfig(total_steps=100)
    assert noise_floor(config, jnp.asarray(0.0)) == pytest.approx(config.noise.floor_std)
    assert noise_floor(config, jnp.asarray(100.0)) == pytest.approx(config.noise.final_floor_std)


def test_kl_target_is_a_ceiling() -> None:
    """A large KL slows learning; after that a small one brings the rate back, no further than the top."""
    rate, target, top = jnp.asarray(1e-3), jnp.asarray(0.01), 1e-3
    assert adapt_learning_rate(rate, jnp.asarray(1.0), target, top) == pytest.approx(1e-3 / 1.3)
    assert adapt_learning_rate(rate, target, target, top) == pytest.approx(1e-3)
    assert adapt_learning_rate(rate, jnp.asarray(0.0), target, top) == pytest.approx(1e-3), "no reason to be faster"
    assert adapt_learning_rate(rate / 10, jnp.asarray(0.0), target, top) == pytest.approx(1.3e-4)
    assert adapt_learning_rate(rate, jnp.asarray(0.0), target, 2e-3) == pytest.approx(1.3e-3)
    assert TrainConfig(learning_rate=3e-4).fastest == 3e-4
    with pytest.raises(ValueError, match=r"top_learning_rate = 0\.0001 must be no less than learning_rate = 0\.001"):
        TrainConfig(learning_rate=1e-3, top_learning_rate=1e-4)


def test_first_steps_of_an_actor_that_waited_are_as_long_as_without_waiting() -> None:
    """By hand: Adam's first step is the gradient's sign; counted on while it waits it would be 3.2 times that."""
    params = {"actor": jnp.ones(3), "critic": jnp.ones(2)}
    grads = {"actor": jnp.array([0.1, -0.2, 0.3]), "critic": jnp.array([0.2, 0.1])}
    moments = init_optimizer(params)
    for _ in range(366):
        steps, moments = optimizer_step(TINY, grads, moments, jnp.asarray(False))
        assert not steps["actor"].any()
    steps, _ = optimizer_step(TINY, grads, moments, jnp.asarray(True))
    np.testing.assert_allclose(steps["actor"], [1.0, -1.0, 1.0], rtol=1e-3)
    np.testing.assert_allclose(steps["critic"], [1.0, 1.0], rtol=1e-3)


def test_steps_of_one_vector_are_those_of_adam_array_by_array() -> None:
    """Clipped by the length of both parts' gradients together; matrices and vectors of each keep their shapes."""
    random = np.random.default_rng(0)
    shapes = {"actor": {"kernel": (3, 2), "bias": (2,)}, "critic": {"kernel": (4, 1), "bias": (1,)}}
    drawn = [{part: {k: random.normal(size=n) for k, n in own.items()} for part, own in shapes.items()} for _ in "abc"]
    config, adam = dataclasses.replace(TINY, max_grad_norm=0.5), optax.scale_by_adam(eps=1e-5)
    moments, expected = init_optimizer(drawn[0]), {part: adam.init(drawn[0][part]) for part in shapes}
    for grads in drawn:
        steps, moments = optimizer_step(config, grads, moments, jnp.asarray(True))
        shorter = min(0.5 / float(optax.global_norm(grads)), 1.0)
        short = jax.tree.map(lambda g, factor=shorter: g * factor, grads)
        for part in shapes:
            wanted, expected[part] = adam.update(short[part], expected[part])
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), steps[part], wanted)


@pytest.mark.parametrize("critic", ["robot", "team"])
def test_a_frozen_actor_is_the_same_policy_after_any_number_of_updates(critic: Literal["robot", "team"]) -> None:
    """Not only its parameters: statistics of its input are part of it. Bit-equal on the same observations."""
    env, network = make_env(load_scenario("swap_4")), NetworkConfig(critic=critic)
    config = dataclasses.replace(TINY, critic_first=1e9, network=network)
    networks = make_networks(config.network, env.observation, env.action_size)
    update, state = jax.jit(make_update(config, env)), first_state(config, env)
    obs = jax.random.normal(jax.random.key(1), (100, env.observation_size))

    def policy(state: TrainState) -> np.ndarray:
        return np.asarray(networks.act(state.params["actor"], (), networks.normalize(obs, state.obs_stats))[1])

    before = policy(state)
    for _ in range(5):
        state, metrics = update(state)
        assert metrics["loss/kl"] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_array_equal(policy(state), before)


@pytest.mark.slow
def test_statistics_stay_where_a_run_goes_on_from_a_policy_and_move_where_it_does_not() -> None:
    """New scales of the input would change the gains of a policy that is good; a new run needs scales."""
    env = make_env(load_scenario("swap_4"))
    update, fresh = jax.jit(make_update(TINY, env)), first_state(TINY, env)
    first = update(fresh)[0]
    assert not np.array_equal(np.asarray(first.obs_stats.mean), np.asarray(fresh.obs_stats.mean))
    on = with_weights(first_state(TINY, env, 1), weights_of(jax.device_get(first)), "first")
    after = update(update(on)[0])[0]
    for old, new in zip(jax.tree.leaves(first.obs_stats), jax.tree.leaves(after.obs_stats), strict=True):
        np.testing.assert_array_equal(old, new)
    assert not np.array_equal(np.asarray(after.critic_stats.mean), np.asarray(on.critic_stats.mean))


def test_gradient_steps_are_on_the_policy_that_played() -> None:
    """With one step an update every ratio is 1: the samples are seen as they were when the actions were drawn."""
    env, config = make_env(load_scenario("swap_4")), dataclasses.replace(TINY, epochs=1, minibatches=1)
    update, state = jax.jit(make_update(config, env)), first_state(config, env)
    for _ in range(3):
        state, metrics = update(state)
        assert metrics["loss/kl"] == pytest.approx(0.0, abs=1e-6)


def test_a_critic_may_learn_at_a_rate_of_its_own() -> None:
    """By hand: three times the rate, three times the critic's step, and the actor's as it was."""
    env, config = make_env(load_scenario("swap_4")), dataclasses.replace(TINY, epochs=1, minibatches=1)
    faster = dataclasses.replace(config, critic_learning_rate=3 * config.learning_rate)
    first = first_state(config, env)
    same, fast = (jax.jit(make_update(c, env))(first)[0] for c in (config, faster))

    def steps(state: TrainState, part: str) -> np.ndarray:
        moved = jax.tree.map(lambda new, old: (new - old).ravel(), state.params[part], first.params[part])
        return np.concatenate(jax.tree.leaves(moved))

    np.testing.assert_array_equal(steps(fast, "actor"), steps(same, "actor"))
    np.testing.assert_allclose(steps(fast, "critic"), 3 * steps(same, "critic"), atol=1e-6)
    assert np.abs(steps(same, "critic")).max() == pytest.approx(config.learning_rate, rel=0.01)
    assert fast.learning_rate == same.learning_rate
    with pytest.raises(ValueError, match="^critic_learning_rate is for mappo and ippo, not for"):
        TrainConfig(algorithm="reppo", critic_learning_rate=1e-3)


def test_the_actor_waits_for_the_critic() -> None:
    """In the first update only the critic moves, and the learning rate stays; in the second the actor moves too."""
    env, config = make_env(load_scenario("swap_4")), dataclasses.replace(TINY, critic_first=1.5 * 8 * 4 * 4)
    update, states = jax.jit(make_update(config, env)), [first_state(config, env)]
    for _ in range(2):
        states.append(update(states[-1])[0])
    actors, critics = ([jax.tree.leaves(s.params[part]) for s in states] for part in ("actor", "critic"))
    assert all(np.array_equal(a, b) for a, b in zip(actors[0], actors[1], strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(critics[0], critics[1], strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(actors[1], actors[2], strict=True))
    assert states[1].learning_rate == states[0].learning_rate


def test_whole_run_equals_the_updates_one_by_one() -> None:
    """`make_train` is the scan of `make_update`: same key, same parameters, same count of steps."""
    env = make_env(load_scenario("swap_4"))
    whole, metrics = jax.jit(make_train(TINY, env))(jax.random.key(3))
    state, update = first_state(TINY, env, 3), jax.jit(make_update(TINY, env))
    for _ in range(3):
        state, _ = update(state)
    assert metrics["reward"].shape == (3,)
    assert float(whole.steps) == float(state.steps) == TINY.total_steps
    for a, b in zip(jax.tree.leaves(whole.params), jax.tree.leaves(state.params), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_bad_recipe_is_one_sentence_with_file_key_and_mend(tmp_path) -> None:
    """Unknown key, wrong type, out of range."""
    file = tmp_path / "mine.toml"
    for text, words in (
        ("lerning_rate = 1.0", ("mine.toml", "lerning_rate", "learning_rate")),
        ("epochs = 1.5", ("mine.toml", "epochs", "whole number")),
        ("value_horizon_s = 0.0", ("mine.toml", "value_horizon_s", "0")),
        ("num_envs = 10", ("mine.toml", "minibatches", "num_envs")),
    ):
        file.write_text(text)
        with pytest.raises(UserError) as error:
            load_recipe(str(file))
        assert all(word in str(error.value) for word in words)


def test_recipe_says_what_is_other_than_in_the_one_that_it_extends(tmp_path) -> None:
    """One key of a section leaves the others of it; the seed is the other recipe's too."""
    first, second, third = (tmp_path / f"{name}.toml" for name in "abc")
    first.write_text("seed = 3\nepochs = 7\n[noise]\nfloor_std = 0.5\nfinal_floor_std = 0.4\n[weights]\nscore = 1.0\n")
    second.write_text(f"extends = {str(first)!r}\n[noise]\nfloor_std = 0.45\n[weights]\nconcede = -2.0\n")
    third.write_text(f"extends = {str(second)!r}\nepochs = 1\nscore = 1\n")
    config, seed = load_recipe(str(second))
    assert (seed, config.epochs, config.noise.floor_std, config.noise.final_floor_std) == (3, 7, 0.45, 0.4)
    assert config.weights == {"score": 1.0, "concede": -2.0}
    with pytest.raises(UserError, match=r"c\.toml: unknown key 'score'"):
        load_recipe(str(third))
    third.write_text("epochs 1")
    with pytest.raises(UserError, match=r"c\.toml: not valid TOML"):
        load_recipe(str(third))


@pytest.mark.slow
def test_profile_names_every_part_and_simulation_is_the_engine_alone() -> None:
    """Parts are of positive time and the table shows them all; the simulated world is the environment's own."""
    env, config = make_env(load_scenario("swap_2")), dataclasses.replace(TINY, network=NetworkConfig((4,), (4,)))
    parts = profile(config, env)
    assert {"simulation", "observation", "policy", "update", "host", "whole"} == parts.keys()
    assert min(parts["simulation"], parts["update"], parts["whole"]) > 0
    lines = table(parts, config, env).splitlines()
    assert [line.split()[0] for line in lines[:5]] == ["simulation", "observation", "policy", "update", "host"]
    state = first_state(config, env)
    moved = simulate(config, env, state)
    first = state.env.pipeline_state.world  # type: ignore[union-attr]
    np.testing.assert_array_equal(moved.step, first.step + config.unroll)
