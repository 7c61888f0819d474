"""The tasks: what they refuse, what they pay for, and what robots are told."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from robomarl.core.bundle.contract import describe
from robomarl.core.bundle.golden import Golden, from_bytes, map_view, to_bytes
from robomarl.core.config import UserError
from robomarl.core.domain.registry import domain_named
from robomarl.domains.ground.core.sensed import THINGS, FloorSensed
from robomarl.domains.ground.lab.tasks import TASKS, task_of
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of

SCENARIOS = {"passage": "passage_4", "crowd": "crowd_8"}
"""Of tasks whose scenarios are named after what is in them."""


def started(name: str, teams: int = 2) -> tuple[Any, Any]:
    scenario = load_scenario(SCENARIOS.get(name, name))
    return scenario, simulation_of(scenario).batch(scenario, "fast", teams, 0).reset()


def at(world: Any, *places: tuple[float, float]) -> Any:
    """Both teams with robots at these places."""
    flat = np.array([(x, y, 0.0) for x, y in places], np.float32)
    return world._replace(pos_m=world.pos_m * 0 + flat)


def later(scenario: Any, world: Any, draws: Any = None) -> Any:
    """The task's state after a decision that began there."""
    return world._replace(own=world.own._replace(task=task_of(scenario).update(scenario, world, draws)))


def paid(scenario: Any, before: Any, after: Any) -> float:
    """Of one decision, by the published weights."""
    task = task_of(scenario)
    terms = task.published(scenario, before, after)
    return float(sum(task.weights[k] * scenario.period_s * v[0, 0] for k, v in terms.items()))


def things(scenario: Any, world: Any) -> np.ndarray:
    """[E, N, M, 3] what robots are told of."""
    seen = task_of(scenario).sensed(scenario, world)
    assert isinstance(seen, FloorSensed)
    return seen.things


def test_every_task_is_registered_with_a_scenario_of_its_name():
    assert set(domain_named("ground").tasks) == set(TASKS)
    assert [load_scenario(SCENARIOS.get(name, name)).task for name in TASKS] == list(TASKS)
    assert set(THINGS) == set(TASKS) - {"navigation", "passage", "crowd"}


@pytest.mark.parametrize("name", sorted(TASKS))
def test_jax_and_numpy_play_the_same(name: str):
    scenario, world = started(name)
    model, rng = simulation_of(scenario).model, np.random.default_rng(0)
    draws = rng.uniform(size=(scenario.count, model.num_draws)).astype(np.float32)
    command = rng.uniform(-0.2, 0.2, (scenario.count, 4)).astype(np.float32)

    def step(world: Any, command: Any, draws: Any) -> Any:
        after = model.advance(scenario, world, command, draws)
        return after, model.terms(scenario, world, after), model.views(scenario, after)

    def play(start: Any, step: Any) -> Any:
        """Two decisions, for a command is in force one later; what moves is compiled once."""
        return step(step(start(draws), command, draws)[0], command, draws)

    def start(draws: Any) -> Any:
        return model.start(scenario, draws)

    found = play(jax.jit(start), jax.jit(step))
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(play(start, step)), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-4)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_bundle_of_every_task_says_what_it_sees_and_reads_it_from_a_file(name: str):
    """Every element has a unit, and views that were kept in a file give the same observation."""
    scenario, world = started(name)
    model = simulation_of(scenario).model
    spec, views = model.observation(scenario), model.views(scenario, world)
    assert len(describe(spec)) == spec.size
    views = map_view(lambda leaf: np.asarray(leaf)[None], views)  # one sequence
    obs, none = spec.observe(spec.init(views), views)[1], np.zeros((1, 2, scenario.count, 1))
    kept = from_bytes(to_bytes(Golden(views, obs, none, none))).views
    np.testing.assert_array_equal(spec.observe(spec.init(kept), kept)[1], obs)


@pytest.mark.parametrize(
    ("base", "more", "error"),
    [
        ("discovery", "team = [{ role = 'sensing', count = 4 }]", "'discovery' needs robots of role 'tagging', and no"),
        ("foraging", "count = 2", "its roles are 3 robots, and count = 2"),
        ("warehouse", "zones = []", "'warehouse' needs a zone 'green_load'"),
        ("predator_prey", "team = [{ role = 'prey', count = 3 }]", "no role 'prey'; allowed: predator"),
    ],
)
def test_teams_and_zones_that_do_not_fit_are_refused(tmp_path: Path, base: str, more: str, error: str):
    path = tmp_path / "mine.toml"
    path.write_text(f'extends = "{base}"\n{more}\n')
    with pytest.raises(UserError, match=error):
        load_scenario(str(path))


def test_material_is_taken_by_capacity_and_set_down():
    scenario, world = started("material_transport")
    before = at(world, (1.3, 0.0), (0.9, 0.9), (0.0, 0.1), (0.0, -0.1))
    loaded = later(scenario, before)
    stock = world.own.task.stock - loaded.own.task.stock
    np.testing.assert_allclose(stock, [[30.0, 5.0]] * 2, atol=1e-4)
    assert loaded.own.task.payload.tolist() == [[1, 0, 1, 1]] * 2
    time = -0.1 * scenario.period_s / scenario.reward_step_s
    assert paid(scenario, before, loaded) == pytest.approx(3 * 0.25 + time, abs=1e-4)
    home = at(loaded, (-1.3, 0.0), (0.9, 0.9), (-1.3, 0.5), (0.0, 0.9))
    assert paid(scenario, home, later(scenario, home)) == pytest.approx(2 * 0.75 + time, abs=1e-4)


def test_landmarks_are_told_of_once_they_are_sensed():
    scenario, world = started("discovery")
    place = world.own.task.place_m[0, 0]
    near = at(world, tuple(place + 0.2), (9, 9), (9, 9), (9, 9))
    found = later(scenario, near)
    told = things(scenario, found)[0]
    assert found.own.task.sensed[0, 0] == 1
    np.testing.assert_allclose(told[3, 0], [*place, 1.0], atol=1e-6)
    assert (told[:, found.own.task.sensed[0] == 0] == 0).all(), "what nobody sensed stays hidden"
    tagged = later(scenario, at(found, (9, 9), (9, 9), tuple(place + 0.1), (9, 9)))
    assert things(scenario, tagged)[0, 0, 0, 2] == 2


def test_a_resource_takes_enough_robots():
    scenario, world = started("foraging")
    assert sorted(world.own.task.level[0]) == [5, 6]
    big = int(np.argmax(world.own.task.level[0]))
    spot = tuple(world.own.task.place_m[0, big])
    alone = later(scenario, at(world, (9, 9), spot, spot))
    assert alone.own.task.level[0, big] == 6
    together = at(world, spot, spot, spot)
    assert paid(scenario, together, later(scenario, together)) == pytest.approx(6.0, abs=1e-3)


def test_ground_decides_how_fast_a_robot_is():
    scenario, world = started("arctic_transport")
    kind = world.own.task.kind * 0 + 2.0  # water everywhere
    wet = world._replace(own=world.own._replace(task=world.own.task._replace(kind=kind)))
    most = task_of(scenario).most_m_s(scenario, wet)[0]
    limit = scenario.vehicle_config.limits.speed_m_s
    np.testing.assert_allclose(most, [limit, limit, 0.1 / scenario.reward_step_s, limit], atol=1e-6)


def test_the_prey_is_tagged_once_a_step_and_flees():
    scenario, world = started("predator_prey")
    every = round(scenario.reward_step_s * scenario.rates.policy_hz)
    spot = world.own.task.place_m[0, 0]
    near = at(world, tuple(spot + 0.1), (9, 9), (9, 9))
    assert later(scenario, near).own.task.tags[0] == 0, "not before the step ends"
    due = near._replace(step=near.step + every - 1)
    after = later(scenario, due)
    assert after.own.task.tags[0] == 1
    assert np.linalg.norm(after.own.task.place_m[0, 0] - spot - 0.1) > 0.2
    assert paid(scenario, due, after) == pytest.approx(10.0, abs=1e-3)


def test_colours_load_and_deliver_in_their_own_zones():
    scenario, world = started("warehouse")
    wrong = later(scenario, at(world, (1.3, 0.5), (1.3, 0.5), (1.3, -0.5), (1.3, -0.5)))
    assert wrong.own.task.payload.sum() == 0
    loaded = later(scenario, at(world, (1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (0.0, 0.5)))
    assert loaded.own.task.payload[0].tolist() == [1, 1, 1, 0]
    home = at(loaded, (-1.3, 0.5), (-1.3, -0.5), (-1.3, -0.5), (0.0, 0.0))
    assert paid(scenario, home, later(scenario, home)) == pytest.approx(6.0, abs=1e-3)


def stood(scenario: Any, world: Any, draws: Any) -> Any:
    """The task's state after robots stood there for one published step."""
    for _ in range(round(scenario.reward_step_s * scenario.rates.policy_hz)):
        world = later(scenario, world, draws)
    return world


def test_shelves_are_taken_by_standing_and_delivered_by_request():
    scenario, world = started("rware")
    draws = np.tile(np.linspace(0, 0.9, 10, dtype=np.float32), (2, 1))  # the lowest numbers come next
    task = world.own.task
    assert task.requested.sum(-1).tolist() == [3, 3]
    requested = np.array([[1, 0, 0, 0, 1, 1]] * 2, np.float32)
    world = world._replace(own=world.own._replace(task=task._replace(requested=requested)))
    first = things(scenario, world)[0, 0, 0, :2]
    near = at(world, tuple(first + [0.0, 0.15]), tuple(first - [0.0, 0.15]), (-1.3, -0.9))
    passed = near._replace(vel_m_s=near.vel_m_s + np.float32(0.1))
    assert stood(scenario, passed, draws).own.task.payload.sum() == 0, "who drives by takes nothing"
    taken = stood(scenario, near, draws)
    assert taken.own.task.payload[0].tolist() == [1, 0, 0], "the first of two takes it"
    assert things(scenario, taken)[0, 0, :, 2].tolist() == [1, 2, 2, 2, 3, 3]
    seen = task_of(scenario).sensed(scenario, taken)
    assert isinstance(seen, FloorSensed)
    assert seen.carries[0].tolist() == [2, 0, 0]
    away = at(taken, (1.3, 0.0), (1.3, 0.5), (-1.3, -0.9))
    after = later(scenario, away, draws)
    assert paid(scenario, away, after) == pytest.approx(1.0, abs=1e-3)
    assert after.own.task.requested[0].tolist() == [1, 0, 0, 0, 1, 1], "it may be the same again"
    again = later(scenario, after, draws[:, ::-1])
    assert again.own.task.requested[0].tolist() == [0, 0, 0, 1, 1, 1]
    home = stood(scenario, at(again, tuple(first), (9, 9), (9, 9)), draws)
    assert home.own.task.cell[0].tolist() == [1, 2, 3, 4, 5, 6]
    assert home.own.task.payload.sum() == 0


def test_a_robot_with_a_shelf_stops_before_a_full_cell_and_may_leave():
    scenario, world = started("rware")
    cell = things(scenario, world)[0, 0, 1, :2]
    task = world.own.task._replace(payload=np.array([[1, 1, 0]] * 2, np.float32))
    ahead = at(world, tuple(cell - [0.14, 0.0]), tuple(cell + [0.14, 0.0]), tuple(cell - [0.14, 0.0]))
    moving = ahead._replace(vel_m_s=world.vel_m_s * 0 + np.array([0.1, 0, 0], np.float32))
    most = task_of(scenario).most_m_s(scenario, moving._replace(own=moving.own._replace(task=task)))
    limit = scenario.vehicle_config.limits.speed_m_s
    np.testing.assert_allclose(most[0], [0.0, limit, limit], atol=1e-6)
