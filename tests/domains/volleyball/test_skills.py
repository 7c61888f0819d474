"""Skills of a rally, each alone: their starts, their one hit, their posts, and the sections that they need."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.volleyball.lab.model import MODEL
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks import task_of
from robomarl.domains.volleyball.lab.tasks.base import finer
from robomarl.domains.volleyball.lab.tasks.skill import HELD, POST_M
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of

STRIKES = ("volley_serve", "volley_receive", "volley_pass", "volley_set", "volley_attack")


def loaded(name: str) -> VolleyScenario:
    return load_scenario(name, VolleyScenario)


def begun(scenario: VolleyScenario, teams: int = 1) -> TeamWorld:
    return simulation_of(scenario).batch(scenario, "fast", teams, 0).reset()


def judged(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: bool = False) -> TeamWorld:
    return task_of(scenario).judge(scenario, before, after, np.array([[touched]]))


def ball_at(world: TeamWorld, place: tuple[float, float, float]) -> TeamWorld:
    return world._replace(own=world.own._replace(ball_pos_m=np.array([place], np.float32)))


def test_the_later_digits_of_a_draw_are_a_draw_of_their_own():
    draws = np.random.default_rng(0).random(20_000).astype(np.float32)
    fine = finer(draws)
    assert 0 <= fine.min() and fine.max() < 1
    np.testing.assert_allclose(np.histogram(fine, 10, (0, 1))[0], 2000, atol=200)
    assert abs(np.corrcoef(draws, fine)[0, 1]) < 0.03


@pytest.mark.parametrize("name", [name for name in STRIKES if name != "volley_serve"])
def test_the_ball_comes_as_the_scenario_says_and_the_drone_can_reach_it(name: str):
    scenario = loaded(name)
    coming, own = scenario.incoming, begun(scenario, 200).own
    assert coming is not None
    pairs = (
        (own.ball_pos_m, coming.place_m, coming.place_spread_m),
        (own.ball_vel_m_s, coming.velocity_m_s, coming.velocity_spread_m_s),
    )
    for found, middle, spread in pairs:
        away = np.abs(found - np.array(middle))
        assert (away <= np.array(spread) + 1e-5).all() and (away.max(0) >= 0.9 * np.array(spread)).all()


def test_a_drone_that_hovers_starts_with_the_speed_of_a_hit_and_others_at_rest():
    fast = begun(loaded("volley_hover"), 200).vel_m_s
    assert 1.9 < np.abs(fast).max() <= 2.0 and abs(fast.mean()) < 0.1
    assert not begun(loaded("volley_go_to"), 20).vel_m_s.any()


@pytest.mark.parametrize(("aside_m", "gained"), [(0.4, 1), (0.6, 0)])
def test_a_ball_counts_that_falls_through_the_target_after_one_hit(aside_m: float, gained: int):
    scenario = loaded("volley_set")
    world = begun(scenario)
    above, below = (ball_at(world, (2.04 + aside_m, 1.4, z)) for z in (2.7, 2.5))
    unhit = judged(scenario, above, below)
    assert unhit.own.rally.score == 0 and not unhit.own.rally.is_over.any(), "nobody has hit it"
    hit = judged(scenario, world, world, True)
    assert hit.own.rally.turn == 2
    rally = {"rally": hit.own.rally}
    above, below = (each._replace(own=each.own._replace(**rally)) for each in (above, below))
    after = judged(scenario, above, below)
    assert after.own.rally.score == gained
    assert MODEL.failed(scenario, after).any() == (not gained)
    assert MODEL.succeeded(scenario, after).all() == bool(gained)


def test_a_second_hit_is_wrong():
    scenario = loaded("volley_set")
    world = judged(scenario, begun(scenario), begun(scenario), True)
    for _ in range(5):
        world = judged(scenario, world, world)
    again = judged(scenario, world, world, True)
    assert again.own.rally.wrong.all() and MODEL.failed(scenario, again).all()


@pytest.mark.parametrize(
    ("place", "fails"), [((2.0, 0.0, 0.1), True), ((0.2, 0.0, 2.0), True), ((0.2, 0.0, 2.6), False)]
)
def test_a_ball_on_the_ground_or_in_the_net_is_a_fault(place: tuple[float, float, float], fails: bool):
    scenario = loaded("volley_attack")
    world = begun(scenario)
    assert MODEL.failed(scenario, judged(scenario, world, ball_at(world, place))).any() == fails


def test_a_post_is_held_after_a_second_in_a_row():
    scenario = loaded("volley_go_to")
    world = begun(scenario)
    there = world._replace(pos_m=world.goal_m + np.array([POST_M - 0.01, 0, 0], np.float32))
    away = world._replace(pos_m=world.goal_m + np.array([POST_M + 0.01, 0, 0], np.float32))
    for step in range(2 * HELD):
        place = away if step == HELD - 2 else there
        world = judged(scenario, world, place._replace(own=world.own))
        assert world.own.rally.score == (step >= 2 * HELD - 2)


MISTAKES = {
    ("volley_bump", 'task = "volley_strike"'): "has a target and no [aim]; add it with place_m and within_m",
    ("volley_bump", "[aim]\nplace_m = [0.0, 0.0, 2.0]\nwithin_m = 1.0"): "has no target that [aim] could name",
    ("volley_3v3", "[aim]\nplace_m = [0.0, 0.0, 2.0]\nwithin_m = 1.0"): "[aim] is of tasks without opponents",
    ("volley_3v3", "[start]\nposts_within_m = 0.5"): "start.posts_within_m is of tasks without opponents",
    ("volley_go_to", "[incoming]\nplace_m = [0.0, 0.0, 2.0]\nvelocity_m_s = [0.0, 0.0, 2.0]"): "add [ball], or remove",
    ("volley_go_to", 'task = "volley_back_and_forth"'): "waypoints_m has 0 places; the robot flies between 2 or more",
}


@pytest.mark.parametrize(("base", "text"), MISTAKES)
def test_a_section_that_is_missing_or_of_another_task_is_refused(tmp_path: Path, base: str, text: str):
    file = tmp_path / "mine.toml"
    file.write_text(f'extends = "{base}"\n{text}\n')
    with pytest.raises(UserError) as error:
        load_scenario(str(file))
    assert "mine.toml" in str(error.value) and MISTAKES[base, text] in str(error.value)


def test_starts_of_other_tasks_are_as_they_were():
    """The ball of a task without `[incoming]` is at rest above its first robot, wherever that one is."""
    scenario = loaded("volley_bump_pass")
    world = begun(replace(scenario, incoming=None), 5)
    np.testing.assert_array_equal(world.own.ball_pos_m, world.pos_m[:, 0] + np.array([0, 0, 2], np.float32))
    assert not world.own.ball_vel_m_s.any() and not world.vel_m_s.any()


@pytest.mark.parametrize("name", [*STRIKES, "volley_go_to", "volley_hover"])
def test_each_skill_ships_as_a_bundle_that_does_its_part_on_fast(name: str):
    policy, scenario = resolve_policy(name, name, kind=VolleyScenario)
    figures = evaluate(policy, scenario, EvalConfig("fast", 12, 1, "full", progress=False)).figures
    assert figures["metric_mean"] >= 0.75 and figures["wrong_hit_episodes"] == 0
