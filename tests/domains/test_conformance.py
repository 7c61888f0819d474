"""What every registered domain keeps: shapes, compilation, engines that agree, honest features, the node's view."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from robomarl.core.config import to_dict
from robomarl.core.domain.registry import domain_of_task, domains, find_features
from robomarl.core.features import FEATURES
from robomarl.core.filter.params import SafetyParams
from robomarl.lab.sim.check import CheckConfig, check_engines, table
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.ros.fieldtask import Seat, field_task
from robomarl.ros.io.messages import empty_snapshot
from tests.core.bundle.test_runtime import perturbed

SCENARIOS = {
    "flight": "swap_2",
    "payload": "lift_3",
    "soccer": "soccer_1v1",
    "ground": "navigation",
    "volleyball": "volley_bump_pass",
    "volleyball_match": "volley_1v1",
    "flags": "flag_2.toml",
}
"""The smallest of each domain."""
Setting = tuple[Any, Any]
"""Scenario and environment."""


def test_every_domain_is_here(toy):
    assert set(SCENARIOS) == set(domains())


@pytest.fixture(params=sorted(SCENARIOS))
def scenario(request: pytest.FixtureRequest, toy) -> Any:
    return load_scenario(SCENARIOS[request.param])


def view_of(env: Any, seed: int = 0) -> Any:
    """What the team may know at the start of an episode, in NumPy."""
    return jax.tree.map(np.asarray, env.views(env.reset(jax.random.key(seed)).pipeline_state.world))


def test_shapes_are_those_of_the_specs_also_compiled(scenario: Any):
    env = make_env(scenario)
    robots, half = env.num_agents, jax.numpy.array([field.high / 2 for field in env.action.fields])

    def play(key: jax.Array) -> Any:
        state, command = env.reset(key), jax.numpy.tile(half, (robots, 1))
        return state, env.step(env.step(state, command), command)  # a command may be in force one decision later

    first, after = jax.jit(play)(jax.random.key(0))
    for state in (first, after):
        assert state.obs.shape == (robots, env.observation.size)
        assert state.reward.shape == (robots,)
        assert state.done.shape == state.info["truncation"].shape == ()
        assert all(np.isfinite(leaf).all() for leaf in (state.obs, state.reward, env.privileged(state)))
    assert {name for name in after.metrics} >= {"success", "contact", *(f"reward/{name}" for name in env.weights)}
    assert len(set(env.observation.element_names())) == env.observation.size
    assert (np.asarray(after.obs) != np.asarray(first.obs)).any(), "nothing happened"


def test_the_engines_agree(scenario: Any):
    figures = check_engines(scenario, CheckConfig(("fast", "mujoco"), 0.3))
    assert figures["passed"] is True
    assert str(scenario.name) in table(figures)


def test_batches_depend_on_the_seed_alone_and_are_views_of_the_same_shapes(scenario: Any):
    env, simulation = make_env(scenario), simulation_of(scenario)
    sims = [simulation.batch(scenario, "fast", 2, seed) for seed in (0, 0, 1)]
    first, again, other = ([np.asarray(leaf) for leaf in jax.tree.leaves(sim.reset())] for sim in sims)
    assert all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(first, again, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    one, batch = jax.tree.leaves(view_of(env).own), jax.tree.leaves(sims[0].views().own)
    assert [leaf.shape[1:] for leaf in one] == [np.shape(leaf)[2:] for leaf in batch]


def declares(reads: frozenset[str], path: str) -> bool:
    """Whether a field is named, or the part of the view that it is in."""
    return any(path == read or path.startswith(f"{read}.") for read in reads)


def test_features_read_what_they_say_and_nothing_else(scenario: Any):
    """Perturbing any field that the observation does not name changes no bit of it."""
    find_features(["of no domain, so that all register theirs"])
    env = make_env(scenario)
    spec, view = env.observation, view_of(env)
    assert all(field.name in FEATURES for field in spec.fields)

    def observe(seen: Any) -> np.ndarray:
        return np.asarray(spec.observe(spec.init(seen), seen)[1])

    before, moved = observe(view), set()
    for path, changed in perturbed(view):
        same = np.array_equal(before, observe(changed))
        assert same or declares(spec.reads, path), f"{path} is not said to be read and changes the observation"
        moved |= set() if same else {path}
    assert moved, "the observation depends on nothing"


def test_the_filter_takes_its_commands(scenario: Any):
    """What the onboard half knows is what the simulating half asks for."""
    params, onboard = safety_params(scenario), domain_of_task(scenario.task).onboard
    assert isinstance(params, SafetyParams)
    names = tuple(field.name for field in make_env(scenario).action.fields)
    known = {command.elements for domain in domains().values() for command in domain.onboard.commands}
    assert names in known
    assert not onboard.commands or names in {command.elements for command in onboard.commands}


def test_a_nodes_view_is_built_as_the_simulators(scenario: Any):
    view, size = view_of(make_env(scenario)), scenario.count
    for index in range(size):
        task = field_task(to_dict(scenario), Seat(index, size))
        sensed = task.sensed({sensor.topic.name: None for sensor in task.sensors}, empty_snapshot(size - 1))
        assert type(sensed) is type(view.sensed)
        assert [np.shape(leaf) for leaf in sensed] == [np.shape(leaf)[1:] for leaf in view.sensed]
        assert task.role == view.role[index]


def said_by_model(scenario: Any, world: Any) -> dict[str, Any]:
    return simulation_of(scenario).model.messages(scenario, world, 1.5)


def said_of_load(scenario: Any, world: Any) -> dict[str, Any]:
    from robomarl.domains.flight.field.sim_node import sense_load

    return sense_load(scenario, world, 1.5)


SAID = [
    ("flag_2.toml", said_by_model),
    ("discovery", said_by_model),
    ("volley_bump_pass", said_by_model),
    ("volley_3v3", said_by_model),
    ("lift_3", said_of_load),
]


@pytest.mark.parametrize(("name", "said"), SAID)
def test_what_a_node_senses_of_the_messages_is_what_the_simulator_sees(name: str, said: Callable, toy):
    """Of players, whose pictures are noisy, `test_soccer_view` shows it."""
    pytest.importorskip("rclpy")
    scenario = load_scenario(name)
    sim = simulation_of(scenario).batch(scenario, "fast", 1, 3)
    messages = said(scenario, sim.reset())
    task = field_task(to_dict(scenario), Seat(1, scenario.count))
    read = {sensor.topic.name: sensor.reader(messages[sensor.topic.name]) for sensor in task.sensors}
    assert {stamp_s for _, stamp_s in read.values()} == {1.5}
    sensed = task.sensed({k: value for k, (value, _) in read.items()}, empty_snapshot(scenario.count - 1))
    for mine, seen in zip(sensed, sim.views().sensed, strict=True):
        np.testing.assert_allclose(mine, seen[0, 1], atol=1e-6)
    assert any(np.any(leaf != 0) for leaf in sensed)
