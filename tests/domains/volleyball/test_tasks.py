"""Rules of the tasks: hits, wrong hits, turns, metrics, and the observations as published."""

import numpy as np
import pytest

from robomarl.domains.volleyball.lab.model import MODEL, observation
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks import TASKS, task_of
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of


def loaded(name: str) -> VolleyScenario:
    return load_scenario(name, VolleyScenario)


def begun(scenario: VolleyScenario, teams: int = 1) -> TeamWorld:
    return simulation_of(scenario).batch(scenario, "fast", teams, 0).reset()


def with_ball(world: TeamWorld, place: tuple[float, ...], speed: tuple[float, ...] = (0, 0, 0)) -> TeamWorld:
    ball = (np.array([value], np.float32) for value in (place, speed))
    return world._replace(own=world.own._replace(**dict(zip(("ball_pos_m", "ball_vel_m_s"), ball, strict=True))))


def judged(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, *touched: bool) -> TeamWorld:
    return task_of(scenario).judge(scenario, before, after, np.array([touched]))


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("volley_back_and_forth", 26),
        ("volley_hit", 32),
        ("volley_bump", 32),
        ("volley_bump_pass", 39),
        ("volley_spike_easy", 39),
        ("volley_spike_hard", 39),
        ("volley_serve", 34),
        ("volley_go_to", 26),
    ],
)
def test_observations_have_the_published_size(name: str, size: int):
    assert observation(loaded(name)).size == size


@pytest.mark.parametrize("name", sorted(TASKS))
def test_each_reward_term_has_a_weight_and_a_value_for_each_robot(name: str):
    scenario = loaded({"volley_strike": "volley_set", "volley_post": "volley_hover"}.get(name, name))
    world = begun(scenario, 3)
    after = MODEL.advance(
        scenario, world, np.zeros((3, scenario.count, 4), np.float32), np.zeros((3, scenario.count, 14))
    )
    terms = task_of(scenario).terms(scenario, world, after)
    assert set(terms) == set(task_of(scenario).weights)
    assert all(np.shape(term) == (3, scenario.count) and np.isfinite(term).all() for term in terms.values())
    assert not MODEL.failed(scenario, after).any()


def test_a_second_touch_within_half_a_second_is_a_wrong_hit():
    scenario = loaded("volley_bump")
    world = begun(scenario)
    hit = judged(scenario, world, world, True)
    assert hit.own.rally.hits == 1 and not hit.own.rally.wrong
    held = judged(scenario, hit, hit, True)
    assert held.own.rally.hits == 1 and not held.own.rally.wrong, "a touch that lasts is one touch"
    for _ in range(24):
        held = judged(scenario, held, held, False)
    assert judged(scenario, held, held, True).own.rally.wrong
    later = judged(scenario, held, held, False)
    for _ in range(2):
        later = judged(scenario, later, later, False)
    again = judged(scenario, later, later, True)
    assert again.own.rally.hits == 2 and not again.own.rally.wrong


def test_a_bump_counts_only_after_an_apex_above_the_height():
    scenario = loaded("volley_bump")
    world = begun(scenario)
    low, high = (with_ball(world, (4.5, 0, z)) for z in (3.4, 3.6))
    for between, gained in ((low, 0), (high, 1)):
        world = judged(scenario, begun(scenario), with_ball(begun(scenario), (4.5, 0, 2.5)), True)
        for _ in range(26):
            world = judged(scenario, world, between._replace(own=between.own._replace(rally=world.own.rally)), False)
        down = with_ball(world, (4.5, 0, 2.5))
        assert judged(scenario, down, down, True).own.rally.score == gained


def test_the_distance_of_a_hit_is_that_at_two_metres_on_the_way_down():
    scenario = loaded("volley_hit")
    world = judged(scenario, begun(scenario), begun(scenario), True)
    rally = world.own.rally
    above, below = (with_ball(world, place, (-5, 0, -5)) for place in ((-4.0, 0, 2.05), (-4.1, 0, 1.95)))
    above = above._replace(own=above.own._replace(rally=rally))
    after = judged(scenario, above, below._replace(own=below.own._replace(rally=rally)), False)
    np.testing.assert_allclose(after.own.rally.score, 4.5 + 4.05, rtol=1e-6)
    assert after.own.rally.is_over.all() and not MODEL.failed(scenario, after).any()
    further = judged(scenario, after, with_ball(after, (-9.0, 0, -5.0)), False)
    np.testing.assert_allclose(further.own.rally.score, 8.55, rtol=1e-6)


def test_the_turn_goes_over_and_a_hit_out_of_turn_is_wrong():
    scenario = loaded("volley_bump_pass")
    world = begun(scenario)
    first = judged(scenario, world, world, True, False)
    assert first.own.rally.turn == 1 and not first.own.rally.wrong
    for _ in range(4):
        first = judged(scenario, first, first, False, False)
    assert judged(scenario, first, first, True, False).own.rally.wrong
    assert judged(scenario, first, first, False, True).own.rally.turn == 0


def test_a_pass_counts_once_and_only_above_four_metres():
    scenario = loaded("volley_bump_pass")
    for height, gained in ((3.9, 0), (4.1, 1)):
        world = judged(scenario, begun(scenario), begun(scenario), True, False)
        before = with_ball(world, (4.5, -0.2, height))
        for y in (-0.05, 0.05, 0.2):
            after = with_ball(before, (4.5, y, height))
            before = judged(scenario, before, after, False, False)
        assert before.own.rally.score == gained


def test_a_place_is_reached_after_five_decisions_within_and_the_next_one_is_named():
    scenario = loaded("volley_back_and_forth")
    world = begun(scenario)
    np.testing.assert_allclose(world.goal_m[0, 0], [9.0, 4.5, 2.0])
    there = world._replace(pos_m=world.goal_m + np.array([0.5, 0, 0], np.float32))
    for step in range(5):
        there = judged(scenario, there, there._replace(), False)
        assert there.own.rally.score == (step == 4)
    np.testing.assert_allclose(there.goal_m[0, 0], [4.5, 0.0, 2.0])


def test_a_spike_counts_only_inside_the_circle_and_after_both_hits():
    scenario = loaded("volley_spike_easy")
    world = begun(scenario)
    for _ in range(5):
        world = judged(scenario, world, world, False, False)
    world = judged(scenario, world, world, True, False)
    for _ in range(5):
        world = judged(scenario, world, world, False, False)
    world = judged(scenario, world, world, False, True)
    assert world.own.rally.turn == 2
    for place, gained in (((-4.5, 0.9, 0.1), 1), ((-4.5, 1.1, 0.1), 0)):
        landed = judged(scenario, world, with_ball(world, place, (-1, 0, -5)), False, False)
        assert landed.own.rally.score == gained
        assert MODEL.failed(scenario, landed).any() == (gained == 0)


def test_both_referees_see_a_bounce_in_the_same_decision():
    import dataclasses

    contact = loaded("volley_bump")
    racket = dataclasses.replace(contact, referee="racket")
    seen = []
    for scenario in (contact, racket):
        sim = simulation_of(scenario).batch(scenario, "fast", 4, 2)
        sim.reset()
        seen.append([sim.step(np.zeros((4, 1, 4))).own.rally.hits for _ in range(40)])
    np.testing.assert_array_equal(seen[0], seen[1])


def test_a_drone_that_does_not_know_its_place_does_not_see_that_nobody_is_near():
    from robomarl.core.features import FEATURES

    scenario = loaded("volley_bump_pass")
    view = MODEL.views(scenario, begun(scenario))
    seen = FEATURES["mate_offset"].read(view, scenario.rule)
    np.testing.assert_array_equal(seen[0, 0], (view.heard.pos_m - view.own.pos_m[..., None, :])[0, 0, 0])
    lost = view._replace(own=view.own._replace(pos_m=view.own.pos_m * np.float32(np.nan)))
    assert np.isnan(FEATURES["mate_offset"].read(lost, scenario.rule)).all()
