"""Self-play: ratings, the pool of snapshots, who moves the other team, and what a learner makes of it."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax.training.acme import running_statistics

from robomarl.core.config import UserError
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.controllers.scripted_teams import ScriptedTeam
from robomarl.domains.soccer.lab.controllers.skills import no_belief
from robomarl.domains.soccer.lab.env import SoccerEnv
from robomarl.lab.sim.sides import team_view
from robomarl.lab.train.config import NetworkConfig, SelfPlayConfig, TrainConfig
from robomarl.lab.train.distribution import squash
from robomarl.lab.train.networks import make_networks
from robomarl.lab.train.self_play import league as leagues
from robomarl.lab.train.self_play.games import TAUGHT_LAST, check_parts, init_games, make_game_update, teaching_rate
from robomarl.lab.train.self_play.league import (
    ActorSnapshot,
    League,
    Memory,
    Opponents,
    as_team,
    copies,
    expected,
    next_round,
    num_parts,
    score,
)
from tests.domains.soccer.games import plain

PLAY = SelfPlayConfig(
    scripts=("chaser", "keeper"),
    script_parts=1,
    itself=1,
    snapshots=1,
    pool=3,
    snapshot_every=2,
    teacher="keeper",
    teach_share=1,
)
CONFIG = TrainConfig(
    scenario="soccer_2v2",
    num_envs=8,
    unroll=4,
    epochs=1,
    minibatches=2,
    network=NetworkConfig(actor_hidden=(16,), critic_hidden=(16,), encoder="attention", memory="gru", gru_size=8),
    self_play=PLAY,
)
SCENARIO = plain()
ENV = SoccerEnv(SCENARIO)
NETWORKS = make_networks(CONFIG.network, ENV.observation, ENV.action_size)


def team_of(number: float) -> ActorSnapshot:
    """A team with one number as its parameters, which has seen nothing."""
    return as_team({"w": jnp.asarray(number)}, running_statistics.init_state(jnp.zeros(1)))


def some_league(**changes) -> League:
    """A league whose learner and opponents are rated 1000, with one number as the parameters of a team."""
    belief = no_belief(jnp.zeros((8, 2)))
    zero = jnp.zeros(3)
    blank = League(
        memory=Memory(belief, belief, ()),
        pool=copies(team_of(0.0), 3),
        count=jnp.asarray(1),
        points=zero,
        games=zero,
        playing=jnp.zeros(1, jnp.int32),
        elo=jnp.asarray(1000.0),
        script_elo=jnp.full(2, 1000.0),
        pool_elo=jnp.full(3, 1000.0),
        goals=jnp.zeros((2, 4)),
    )
    return blank._replace(**changes)


def test_ratings_promise_what_elo_says():
    assert expected(1000.0, 1000.0) == pytest.approx(0.5)
    assert expected(1400.0, 1000.0) == pytest.approx(10 / 11)
    assert expected(1000.0, 1400.0) == pytest.approx(1 / 11)


def test_results_are_counted_and_rated():
    """Four rallies with each opponent: all won, all lost, all drawn, two won and two not over."""
    won, lost, ended = (jnp.asarray(x, jnp.float32) for x in ([4, 0, 0, 2], [0, 4, 0, 0], [4, 4, 4, 2]))
    after = score(PLAY, some_league(), won, lost, ended)
    gain = leagues.ELO_GAIN
    assert after.elo == pytest.approx(1000 + gain * (2 - 2 + 0 + 1))
    assert after.script_elo == pytest.approx([1000, 1000 + 2 * gain])  # the first one is what all others refer to
    assert after.pool_elo == pytest.approx([1000 - gain, 1000, 1000])
    assert after.points == pytest.approx([2, 0, 0])
    assert after.games == pytest.approx([2, 0, 0])
    found = leagues.league_metrics(PLAY, after)
    assert found["share/chaser"] == pytest.approx(4.5 / 5)
    assert found["share/keeper"] == pytest.approx(0.5 / 5)
    assert found["elo/learner"] == after.elo


def test_metrics_of_a_script_that_plays_twice_are_of_both():
    twice = dataclasses.replace(PLAY, scripts=("chaser", "keeper", "keeper"))
    goals = jnp.asarray([[1.0, 4.0, 2.0, 0.0, 0.0], [1.0, 0.0, 3.0, 0.0, 0.0]])
    found = leagues.league_metrics(twice, some_league(script_elo=jnp.asarray([1000.0, 900.0, 960.0]), goals=goals))
    assert found["share/keeper"] == pytest.approx(6.5 / 10)
    assert found["elo/keeper"] == pytest.approx(930)


def test_a_snapshot_takes_the_place_of_the_oldest():
    league = some_league(count=jnp.asarray(4), games=jnp.full(3, 5.0), elo=jnp.asarray(1234.0))
    after = next_round(league, team_of(7.0), jax.random.key(0))
    assert after.pool.params["w"].tolist() == [0, 7, 0]
    assert after.games.tolist() == [5, 0, 5]
    assert after.pool_elo.tolist() == [1000, 1234, 1000]
    assert after.count == 5


def test_who_wins_plays_more_often_and_who_does_not_exist_never():
    """Against the first one we have won 8 of 8 games, against the second none; the third was not taken yet."""
    league = some_league(points=jnp.asarray([8.0, 0.0, 0.0]), games=jnp.asarray([8.0, 8.0, 0.0]))
    league = league._replace(playing=jnp.zeros(4000, jnp.int32))
    drawn = next_round(league, team_of(1.0), jax.random.key(1)).playing
    share = np.bincount(drawn, minlength=3) / 4000
    losing, fresh = (1 - 9 / 10) ** 2 + 1e-3, (1 - 1 / 2) ** 2 + 1e-3  # the snapshot just taken is the second one
    assert share[0] == pytest.approx(losing / (losing + fresh), abs=0.02)
    assert share[2] == 0


def test_every_part_of_the_batch_is_moved_by_its_own_opponent():
    sim = make_soccer(SCENARIO, "fast", 8, 0)
    views = jax.tree.map(jnp.asarray, sim.reset() and sim.views())
    memory, obs = ENV.observation.observe(ENV.observation.init(views), views)
    learner, other = (
        ActorSnapshot(NETWORKS.actor.init(jax.random.key(i), NETWORKS.init_carry(()), obs[0, 0]), as_stats(obs))
        for i in (1, 2)
    )
    league = leagues.first_league(CONFIG, ENV, NETWORKS, other)
    opponents = Opponents(CONFIG, ENV, NETWORKS)
    teams = opponents.teams(league, learner)
    memory, command = jax.jit(opponents.act)(league.memory, teams, views, obs)
    theirs = team_view(SCENARIO, jax.tree.map(np.asarray, views), 1)
    for i, name in enumerate(PLAY.scripts):
        script = ScriptedTeam(SCENARIO, name)
        part = jax.tree.map(lambda x, i=i: x[2 * i : 2 * i + 2], theirs)
        belief, wanted = script(script.init(part), part)
        assert command[2 * i : 2 * i + 2] == pytest.approx(wanted, abs=1e-4)
        assert memory.belief.x[2 * i : 2 * i + 2] == pytest.approx(belief.x, abs=1e-5)
    for i, team in ((4, learner), (6, other)):
        carry, output = NETWORKS.act(
            team.params, NETWORKS.init_carry((2, 2)), NETWORKS.normalize(obs[i : i + 2, 2:], team.stats)
        )
        wanted = squash(jnp.split(output, 2, -1)[0], ENV.action)
        assert command[i : i + 2] == pytest.approx(np.asarray(wanted), abs=1e-5)
        assert memory.carry[0][i : i + 2] == pytest.approx(np.asarray(carry[0]), abs=1e-6)


def as_stats(obs: jax.Array):
    """Statistics that leave an observation as it is."""
    from brax.training.acme import running_statistics, specs

    stats = running_statistics.init_state(specs.Array((obs.shape[-1],), jnp.dtype("float32")))
    return leagues.as_team(None, stats).stats


def test_a_batch_that_can_not_be_split_is_refused():
    assert num_parts(PLAY) == 4
    with pytest.raises(UserError, match=r"num_envs = 10 must be a multiple of the 4 parts of \[self_play\]"):
        check_parts(TrainConfig(num_envs=10, minibatches=2, self_play=PLAY))


def test_lessons_begin_at_the_first_learning_rate_and_end_at_a_tenth_of_it():
    rates = [float(teaching_rate(CONFIG, jnp.asarray(share * CONFIG.total_steps))) for share in (0.0, 0.5, 1.0, 2.0)]
    first = CONFIG.learning_rate
    assert rates == pytest.approx([first, first * TAUGHT_LAST**0.5, first * TAUGHT_LAST, first * TAUGHT_LAST])


@pytest.mark.slow
def test_the_learner_imitates_its_teacher_and_snapshots_are_taken():
    config = TrainConfig(**{**CONFIG.__dict__, "num_envs": 32, "unroll": 16, "epochs": 4})
    update = jax.jit(make_game_update(config, ENV))
    state = jax.jit(lambda key: init_games(config, ENV, key))(jax.random.key(0))
    errors = []
    for _ in range(20):
        state, metrics = update(state)
        errors.append(float(metrics["loss/policy"]))
        assert all(np.isfinite(float(v)) for v in metrics.values())
    assert np.mean(errors[-3:]) < 0.8 * np.mean(errors[:3])
    assert state.league.count == 1 + 20 // PLAY.snapshot_every
    assert state.carry[0].shape == (32, 2, 8)


@pytest.mark.slow
def test_a_stage_of_the_recipe_trains_from_the_command_line(tmp_path: Path):
    """In a process of its own: the compiler's option for several results ended it, and flags count once a process."""
    words = ["train", "soccer_2v2", "--stage", "wide", "--init", "soccer_2v2", "--steps", "70000", "--quiet"]
    flags = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    command = [sys.executable, "-m", "robomarl", *words, "--evaluations", "0", "--out", str(tmp_path / "run")]
    found = subprocess.run(command, env=flags, capture_output=True, text=True, timeout=1200)
    assert found.returncode == 0, found.stderr[-500:]
    assert (tmp_path / "run" / "checkpoint.npz").is_file()
