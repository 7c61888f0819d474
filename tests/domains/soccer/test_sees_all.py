"""Teams that see everything: the truth, at once, and for that team alone."""

import dataclasses
import json
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from robomarl.domains.soccer.lab.env import SoccerEnv
from robomarl.domains.soccer.lab.game import SoccerWorld, num_step_draws, perceive
from robomarl.domains.soccer.lab.placement import PLACE_DRAWS
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.start import num_start_draws, start_game
from robomarl.domains.soccer.lab.views import player_views
from robomarl.front import cli
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import NetworkConfig, SelfPlayConfig, TrainConfig
from robomarl.lab.train.run.run_folder import create_run
from robomarl.lab.train.run.storage import save_checkpoint
from robomarl.lab.train.self_play.games import init_games
from tests.domains.soccer.games import Place, ball_at, robots_at

EYES, FULL = load_scenario("soccer_2v2"), load_scenario("soccer_2v2_full")
OURS = dataclasses.replace(EYES, sees="all")
THEIRS = dataclasses.replace(EYES, opponent=FULL.opponent)
ALL = {"eyes": EYES, "ours": OURS, "theirs": THEIRS, "full": FULL}
BEHIND: list[Place] = [(-0.7, 0.3, 3.1), (0.4, 0.3, 3.1), (1.3, 0.3, 0.2), (1.9, -0.6, -0.1)]
"""Everybody turns the back to the ball; our second robot stands between the first one and theirs."""
BALL = (0.9, 0.3, 1.5, -0.7)
NUM = 40


def played(scenario: SoccerScenario, pictures: int = 4) -> SoccerWorld:
    """Games with all errors and losses, of which so many pictures were taken since the robots are at `BEHIND`."""
    random = np.random.default_rng(5)
    game = start_game(scenario, random.random((NUM, 4, num_start_draws(scenario)), np.float32))
    game = game._replace(robots=robots_at(BEHIND, NUM), ball=ball_at(*BALL, num=NUM))
    for _ in range(pictures):
        game = perceive(scenario, game, random.random((NUM, 4, num_step_draws(scenario) - PLACE_DRAWS), np.float32))
    return game


def views_of(scenario: SoccerScenario, pictures: int = 4) -> Any:
    """What everybody knows then."""
    return player_views(scenario, played(scenario, pictures))


def sensed(scenario: SoccerScenario, game: SoccerWorld) -> Any:
    """What everybody senses then."""
    return player_views(scenario, game).sensed


def test_who_sees_all_has_the_truth_to_the_last_bit_after_the_first_picture():
    for scenario, robots in ((OURS, [0, 1]), (THEIRS, [2, 3]), (FULL, [0, 1, 2, 3])):
        view = views_of(scenario, pictures=1)
        for i in robots:
            side, others = (1, BEHIND[2:]) if i < 2 else (-1, BEHIND[:2])
            x, y, vx, vy = (np.float32(side * part) for part in BALL)
            assert view.sensed.ball_mask[:, i].all()
            assert (view.sensed.ball_pos_m[:, i] == [x, y, 0]).all()
            assert (view.sensed.ball_vel_m_s[:, i] == [vx, vy, 0]).all()
            assert view.sensed.strangers_mask[:, i].all()
            places = np.array([(side * x, side * y, 0) for x, y, _ in others], np.float32)
            assert (view.sensed.strangers_pos_m[:, i] == places).all()
            assert (view.sensed.ball_age_s[:, i] == 0).all() and (view.sensed.strangers_age_s[:, i] == 0).all()
            assert (view.own.pos_m[:, i, :2] == side * np.array(BEHIND[i][:2], np.float32)).all()
            assert np.abs(view.own.quat_wxyz[:, i] - view.own.quat_wxyz[0, i]).max() == 0


def test_with_its_eyes_the_same_robot_sees_neither_and_errs():
    view = views_of(EYES)
    assert not view.sensed.ball_mask.any()
    assert not view.sensed.strangers_mask[:, 0].any()
    assert np.abs(view.own.pos_m[:, :2, :2] - np.array(BEHIND, np.float32)[:2, :2]).max() > 0.01


def test_one_team_that_sees_all_leaves_the_other_one_bit_equal():
    plain = views_of(EYES)
    for scenario, others in ((OURS, slice(2, None)), (THEIRS, slice(2))):
        pairs = zip(jax.tree.leaves(views_of(scenario)), jax.tree.leaves(plain), strict=True)
        assert all(np.array_equal(a[:, others], b[:, others]) for a, b in pairs)


def test_the_radio_is_as_late_as_ever_and_says_what_is_exact():
    """Mates hear of the ball one period later, and of where it was then."""
    game = played(FULL)._replace(ball=ball_at(0.5, 0.1, num=NUM))
    lossless = game._replace(hidden=game.hidden._replace(packet_loss=game.hidden.packet_loss * 0))
    draws = np.full((NUM, 4, num_step_draws(FULL) - PLACE_DRAWS), 0.5, np.float32)
    one = perceive(FULL, lossless, draws)
    two = perceive(FULL, one, draws)
    first, second = (sensed(FULL, each) for each in (one, two))
    assert (first.ball_pos_m[:, 0, :2] == np.array([0.5, 0.1], np.float32)).all()
    assert (first.told_pos_m[:, 0, 0, :2] == np.array(BALL[:2], np.float32)).all()
    assert (second.told_pos_m[:, 0, 0, :2] == np.array([0.5, 0.1], np.float32)).all()
    assert second.told_age_s == pytest.approx(FULL.radio.latency_s)


@pytest.mark.parametrize("name", ALL)
def test_numpy_and_jax_agree_on_what_is_known(name: str):
    scenario, env = ALL[name], SoccerEnv(ALL[name])
    game = played(scenario)
    views = jax.jit(jax.vmap(env.views))(game)
    for a, b in zip(jax.tree.leaves(views), jax.tree.leaves(player_views(scenario, game)), strict=True):
        assert np.asarray(a) == pytest.approx(np.asarray(b), abs=1e-6)


def test_the_file_differs_from_soccer_2v2_in_what_is_seen_and_nowhere_else():
    opponent = dataclasses.replace(FULL.opponent, sees="eyes")
    assert dataclasses.replace(FULL, sees="eyes", opponent=opponent, name="soccer_2v2") == EYES


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An untrained run of either kind, of games of a second."""
    folder, found = tmp_path_factory.mktemp("runs"), {}
    play = SelfPlayConfig(scripts=("chaser", "keeper"), script_parts=1, itself=1, snapshots=1, pool=2)
    config = TrainConfig(num_envs=4, minibatches=1, network=NetworkConfig((8,), (8,)), self_play=play)
    state = jax.jit(partial(init_games, config, SoccerEnv(EYES)))(jax.random.key(0))
    for scenario in (EYES, FULL):
        run = folder / scenario.name
        short: Any = dataclasses.replace(scenario, time_limit_s=1.0)
        create_run(run, config, short, 0)
        save_checkpoint(run, state, keep_before=False)
        found[scenario.name] = str(run)
    return found


@pytest.mark.parametrize(
    ("ours", "theirs", "sees"),
    [
        ("soccer_2v2", "soccer_2v2_full", ("eyes", "all")),
        ("soccer_2v2_full", "soccer_2v2", ("all", "eyes")),
        ("soccer_2v2_full", "keeper", ("all", "all")),  # a script sees what the scenario says
    ],
)
def test_in_a_match_each_team_sees_what_it_was_trained_with(
    runs: dict[str, str], ours: str, theirs: str, sees: tuple[str, str], tmp_path: Path
):
    out = tmp_path / "figures.json"
    words = ["eval", runs[ours], "--against", runs.get(theirs, theirs), "--sim", "fast", "--episodes", "1"]
    assert cli.main([*words, "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert (found["sees"], found["against_sees"]) == sees


def test_a_policy_that_sees_all_is_not_exported(runs: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture):
    target = tmp_path / "bundle"
    assert cli.main(["export", runs["soccer_2v2_full"], str(target)]) == 1
    assert (
        'soccer_2v2_full: was trained with sees = "all", and a robot can\'t see everything' in capsys.readouterr().err
    )
    assert not target.exists()
