"""Policies of other trainers and exporters: each is read to 1e-5 of its own library, or refused with a reason."""

import json
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.config import UserError, build
from robomarl.lab.foreign import read_policy
from robomarl.lab.foreign.contract_file import ContractFile
from robomarl.lab.foreign.parity import check_rounding
from robomarl.lab.foreign.policy import wire
from tests.core.bundle.corpus import jax_corpus
from tests.core.bundle.corpus.jax_corpus import INPUTS
from tests.core.bundle.onnxmodels import ACTION, SPEC, weights
from tests.core.bundle.torchbytes import Called, save

LIBRARIES = (
    *("torch==2.13.0", "rsl-rl-lib==5.5.1", "skrl==2.1.1", "rl-games==1.6.5", "stable-baselines3==2.9.2"),
    *("sb3-contrib==2.9.2", "tensordict", "safetensors", "onnx", "onnxscript", "onnxconverter-common", "skl2onnx"),
    *("jax2onnx", "spox"),
)
MAKER = Path(__file__).parent / "corpus" / "torch_corpus.py"
EVERY_EXPORTER = 17


def contract(text: str) -> ContractFile:
    return build(ContractFile, tomllib.loads('scenario = "swap_4"\n' + text), "contract.toml")


def check(file: Path, text: str, truth: np.ndarray) -> None:
    """Ours and the reference against the library, over decisions in a row."""
    policy = read_policy(file, contract(text), file.parent)
    memory, ours, apply = tuple(jnp.zeros(shape) for shape in policy.memory), [], jax.jit(policy.apply)
    for row in INPUTS:
        memory, output = apply(memory, jnp.asarray(row))
        ours.append(np.asarray(output))
    for found in (np.stack(ours), policy.reference(INPUTS)):
        np.testing.assert_allclose(found, truth, atol=1e-5, rtol=0, err_msg=file.name)


@pytest.mark.parametrize("maker", [jax_corpus.brax, jax_corpus.jaxmarl, jax_corpus.flax_msgpack])
def test_policies_of_jax_libraries(maker, tmp_path: Path):
    for policy in maker(tmp_path):
        check(tmp_path / policy.file, policy.contract, policy.truth)


@pytest.mark.slow
def test_policies_of_pytorch_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In an environment of their own, for they are large: PyTorch alone is ten times all of ours."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *LIBRARIES], check=True, timeout=1800)
    made = tmp_path / "made"
    made.mkdir()
    subprocess.run([python, "-W", "ignore", MAKER, made], check=True, timeout=900, capture_output=True)
    site = tmp_path / "venv" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])  # TorchScript is read by PyTorch
    index = json.loads((made / "index.json").read_text())
    for policy in index:
        if policy["said"]:
            with pytest.raises(UserError, match=policy["said"]):
                read_policy(made / policy["file"], contract(policy["contract"]), made)
        else:
            check(made / policy["file"], policy["contract"], np.load(made / f"{policy['file']}.truth.npy"))
    exporters = {policy["exporter"] for policy in index} | {"brax", "jaxmarl", "flax"}
    assert len(index) >= 50 and len(exporters) >= EVERY_EXPORTER


def mlp(prefix: str, *sizes: int) -> dict[str, np.ndarray]:
    layers = list(enumerate(zip(sizes, sizes[1:], strict=False)))
    return {
        f"{prefix}{2 * i}.{n}": weights(*s) for i, (a, b) in layers for n, s in (("weight", (b, a)), ("bias", (b,)))
    }


def dense(arrays: dict[str, np.ndarray], prefix: str, x: np.ndarray, activation) -> np.ndarray:
    count = sum(name.startswith(prefix) and name.endswith("weight") for name in arrays)
    for i in range(count):
        x = x @ arrays[f"{prefix}{2 * i}.weight"].T + arrays[f"{prefix}{2 * i}.bias"]
        x = activation(x) if i + 1 < count else x
    return x


def elu(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def test_students_of_rsl_rl(tmp_path: Path):
    """Names of versions 2 and 3, whose normalizers lie in different places; the teacher is another network."""
    student, teacher = mlp("student.", 38, 16, 4), mlp("teacher.", 60, 16, 4)
    mean, std = weights(1, 38), 0.5 + weights(1, 38) ** 2
    truth = dense(student, "student.", (INPUTS - mean) / (std + 0.01), elu)
    seen = {"student_obs_normalizer._mean": mean, "student_obs_normalizer._std": std}
    new = {"model_state_dict": {**student, **teacher, **seen, "std": weights(4)}, "iter": 3}
    old = {"model_state_dict": {**student, **teacher}, "obs_norm_state_dict": {"_mean": mean, "_std": std}, "infos": {}}
    for name, saved in (("three.pt", new), ("two.pt", old)):
        check(save(saved, tmp_path / name), 'layout = "rsl_rl"', truth)


def test_checkpoints_of_rl_games_need_no_layout(tmp_path: Path):
    """The normalizer is in double precision, its epsilon is under the root, and it clips."""
    root = "a2c_network."
    arrays = mlp(f"{root}actor_mlp.", 38, 16, 8)
    mean, variance = weights(38).astype(np.float64), 0.01 + weights(38).astype(np.float64) ** 2
    seen = {"running_mean_std.running_mean": mean, "running_mean_std.running_var": variance}
    head = {f"{root}mu.weight": weights(4, 8), f"{root}mu.bias": weights(4), f"{root}value.weight": weights(1, 8)}
    scalar = Called("numpy._core.multiarray.scalar", "f4", "1234")
    saved = {"model": {**arrays, **seen, **head, f"{root}sigma": weights(4)}, "last_mean_rewards": scalar}
    x = np.clip((INPUTS - mean) / np.sqrt(variance + 1e-5), -5, 5)
    hidden = elu(dense(arrays, f"{root}actor_mlp.", x, elu))
    truth = hidden @ head[f"{root}mu.weight"].T + head[f"{root}mu.bias"]
    check(save(saved, tmp_path / "last.pth"), "", truth)
    with pytest.raises(UserError, match="has no layer of the layout 'rsl_rl'.*as the layout 'rl_games' has"):
        read_policy(tmp_path / "last.pth", contract('layout = "rsl_rl"'))


def test_weights_that_would_be_left_out_are_an_error(tmp_path: Path):
    saved = {**mlp("mlp_extractor.policy_net.", 38, 16), "action_net.weight": weights(4, 16)}
    saved["features_extractor.linear.weight"] = weights(38, 38)
    file = save(saved, tmp_path / "policy.pth")
    with pytest.raises(UserError, match=r"has features_extractor\.linear\.weight, which import would leave out"):
        read_policy(file, contract('layout = "sb3"'))


def test_pickles_are_data(tmp_path: Path):
    """Nothing that a pickle names is called; settings of known trainers beside the weights do no harm."""
    trap, layout = tmp_path / "was_here", contract('layout = "cleanrl"')
    actor = mlp("actor_mean.", 38, 16, 4)
    saved = {**actor, "args": Called("argparse.Namespace", state={"seed": 1}), "space": Called("gymnasium.spaces.Box")}
    check(save(saved, tmp_path / "settings.pt"), 'layout = "cleanrl"', dense(actor, "actor_mean.", INPUTS, np.tanh))
    with pytest.raises(UserError, match=r"wants to run os\.mkdir when it is read, which import never does"):
        read_policy(save({**actor, "x": Called("os.mkdir", str(trap))}, tmp_path / "trap.pt"), layout)
    module = Called("my_lab.Actor", state={"_modules": {}, "_parameters": {}})
    with pytest.raises(UserError, match=r"is a whole module.*my_lab\.Actor.*torch\.save\(policy\.state_dict\(\)"):
        read_policy(save({"agent": module}, tmp_path / "module.pt"), layout)
    assert not trap.exists()


def test_tensors_that_reach_outside_their_numbers_are_refused(tmp_path: Path):
    file = save(mlp("actor_mean.", 38, 16, 4), tmp_path / "short.pt", **{"data/0": b"1234"})
    with pytest.raises(UserError, match=r"short\.pt: can't be read as a checkpoint .*reaches outside its numbers"):
        read_policy(file, contract('layout = "cleanrl"'))


NOT_POLICIES = {
    "text.onnx": (b"just some text\n", "is no ONNX file: it is text that begins with 'just some text"),
    "page.pt": (b"<!DOCTYPE html><html>", "can't be read as a checkpoint: it is a web page"),
    "pointer.onnx": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "is a pointer of Git LFS"),
    "empty.onnx": (b"", "is empty"),
    "actor.onnx": (b"\x08\x07\x3a\x99", "is no sound ONNX file"),
    "nothing.onnx": (b"\x08\x07", "is no sound ONNX file"),
    "packed.pt": (b"\x1f\x8b" + bytes(20), "is compressed by gzip; unpack it first"),
    "keras.pth": (b"\x89HDF\r\n\x1a\n", "is an HDF5 file, as Keras writes; convert it with tf2onnx"),
    "edge.onnx": (b"\x1c\x00\x00\x00TFL3", "is a model of TensorFlow Lite; convert it with tf2onnx"),
    "cut.pt": (b"\x80\x02}(X\x05\x00", "can't be read as a checkpoint"),
    "torn.pt": (b"PK\x03\x04" + bytes(30), "can't be read as a checkpoint"),
    "bad.msgpack": (b"\xc1\xc1\xc1", "can't be read as a checkpoint"),
    "bad.safetensors": (bytes([9, 0, 0, 0, 0, 0, 0, 0]) + b"{broken}\xff", "is no sound safetensors file"),
    "exe": (b"\x7fELF\x02\x01\x01\x00", r"is of no kind that import reads; name one of \.onnx"),
}


@pytest.mark.parametrize("name", NOT_POLICIES)
def test_files_that_are_no_policies_are_one_sentence(name: str, tmp_path: Path):
    content, said = NOT_POLICIES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=said) as told:
        read_policy(tmp_path / name, contract('layout = "cleanrl"'))
    assert "\n" not in str(told.value) and name in str(told.value)


def test_checkpoints_cut_or_changed_anywhere_are_one_sentence_or_sound(tmp_path: Path):
    """No exception of zipfile, pickle, struct, json, numpy or protobuf comes through."""
    rng, sound = np.random.default_rng(0), save(mlp("actor_mean.", 38, 4), tmp_path / "sound.pt").read_bytes()
    refused = 0
    for _ in range(300):
        broken = bytearray(sound)
        for at in rng.integers(0, len(sound), 8):
            broken[at] = rng.integers(0, 256)
        file = tmp_path / "broken.pt"
        file.write_bytes(broken[: rng.integers(len(sound) // 2, 2 * len(sound))])
        try:
            read_policy(file, contract('layout = "cleanrl"'))
        except UserError as error:
            refused += 1
            assert re.match(r"\S+broken\.pt: ", str(error)) and "\n" not in str(error)
    assert refused > 100


@pytest.mark.parametrize("key", ['vec_normalize = "x.pkl"', '[memory]\nh = "g"', 'checked = ["action_scale"]'])
def test_keys_that_change_nothing_are_refused(key: str, tmp_path: Path):
    file = save(mlp("actor_mean.", 38, 4), tmp_path / "actor.pt")
    with pytest.raises(UserError, match="does not apply to a file of this kind; take it out"):
        read_policy(file, contract(f'layout = "cleanrl"\n{key}'))


@pytest.mark.parametrize("size", [1.0, 4.0])
def test_commands_that_rounding_decides_are_refused(size: float, tmp_path: Path):
    """Processors round differently, and a bundle has to give the same commands on all of them."""
    arrays = {name: size * array for name, array in mlp("actor_mean.", 38, 32, 32, 4).items()}
    policy = read_policy(save(arrays, tmp_path / "actor.pt"), contract('layout = "cleanrl"\nactivation = "elu"'))
    wiring = wire(ContractFile("swap_4"), "contract.toml", SPEC, ACTION)
    if size == 1:
        return check_rounding(policy, wiring, "actor.pt")
    with pytest.raises(UserError, match=r"actor\.pt: its commands change by \S+ when its inputs change in their last"):
        check_rounding(policy, wiring, "actor.pt")


def test_a_folder_is_told_apart(tmp_path: Path):
    (tmp_path / "saved_model.pb").touch()
    with pytest.raises(UserError, match=r"is a folder \(a SavedModel of TensorFlow: convert it with tf2onnx\)"):
        read_policy(tmp_path, contract(""))
