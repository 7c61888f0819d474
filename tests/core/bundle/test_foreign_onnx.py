"""What an ONNX file says beside its operators: memory by name, precision, batches, domains and metadata."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from robomarl.core.config import UserError
from robomarl.lab.foreign.contract_file import ContractFile, PolicyInput, PolicyOutput, read_contract_file
from robomarl.lab.foreign.onnx_file import read_onnx
from robomarl.lab.foreign.policy import wire
from tests.core.bundle.onnxmodels import (
    ACTION,
    SPEC,
    WIDTH,
    dense_model,
    difference,
    model,
    recurrent_model,
    saved,
    weights,
)


def counted(becomes: str = "") -> onnx.ModelProto:
    """A motion tracker: (obs, time_step) -> actions, value; both value and time step are [1, 1]."""
    nodes = [
        helper.make_node("Concat", ["obs", "time_step"], ["both"], axis=1),
        helper.make_node("Gemm", ["both", "w0"], ["actions"], transB=1),
        helper.make_node("Gemm", ["obs", "w1"], ["value"], transB=1),
    ]
    outputs = ["actions", "value"]
    if becomes:
        nodes.append(helper.make_node("Add", ["time_step", "two"], [becomes]))
        outputs.append(becomes)
    more: dict[str, np.ndarray] = {"two": np.full((1, 1), 2, np.float32)} if becomes else {}
    w0, w1 = weights(4, WIDTH + 1), weights(1, WIDTH)
    return model(nodes, {"obs": [1, WIDTH], "time_step": [1, 1]}, outputs, w0=w0, w1=w1, **more)


@pytest.mark.parametrize(("becomes", "step"), [("", 1), ("time_step_out", 2)])
def test_a_time_step_is_counted_and_never_a_value(becomes: str, step: int, tmp_path: Path):
    content = counted(becomes)
    policy = read_onnx(saved(content, tmp_path))
    session = onnxruntime.InferenceSession(content.SerializeToString())
    inputs = np.random.default_rng(0).normal(size=(6, WIDTH)).astype(np.float32)
    feeds = [{"obs": row[None], "time_step": np.full((1, 1), step * t, np.float32)} for t, row in enumerate(inputs)]
    truth = np.stack([np.asarray(session.run(["actions"], feed)[0])[0] for feed in feeds])
    memory, ours = (np.zeros((1, 1), np.float32),), []
    for row in inputs:
        memory, output = policy.apply(memory, row)
        ours.append(output)
    np.testing.assert_allclose(np.stack(ours), truth, atol=1e-5)
    np.testing.assert_allclose(policy.reference(inputs), truth, atol=1e-5)


def renamed(**names: str) -> onnx.ModelProto:
    """A GRU policy with other names of its inputs and outputs."""
    made = recurrent_model("GRU")
    for port in (*made.graph.input, *made.graph.output):
        port.name = names.get(port.name, port.name)
    for node in made.graph.node:
        for side in (node.input, node.output):
            side[:] = [names.get(name, name) for name in side]
    return made


@pytest.mark.parametrize(
    ("before", "after"),
    [("hidden", "next_hidden"), ("h0", "hn"), ("state_in_h", "state_out_h"), ("prev.rnn", "new.rnn"), ("hIn", "hOut")],
)
def test_memory_is_paired_by_name_in_any_order(before: str, after: str, tmp_path: Path):
    made = renamed(h_in=before, h_out=after)
    ports = [*made.graph.input]
    del made.graph.input[:]
    made.graph.input.extend(reversed(ports))  # the memory first
    made.graph.output.insert(0, made.graph.output.pop())
    policy = read_onnx(saved(made, tmp_path))
    assert policy.num_inputs == WIDTH and policy.memory == ((1, 1, 8),)
    assert difference(policy) <= 2e-6


@pytest.mark.parametrize(
    ("names", "contract", "said"),
    [
        ({"h_in": "p", "h_out": "u"}, {}, r"which of its outputs is the action|the inputs p are memory"),
        ({"h_in": "p", "h_out": "u"}, {"memory": {"p": "s"}}, r"memory\.p names 's', but the file has actions, u"),
        ({"h_in": "p", "obs": "q", "h_out": "u"}, {}, r"which of its inputs is the observation.*q, p.*\[observation\]"),
    ],
)
def test_what_names_do_not_say_is_refused(names: dict[str, str], contract: dict[str, Any], said: str, tmp_path: Path):
    with pytest.raises(UserError, match=said):
        read_onnx(saved(renamed(**names), tmp_path), ContractFile("swap_4", **contract))


def test_the_contract_pairs_what_names_do_not(tmp_path: Path):
    file = saved(renamed(h_in="p", obs="q", h_out="u"), tmp_path)
    (tmp_path / "contract.toml").write_text('scenario = "swap_4"\n[memory]\np = "u"\n')
    policy = read_onnx(file, read_contract_file(tmp_path / "contract.toml"))
    assert policy.memory == ((1, 1, 8),) and difference(policy) <= 2e-6


def test_a_state_that_no_input_takes_is_refused(tmp_path: Path):
    made = recurrent_model("GRU")
    made.graph.node[1].input[5] = ""
    del made.graph.input[1]
    with pytest.raises(UserError, match="the output h_out is memory by its name, but no input takes it"):
        read_onnx(saved(made, tmp_path))


def cast(kind: int, raw: bool = True) -> onnx.ModelProto:
    """A policy in another precision; numbers of half precision may also stand there as integers."""
    made, numpy_kind = dense_model(), helper.tensor_dtype_to_np_dtype(kind)
    for port in (*made.graph.input, *made.graph.output):
        port.type.tensor_type.elem_type = kind
    for tensor in made.graph.initializer:
        array = numpy_helper.to_array(tensor).astype(numpy_kind)
        if raw:
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
        else:
            tensor.CopyFrom(helper.make_tensor(tensor.name, kind, array.shape, array.ravel()))
    return made


@pytest.mark.parametrize("kind", [TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16])
@pytest.mark.parametrize("raw", [True, False])
def test_other_precisions_are_computed_in_single(kind: int, raw: bool, tmp_path: Path):
    policy = read_onnx(saved(cast(kind, raw), tmp_path))
    assert difference(policy) <= 2e-6
    assert np.isfinite(policy.reference(np.zeros((1, WIDTH)))).all()


@pytest.mark.parametrize("memory", [False, True])
def test_a_batch_that_was_exported_as_fixed_is_one_robot(memory: bool, tmp_path: Path):
    made = recurrent_model("GRU") if memory else dense_model()
    for port in made.graph.input:
        port.type.tensor_type.shape.dim[-2].dim_value = 64
    if memory:
        made.graph.initializer[6].CopyFrom(numpy_helper.from_array(np.array([0, 1]), made.graph.initializer[6].name))
        made.graph.node[2].CopyFrom(helper.make_node("Reshape", ["y", "flat"], ["z"]))
        made.graph.initializer.append(numpy_helper.from_array(np.array([-1, 8]), "flat"))
    policy = read_onnx(saved(made, tmp_path))
    assert policy.num_inputs == WIDTH and policy.memory == (((1, 1, 8),) if memory else ())
    assert difference(policy) <= 2e-6


def test_domains_that_are_only_named_do_no_harm(tmp_path: Path):
    made = dense_model()
    made.opset_import.extend([helper.make_opsetid("ai.onnx.ml", 2), helper.make_opsetid("com.microsoft", 1)])
    assert difference(read_onnx(saved(made, tmp_path))) <= 2e-6
    made.graph.node[3].CopyFrom(helper.make_node("Gelu", ["c"], ["d"], domain="com.microsoft", name="gelu_1"))
    with pytest.raises(UserError, match=r"the node 'gelu_1' uses operators of 'com\.microsoft' \('Gelu'\)"):
        read_onnx(saved(made, tmp_path))


def test_outputs_that_the_action_does_not_need_may_use_anything(tmp_path: Path):
    made = dense_model()
    made.graph.node.append(helper.make_node("Hardmax", ["actions"], ["log_prob"]))
    made.graph.output.append(helper.make_tensor_value_info("log_prob", TensorProto.FLOAT, None))
    assert difference(read_onnx(saved(made, tmp_path))) <= 2e-6


def noted(**notes: str) -> onnx.ModelProto:
    made = dense_model()
    helper.set_model_props(made, notes)
    return made


QUARTER = (0.25, 0.25, 0.25, 0.25)


@pytest.mark.parametrize(
    ("notes", "contract", "said"),
    [
        ({"action_scale": "0.25,0.25,0.25,0.25"}, {}, r"action_scale = 0\.25,.*action\.scale is not given"),
        ({"action_scale": "0.25"}, {"action": PolicyOutput(scale=(1, 1, 1, 2))}, r"action\.scale is \[1, 1, 1, 2\]"),
        ({"default_joint_pos": "0,0,0.1,0"}, {}, r"default_joint_pos = .*action\.offset is not given"),
        ({"obs_scales": "[2, 2]"}, {}, r"obs_scales = \[2, 2\], but the contract's observation\.scale is not given"),
        ({"observation_names": "base_lin_vel"}, {}, r"observation_names = base_lin_vel, which import does not apply"),
        ({"joint_stiffness": "20,20"}, {}, r"joint_stiffness .*checked = \['joint_stiffness'\]"),
        ({"policy_dt": "0.02"}, {}, r"policy_dt = 0\.02, which import does not apply"),
        ({}, {"checked": ("joint_names",)}, r"checked names 'joint_names', but the file's metadata has none"),
    ],
)
def test_metadata_that_is_not_looked_at_is_an_error(notes: dict, contract: dict, said: str, tmp_path: Path):
    with pytest.raises(UserError, match=said):
        read_onnx(saved(noted(**notes), tmp_path), ContractFile("swap_4", **contract))


@pytest.mark.parametrize(
    ("notes", "contract"),
    [
        ({"run_path": "lab/runs/3", "author": "a"}, {}),
        ({"action_scale": "1,1,1,1", "default_joint_pos": "0,0,0,0"}, {}),
        ({"action_scale": "0.25"}, {"action": PolicyOutput(scale=QUARTER)}),
        ({"observation_names": "velocity,body_up"}, {"observation": PolicyInput(fields=("velocity", "body_up"))}),
        ({"joint_names": "a,b", "joint_stiffness": "9"}, {"checked": ("joint_names", "joint_stiffness")}),
    ],
)
def test_metadata_that_agrees_passes(notes: dict, contract: dict, tmp_path: Path):
    assert read_onnx(saved(noted(**notes), tmp_path), ContractFile("swap_4", **contract)).num_inputs == WIDTH


def test_scale_and_offset_are_in_the_command():
    outputs = PolicyOutput(scale=QUARTER, offset=(0.1, 0.0, -0.1, 0.2), unit="limits")
    wiring = wire(ContractFile("swap_4", action=outputs), "x", SPEC, ACTION)
    low, high = (np.array([getattr(f, side) for f in ACTION.fields]) for side in ("low", "high"))
    wanted = (high + low) / 2 + (high - low) / 2 * (0.25 * 0.5 + np.array(outputs.offset))
    np.testing.assert_allclose(wiring.write(np.full(4, 0.5, np.float32)), wanted, atol=1e-6)


def test_what_onnxruntime_does_not_open_is_one_sentence(tmp_path: Path):
    made = dense_model()
    made.graph.node[3].CopyFrom(helper.make_node("Elu", ["c"], ["d"], alpha="wrong"))
    with pytest.raises(UserError, match="onnxruntime can't open it") as told:
        read_onnx(saved(made, tmp_path))
    assert "\n" not in str(told.value)
