"""What is seen, what is not, and that nothing else reaches a policy."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from robomarl.domains.soccer.core.features import Picture, with_told
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.camera import in_sight, look
from robomarl.domains.soccer.lab.game import SoccerWorld, num_step_draws, perceive
from robomarl.domains.soccer.lab.placement import PLACE_DRAWS
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.start import num_start_draws, start_game
from robomarl.domains.soccer.lab.task import observation
from robomarl.domains.soccer.lab.views import player_views
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sim.starts import Starts
from tests.domains.soccer.games import Place, ball_at, plain, put, robots_at

SCENARIO = plain()


def seen_by_first(places: list[Place], ball: tuple[float, float]) -> list[bool]:
    """What the first robot has in sight: ball, first and second opponent."""
    robots = robots_at(places)
    things = [ball, *((x, y) for x, y, _ in places[2:])]
    offsets = np.array(things) - np.array(places[0][:2])
    dx, dy = (np.tile(offsets[:, i], (1, 4, 1)) for i in (0, 1))
    return in_sight(SCENARIO, robots, dx, dy)[0, 0].tolist()


@pytest.mark.parametrize(
    ("places", "ball", "seen"),
    [
        ([(0, 0, 0), (0, 1, 0), (1, 0.5, 0), (1, -0.5, 0)], (1.0, 0.0), [True, True, True]),
        ([(0, 0, 0), (0.5, 0, 0), (1, 0.5, 0), (1, -0.5, 0)], (1.0, 0.0), [False, True, True]),  # a mate hides it
        ([(0, 0, 0), (0, 1, 0), (0.5, 0, 0), (1, 0, 0)], (1.5, 0.0), [False, True, False]),  # an opponent, too
        ([(0, 0, 0), (0, 1, 0), (0.5, 0.1, 0), (1, 1, 0)], (1.0, 0.0), [True, True, True]),  # just past its edge
        ([(0, 0, 3.14), (0, 1, 0), (1, 0.5, 0), (-1, 0, 0)], (1.0, 0.0), [False, False, True]),  # behind its back
        ([(-2.1, 0, 0), (0, 1, 0), (2.1, 0.4, 0), (2.1, -1.4, 0)], (2.2, -0.1), [True, True, True]),
    ],
)
def test_field_of_view_and_occlusion(places: list[Place], ball: tuple[float, float], seen: list[bool]):
    assert seen_by_first(places, ball) == seen


def test_the_field_of_view_ends_at_its_half_angle_and_the_range_at_its_end():
    half, reach = SCENARIO.eyes.fov_rad / 2, SCENARIO.eyes.range_m
    places: list[Place] = [(0, 0, 0), (-1, 0, 0), (-1, 1, 0), (-1, -1, 0)]
    for angle, away, seen in [
        (half - 0.01, 1, True),
        (half + 0.01, 1, False),
        (0, reach - 0.01, True),
        (0, reach + 0.01, False),
    ]:
        assert seen_by_first(places, (away * np.cos(angle), away * np.sin(angle)))[0] is seen


def test_each_team_sees_its_own_field_frame_and_the_noise_stays_within_its_bounds():
    scenario = load_scenario("soccer_2v2")
    robots = robots_at([(-1.0, 0.3, 0.0), (-2, 0, 0), (1.0, -0.3, np.pi), (2, 0, np.pi)], 500)
    ball = ball_at(0.0, 0.2, num=500)
    draws = np.random.default_rng(0).random((500, 4, num_step_draws(scenario)), np.float32)
    pose, sight = look(scenario, robots, ball, np.ones((500, 4), np.float32), draws[..., PLACE_DRAWS:-1])
    bound = scenario.pose.position_noise_m
    for robot, place in ((0, (-1.0, 0.3)), (2, (-1.0, 0.3))):
        error = np.stack([pose.x[:, robot], pose.y[:, robot]]) - np.array(place)[:, None]
        assert 0.9 * bound < np.abs(error).max() <= bound + 1e-6
    seen = sight.seen[:, 0, 0]
    assert abs(seen.mean() - (1 - scenario.eyes.dropout)) < 0.03
    eyes, away = scenario.eyes, np.hypot(1.0, 0.1)
    turn = scenario.pose.heading_noise_rad + eyes.bearing_noise_rad
    reach = np.sqrt(2) * bound + away * np.hypot(turn, 1) * (1 + eyes.range_noise) - away + away * turn
    error = np.hypot(sight.x[:, 0, 0] - 0.0, sight.y[:, 0, 0] - 0.2)[seen]
    assert 0.02 < error.max() <= reach
    mirrored = np.hypot(sight.x[:, 2, 0] - 0.0, sight.y[:, 2, 0] + 0.2)[sight.seen[:, 2, 0]]
    assert mirrored.max() <= reach + 0.4 * turn, "the other team sees the same ball at (0, -0.2)"


def run(scenario: SoccerScenario, game: SoccerWorld, draws: list[np.ndarray]) -> SoccerWorld:
    for each in draws:
        game = perceive(scenario, game, each)
    return game


def sensed_after(game: SoccerWorld, draws: list[np.ndarray]) -> Any:
    return player_views(SCENARIO, run(SCENARIO, game, draws)).sensed


def test_latency_delays_pictures_and_messages():
    start = start_game(SCENARIO, np.full((1, 4, num_start_draws(SCENARIO)), 0.5, np.float32))
    draws = [np.full((1, 4, num_step_draws(SCENARIO) - PLACE_DRAWS), 0.5, np.float32)] * 8
    game = run(SCENARIO, start, draws)
    moved = game._replace(ball=ball_at(0.4, 0.3))
    one = sensed_after(moved, draws[:1])
    two = sensed_after(moved, draws[:2])
    assert one.ball_pos_m[0, 0, 0] == pytest.approx(0.0, abs=1e-6)
    assert two.ball_pos_m[0, 0, :2] == pytest.approx([0.4, 0.3], abs=1e-5)
    assert two.ball_age_s[0, 0] == pytest.approx(SCENARIO.eyes.latency_s)
    assert two.told_pos_m[0, 0, 0, 0] == pytest.approx(0.0, abs=1e-6), "the radio is one period later still"
    three = sensed_after(moved, draws[:3])
    assert three.told_pos_m[0, 0, 0, :2] == pytest.approx([0.4, 0.3], abs=1e-5)


def test_an_opponent_that_only_the_mate_sees_is_where_the_mate_says():
    """The second robot looks back at the first, and at an opponent behind it; nobody sees the other one."""
    places: list[Place] = [(0, 0, 0), (1, 0, np.pi), (-0.5, 0.4, 0), (1.5, 0.2, np.pi)]
    start = start_game(SCENARIO, np.full((1, 4, num_start_draws(SCENARIO)), 0.5, np.float32))
    draws = [np.full((1, 4, num_step_draws(SCENARIO) - PLACE_DRAWS), 0.5, np.float32)] * 8
    first, second = (
        type(sensed)(*(part[0, index] for part in sensed))
        for sensed in [sensed_after(start._replace(robots=robots_at(places)), draws)]
        for index in (0, 1)
    )
    assert (first.strangers_mask.tolist(), first.strangers_seen.tolist()) == ([True, True], [False, True])
    assert first.strangers_pos_m[0, :2] == pytest.approx([-0.5, 0.4], abs=1e-5)
    latency_s = SCENARIO.eyes.latency_s
    assert first.strangers_age_s == pytest.approx([latency_s + SCENARIO.radio.latency_s, latency_s])
    assert (second.strangers_mask.tolist(), second.strangers_seen.tolist()) == ([True, True], [True, False])


def test_the_robots_own_picture_counts_before_what_it_is_told_and_then_the_freshest():
    mask, age = np.array([True, False, False]), np.array([0.04, 0.0, 0.0])
    pos = np.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 0]])
    said, since = np.arange(18.0).reshape(2, 3, 3) + 5, np.array([[0.3] * 3, [0.1] * 3])
    told = Picture(np.array([[True, True, False], [True, True, False]]), said, -said, since)
    found = with_told(Picture(mask, pos, pos, age), told)
    assert found.mask.tolist() == [True, True, False]
    np.testing.assert_array_equal(found.pos_m, [[1.0, 0, 0], said[1, 1], [0, 0, 0]])
    np.testing.assert_array_equal(found.vel_m_s, [[1.0, 0, 0], -said[1, 1], [0, 0, 0]])
    assert found.age_s.tolist() == [0.04, 0.1, 0.0]


def test_what_is_neither_seen_nor_heard_leaves_the_observation_bit_equal():
    """Everything out of the first team's sight and off its radio is changed, in two hundred games."""
    scenario = dataclasses.replace(
        load_scenario("soccer_2v2"), eyes=dataclasses.replace(load_scenario("soccer_2v2").eyes, range_m=1.2)
    )
    random = np.random.default_rng(3)
    game = start_game(scenario, random.random((200, 4, num_start_draws(scenario)), np.float32), Starts(1.0, 0.0))
    far = np.full(200, 50.0, np.float32)  # where nobody looks
    robots, ball = game.robots, game.ball
    spec, changed = observation(scenario), 0
    draws = [random.random((200, 4, num_step_draws(scenario) - PLACE_DRAWS), np.float32) for _ in range(6)]
    before = _observe(scenario, run(scenario, game, draws), spec)
    sees = look(scenario, robots, ball, game.hidden.noise_scale, draws[0][..., :-1])[1]
    clear = in_reach(scenario, game)
    hidden = np.logical_not(clear[:, :2].any(1))  # [E, T]: nobody of ours has it in view whoever stands in between
    assert sees.seen.any() and hidden[:, 0].mean() > 0.1
    gone = ball._replace(x=np.where(hidden[:, 0], far, ball.x), vx=ball.vx + hidden[:, 0])
    away = robots._replace(
        x=np.stack([*robots.x[:, :2].T, *(np.where(hidden[:, i], far + i, robots.x[:, i + 1]) for i in (1, 2))], -1),
        charge_s=robots.charge_s + np.array([0, 0, 1, 1], np.float32),
    )
    after = _observe(scenario, run(scenario, game._replace(ball=gone, robots=away), draws), spec)
    changed = hidden.any(1).sum()
    assert changed > 50
    free = ~_between(scenario, game, hidden)
    assert np.array_equal(before[free, :2], after[free, :2])


def in_reach(scenario: SoccerScenario, game: SoccerWorld) -> np.ndarray:
    """[E, M, T] bool: within the field of view and the range, whoever stands in between."""
    from robomarl.domains.soccer.lab.camera import all_things

    x, y, _, _ = all_things(scenario, game.robots, game.ball)
    dx, dy = x - game.robots.x[..., None], y - game.robots.y[..., None]
    away = np.hypot(dx, dy)
    ahead = game.robots.c[..., None] * dx + game.robots.s[..., None] * dy
    return (away <= scenario.eyes.range_m + 0.01) & (ahead >= (np.cos(scenario.eyes.fov_rad / 2) - 0.01) * away)


def _between(scenario: SoccerScenario, game: SoccerWorld, hidden: np.ndarray) -> np.ndarray:
    """[E] bool: a robot that is moved away might have hidden something: it is near the field of view's edge."""
    near = np.hypot(
        game.robots.x[:, 2:, None] - game.robots.x[:, None, :2], game.robots.y[:, 2:, None] - game.robots.y[:, None, :2]
    ).min(-1)
    return (hidden[:, 1:] & (near < scenario.eyes.range_m + 0.2)).any(-1)


def _observe(scenario: SoccerScenario, game: SoccerWorld, spec) -> np.ndarray:  # noqa: ANN001
    views = player_views(scenario, game)
    return spec.observe(spec.init(views), views)[1]


def test_mates_in_the_field_of_view_are_in_the_filters_picture_and_say_whom_they_see():
    """The first looks at the second, which looks at the third; the radio has come through."""
    scenario = plain("soccer_3v3")
    ours: list[Place] = [(0.0, 0.0, 0.0), (0.8, 0.1, 0.0), (1.6, 0.0, 0.0)]
    sim = make_soccer(scenario, "fast", 1, 0)
    put(sim, robots_at([*ours, (-1.0, 1.2, 0.0), (-1.0, -1.2, 0.0), (-2.0, 1.2, 0.0)]), ball_at(0.0, 1.0))
    for _ in range(3):
        sim.step(np.zeros((1, 6, 4), np.float32))
    sensed: Any = sim.views().sensed
    assert sensed.mates_mask[0, :3].tolist() == [[True, True], [True, False], [False, False]]
    assert sensed.seen_by_mask[0, :3].tolist() == [[False, False], [False, True], [True, True]]
    np.testing.assert_allclose(sensed.mates_pos_m[0, 0, 0, :2], [0.8, 0.1], atol=0.01)
    np.testing.assert_allclose(sensed.seen_by_pos_m[0, 2, 1, :2], [1.6, 0.0], atol=0.01)
