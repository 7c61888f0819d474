"""Q-learning over discrete actions: its targets, and an actor that keeps what it chose."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.ground.lab.controllers.waypoint import WAYPOINTS
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.distribution import squash
from robomarl.lab.train.pqn.choice_networks import ChoiceNetworks, choice_networks
from robomarl.lab.train.pqn.learner import init_state, make_update, q_lambda, values_along, values_of
from robomarl.lab.train.rollout import forget
from robomarl.lab.train.run.profile import played
from robomarl.lab.train.state import ChoiceRollout

CONFIG = TrainConfig(
    scenario="navigation", algorithm="pqn", num_envs=2, minibatches=1, unroll=30, network=NetworkConfig((8,), (4,))
)
RECURRENT = NetworkConfig((8,), (4,), encoder="graph", heads=2, memory="gru", gru_size=6)


@pytest.fixture(scope="module")
def env() -> Any:
    return make_env(load_scenario("navigation"))


@pytest.fixture(scope="module")
def networks(env: Any) -> ChoiceNetworks:
    return choice_networks(CONFIG, env)


def test_targets_are_sums_over_all_lengths():
    """Q(lambda) is the mean of n-step targets, weighted by (1 - lambda) lambda^(n - 1); Sutton and Barto, 12.2."""
    rng, gamma, lam = np.random.default_rng(0), 0.9, 0.7
    gain, best, ended = rng.normal(size=5), rng.normal(size=5), np.array([0, 0, 1, 0, 0.0])

    def n_steps(t: int, n: int) -> float:
        total, weight = 0.0, 1.0
        for i in range(t, t + n):
            total, weight = total + weight * gain[i], weight * gamma
            if ended[i]:
                return total
        return total + weight * best[t + n - 1]

    found = q_lambda(jnp.asarray(gain), jnp.asarray(best), jnp.asarray(ended), gamma, lam)
    for t in range(5):
        left = 5 - t
        wanted = sum((1 - lam) * lam ** (n - 1) * n_steps(t, n) for n in range(1, left)) + lam ** (left - 1) * n_steps(
            t, left
        )
        assert float(found[t]) == pytest.approx(wanted, abs=1e-5)


def test_a_choice_stays_for_a_step_and_the_controller_drives_there(env: Any, networks: ChoiceNetworks):
    """The aim moves only by what the robot drives; behind the squash the command is the controller's."""
    seen = np.zeros(env.observation_size, np.float32)
    seen[list(networks.actor.read_at)] = [1.0, 0.0, 0.1, 0.0]
    obs, actor = jnp.asarray(seen), networks.actor

    @jax.jit
    def play() -> tuple:
        params = actor.init(jax.random.key(0), networks.init_carry(()), obs)
        _, values = actor.apply(params, (), obs, method="values")

        def step(carry: Any, _: None) -> tuple:
            carry, output = networks.act(params, carry, obs)
            return carry, (*carry, squash(jnp.split(output, 2)[0], env.action))

        return values, *jax.lax.scan(step, networks.init_carry(()), None, length=31)[1]

    values, aim, left, command = (np.asarray(x) for x in play())
    driven = np.arange(1, 32)[:, None] * np.array([0.1, 0.0]) * env.scenario.period_s
    np.testing.assert_allclose(aim[:30], (WAYPOINTS[values.argmax()] - driven)[:30], atol=1e-5)
    np.testing.assert_array_equal(left[:, 0], [*range(29, -1, -1), 29])
    np.testing.assert_allclose(aim[30], aim[0], atol=1e-6, err_msg="then it picks anew")
    wanted = [actor.choices.pursue(seen[list(networks.actor.read_at)], a + driven[0])[1] for a in aim]
    np.testing.assert_allclose(command, np.clip(wanted, env.action.low, env.action.high), atol=1e-4)


def test_memory_goes_on_with_every_choice_and_not_with_every_decision(env: Any):
    """Of a recurrent network over the graph: it stays while a choice does, and then goes on from there."""
    networks = choice_networks(replace(CONFIG, network=RECURRENT), env)
    obs, actor = jax.random.normal(jax.random.key(0), (31, env.observation_size)), networks.actor

    @jax.jit
    def play() -> tuple:
        start = networks.init_carry(())
        params = actor.init(jax.random.key(1), start, obs[0])

        def step(carry: Any, obs: jax.Array) -> tuple:
            carry, _ = networks.act(params, carry, obs)
            return carry, carry[2]

        first, _ = actor.apply(params, start[2:], obs[0], method="values")
        second, _ = actor.apply(params, first, obs[30], method="values")
        return jax.lax.scan(step, start, obs)[1], first[0], second[0]

    held, first, second = (np.asarray(x) for x in play())
    np.testing.assert_allclose(held[:30], np.tile(first, (30, 1)), atol=1e-6)
    np.testing.assert_allclose(held[30], second, atol=1e-6)
    assert np.abs(second - first).max() > 1e-3


def test_values_along_a_rollout_are_those_of_its_choices_one_by_one(env: Any):
    """[K, B, N] at once against a loop that carries the memory and drops it where an episode ended."""
    networks = choice_networks(replace(CONFIG, network=RECURRENT), env)
    obs = jax.random.normal(jax.random.key(0), (4, 2, 3, env.observation_size))
    ended = jnp.array([[0, 1], [0, 0], [1, 0], [0, 0]], jnp.float32)
    memory = networks.init_carry((2, 3))[2:]
    params = networks.actor.init(jax.random.key(1), networks.init_carry((2, 3)), obs[0])
    whole = values_along(networks, params, memory, obs, ended)
    for k in range(4):
        memory, values = values_of(networks, params, memory, obs[k])
        np.testing.assert_allclose(whole[k], values, atol=1e-5)
        memory = forget(memory, ended[k])


def test_a_profile_times_the_rollout_of_choices(env: Any):
    """The ordinary rollout samples commands, which these networks have none of: what it took was nonsense."""
    state = jax.eval_shape(lambda key: init_state(CONFIG, env, key), jax.random.key(0))
    rollout = jax.eval_shape(played(CONFIG, env, make_update(CONFIG, env)), state)
    assert isinstance(rollout, ChoiceRollout)
    assert rollout.choice.shape == (1, CONFIG.num_envs, env.num_agents)


def test_what_does_not_fit_is_refused(env: Any):
    with pytest.raises(UserError, match=r"unroll = 32 must be a multiple of 30, the decisions that a choice stays"):
        make_update(replace(CONFIG, unroll=32), env)
    with pytest.raises(UserError, match=r'network.roles = 2: algorithm = "pqn" learns one set for all; make it 1'):
        choice_networks(replace(CONFIG, network=NetworkConfig(roles=2)), env)
    with pytest.raises(UserError, match=r"task = 'swap' has no discrete actions; make algorithm"):
        choice_networks(CONFIG, make_env(load_scenario("swap_4")))


@pytest.mark.slow
@pytest.mark.parametrize("network", [CONFIG.network, RECURRENT], ids=lambda n: f"{n.encoder}-{n.memory}")
def test_an_update_learns_from_every_choice_and_exports(network: NetworkConfig, env: Any, tmp_path: Any):
    """Two updates move the network; the run's bundle does in ONNX what the run does (export refuses it otherwise)."""
    from robomarl.lab.export import export_bundle
    from robomarl.lab.train.run.options import RunOptions
    from robomarl.lab.train.run.run_folder import load_run
    from robomarl.lab.train.run.runner import train_run

    rows = train_run(
        replace(CONFIG, total_steps=360, network=network),
        env.scenario,
        RunOptions(tmp_path / "run", quiet=True, evaluations=0),
    )
    assert rows[0]["finished"] == 1.0
    assert np.isfinite(rows[0]["loss/value"])
    bundle = export_bundle(load_run(tmp_path / "run"), tmp_path / "bundle")
    memory = [(6,)] if network.memory == "gru" else []
    assert [carry.shape for carry in bundle.contract.policy_carries] == [(2,), (1,), *memory]
