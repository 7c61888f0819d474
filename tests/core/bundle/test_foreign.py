"""Policies from elsewhere: what ONNX files and layers compute, and what is said of those that do not fit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.bundle.golden import map_view
from robomarl.core.bundle.runtime import load_policy, read_golden
from robomarl.core.config import UserError
from robomarl.fleet.checks.verify import verify_here
from robomarl.front.cli import main
from robomarl.lab import foreign
from robomarl.lab.export import files
from robomarl.lab.export.facts import Facts
from robomarl.lab.export.record import Recorded
from robomarl.lab.foreign.contract_file import ContractFile, Normalizer, PolicyInput, PolicyOutput, read_contract_file
from robomarl.lab.foreign.layouts import read_layout
from robomarl.lab.foreign.onnx_file import read_onnx
from robomarl.lab.foreign.policy import ForeignPolicy, wire
from tests.core.bundle.onnxmodels import ACTION, SPEC, WIDTH, dense_model, difference, recurrent_model, saved, weights

STEPS = 20
"""Decisions of a golden sequence that are used: no bundle has fewer."""


@pytest.mark.parametrize(
    ("content", "memory"),
    [
        (dense_model, ()),
        (lambda: dense_model(activation="Softplus"), ()),
        (lambda: recurrent_model("GRU"), ((1, 1, 8),)),
        (lambda: recurrent_model("LSTM"), ((1, 1, 8), (1, 1, 8))),
    ],
)
def test_onnx_files_are_computed_as_onnxruntime_does(
    content: Callable[[], onnx.ModelProto], memory: tuple, tmp_path: Path
):
    policy = read_onnx(saved(content(), tmp_path))
    assert policy.memory == memory and policy.num_inputs == WIDTH
    assert difference(policy) <= 2e-6


@pytest.fixture
def flown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Golden flights out of a bundle that is there: to compile the environment takes long."""
    whole = read_golden(load_bundle("swap_4"))
    known = whole._replace(
        views=map_view(lambda leaf: leaf[:, :STEPS], whole.views),
        obs=whole.obs[:, :STEPS],
        action=whole.action[:, :STEPS],
    )

    def recorded(facts: Facts) -> Recorded:
        run: Any = facts.run
        carry = tuple(
            np.zeros((*known.obs.shape[:1], *known.obs.shape[2:3], *c.shape), np.float32) for c in run.init_carry
        )
        decide, actions = jax.jit(run.policy_fn), []
        for t in range(known.obs.shape[1]):
            carry, action = decide(carry, jnp.asarray(known.obs[:, t]))
            actions.append(np.asarray(action))
        return Recorded(known.views, known.obs, np.stack(actions, 1))

    monkeypatch.setattr(foreign, "record", recorded)
    monkeypatch.setattr(files, "has_graph", lambda *_: False)  # the filter's graph has tests of its own


@pytest.mark.usefixtures("flown")
def test_import_makes_a_sealed_bundle(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file, toml, out = saved(recurrent_model("GRU"), tmp_path), tmp_path / "contract.toml", tmp_path / "mine"
    toml.write_text('scenario = "swap_4"\n')
    assert main(["import", str(file), str(out), "--contract", str(toml), "--name", "gru_4"]) == 0
    assert "differs from onnxruntime, pytorch" in capsys.readouterr().out
    verdict = verify_here(out, timed=False)
    assert verdict.ok, verdict.problems
    policy = load_policy(out)
    contract = policy.contract
    assert (policy.name, [c.shape for c in contract.policy_carries]) == ("gru_4", [(1, 1, 8)])
    recipe = contract.training.recipe
    assert recipe["file"] == "actor.onnx" and len(str(recipe["file_sha256"])) == 64
    assert sorted(p.name for p in out.iterdir()) == ["README.md", "bundle.json", "golden.npz", "policy.onnx"]
    _, action = policy(policy.init(), np.zeros(WIDTH, np.float32))
    assert action.shape == (4,) and np.all(action >= ACTION.low) and np.all(action <= ACTION.high)


@pytest.mark.usefixtures("flown")
def test_nothing_is_written_when_the_framework_says_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file, toml = saved(dense_model(), tmp_path), tmp_path / "contract.toml"
    toml.write_text('scenario = "swap_4"\n')
    honest = foreign.read_policy

    def off(*arguments: Any) -> ForeignPolicy:
        policy = honest(*arguments)
        reference = policy.reference
        return ForeignPolicy(policy.framework, (), policy.apply, lambda x: reference(x) + 1e-4)

    monkeypatch.setattr(foreign, "read_policy", off)
    with pytest.raises(UserError, match=r"differs from onnxruntime.* on random observations .*nothing was written"):
        foreign.import_bundle(file, toml, tmp_path / "mine")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["actor.onnx", "contract.toml"]


def external() -> onnx.ModelProto:
    made = dense_model()
    tensor = made.graph.initializer[2]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="actor.onnx.data")
    return made


def with_operator(op: str, **attributes: Any) -> onnx.ModelProto:
    made = dense_model()
    made.graph.node[3].CopyFrom(helper.make_node(op, ["c"], ["d"], **attributes))
    return made


def without_memory() -> onnx.ModelProto:
    made = recurrent_model("GRU")
    del made.graph.output[1]
    return made


@pytest.mark.parametrize(
    ("content", "toml", "said"),
    [
        (lambda: dense_model(30), "", r"actor\.onnx: reads 30 numbers, but observation in \S+ makes 38; name"),
        (lambda: dense_model(commands=3), "", r"writes 3 numbers, but the command has 4; change its last layer"),
        (external, "", r"lies in another file.*external_data=False"),
        (lambda: with_operator("Loop"), "", r"uses the operator 'Loop', which is on no robot's list"),
        (lambda: with_operator("Hardmax"), "", r"uses the operator 'Hardmax', which import can't translate"),
        (without_memory, "", r"the inputs h_in are memory, but the outputs have none"),
        (dense_model, "[observation]\nfields = ['velocty']", r"'velocty' is not known; did you mean 'velocity'"),
        (dense_model, "[observation]\nelements = ['goal_error.w']", r"elements: 'goal_error\.w' is not one of"),
        (dense_model, "[observation]\nscale = [1.0]", r"observation\.scale has 1 numbers for 38 elements"),
        (dense_model, "[action]\nelements = ['yaw_rate']", r"action\.elements must name each of acceleration\.x"),
        (dense_model, "[normalizer]\nmean = [0.0]\nstd = [1.0]", r"normalizer\.mean has 1 numbers for 38 elements"),
        (dense_model, "[normalizer]\nmean = [0.0]\nstd = [0.0]", r"normalizer: std has a 0 and epsilon is 0"),
        (dense_model, "activation = 'swoosh'", r"activation = 'swoosh' is not known; allowed: elu"),
        (dense_model, "layuot = 'skrl'", r"unknown key 'layuot'; did you mean 'layout'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_sentence(
    content: Callable[[], onnx.ModelProto], toml: str, said: str, tmp_path: Path
):
    file, contract = saved(content(), tmp_path), tmp_path / "contract.toml"
    contract.write_text(f'scenario = "swap_4"\n{toml}\n')
    with pytest.raises(UserError, match=said):
        foreign.import_bundle(file, contract, tmp_path / "mine")


@pytest.mark.parametrize(
    ("name", "said"),
    [("none.onnx", "there is no such file"), ("actor.pkl", "is of no kind that import reads; name one of .onnx")],
)
def test_other_files_are_refused(name: str, said: str, tmp_path: Path):
    (tmp_path / "actor.pkl").touch()
    with pytest.raises(UserError, match=said):
        foreign.read_policy(tmp_path / name, ContractFile("swap_4"))


def test_a_contract_that_is_not_there_or_no_toml_is_named(tmp_path: Path):
    with pytest.raises(UserError, match=r"--contract \S+none.toml: can't be read"):
        read_contract_file(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("scenario = ")
    with pytest.raises(UserError, match=r"bad.toml: not valid TOML"):
        read_contract_file(tmp_path / "bad.toml")


def test_wiring_puts_every_number_in_its_place():
    obs = np.arange(WIDTH, dtype=np.float32) / 100
    names = SPEC.element_names()
    inputs = PolicyInput(
        elements=("velocity.y", "goal_error.x", "body_up.z", "velocity.x"), scale=(1.0, 2.0, 1.0, 10.0)
    )
    normalizer = Normalizer(mean=(0.0, 0.0, 0.02, 0.0), std=(1.0, 1.0, 2.0, 1.0), clip=0.2)
    seen = [obs[names.index(n)] * s for n, s in zip(inputs.elements, inputs.scale, strict=True)]
    seen = np.clip([seen[0], seen[1], (seen[2] - 0.02) / 2, seen[3]], -0.2, 0.2)
    order = ("yaw_rate", "acceleration.y", "acceleration.x", "acceleration.z")
    for squash, unit, scale in (("none", "limits", ()), ("tanh", "limits", ()), ("none", "si", (1.0, 2.0, 3.0, 50.0))):
        outputs = PolicyOutput(elements=order, squash=squash, unit=unit, scale=scale)  # type: ignore[arg-type]
        wiring = wire(
            ContractFile("swap_4", observation=inputs, normalizer=normalizer, action=outputs), "x", SPEC, ACTION
        )
        command = wiring.write(wiring.read(obs))
        raw = np.tanh(seen) if squash == "tanh" else seen
        said: dict[str, float] = dict(zip(order, raw * np.array(scale or 1), strict=True))
        for field, value in zip(ACTION.fields, command, strict=True):
            half = 1.0 if unit == "si" else (field.high - field.low) / 2
            wanted = np.clip(
                half * said[field.name] + (0 if unit == "si" else (field.high + field.low) / 2), field.low, field.high
            )
            assert value == pytest.approx(wanted, abs=1e-6), field.name


def mlp(prefix: str, sizes: tuple[int, ...], numbers: tuple[int | str, ...]) -> dict[str, np.ndarray]:
    pairs = zip(numbers, sizes, sizes[1:], strict=False)
    layers = [(f"{prefix}{n}", weights(b, a), weights(b)) for n, a, b in pairs]
    return {f"{n}.{part}": x for n, w, b in layers for part, x in (("weight", w), ("bias", b))}


def cell(prefix: str, gates: int, width: int = 35, hidden: int = 8) -> dict[str, np.ndarray]:
    shapes = {"weight_ih": (width,), "weight_hh": (hidden,), "bias_ih": (), "bias_hh": ()}
    return {f"{prefix}.{n}_l0": weights(gates * hidden, *s) for n, s in shapes.items()}


PPO = mlp("actor_mean.", (35, 16, 16, 4), (0, 2, 4)) | mlp("critic.", (35, 9, 1), (0, 2))
SAC = mlp("fc", (35, 16, 16), (1, 2)) | mlp("fc_mean", (16, 4), ("",))
OLD_GRU = cell("model_state_dict.memory_a.rnn", 3) | mlp("model_state_dict.actor.", (8, 16, 4), (0, 2))
CONTAINER = mlp("policy.net_container.", (35, 16), (0, 2)) | mlp("policy.output_layer", (16, 4), ("",))


@pytest.mark.parametrize(
    ("layout", "arrays", "found"),
    [
        ("rsl_rl", mlp("actor_state_dict.mlp.", (35, 16, 8, 4), (0, 2, 4)), ("", 3, "elu", False)),
        ("rsl_rl", mlp("model_state_dict.actor.", (35, 16, 4), (0, 2)), ("", 2, "elu", False)),
        ("rsl_rl", OLD_GRU, ("gru", 2, "elu", False)),
        ("skrl", CONTAINER, ("", 2, "elu", False)),
        ("skrl", cell("policy.lstm", 4) | mlp("policy.net.", (8, 16, 4), (0, 2)), ("lstm", 2, "elu", False)),
        ("cleanrl", PPO, ("", 3, "tanh", False)),
        ("cleanrl", SAC, ("", 3, "relu", True)),
    ],
)
def test_layouts_are_read(layout: str, arrays: dict[str, np.ndarray], found: tuple):
    network = read_layout(arrays, layout, "", "x.pt")
    assert (network.cell, len(network.dense), network.activation, network.squashed) == found
    assert network.num_inputs == 35
    zeros = tuple(jnp.zeros(s) for s in network.memory)
    memory, action = jax.eval_shape(network.apply, zeros, jnp.ones(35))
    assert action.shape == (4,) and len(memory) == {"": 0, "gru": 1, "lstm": 2}[network.cell]


RNN = cell("memory_a.rnn", 3)
HEAD = mlp("actor.", (8, 4), (0,))
UNEVEN = mlp("actor.", (35, 16, 16, 16, 4), (0, 2, 6, 8))
NORMED = {**mlp("actor.", (35, 16, 4), (0, 2)), "actor.1.weight": weights(16)}


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"critic.0.weight": weights(3, 3)}, r"x\.pt: has no layer of the layout 'rsl_rl' .*; it has critic\.0"),
        (UNEVEN, r"actor\.0, actor\.2, actor\.6, actor\.8 are not evenly numbered; one is missing"),
        (
            mlp("actor.", (35, 16), (0,)) | mlp("actor.", (8, 4), (2,)),
            r"actor\.2 takes 8 .* actor\.0 before it gives 16",
        ),
        (NORMED, r"actor\.1\.weight has shape \[16\], which no dense layer has"),
        (cell("memory_a.rnn", 1) | HEAD, r"memory_a\.rnn is neither a GRU nor an LSTM"),
        ({k: v for k, v in RNN.items() if "bias_hh" not in k} | HEAD, r"memory_a\.rnn\.bias_hh_l0 is missing"),
        ({**HEAD, "obs_normalizer._mean": weights(1, 8)}, r"obs_normalizer\._std is missing"),
    ],
)
def test_layers_that_do_not_fit_are_named(arrays: dict[str, np.ndarray], said: str):
    with pytest.raises(UserError, match=said):
        read_layout(arrays, "rsl_rl", "", "x.pt")


def test_the_normalizer_of_a_checkpoint_is_in_the_network():
    arrays = mlp("net_container.", (35, 4), (0,)) | {
        "observation_preprocessor.running_mean": np.full(35, 2, np.float32),
        "observation_preprocessor.running_variance": np.full(35, 4, np.float32),
    }
    network = read_layout(arrays, "skrl", "", "x.pt")
    w, b = arrays["net_container.0.weight"], arrays["net_container.0.bias"]
    for x, inside in ((5.0, 1.5), (100.0, 5.0)):
        _, action = network.apply((), jnp.full(35, x))
        np.testing.assert_allclose(action, w @ np.full(35, inside) + b, atol=1e-5)
