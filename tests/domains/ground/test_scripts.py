"""Where scripts send robots, by hand, and what policies may see of their mates' plans."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.features import NeighbourRule
from robomarl.core.view import LocalView
from robomarl.domains.ground.core.features import landmarks, mates_plan, open_first, room_for_all
from robomarl.domains.ground.core.sensed import FloorSensed
from robomarl.domains.ground.lab.controllers.scripted import ScriptLaw
from robomarl.domains.ground.lab.controllers.waypoint import approach
from robomarl.domains.ground.lab.tasks import task_of
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.algorithm import training_env
from robomarl.lab.train.config import ImitationConfig, TrainConfig
from robomarl.lab.train.imitation import Teacher, blank_state


def views(name: str, places: list[tuple[float, float]], **task: Any) -> tuple[Any, LocalView]:
    """What a team sees that stands there, every robot heard where it is."""
    scenario = load_scenario(name)
    batch = simulation_of(scenario).batch(scenario, "fast", 1, 0)
    world = batch.reset()
    at = np.array([[(x, y, 0.0) for x, y in places]], np.float32)
    own = world.own._replace(task=world.own.task._replace(**task)) if task else world.own
    batch.set_world(world._replace(pos_m=at, said=world.said._replace(pos_m=at), own=own))
    return scenario, batch.views()


def resources(first: tuple[float, float], second: tuple[float, float], levels: list[float]) -> dict[str, np.ndarray]:
    return {"place_m": np.array([[first, second]], np.float32), "level": np.array([levels], np.float32)}


def test_foragers_stand_around_a_resource_and_the_nearest_behind_it():
    """A resource at (1, 0): the arena's middle is to the left of it, the edge to the right."""
    left = resources((1.0, 0.0), (-1.0, 0.0), [6, 5])
    scenario, seen = views("foraging", [(0.4, 0.5), (0.9, 0.0), (0.4, -0.5)], **left)
    found = task_of(scenario).target(scenario, seen)[0]
    angle = np.pi + np.array([-1.1, 1.1])
    np.testing.assert_allclose(found[1], (1.2, 0.0), atol=1e-6)
    np.testing.assert_allclose(found[[0, 2]], 0.26 * np.stack([np.cos(angle), np.sin(angle)], -1) + (1, 0), atol=1e-6)
    assert found[0, 1] > 0 > found[2, 1], "nobody passes anybody"
    apart = np.linalg.norm(found[:, None] - found[None], axis=-1)[np.triu_indices(3, 1)]
    assert apart.min() > 2 * 0.15 and np.linalg.norm(found - (1, 0), axis=-1).max() < 0.3


def test_who_is_at_its_goal_backs_off_from_mates_that_want_past():
    """Two at goals 0.5 m apart and one before the gap between them, 0.3 m from the first; the third is on its way."""
    scenario, seen = views("navigation", [(0.0, 0.0), (0.0, 0.5), (-0.3, 0.0)])
    goal = np.array([[(0.0, 0.0), (0.0, 0.5), (1.0, 0.0)]], np.float32)
    seen = seen._replace(goal=seen.goal._replace(pos_m=np.concatenate([goal, goal[..., :1] * 0], -1)))
    found = task_of(scenario).target(scenario, seen)[0]
    np.testing.assert_allclose(found[0], (2.0 * (0.44 - 0.3), 0.0), atol=1e-6)
    np.testing.assert_allclose(found[1:], [(0.0, 0.5), (1.0, 0.0)], atol=1e-6, err_msg="0.5 m is room enough")


def test_foragers_go_to_the_second_once_the_first_is_gone_and_stay_when_both_are():
    scenario, seen = views("foraging", [(0, 0.5), (0, 0), (0, -0.5)], **resources((1, 0), (-1, 0), [0, 5]))
    assert isinstance(seen.sensed, FloorSensed)
    np.testing.assert_allclose(seen.sensed.things[0, 0], [(-1, 0, 5), (1, 0, 0)])
    assert (task_of(scenario).target(scenario, seen)[0, :, 0] < -0.7).all()
    scenario, seen = views("foraging", [(0, 0.5), (0, 0), (0, -0.5)], **resources((1, 0), (-1, 0), [0, 0]))
    np.testing.assert_allclose(task_of(scenario).target(scenario, seen)[0], [(0, 0.5), (0, 0), (0, -0.5)])


@pytest.mark.parametrize(("time_s", "x"), [(0.0, -1.3), (16.9, -1.3), (17.1, 1.3), (42.9, 1.3), (43.1, -1.3)])
def test_sensing_robots_sweep_their_halves_and_tagging_robots_wait_at_the_side(time_s: float, x: float):
    scenario, seen = views("discovery", [(0.2, 0.3), (0.2, -0.3), (0, 0.7), (0, -0.7)])
    found = task_of(scenario).target(scenario, seen._replace(time_s=seen.time_s * 0 + time_s))[0]
    np.testing.assert_allclose(found, [(x, -0.36), (x, 0.36), (-0.5, -0.85), (0.5, 0.85)], atol=1e-6)


def test_landmarks_that_are_to_be_tagged_come_first_the_nearest_first():
    place = np.array([[(1, 0), (0.5, 0), (0.2, 0), (-0.4, 0), (0, 0.9), (0.1, 0)]], np.float32)
    known = {"sensed": np.array([[1, 1, 1, 1, 1, 0.0]]), "tagged": np.array([[0, 0, 1, 0, 0, 0.0]])}
    _, seen = views("discovery", [(0, 0), (0, 0.8), (0.6, 0), (-1, 0)], place_m=place, **known)
    kinds = open_first(seen)[0, 0, :, 2]
    assert kinds.tolist() == [1, 1, 1, 1, 0, 2], "of what nobody has sensed a robot is told nothing"
    np.testing.assert_allclose(open_first(seen)[0, 0, :4, :2], place[0][[3, 1, 4, 0]], atol=1e-6)
    rows = np.asarray(landmarks(seen, NeighbourRule()))[0, 2].reshape(6, 3)
    np.testing.assert_allclose(rows[:2], [(-0.1, 0, 1), (0.4, 0, 1)], atol=1e-6)
    assert not rows[rows[:, 2] == 0].any()


def test_a_policy_sees_where_the_nearest_mates_have_committed_to_stop():
    plain = load_scenario("passage_4")
    scenario, seen = views("passage_4_plans", [(0, 0), (1, 0), (0.5, 0), (-2, 0)])
    stop = seen.heard.pos_m + np.array([0.1, 0.2, 0.0], np.float32)
    seen = seen._replace(heard=seen.heard._replace(plan=seen.heard.plan._replace(stop_m=stop)))
    rows = np.asarray(mates_plan(seen, NeighbourRule(2, 6.0, 0.3)))[0, 0].reshape(2, 2)
    np.testing.assert_allclose(rows, [(0.6, 0.2), (1.1, 0.2)], atol=1e-6)
    names = [[f.name for f in simulation_of(s).model.observation(s).fields] for s in (plain, scenario)]
    assert names[1] == [*names[0], "mates_plan"]
    spec = simulation_of(scenario).model.observation(scenario)
    assert "heard.plan.stop_m" in spec.reads


def test_of_mates_that_are_not_heard_no_plan_is_seen():
    _, seen = views("passage_4_plans", [(0, 0), (1, 0), (0.5, 0), (-2, 0)])
    deaf = seen._replace(heard=seen.heard._replace(mask=seen.heard.mask & False))
    assert not np.asarray(mates_plan(deaf, NeighbourRule(3, 6.0, 0.3))).any()


def test_all_of_a_crowd_make_room_for_two_seconds_of_twelve():
    """The first two press on each other far from their goals, the third is alone."""
    scenario, seen = views("crowd_8", [(0.0, 0.0), (0.3, 0.0), (2.0, 1.0), *((-2.0, 0.5 * k - 1.5) for k in range(5))])
    found = {s: task_of(scenario).target(scenario, seen._replace(time_s=seen.time_s * 0 + s))[0] for s in (25.9, 26.1)}
    goal = seen.goal.pos_m[0, :, :2]
    np.testing.assert_allclose(found[25.9][:3], [(-0.28, 0.0), (0.58, 0.0), goal[2]], atol=1e-5)
    np.testing.assert_allclose(found[26.1][:3], goal[:3], atol=1e-6)
    told = [room_for_all(seen._replace(time_s=seen.time_s * 0 + s), NeighbourRule(3, 7.0, 0.5)) for s in (25.9, 26.1)]
    np.testing.assert_array_equal(np.array(told)[:, 0, 0, 0], [1.0, 0.0])


def test_imitation_flies_teams_of_all_sizes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("robomarl.lab.train.imitation.FITS", 2)
    scenario = dataclasses.replace(load_scenario("crowd_short"), time_limit_s=1.0)
    config = TrainConfig(scenario="crowd_short", num_envs=8, imitation=ImitationConfig(rounds=1, sizes=(2, 4)))
    env = training_env(config, scenario)
    simulation = simulation_of(scenario)
    assert simulation.imitated is not None
    law = simulation.imitated.law(scenario)
    assert law is not None
    teacher = Teacher(config, env, law(scenario), 0)
    assert [team.scenario.count for team in teacher.teams] == [2, 4]
    state, error = teacher.round(blank_state(config, env, 0), 0.0, BAR)
    samples = 48 * (2 + 4) * 8  # every fourth of 30 decisions
    assert np.isfinite(error) and int(np.asarray(state.obs_stats.count).max()) == samples


def test_a_size_that_the_floor_does_not_hold_is_refused_with_the_numbers():
    scenario = load_scenario("crowd_short")
    config = TrainConfig(scenario="crowd_short", num_envs=8, imitation=ImitationConfig(rounds=1, sizes=(2, 31)))
    with pytest.raises(UserError, match=r"imitation.sizes.*31 robots need 62 cells.* 10 x 6 cells 0.5 m apart, has 60"):
        Teacher(config, training_env(config, scenario), Straight(scenario), 0)


@pytest.mark.parametrize(("mode", "meets"), [("off", True), ("qp", False)])
def test_imitation_flies_behind_the_filter_that_its_recipe_trains_behind(
    mode: Any, meets: bool, monkeypatch: pytest.MonkeyPatch
):
    """48 teams of three, by a law that looks at no mate: robots touch at 0.135 m."""
    monkeypatch.setattr("robomarl.lab.train.imitation.FITS", 2)
    scenario = dataclasses.replace(load_scenario("navigation_short"), time_limit_s=6.0)
    config = TrainConfig(scenario="navigation_short", num_envs=8, filter=mode, imitation=ImitationConfig(rounds=1))
    env = training_env(config, scenario)
    teacher = Teacher(config, env, Straight(scenario), 0)
    (team,) = teacher.teams
    step, least = team.step, []

    def watched(*sent: Any) -> Any:
        world = step(*sent)
        apart = np.linalg.norm(world.pos_m[:, :, None] - world.pos_m[:, None], axis=-1)
        least.append(apart[:, ~np.eye(3, dtype=bool)].min())
        return world

    monkeypatch.setattr(team, "step", watched)
    teacher.round(blank_state(config, env, 0), 0.0, BAR)
    assert (min(least) < 0.135) == meets


class Straight(ScriptLaw):
    """Nobody is passed."""

    def wanted(self, view: LocalView, target: Any) -> Any:
        """Straight there."""
        return approach(load_scenario("navigation_short"), target - view.own.pos_m[..., :2])


@pytest.mark.parametrize("sees", [True, False])
def test_who_sees_plans_is_told_them_while_the_script_is_imitated(sees: bool, monkeypatch: pytest.MonkeyPatch):
    """They had been shown where a mate stops that brakes at once: from rest, where it stands."""
    monkeypatch.setattr("robomarl.lab.train.imitation.NUM_TEAMS", 3)
    scenario = dataclasses.replace(load_scenario("navigation_short"), sees_plans=sees)
    config = TrainConfig(scenario="navigation_short", num_envs=8, imitation=ImitationConfig(rounds=1))
    teacher = Teacher(config, env := training_env(config, scenario), ScriptLaw(scenario), 0)
    (team,), told = teacher.teams, []
    step = team.step
    monkeypatch.setattr(team, "step", lambda command, plan: told.append((command, plan)) or step(command, plan))
    pos = team.reset().pos_m[..., :2]
    monkeypatch.setattr(team, "reset", lambda: None)
    teacher._fly(team, teacher._filters[0], blank_state(config, env, 0), 0.0, BAR)
    if not sees:
        assert {plan for _, plan in told} == {None}
        return
    command, plan = told[0]
    way = plan.stop_m[..., :2] - plan.pos_m[..., :2]
    assert np.abs(plan.pos_m[..., :2] - pos).max() < 0.3
    assert (np.sum(way * command[..., :2], -1) > 0).all(), "the way that it has just begun"


class Bar:
    """A progress bar that shows nothing."""

    def update(self) -> None:
        """Nothing."""


BAR: Any = Bar()
