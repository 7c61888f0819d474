"""The policy on the robot acts as it did in training, and says so when it does not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from robomarl.core.bundle import golden, pilot
from robomarl.core.bundle.pilot import Pilot, load_pilot
from robomarl.core.bundle.runtime import Policy, load_policy, open_policy, read_golden
from robomarl.core.config import UserError
from robomarl.core.filter.filter import Reason, SafetyFilter
from robomarl.core.spec import ActionSpec, ObservationField, ObservationSpec
from robomarl.core.view import blank_view
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import TASKS
from robomarl.domains.flight.lab.tasks.swap import observation
from robomarl.lab.export import export_bundle
from tests.core.bundle.conftest import gru_run
from tests.core.bundle.sealing import copy, reseal

RNG = np.random.default_rng(1)


@pytest.fixture(scope="module")
def policy(sealed: Path) -> Policy:
    return load_policy(sealed)


@pytest.fixture(scope="module")
def recurrent(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    """A policy with both kinds of memory: a recurrent network that sees three velocities."""
    folder = tmp_path_factory.mktemp("gru") / "gru"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TASKS, "swap", replace(TASKS["swap"], observation=with_history))
        return open_policy(export_bundle(gru_run(), folder))


def with_history(scenario: FlightScenario) -> ObservationSpec:
    spec = observation(scenario)
    return replace(spec, fields=(*spec.fields, ObservationField("body_rates", history=3)))


def spoil_weight(folder: Path, value: float) -> None:
    """Add `value` to one number of the last layer."""
    model = onnx.load(folder / "policy.onnx")
    tensor = [t for t in model.graph.initializer if len(t.dims) == 2][-1]
    array = onnx.numpy_helper.to_array(tensor).copy()
    array[0, 1] += value
    tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    onnx.save(model, folder / "policy.onnx")
    reseal(folder)


def test_one_robot_and_many_are_the_same(policy: Policy):
    obs = RNG.standard_normal((2, 3, policy.observation.size), np.float32)
    _, many = policy(policy.init((2, 3)), obs)
    assert many.shape == (2, 3, 4)
    for place in np.ndindex(2, 3):
        _, one = policy(policy.init(), obs[place])
        np.testing.assert_allclose(one, many[place], atol=1e-6)


def test_every_memory_is_in_the_contract(recurrent: Policy):
    carries = [(c.owner, c.name, c.shape) for c in recurrent.contract.carries]
    seen = [("observation", "near_error", (1, 3)), ("observation", "body_rates", (2, 3))]
    assert carries[:3] == [*seen, ("policy", "0", (16,))]
    memory = recurrent.observation.init(blank_view(3, batch=(1,)))
    assert [m.shape for m in memory] == [(1, *shape) for *_, shape in seen]
    assert recurrent.init()[0].shape == carries[2][2]


def test_memory_goes_in_and_comes_out(recurrent: Policy):
    obs = RNG.standard_normal((4, recurrent.observation.size), np.float32)
    single, batch = recurrent.init(), recurrent.init((1,))
    for row in obs:
        single, action = recurrent(single, row)
        batch, actions = recurrent(batch, row[None])
        np.testing.assert_allclose(action, actions[0], atol=1e-6)
    fresh = recurrent(recurrent.init(), obs[-1])[1]
    assert np.abs(fresh - action).max() > 1e-3, "the memory has to matter"
    assert not np.shares_memory(single[0], recurrent(single, obs[0])[0][0])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_input_that_is_not_finite_is_flagged_in_its_row(policy: Policy, bad: float):
    obs = RNG.standard_normal((3, policy.observation.size), np.float32)
    obs[1, 5] = bad
    _, action = policy((), obs)
    assert np.isnan(action[1]).all() and np.isfinite(action[[0, 2]]).all()
    assert np.isnan(policy((), obs[1])[1]).all()


def test_memory_that_is_not_finite_is_flagged(recurrent: Policy):
    carry = (np.full(16, np.nan, np.float32),)
    obs = np.zeros(recurrent.observation.size, np.float32)
    assert np.isnan(recurrent(carry, obs)[1]).all()
    assert np.isnan(recurrent((carry[0][None],), obs[None])[1]).all()


def test_an_observation_of_another_length_is_refused(policy: Policy):
    with pytest.raises(ValueError, match="last axis must be"):
        policy((), np.zeros(policy.observation.size - 1, np.float32))


def test_only_the_fields_that_the_spec_reads_matter(policy: Policy):
    """The promise of decentralization, for a bundle: no other field of the view changes a bit of the action."""
    views = golden.at(read_golden(policy.bundle).views, 30)

    def act(view):
        obs = policy.observation.observe(policy.observation.init(view), view)[1]
        return policy(policy.init(obs.shape[:-1]), obs)[1]

    before = act(views)
    checked = {"read": 0, "not read": 0}
    for path, changed in perturbed(views):
        same = np.array_equal(before, act(changed))
        if path in policy.observation.reads:
            checked["read"] += 1
            assert not same, f"{path} is said to be read and changes nothing"
        else:
            checked["not read"] += 1
            assert same, f"{path} is not said to be read and changes the action"
    assert min(checked.values()) > 3


def perturbed(view, prefix: str = ""):
    """Each field's dotted name with a view in which only that field differs."""
    for name in view._fields:
        value = getattr(view, name)
        if hasattr(value, "_fields"):
            for path, inner in perturbed(value, f"{prefix}{name}."):
                yield path, view._replace(**{name: inner})
        else:
            other = ~value if value.dtype == bool else value + RNG.integers(1, 3, value.shape).astype(value.dtype) / 8
            yield f"{prefix}{name}", view._replace(**{name: other.astype(value.dtype)})


def test_a_feature_that_reads_in_secret_is_found(policy: Policy, monkeypatch: pytest.MonkeyPatch):
    from robomarl.core.features import FEATURES

    honest = FEATURES["velocity"]
    sly = replace(honest, read=lambda view, rule: honest.read(view, rule) + view.heard.plan.stop_m[..., 0, :])
    monkeypatch.setitem(FEATURES, "velocity", sly)
    with pytest.raises(AssertionError, match="heard.plan.stop_m is not said to be read"):
        test_only_the_fields_that_the_spec_reads_matter(policy)


def test_a_policy_that_acts_otherwise_is_refused_by_element(sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    spoil_weight(folder, 1e-2)
    with pytest.raises(UserError, match="action acceleration.y is off by [0-9.e-]+"):
        load_policy(folder)
    assert load_policy(folder, check_golden=False).id


@pytest.mark.parametrize(("value", "named"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_a_weight_that_is_no_number_is_refused_before_anything_runs(sealed, tmp_path: Path, value: float, named: str):
    folder = copy(sealed, tmp_path)
    spoil_weight(folder, value)
    with pytest.raises(UserError, match=f"policy.onnx: .* has a weight that is {named}; train anew"):
        load_policy(folder, check_golden=False)


def test_a_graph_whose_numbers_lie_in_another_file_is_refused(sealed: Path, tmp_path: Path):
    """onnxruntime would read whatever file it names."""
    import onnx
    from onnx.external_data_helper import set_external_data

    folder = copy(sealed, tmp_path)
    model = onnx.load(folder / "policy.onnx")
    set_external_data(model.graph.initializer[-1], "../../secret")
    (folder / "policy.onnx").write_bytes(model.SerializeToString())
    reseal(folder)
    with pytest.raises(UserError, match="lies in another file"):
        load_policy(folder)


def test_a_policy_within_the_tolerance_is_not(sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    spoil_weight(folder, 1e-8)
    load_policy(folder)


def test_an_observation_that_is_made_otherwise_is_refused_by_element(sealed, monkeypatch: pytest.MonkeyPatch):
    from robomarl.core.features import FEATURES

    honest = FEATURES["velocity"]
    wrong = replace(honest, read=lambda view, rule: honest.read(view, rule)[..., [0, 2, 1]])
    monkeypatch.setitem(FEATURES, "velocity", wrong)
    with pytest.raises(UserError, match=r"observation velocity\.[yz] is off"):
        load_policy(sealed)


def test_a_broken_graph_is_refused(sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    (folder / "policy.onnx").write_bytes((folder / "policy.onnx").read_bytes()[:500])
    reseal(folder)
    with pytest.raises(UserError, match="policy.onnx: is no sound ONNX file"):
        load_policy(folder)


def test_a_graph_of_another_contract_is_refused(recurrent: Policy, sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    (folder / "policy.onnx").write_bytes(recurrent.bundle.files["policy.onnx"])
    reseal(folder)
    with pytest.raises(UserError, match=r"policy.onnx: has .*carry\.0.*bundle.json says"):
        load_policy(folder)


@pytest.mark.parametrize("content", [b"nonsense", b""])
def test_broken_golden_sequences_are_refused(sealed: Path, tmp_path: Path, content: bytes):
    folder = copy(sealed, tmp_path)
    (folder / "golden.npz").write_bytes(content)
    reseal(folder)
    with pytest.raises(UserError, match="golden.npz"):
        load_policy(folder)


def test_golden_sequences_that_are_too_short_are_refused(policy: Policy, sealed: Path, tmp_path: Path):
    whole = read_golden(policy.bundle)
    short = golden.Golden(golden.map_view(lambda a: a[:, :19], whole.views), *(a[:, :19] for a in whole[1:]))
    folder = copy(sealed, tmp_path)
    (folder / "golden.npz").write_bytes(golden.to_bytes(short))
    reseal(folder)
    with pytest.raises(UserError, match="2 sequences of 19 decisions"):
        load_policy(folder)


def test_the_pilot_replays_training(policy: Policy):
    """View in, command out, one robot at a time: what the node does."""
    sequences = read_golden(policy.bundle)
    pilot = Pilot(policy, SafetyFilter(policy.contract.safety))
    views = golden.map_view(lambda a: a[1, :, 2], sequences.views)
    carry = pilot.init(golden.map_view(lambda a: a[0], views))
    for t in range(sequences.obs.shape[1]):
        carry, result = pilot.step(carry, golden.map_view(lambda a, t=t: a[t], views))
        np.testing.assert_allclose(result.command, sequences.command[1, t, 2], atol=golden.COMMAND_TOLERANCE)
        np.testing.assert_allclose(result.nominal, sequences.action[1, t, 2], atol=2e-5)


def test_the_pilot_brakes_on_a_broken_view(policy: Policy):
    view = golden.map_view(lambda a: a[0, 0, 0], read_golden(policy.bundle).views)
    view = view._replace(goal=view.goal._replace(pos_m=view.goal.pos_m * np.inf))
    pilot = Pilot(policy, SafetyFilter(policy.contract.safety))
    _, result = pilot.step(pilot.init(view), view)
    assert result.reason == Reason.NON_FINITE and np.isfinite(result.command).all()


def test_a_pilot_is_for_a_team_and_for_commands_that_have_a_filter(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(UserError, match="swap_4: is for teams of 4 robots, not 3"):
        load_pilot("swap_4", team_size=3)
    policy = load_policy("swap_4")
    assert load_pilot("swap_4").safety.params.min_mates == 3
    accel, turn = policy.action.fields[:3], policy.action.fields[3:]
    # In another order, or of another kind, a filter of accelerations would take them for what they are not.
    policy.action = ActionSpec((*turn, *accel))
    monkeypatch.setattr(pilot, "load_policy", lambda _: policy)
    with pytest.raises(UserError, match="commands yaw_rate, acceleration.x, .* for which there is no filter"):
        load_pilot("swap_4")
