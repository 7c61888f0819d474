"""Games that take turns: one actor goes round, and everything that depends on a team's size stays where it is."""

import dataclasses

import jax
import numpy as np
import pytest

from robomarl.config import UserError
from robomarl.sim.soccer.env import SoccerEnv
from robomarl.sim.soccer.scenario import load_soccer
from robomarl.train import programs
from robomarl.train.checkpoint import weights_of, with_weights
from robomarl.train.config import NetworkConfig, SelfPlayConfig, TrainConfig
from robomarl.train.selfplay import init_games, make_game_update
from robomarl.train.turns import hand_over, init_turns, make_turns, other_games

CONFIG = TrainConfig(
    scenario="soccer_1v1",
    num_envs=6,
    unroll=2,
    epochs=1,
    minibatches=2,
    network=NetworkConfig(actor_hidden=(16,), critic_hidden=(16,), encoder="attention", memory="gru", gru_size=8),
    self_play=SelfPlayConfig(
        scripts=("chaser",), script_parts=1, itself=1, snapshots=1, pool=3, snapshot_every=2, also=("soccer_2v2",)
    ),
)
ENV = SoccerEnv(load_soccer("soccer_1v1"))


def test_the_second_game_goes_on_from_the_actor_that_the_first_one_left():
    """Three rounds, the last one against both turns taken by hand; a snapshot is taken every second round."""
    update, state = jax.jit(make_turns(CONFIG, ENV)), jax.jit(lambda k: init_turns(CONFIG, ENV, k))(jax.random.key(0))
    second = other_games(CONFIG, ENV)[0]
    for _ in range(2):
        state, _ = update(state)
    assert [int(game.league.count) for game in (state, *state.others)] == [2, 2]
    first, found = jax.jit(make_game_update(CONFIG, ENV, 3))(state)
    then, _ = jax.jit(make_game_update(CONFIG, second, 3))(hand_over(first, state.others[0]))
    after, metrics = update(state)
    assert int(after.steps) == 3 * programs.per_update(CONFIG, ENV) == 3 * 6 * 2 * (1 + 2)
    assert metrics["reward"] == pytest.approx(float(found["reward"]), abs=1e-6) != metrics["soccer_2v2/reward"]
    for a, b in zip(jax.tree.leaves(after.params["actor"]), jax.tree.leaves(then.params["actor"]), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    critics = [jax.tree.leaves(game.params["critic"]) for game in (after, first, *after.others, then)]
    for ours, by_hand in (critics[:2], critics[2:]):
        assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(ours, by_hand, strict=True))
    assert [int(game.league.count) for game in (after, *after.others)] == [2, 2]


def test_all_games_start_from_the_weights_of_another_run_and_each_critic_where_it_fits():
    second = other_games(CONFIG, ENV)[0]
    start = jax.jit(lambda key: (init_games(CONFIG, second, key), init_turns(CONFIG, ENV, key)))
    other, state = start(jax.random.key(0))[0], start(jax.random.key(1))[1]
    state = with_weights(state, weights_of(other), "--init")
    for name in ("actor", "critic"):
        pairs = zip(jax.tree.leaves(state.others[0].params[name]), jax.tree.leaves(other.params[name]), strict=True)
        assert all((a == b).all() for a, b in pairs)
    kernel = state.params["critic"]["params"]["Dense_0"]["kernel"]
    assert kernel.shape != other.params["critic"]["params"]["Dense_0"]["kernel"].shape


def test_a_scenario_whose_robots_see_something_else_can_not_take_turns():
    narrow = load_soccer("soccer_1v1")
    env = SoccerEnv(dataclasses.replace(narrow, radio=dataclasses.replace(narrow.radio, neighbours=1)))
    with pytest.raises(UserError, match=r"\[self_play\] also: robots of soccer_2v2 see or do something else"):
        other_games(CONFIG, env)
