"""Scripted teams, matches, set pieces, and what `eval` makes of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.controllers import SCRIPTS
from robomarl.domains.soccer.lab.controllers.scripted_teams import SCRIPT_OF, ScriptedTeam
from robomarl.domains.soccer.lab.controllers.skills import believe, no_belief
from robomarl.domains.soccer.lab.evaluation.evaluate import GameConfig, evaluate_game, figures, make_player
from robomarl.domains.soccer.lab.evaluation.match import MatchTally, count, play_set_pieces
from robomarl.front.cli import main
from robomarl.lab.sim.sides import team_view
from tests.domains.soccer.games import APART, ball_at, plain, put, robots_at

SCENARIO = plain()


def test_every_script_that_a_file_may_name_exists():
    assert set(SCRIPTS) == set(SCRIPT_OF)


def test_the_chaser_scores_set_pieces_on_mujoco():
    """The promise is 90 % of them; eight out of ten here."""
    sim = make_soccer(SCENARIO, "mujoco", 10, 0)
    scored, kicked = play_set_pieces(sim, ScriptedTeam(SCENARIO, "chaser"), seed=0, seconds=4.0)
    assert scored.sum() >= 8
    assert np.median(kicked) < 2.0


def test_a_player_remembers_the_ball_and_believes_its_mate():
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    blind = [(-1.0, 0.0, np.pi), (-2.0, 0.0, 0.0), *APART[2:]]  # the first looks away, its mate looks at the ball
    put(sim, robots_at(blind), ball_at(0.5, 0.3))
    views = [team_view(SCENARIO, sim.views(), 0)]
    for _ in range(6):
        sim.step(np.zeros((1, 4, 4)))
        views.append(team_view(SCENARIO, sim.views(), 0))
    sensed: Any = views[-1].sensed
    assert not sensed.ball_mask[0, 0]
    belief = no_belief(np.zeros((1, 2), np.float32))
    for view in views:
        belief = believe(SCENARIO, belief, view)
    assert (belief.x[0, 0], belief.y[0, 0]) == pytest.approx((0.5, 0.3), abs=0.03)


def test_only_impacts_that_we_drove_into_are_ours():
    sim = make_soccer(SCENARIO, "fast", 3, 0)
    game = sim.reset()
    impact, own = np.zeros((3, 4)), np.zeros((3, 4))
    impact[0, [0, 2]], own[0, 2] = 1.0, 1.0  # theirs drove into our standing robot
    impact[1, [0, 2]], own[1] = 1.0, 0.5  # both drove
    impact[2, [0, 2]], own[2] = 0.2, 0.2  # a touch
    game = game._replace(contacts=game.contacts._replace(impact_m_s=impact, own_m_s=own))
    zero = np.zeros(3)
    tally = count(SCENARIO, MatchTally(zero, zero, zero, zero, zero), game)
    assert tally.impacts.tolist() == [0, 1, 0]
    assert tally.impacts_against.tolist() == [1, 1, 0]


def test_the_figures_of_three_matches_by_hand():
    ours, theirs = np.array([2.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0])
    found = figures(MatchTally(ours, theirs, ours * 0, ours * 0, ours))
    assert (found["goals_for"], found["goals_against"]) == (1.0, 1.0)
    assert found["goals_for_share"] == pytest.approx(0.5)
    assert found["win_rate"] == pytest.approx(0.5)
    low, high = found["goals_for_share_ci95"]
    assert low < 0.5 < high


def test_eval_of_a_game_writes_figures_and_a_picture(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('extends = "soccer_2v2"\ntime_limit_s = 1.0\n')
    out, picture = tmp_path / "figures.json", tmp_path / "match.png"
    words = ["eval", "keeper", "--scenario", str(file), "--sim", "fast", "--episodes", "2", "--against", "chaser"]
    assert main([*words, "--video", str(picture), "--json", str(out)]) == 0
    assert '"goals_for_share"' in out.read_text()
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "config", "message"),
    [
        ("tiger", {}, "Unknown policy 'tiger': no run folder or bundle there"),
        ("chaser", {"perturb": ("wind=1",)}, "'wind' is not a randomized parameter"),
        ("chaser", {"perturb": ("delay_s=soon",)}, "write NAME=VALUE"),
        ("chaser", {"against": "law"}, "law plays no soccer; name a bundle, a run folder, or a script"),
        ("chaser", {"sim": "mjx"}, "--sim mjx does not play soccer; allowed: fast, mujoco"),
    ],
)
def test_mistakes_are_named(name: str, config: dict, message: str):
    with pytest.raises(UserError) as error:
        evaluate_game(name, "soccer_2v2", GameConfig(**{"sim": "fast", "episodes": 1, **config}))
    assert message in str(error.value)


def test_a_team_without_the_role_is_refused():
    with pytest.raises(UserError, match="has no 'keeper', which the script 'keeper' needs"):
        make_player("keeper", plain("soccer_1v1"), ("attacker",))
