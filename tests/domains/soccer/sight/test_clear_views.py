"""Views without errors: what a teacher sees of a game whose robots have slow errors."""

import numpy as np

from robomarl.core.types import Array
from robomarl.domains.soccer.lab import task
from robomarl.domains.soccer.lab.camera import all_things, in_sight
from robomarl.domains.soccer.lab.game import SoccerWorld, num_step_draws, perceive
from robomarl.domains.soccer.lab.placement import PLACE_DRAWS
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.clear_views import cleared
from robomarl.domains.soccer.lab.start import num_start_draws, start_game
from robomarl.domains.soccer.lab.views import player_views
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sim.starts import Starts

NUM, OURS = 64, 2
SCENARIO = load_scenario("soccer_2v2_eyes", SoccerScenario)
SPEC = task.observation(SCENARIO)


def watched() -> SoccerWorld:
    """Games that mostly began anywhere on the field, whose robots have looked around for some decisions."""
    random = np.random.default_rng(0)
    draws = random.random((NUM, 4, num_start_draws(SCENARIO)), np.float32)
    game = start_game(SCENARIO, draws, Starts(anywhere=0.85))
    robots = game.robots._replace(vx=game.robots.vx + np.float32(0.5), turn=game.robots.turn + np.float32(1.0))
    game = game._replace(robots=robots, ball=game.ball._replace(vy=game.ball.vy + np.float32(0.8)))
    for _ in range(5):
        game = perceive(SCENARIO, game, random.random((NUM, 4, num_step_draws(SCENARIO) - PLACE_DRAWS), np.float32))
    return game


def shown(game: SoccerWorld, *names: str) -> Array:
    """[E, N, len(names)] elements of our robots' observations."""
    views = player_views(SCENARIO, game)
    obs = SPEC.observe(SPEC.init(views), views)[1]
    return obs[:, :OURS, [SPEC.element_names().index(name) for name in names]]


def test_the_cleared_game_shows_where_pose_and_ball_are():
    game = watched()
    clear, robots = cleared(SCENARIO, game), game.robots
    names = ("own_motion.x", "own_motion.y", "own_motion.vx", "own_motion.vy")
    own = np.stack([robots.x, robots.y, robots.vx, robots.vy], -1)[:, :OURS]
    np.testing.assert_allclose(shown(clear, *names), own, atol=1e-5)
    assert np.abs(shown(game, *names) - own).max() > 0.05
    x, y, *_ = all_things(SCENARIO, robots, game.ball)
    offset = np.stack([x - robots.x[..., None], y - robots.y[..., None]], -1)
    seen = in_sight(SCENARIO, robots, offset[..., 0], offset[..., 1])[:, :OURS, 0]
    np.testing.assert_array_equal(shown(clear, "ball_seen.seen")[..., 0] > 0, seen)
    place = shown(clear, "ball_seen.dx", "ball_seen.dy")
    np.testing.assert_allclose(place[seen], offset[:, :OURS, 0][seen], atol=1e-5)
    assert 0.1 < seen.mean() < 0.9 and not place[~seen].any()


def test_the_cleared_game_shows_what_teammates_would_have_told():
    game = watched()
    clear = cleared(SCENARIO, game)
    told = shown(clear, "ball_told.seen")[..., 0] > 0
    mate_sees = shown(clear, "ball_seen.seen")[:, ::-1, 0] > 0
    np.testing.assert_array_equal(told, mate_sees & (shown(clear, "mates[0].heard")[..., 0] > 0))
    here = shown(clear, "own_motion.x", "own_motion.y")
    place = np.stack([game.ball.x, game.ball.y], -1)[:, None] - here
    np.testing.assert_allclose(shown(clear, "ball_told.dx", "ball_told.dy")[told], place[told], atol=1e-5)
    np.testing.assert_allclose(shown(clear, "mates[0].dx", "mates[0].dy"), here[:, ::-1] - here, atol=1e-5)
    assert told.any() and not told.all()
    np.testing.assert_array_equal(clear.air.age_s, game.air.age_s)
