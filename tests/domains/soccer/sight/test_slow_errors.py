"""Errors that change slowly: their sizes and time constants, what is told of a thing that is not found, kick-offs."""

import dataclasses
import math
import tomllib

import numpy as np
import pytest

from benchmarks.eyes.errors import Recorded, fitted
from robomarl.domains.soccer.lab.camera import all_things, in_sight
from robomarl.domains.soccer.lab.game import SoccerWorld, num_step_draws, perceive
from robomarl.domains.soccer.lab.placement import PLACE_DRAWS
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sections import TrackConfig, TracksConfig
from robomarl.domains.soccer.lab.sight.slow_errors import SlowErrors
from robomarl.domains.soccer.lab.start import num_start_draws, start_game
from robomarl.lab.sim.scenario import load_scenario
from tests.domains.soccer.games import ball_at, robots_at

NUM = 400
EVEN = (0.6, 0.6, 0.6, 0.6, 0.6, 0.6)
TRACK = TrackConfig(
    found=EVEN,
    run_s=0.3,
    held_s=0.4,
    slows_m_s2=2.0,
    bearing_rad=(0.03, 0.03, 0.03, 0.03, 0.03, 0.03),
    range=(0.02, 0.02, 0.04, 0.04, 0.04, 0.04),
    error_s=0.5,
    speed_m_s=(0.3, 0.3, 0.3, 0.3, 0.3, 0.3),
    speed_error_s=0.2,
    lag_s=0.0,
)


def spoiled(**changes: object) -> SoccerScenario:
    """The game with errors that change slowly, equal for all robots."""
    plain = load_scenario("soccer_2v2", SoccerScenario)
    track = dataclasses.replace(TRACK, **changes)
    return dataclasses.replace(
        plain,
        eyes=dataclasses.replace(plain.eyes, tracks=TracksConfig(track, track)),
        pose=dataclasses.replace(plain.pose, drift_m=0.08, drift_rad=0.02, drift_s=1.0),
        randomize=dataclasses.replace(plain.randomize, noise_scale=(1.0, 1.0)),
    )


def watched(scenario: SoccerScenario, steps: int) -> list[SoccerWorld]:
    """Many games in which nothing moves: the first robot has the ball 1 m ahead and nobody in between."""
    random = np.random.default_rng(0)
    game = start_game(scenario, random.random((NUM, 4, num_start_draws(scenario)), np.float32))
    robots = robots_at([(-1.0, 0.0, 0.0), (-2.0, 1.0, 0.0), (1.0, 1.0, math.pi), (2.0, 0.0, math.pi)], NUM)
    game, games = game._replace(robots=robots, ball=ball_at(0.0, 0.0, num=NUM)), []
    for _ in range(steps):
        draws = random.random((NUM, 4, num_step_draws(scenario) - PLACE_DRAWS), np.float32)
        game = perceive(scenario, game, draws)
        games.append(game)
    return games


def errors_of(game: SoccerWorld) -> SlowErrors:
    assert isinstance(game.errors, SlowErrors)
    return game.errors


def alike(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.corrcoef(first.ravel(), second.ravel())[0, 1])


def test_the_own_pose_is_off_by_its_drift_and_changes_with_its_time_constant():
    scenario = spoiled()
    games = watched(scenario, 40)
    off = np.stack([game.pose.x[:, 0] + 1.0 for game in games])
    assert off.std() == pytest.approx(0.08, rel=0.08)
    lag = 12
    assert alike(off[:-lag], off[lag:]) == pytest.approx(math.exp(-lag * scenario.period_s / 1.0), abs=0.06)
    theirs = np.stack([game.pose.x[:, 2] + 1.0 for game in games])
    assert np.abs(theirs).max() <= scenario.pose.position_noise_m + 1e-6, "the other team has the scenario's eyes"


def test_a_thing_in_view_is_found_as_often_and_as_long_as_the_section_says():
    scenario = spoiled()
    found = np.stack([errors_of(game).found[:, 0, 0] for game in watched(scenario, 40)])
    assert found.mean() == pytest.approx(0.6, abs=0.03)
    lag = 5
    assert alike(found[:-lag], found[lag:]) == pytest.approx(math.exp(-lag * scenario.period_s / 0.3), abs=0.06)


def test_the_ball_is_told_with_the_errors_of_its_distance():
    scenario = spoiled(found=(1.0,) * 6)
    game = watched(scenario, 30)[-1]
    sight, latency = game.sights[-1], scenario.eyes.latency_s
    ahead = sight.x[:, 0, 0] + latency * sight.vx[:, 0, 0] - game.pose.x[:, 0]
    left = sight.y[:, 0, 0] + latency * sight.vy[:, 0, 0] - game.pose.y[:, 0]
    heading = np.arctan2(game.pose.s, game.pose.c)[:, 0]
    assert np.hypot(ahead, left).std() == pytest.approx(0.04, rel=0.2)
    assert (np.arctan2(left, ahead) - heading).std() == pytest.approx(0.03, rel=0.2)
    assert sight.vx[:, 0, 0].std() == pytest.approx(0.3, rel=0.2)


def test_a_thing_that_is_not_found_goes_on_slows_down_and_is_forgotten():
    scenario = spoiled(found=(0.0,) * 6)
    game = watched(scenario, 1)[0]
    errors = errors_of(game)
    place, speed = np.full((NUM, 2, 3), 0.2, np.float32), np.full((NUM, 2, 3), 0.5, np.float32)
    told = (place, place, speed, 0 * speed)
    game = game._replace(errors=errors._replace(told=told, age_s=0 * errors.age_s))
    draws = np.full((NUM, 4, num_step_draws(scenario) - PLACE_DRAWS), 0.5, np.float32)
    known = []
    for _ in range(12):
        game = perceive(scenario, game, draws)
        known.append(bool(game.sights[-1].seen[0, 0, 0]))
    assert known == [True] * 10 + [False] * 2, "0.4 s are ten decisions"
    x, _, vx, _ = errors_of(game).told
    assert x[0, 0, 0] == pytest.approx(0.2 + 0.5**2 / (2 * 2.0), abs=0.02)
    assert vx[0, 0, 0] == pytest.approx(0.0, abs=1e-3)


def test_a_kick_off_forgets_what_was_seen_before():
    scenario = spoiled(found=(0.0,) * 6)
    game = watched(scenario, 1)[0]
    game = game._replace(errors=errors_of(game)._replace(age_s=0 * errors_of(game).age_s))
    game = game._replace(referee=game.referee._replace(restarts=game.referee.restarts + 1))
    draws = np.full((NUM, 4, num_step_draws(scenario) - PLACE_DRAWS), 0.5, np.float32)
    assert not perceive(scenario, game, draws).sights[-1].seen[:, :2].any()


def test_jax_and_numpy_agree():
    jax = pytest.importorskip("jax")
    scenario = spoiled(lag_s=0.05)
    game = watched(scenario, 3)[-1]
    draws = np.random.default_rng(1).random((NUM, 4, num_step_draws(scenario) - PLACE_DRAWS), np.float32)
    after = perceive(scenario, game, draws)
    compiled = jax.jit(lambda game, draws: perceive(scenario, game, draws))(game, draws)
    for one, two in zip(jax.tree.leaves(after), jax.tree.leaves(compiled), strict=True):
        np.testing.assert_allclose(one, two, atol=2e-5)


def turned_back(x: np.ndarray, y: np.ndarray, c: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of the field frame [..., T] in the body frames of headings [...]."""
    size = np.hypot(c, s)
    c, s = (c / size)[..., None], (s / size)[..., None]
    return c * x + s * y, c * y - s * x


def row_of(scenario: SoccerScenario, game: SoccerWorld) -> tuple[np.ndarray, ...]:
    """What `benchmarks.eyes.errors` records of a decision."""
    robots, pose, sight, back = game.robots, game.pose, game.sights[-1], scenario.eyes.latency_s
    x, y, vx, vy = all_things(scenario, robots, game.ball)
    dx, dy = x - robots.x[..., None], y - robots.y[..., None]
    seen = in_sight(scenario, robots, dx, dy)[:, :2]
    true = (*turned_back(dx, dy, robots.c, robots.s), *turned_back(vx, vy, robots.c, robots.s))
    now = sight.x + back * sight.vx - pose.x[..., None], sight.y + back * sight.vy - pose.y[..., None]
    told = (*turned_back(*now, pose.c, pose.s), *turned_back(sight.vx, sight.vy, pose.c, pose.s))
    turn = np.arctan2(robots.c * pose.s - robots.s * pose.c, robots.c * pose.c + robots.s * pose.s)
    own = np.stack([pose.x - robots.x, pose.y - robots.y, turn], -1)[:, :2]
    return own, np.stack(true, -1)[:, :2], np.stack(told, -1)[:, :2], seen, errors_of(game).age_s


def test_the_fit_finds_the_numbers_that_were_put_in():
    scenario = spoiled()
    rows = [row_of(scenario, game) for game in watched(scenario, 60)]
    settled = np.ones((len(rows), NUM), bool)
    parts = (np.stack(part) for part in zip(*rows, strict=True))
    found = tomllib.loads(fitted(Recorded(*parts, settled), scenario))  # pyright: ignore[reportCallIssue]
    pose, ball, at = found["pose"], found["eyes"]["tracks"]["ball"], 2  # the ball is 1 m ahead
    assert (pose["drift_m"], pose["drift_rad"]) == pytest.approx((0.08, 0.02), rel=0.1)
    assert pose["drift_s"] == pytest.approx(1.0, rel=0.25)
    assert ball["found"][at] == pytest.approx(0.6, abs=0.05)
    assert ball["run_s"] == pytest.approx(0.3, rel=0.3)
    assert (ball["bearing_rad"][at], ball["range"][at]) == pytest.approx((0.03, 0.04), rel=0.15)
    assert ball["error_s"] == pytest.approx(0.5, rel=0.3)
    assert ball["speed_m_s"][at] == pytest.approx(0.3, rel=0.15)
    assert ball["speed_error_s"] == pytest.approx(0.2, rel=0.3)
    assert ball["lag_s"] == 0.0
