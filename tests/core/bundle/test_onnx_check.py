"""What was signed is what runs, or it is refused: nothing outside the graph, nothing that the robot need not know."""

import re
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from robomarl.core.bundle.bundle import bundle_id, load_bundle
from robomarl.core.bundle.onnx_check import MAX_FIELDS, check_onnx
from robomarl.core.bundle.runtime import open_session
from robomarl.core.config import UserError
from robomarl.core.paths import bundles_dir
from robomarl.fleet.requests import OperatorSession
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.front.cli import main
from robomarl.ros.robot.startup import load_pilot
from robomarl.ros.settings import PolicySettings
from tests.core.bundle.onnxattacks import ATTACKS, SIDE_FILE, SIDE_SIZE, function_reads_a_file
from tests.core.bundle.sealing import copy, reseal

SHIPPED = sorted(file.parent.name for file in bundles_dir().glob("*/bundle.json"))


def attacked(attack, tmp_path: Path) -> Path:
    folder = copy(bundles_dir() / "swap_4", tmp_path)
    (folder / "eval.json").unlink(missing_ok=True)
    model = onnx.load(folder / "policy.onnx")
    attack(model)
    (folder / "policy.onnx").write_bytes(model.SerializeToString())
    reseal(folder)
    return folder


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_what_reaches_outside_is_refused_by_verify_flash_and_node(
    attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path(SIDE_FILE).write_bytes(np.zeros(SIDE_SIZE, np.float32).tobytes())
    folder = attacked(attack, tmp_path)
    assert main(["verify", str(folder)]) == 1
    assert re.search(ATTACKS[attack], capsys.readouterr().out)
    assert re.search(ATTACKS[attack], said_by_the_robot(folder, tmp_path / "robot"))
    with pytest.raises(UserError, match=ATTACKS[attack]):
        load_pilot(PolicySettings(team=("a", "b", "c", "d"), index=0, bundle=str(folder), vehicle="crazyflie_21"))


def said_by_the_robot(folder: Path, root: Path) -> str:
    """A robot gets the files from somebody who did not look."""
    files = {p.name: p.read_bytes() for p in folder.iterdir()}
    guess = bundle_id(files)
    session = OperatorSession(Store(root))
    session.lock()
    try:
        session.handle("add", {"id": guess, "files": [[n, len(c)] for n, c in files.items()]}, b"".join(files.values()))
        verdict = session.handle("check", {"id": guess})
        assert not verdict["ok"]
        return verdict["problems"][0]
    except UserError as error:
        return str(error)
    finally:
        assert session.store.state() == InstalledBundles()
        session.close()


def test_onnxruntime_would_read_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Without the check the attack works: otherwise its refusal would prove nothing."""
    monkeypatch.chdir(tmp_path)
    folder = attacked(function_reads_a_file, tmp_path)
    actions = []
    for value in (0.0, 7.0):
        Path(SIDE_FILE).write_bytes(np.full(SIDE_SIZE, value, np.float32).tobytes())
        session = onnxruntime.InferenceSession((folder / "policy.onnx").read_bytes())
        inputs = {i.name: np.zeros((1, *i.shape[1:]), np.float32) for i in session.get_inputs()}
        actions.append(session.run(None, inputs)[0])
    assert (actions[1] - actions[0] > 1000).all()


def test_the_filters_graph_may_loop_but_read_no_file(tmp_path: Path):
    folder = copy(bundles_dir() / "swap_4", tmp_path)
    model = onnx.load(folder / "policy_filtered.onnx")
    assert any(node.op_type == "Loop" for node in model.graph.node)
    model.graph.node[0].domain = "local"
    (folder / "policy_filtered.onnx").write_bytes(model.SerializeToString())
    reseal(folder)
    with pytest.raises(UserError, match="policy_filtered.onnx: uses operators of 'local'"):
        load_bundle(folder)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_bundles_that_ship_pass(name: str):
    bundle = load_bundle(name)
    assert open_session(bundle.files["policy.onnx"])


@pytest.mark.parametrize(
    "content",
    [
        bytes([7 << 3 | 2, 3, 5 << 3 | 2, 1, 9 << 3]),
        b"\x3a\x0b\x2a\x09\x48" + b"\xff" * 7 + b"\x7f",  # a tensor whose bytes are a number: once 2.9 GiB
        b"\x3a\x0c\x2a\x0a\x48" + b"\x80" * 8 + b"\x01",
        b"\xff" * 30,
        b"\x3a\x05",
        b"\x3b\x3c",
        (7 << 3 | 2).to_bytes(1, "little") * 999,
    ],
)
def test_what_is_no_message_is_one_sentence(content: bytes):
    with pytest.raises(UserError, match="is no sound ONNX file"):
        check_onnx(content, "policy.onnx")


def test_a_graph_of_too_many_parts_is_refused_early():
    many = b"\x0a\x00" * (MAX_FIELDS + 1)
    graph = b"\x3a" + _varint(len(many)) + many
    with pytest.raises(UserError, match="more parts than a policy has"):
        check_onnx(graph, "policy.onnx")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def test_every_mutant_of_a_graph_passes_or_is_one_sentence():
    """Bytes changed at random: no other error than ours."""
    rng = np.random.default_rng(0)
    sound = load_bundle("swap_4").files["policy.onnx"]
    refused = 0
    for _ in range(2000):
        graph = bytearray(sound)
        for at in rng.integers(0, 400, 3):
            graph[at] = rng.integers(0, 256)
        try:
            check_onnx(bytes(graph), "policy.onnx")
        except UserError as error:
            refused += 1
            assert str(error).startswith("policy.onnx") and "\n" not in str(error)
    assert refused > 200
