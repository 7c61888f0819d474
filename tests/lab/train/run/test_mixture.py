"""Several actors in one bundle: who decides on which field, in JAX and in the graph; what is refused, what is kept."""

import dataclasses
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import pytest

from robomarl.core.bundle.provenance import sha256_of
from robomarl.core.config import UserError
from robomarl.core.view import blank_view
from robomarl.lab.export.contract import contract_of
from robomarl.lab.export.facts import facts_of
from robomarl.lab.export.files import policy_function
from robomarl.lab.export.graph import to_onnx
from robomarl.lab.export.record import Recorded, together
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.run import bundle_as_run
from robomarl.lab.train.run.bundle_as_run import run_of
from robomarl.lab.train.run.mixture import by_variant, games_of, weights_for, with_experts
from robomarl.lab.train.run.run_folder import Run, create_run

PLACE, GOAL = "own_motion.x", "goal_ahead.dx"


@pytest.fixture(scope="module")
def two() -> Run:
    return dataclasses.replace(run_of("soccer_2v2"), experts=())


@pytest.fixture(scope="module")
def three(two: Run) -> Run:
    """The same network with other weights, on the longer field."""
    actor = jax.tree.map(lambda x: 0.7 * x, two.state.params["actor"])
    state = two.state._replace(params={**two.state.params, "actor": actor}, averaged=actor)  # what flies is the mean
    return dataclasses.replace(two, scenario=load_scenario("soccer_3v3"), state=state, seed=5)


def test_a_bundle_read_as_a_run_has_all_its_actors(two: Run):
    """Exported anew, nothing is lost of what each came from; a new actor takes the place of the one of its field."""
    whole = run_of("soccer_2v2")
    (other,) = whole.experts
    assert (other.scenario.name, other.config.scenario) == ("soccer_3v3", "soccer_3v3")
    assert whole.weights.keys() == with_experts(two, [other]).weights.keys()
    newer = dataclasses.replace(other, seed=7)
    assert [expert.seed for expert in with_experts(whole, [newer]).experts] == [7]


def test_a_run_takes_the_actors_of_a_bundle_for_other_fields(two: Run):
    """The bundle's actor of the run's own field is left out."""
    newer = dataclasses.replace(two, seed=7)
    both = with_experts(newer, [run_of("soccer_2v2")])
    assert (both.seed, [expert.scenario.name for expert in both.experts]) == (7, ["soccer_3v3"])


def seen(run: Run, length_m: float, count: int = 64) -> jax.Array:
    """Random observations of robots anywhere on a field of this length."""
    names = run.env.observation.element_names()
    random = np.random.default_rng(0)
    stats = run.observation_stats
    obs = (stats.mean + stats.std * random.standard_normal((count, len(names)))).astype(np.float32)
    obs[:, names.index(GOAL)] = length_m / 2 - obs[:, names.index(PLACE)]
    return jnp.asarray(obs)


@pytest.mark.parametrize(("length_m", "decides"), [(4.5, "two"), (6.05, "three"), (3.0, "two"), (9.0, "three")])
def test_the_actor_whose_field_is_nearest_in_length_decides(two: Run, three: Run, length_m: float, decides: str):
    both, obs = with_experts(two, [three]), seen(two, length_m)
    carry = (np.full((len(obs), two.config.network.gru_size), 0.1, np.float32),)
    found, wanted = both.policy_fn(carry, obs), {"two": two, "three": three}[decides].policy_fn(carry, obs)
    other = {"two": three, "three": two}[decides].policy_fn(carry, obs)
    for ours, theirs, not_these in zip(*map(jax.tree.leaves, (found, wanted, other)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert np.abs(np.asarray(ours) - np.asarray(not_these)).max() > 1e-3


def test_the_graph_says_what_jax_says(two: Run, three: Run):
    both = with_experts(two, [three])
    obs = jnp.concatenate([seen(two, 4.5), seen(two, 6.05)])
    carry = np.full((len(obs), two.config.network.gru_size), 0.1, np.float32)
    graph = to_onnx(*policy_function(facts_of(both), obs.shape[1]))
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    action, after = map(np.asarray, session.run(["action", "next.0"], {"obs": np.asarray(obs), "carry.0": carry}))
    with jax.default_matmul_precision("highest"):
        (hidden,), wanted = both.policy_fn((carry,), obs)
    np.testing.assert_allclose(action, wanted, atol=1e-5)
    np.testing.assert_allclose(after, hidden, atol=1e-5)


def test_of_three_fields_each_has_its_own():
    spec = run_of("soccer_2v2").env.observation
    names = spec.element_names()
    policies = {length: lambda carry, obs, say=length: (carry, 0 * obs[..., :1] + say) for length in (9.0, 4.0, 6.0)}
    obs = np.zeros((4, len(names)))
    obs[:, names.index(GOAL)] = [2.0, 2.6, 3.7, 4.0]  # fields of 4, 5.2, 7.4 and 8 m
    _, said = by_variant(policies, spec, games_of(load_scenario("soccer_2v2")).observed_variant)((), jnp.asarray(obs))
    np.testing.assert_array_equal(said[:, 0], [4.0, 6.0, 6.0, 9.0])


def test_everything_of_every_actor_is_kept(two: Run, three: Run):
    both = with_experts(two, [three])
    for scenario, run in (("soccer_2v2", two), ("soccer_3v3", three), ("soccer_1v1", two)):
        found = weights_for(both.weights, scenario)
        assert found.keys() == run.weights.keys()
        for name, value in run.weights.items():
            np.testing.assert_array_equal(found[name], value)
    contract = contract_of(facts_of(both, (2, 3)), "both")
    (expert,) = contract.experts
    assert (contract.training.seed, expert.training.seed, expert.scenario.name) == (two.seed, 5, "soccer_3v3")
    assert expert.scenario.sha256 == sha256_of(expert.scenario.content)
    stats, own = both.observation_stats, two.observation_stats
    np.testing.assert_allclose(stats.mean, own.mean, rtol=1e-6)
    np.testing.assert_allclose(stats.std, own.std, rtol=1e-5)


def test_sequences_of_teams_of_two_and_three_become_those_of_two(two: Run):
    def recorded(robots: int, mates: int, value: float) -> Recorded:
        view = jax.tree.map(lambda leaf: np.full((2, 5, robots, *np.shape(leaf)), value), blank_view(mates))
        return Recorded(view, np.full((2, 5, robots, 7), value), np.full((2, 5, robots, 4), value))

    both = together([recorded(2, 1, 1.0), recorded(3, 2, 2.0)])
    assert both.obs.shape == (4, 5, 2, 7) and both.action.shape == (4, 5, 2, 4)
    places = both.views.heard.pos_m
    assert places.shape == (4, 5, 2, 2, 3)
    assert (places[:2, ..., 0, :] == 1).all() and not places[:2, ..., 1, :].any() and (places[2:] == 2).all()


def test_what_is_refused(two: Run, three: Run):
    with pytest.raises(UserError, match=r"soccer_2v2 and soccer_2v2 were trained in variants 4.5 and 4.5 of a game"):
        with_experts(two, [two])
    network = dataclasses.replace(three.config.network, gru_size=32)
    wider = dataclasses.replace(three, config=dataclasses.replace(three.config, network=network))
    with pytest.raises(UserError, match="remembers or is filtered in another way"):
        with_experts(two, [wider])
    with pytest.raises(UserError, match="swap_4: sees, commands"):
        with_experts(two, [run_of("swap_4")])
    swap = run_of("swap_4")
    with pytest.raises(UserError, match="trained in variants 0 and 0 of a game"):
        with_experts(swap, [swap])


def test_a_run_folder_goes_before_a_bundle_of_its_name(
    two: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_run(tmp_path / "soccer_2v2", two.config, two.scenario, 9)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bundle_as_run, "load_run", lambda source: f"run folder {source}")
    assert run_of("soccer_2v2") == "run folder soccer_2v2"
