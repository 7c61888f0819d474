"""Games that take turns: one actor goes round, and everything that depends on a team's size stays where it is."""

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.soccer.lab.env import SoccerEnv
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train import algorithm
from robomarl.lab.train.config import NetworkConfig, SelfPlayConfig, TrainConfig
from robomarl.lab.train.run.weights import weights_of, with_weights
from robomarl.lab.train.self_play import multi_scenario
from robomarl.lab.train.self_play.games import init_games
from robomarl.lab.train.self_play.league import NO_TEAMS
from robomarl.lab.train.self_play.multi_scenario import init_state, make_update
from robomarl.lab.train.state import TrainState

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
ENV = SoccerEnv(load_scenario("soccer_1v1"))
GAMES = algorithm.games(CONFIG, ENV)


def test_the_actor_goes_round_and_all_else_stays(monkeypatch: pytest.MonkeyPatch):
    """Each turn writes its team's size behind what the actor says, and counts in its own critic."""

    def make_step(config: TrainConfig, game: SoccerEnv, robots: int, teacher: None):
        def step(state: TrainState):
            size, params = game.scenario.count, state.params
            params = {"actor": 10 * params["actor"] + size, "critic": params["critic"] + 1}
            return state._replace(params=params, steps=state.steps + size), {"reward": size, "loss/kl": 0.0}

        return step

    monkeypatch.setattr(multi_scenario, "make_game_update", make_step)
    nothing: list[Any] = [None] * (len(TrainState._fields) - len(TrainState._field_defaults))
    there: dict[str, Any] = {"params": {"actor": -1, "critic": 50}, "obs_stats": "old", "steps": -1}
    here: dict[str, Any] = {"params": {"actor": 0, "critic": 20}, "obs_stats": "new", "steps": 6}
    other = TrainState(*nothing)._replace(**there)
    state = other._replace(**here, others=(other,))
    after, metrics = make_update(CONFIG, GAMES, [NO_TEAMS, NO_TEAMS])(state)
    assert (after.params, after.steps, after.obs_stats) == ({"actor": 12, "critic": 21}, 9, "new")
    assert (after.others[0].params, after.others[0].obs_stats) == ({"actor": 12, "critic": 51}, "new")
    assert metrics == {"reward": 1, "loss/kl": 0.0, "soccer_2v2/reward": 2}


@pytest.mark.slow
def test_two_games_are_trained_in_one_program_and_snapshots_are_taken_every_second_round():
    update, state = (
        jax.jit(make_update(CONFIG, GAMES, [NO_TEAMS, NO_TEAMS])),
        jax.jit(lambda k: init_state(CONFIG, GAMES, k))(jax.random.key(0)),
    )
    taken = []
    for _ in range(3):
        before, (state, metrics) = state, update(state)
        taken.append([int(game.league.count) for game in (state, *state.others)])
        assert all(np.isfinite(float(value)) for value in metrics.values())
    assert taken == [[1, 1], [2, 2], [2, 2]]
    assert int(state.steps) == 3 * algorithm.per_update(CONFIG, ENV) == 3 * 6 * 2 * (1 + 2)
    assert metrics["reward"] != metrics["soccer_2v2/reward"]
    for part in ("actor", "critic"):
        for old, new in zip((before, *before.others), (state, *state.others), strict=True):
            pairs = zip(jax.tree.leaves(old.params[part]), jax.tree.leaves(new.params[part]), strict=True)
            assert any((a != b).any() for a, b in pairs)


def test_all_games_start_from_the_weights_of_another_run_and_each_critic_where_it_fits():
    second = GAMES[1]
    start = jax.jit(lambda key: (init_games(CONFIG, second, key), init_state(CONFIG, GAMES, key)))
    other, state = start(jax.random.key(0))[0], start(jax.random.key(1))[1]
    state = with_weights(state, weights_of(other), "--init")
    for name in ("actor", "critic"):
        pairs = zip(jax.tree.leaves(state.others[0].params[name]), jax.tree.leaves(other.params[name]), strict=True)
        assert all((a == b).all() for a, b in pairs)
    for game in (state, *state.others):
        snapshots = jax.tree.leaves(game.league.pool.params)
        assert all((a == b).all() for a, b in zip(snapshots, jax.tree.leaves(other.params["actor"]), strict=True))
    kernel = state.params["critic"]["params"]["Dense_0"]["kernel"]
    assert kernel.shape != other.params["critic"]["params"]["Dense_0"]["kernel"].shape


def test_a_scenario_whose_robots_see_something_else_can_not_take_turns():
    narrow = load_scenario("soccer_1v1")
    env = SoccerEnv(dataclasses.replace(narrow, radio=dataclasses.replace(narrow.radio, neighbours=1)))
    with pytest.raises(UserError, match=r"\[self_play\] also: robots of soccer_2v2 see or do something else"):
        algorithm.games(CONFIG, env)
