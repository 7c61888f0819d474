"""Trained teams that teach or play: what they do wherever the learner comes, which game is theirs, what is refused."""

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.soccer.lab.env import SoccerEnv
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train import algorithm
from robomarl.lab.train.config import NetworkConfig, SelfPlayConfig, TrainConfig
from robomarl.lab.train.networks import deterministic_policy, make_networks
from robomarl.lab.train.rollout import forget
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.run_folder import create_run, load_run
from robomarl.lab.train.run.runner import train_run
from robomarl.lab.train.run.storage import save_state
from robomarl.lab.train.self_play.games import collect_games, init_games, lesson
from robomarl.lab.train.self_play.league import ActorSnapshot, Opponents, TrainedTeams, as_team
from robomarl.lab.train.self_play.multi_scenario import recipe_of
from robomarl.lab.train.self_play.teachers import teacher_of, trained_teams

ENV = SoccerEnv(load_scenario("soccer_1v1"))
NETWORK = NetworkConfig(actor_hidden=(16,), critic_hidden=(16,), encoder="attention", memory="gru", gru_size=8)
PLAY = SelfPlayConfig(scripts=("chaser",), script_parts=1, itself=1, snapshots=1, pool=3)
CONFIG = TrainConfig(scenario="soccer_1v1", num_envs=6, unroll=5, minibatches=2, network=NETWORK, self_play=PLAY)


def taught_by(name: str, config: TrainConfig = CONFIG) -> TrainConfig:
    return dataclasses.replace(config, self_play=dataclasses.replace(PLAY, teacher=name, teach_share=1.0))


class School(NamedTuple):
    """A run folder, whose team was taught by one that is gone and teaches now, and a state of its pupils."""

    folder: Path
    pupils: Any


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> School:
    folder, config = tmp_path_factory.mktemp("school") / "master", taught_by("runs/gone")
    create_run(folder, config, ENV.scenario, 0)  # type: ignore[arg-type]
    state = jax.jit(lambda key: init_games(config, ENV, key))(jax.random.key(7))
    spread = jax.tree.map(lambda x: 8 * x, state.params["actor"])  # a fresh actor hardly moves
    save_state(folder / "checkpoint.npz", state._replace(params={**state.params, "actor": spread}))
    return School(folder, state)


def test_a_team_says_what_it_would_do_wherever_the_learner_comes_and_forgets_where_games_end(school: School):
    config = taught_by(str(school.folder))
    team, networks = teacher_of(config, ENV), make_networks(NETWORK, ENV.observation, ENV.action_size)
    assert team is not None
    rally = school.pupils.env.pipeline_state
    age = np.array([0, 0, 373, 374, 0, 0])  # of 375 decisions: two games end while it teaches
    world = rally.world._replace(step=age)
    state = school.pupils._replace(env=school.pupils.env.replace(pipeline_state=rally._replace(world=world)))
    collect = jax.jit(partial(collect_games, config, ENV, Opponents(config, ENV, networks, TrainedTeams(team))))
    after, rollout, wanted = collect(state)
    assert rollout.done[:, [2, 3]].sum() >= 2
    policy = deterministic_policy(networks, team.params, team.stats, ENV.action)
    carry, half = networks.init_carry((6, 1)), (ENV.action.high - ENV.action.low) / 2
    for obs, done, said in zip(rollout.obs, rollout.done, wanted, strict=True):
        carry, command = policy(carry, obs)
        np.testing.assert_allclose(said, (command - ENV.action.low) / half - 1, atol=2e-5)
        carry = forget(carry, done)
    np.testing.assert_allclose(after.league.memory.taught[0], carry[0], atol=2e-5)
    assert np.abs(wanted).max() > 0.1


def test_a_trained_opponent_plays_its_part_of_the_games_and_never_changes(school: School):
    play = SelfPlayConfig(scripts=("chaser",), script_parts=1, itself=0, snapshots=1, pool=1, snapshot_every=1)
    config = dataclasses.replace(CONFIG, self_play=dataclasses.replace(play, teams=(str(school.folder),)))
    named, networks = trained_teams(config, ENV), make_networks(NETWORK, ENV.observation, ENV.action_size)
    assert named.teacher is None and named.opponents is not None
    state = jax.jit(lambda key: init_games(config, ENV, key))(jax.random.key(3))
    opponents, learner = Opponents(config, ENV, networks, named), as_team(state.params["actor"], state.obs_stats)
    teams = opponents.teams(state.league, learner)
    views, obs = jax.vmap(ENV.views)(state.env.pipeline_state.world), state.env.obs
    memory, commands = opponents.act(state.league.memory, teams, views, obs)
    team = jax.tree.map(lambda leaf: leaf[0], named.opponents)
    policy = deterministic_policy(networks, team.params, team.stats, ENV.action)
    carry, said = policy(networks.init_carry((2, 1)), obs[4:, 1:])
    np.testing.assert_allclose(commands[4:], said, atol=2e-5)
    np.testing.assert_allclose(memory.carry[0][4:], carry[0], atol=2e-5)
    after, metrics = jax.jit(algorithm.make_update(config, ENV, trained_teams))(state)
    assert 0 <= float(metrics["share/teams"]) <= 1 and after.league.count == 2
    learned = as_team(after.params["actor"], after.obs_stats)
    again = jax.tree.map(lambda leaf: leaf[-1], opponents.teams(after.league, learned))
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), again, team)), "only the snapshot changed"
    with pytest.raises(ValueError, match="names trained teams"):
        algorithm.make_update(config, ENV)
    gone = dataclasses.replace(config, self_play=dataclasses.replace(play, teams=("runs/gone",)))
    with pytest.raises(UserError, match="gone"):
        algorithm.make_update(gone, ENV, trained_teams)


def rally_steps(config: TrainConfig) -> int:
    scenario = algorithm.training_env(config, ENV.scenario).scenario
    assert isinstance(scenario, SoccerScenario)
    return scenario.rally_steps


def test_a_recipe_may_end_rallies_at_another_time_than_the_scenario():
    config = dataclasses.replace(CONFIG, self_play=dataclasses.replace(PLAY, rally_s=2.0))
    assert rally_steps(config) == 50
    assert rally_steps(CONFIG) == 375


def test_every_game_has_the_teacher_that_the_recipe_names_for_it():
    play = dataclasses.replace(PLAY, teacher="keeper", teachers={"soccer_2v2": "runs/a"})
    config = dataclasses.replace(CONFIG, self_play=play)
    two = SoccerEnv(load_scenario("soccer_2v2"))
    assert [recipe_of(config, game).self_play.teacher for game in (ENV, two)] == ["keeper", "runs/a"]
    assert teacher_of(recipe_of(config, ENV), ENV) is None
    with pytest.raises(UserError, match=r"\[self_play.teachers\] soccer_2v2: that is not trained; allowed: soccer_1v1"):
        algorithm.games(config, ENV)


def test_the_program_takes_the_teacher_from_its_folder_and_a_run_is_read_without_its_own(school: School):
    config = taught_by(str(school.folder))
    assert load_run(school.folder).config.self_play.teacher == "runs/gone"
    after, metrics = jax.eval_shape(algorithm.make_update(config, ENV, trained_teams), school.pupils)
    assert jax.tree.structure(after) == jax.tree.structure(school.pupils)
    assert "loss/policy" in metrics
    with pytest.raises(UserError, match="gone"):
        algorithm.make_update(taught_by("runs/gone"), ENV, trained_teams)


def test_a_run_whose_teacher_is_not_there_leaves_no_folder(tmp_path: Path):
    with pytest.raises(UserError, match="gone"):
        train_run(taught_by("runs/gone"), ENV.scenario, RunOptions(tmp_path / "run", 0, quiet=True))  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()


def test_a_teacher_with_another_network_or_none_at_all_is_refused(school: School):
    wide = dataclasses.replace(CONFIG, network=dataclasses.replace(NETWORK, gru_size=12))
    with pytest.raises(UserError, match=r"teacher = .*master'.* should have shape .*train with the same network"):
        teacher_of(taught_by(str(school.folder), wide), ENV)
    with pytest.raises(UserError, match="nobody"):
        teacher_of(taught_by("nobody"), ENV)
    assert isinstance(teacher_of(taught_by(str(school.folder)), ENV), ActorSnapshot)


def test_a_lesson_shows_the_teacher_the_game_without_the_errors_of_the_learner():
    env = SoccerEnv(load_scenario("soccer_2v2_eyes"))
    config = dataclasses.replace(taught_by("anybody"), scenario="soccer_2v2_eyes")
    games = jax.jit(lambda key: init_games(config, env, key))(jax.random.key(7)).env

    class Echo(Opponents):
        """Teacher whose actions are the first elements of what it sees."""

        def __init__(self) -> None:
            pass

        def teach(self, memory: Any, views: Any, obs: jax.Array) -> tuple[Any, jax.Array]:
            return memory, obs[:, : env.scenario.count, : env.action_size]

    none: Any = ()
    _, said = lesson(config, env, Echo(), (none, games), jax.numpy.bool_(True))
    clear, ours = jax.vmap(env.teacher_obs)(games), np.s_[:, : env.scenario.count, : env.action_size]
    np.testing.assert_array_equal(said, clear[ours])
    assert np.abs(clear - games.obs)[ours].max() > 0.01
