"""The tasks: what they refuse, what they pay for, and what robots are told."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from robomarl.config import UserError
from robomarl.domains.ground.onboard.sensed import THINGS, FloorSensed
from robomarl.domains.ground.tasks import TASKS, task_of
from robomarl.domains.registry import domain_named
from robomarl.domains.simulation import simulation_of
from robomarl.sim.scenario import load_scenario


def started(name: str, teams: int = 2) -> tuple[Any, Any]:
    scenario = load_scenario(name)
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
    assert [load_scenario(name).task for name in TASKS] == list(TASKS)
    assert set(THINGS) == set(TASKS) - {"navigation"}


@pytest.mark.parametrize("name", sorted(TASKS))
def test_jax_and_numpy_play_the_same(name: str):
    scenario, world = started(name)
    model, rng = simulation_of(scenario).model, np.random.default_rng(0)
    draws = rng.uniform(size=(scenario.count, model.num_draws)).astype(np.float32)
    command = rng.uniform(-0.2, 0.2, (scenario.count, 4)).astype(np.float32)

    def play(draws: Any, command: Any) -> Any:
        world = model.start(scenario, draws)
        for _ in range(2):
            before, world = world, model.advance(scenario, world, command, draws)
        return world, model.terms(scenario, before, world), model.views(scenario, world)

    for a, b in zip(jax.tree.leaves(jax.jit(play)(draws, command)), jax.tree.leaves(play(draws, command)), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-4)


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
