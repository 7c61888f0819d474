"""The critic knows everything that acts on a vehicle and that no robot sees."""

from typing import Any

import jax
import numpy as np
import pytest

from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.domains.flight.lab.tasks.unseen import leaves, unseen
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.scenario import load_scenario

TEAMS = 3
PARTS = ("queue", "gust_m_s", "control", "body.rotors", "body.omega", "hidden.physics", "hidden.delay_substeps")


@pytest.fixture(scope="module", params=["swap_4", "lift_3"])
def scene(request: pytest.FixtureRequest) -> tuple[FlightScenario, FlightWorld]:
    scenario = load_scenario(request.param)
    return scenario, make_team(scenario, "fast", TEAMS, 0).reset()


def part_of(tree: Any, path: str) -> Any:
    """What is at a dotted path."""
    for name in path.split("."):
        tree = getattr(tree, name)
    return tree


def with_part(tree: Any, path: str, value: Any) -> Any:
    """The tree with something else there."""
    name, _, rest = path.partition(".")
    return tree._replace(**{name: with_part(getattr(tree, name), rest, value) if rest else value})


@pytest.mark.parametrize("path", PARTS)
def test_nothing_of_it_is_hidden_from_the_critic(scene: tuple[FlightScenario, FlightWorld], path: str):
    """Each number of it, changed for the first robot alone, changes what the critic of that robot sees."""
    scenario, world = scene
    seen, (flat, tree) = task_of(scenario).privileged, jax.tree.flatten(part_of(world, path))
    before = np.asarray(seen(scenario, world))
    for i, leaf in enumerate(flat):
        changed = np.array(leaf)
        changed[:, 0] += 1
        other = with_part(world, path, jax.tree.unflatten(tree, [*flat[:i], changed, *flat[i + 1 :]]))
        after = np.asarray(seen(scenario, other))
        assert (after != before)[:, 0].any(-1).all(), f"{path}, number {i}"


def test_it_is_one_row_a_robot_and_finite(scene: tuple[FlightScenario, FlightWorld]):
    scenario, world = scene
    found = unseen(scenario, world)
    commands = len(world.queue) * world.queue[0].shape[-1]
    assert found.shape == (TEAMS, scenario.count, commands + 4 + len(leaves(world.control)) + 3 + 4)
    assert np.isfinite(found).all()
