"""No bundle holds or ends who checks it: time and memory have limits, and every fault is a sentence."""

import io
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from robomarl.core.bundle import golden
from robomarl.core.bundle.bundle import MAX_FILES, bundle_id, load_bundle
from robomarl.core.bundle.zip_file import read_zip
from robomarl.core.config import UserError
from robomarl.core.paths import bundles_dir
from robomarl.fleet.checks.isolated_check import Warden, verify_bundle
from robomarl.fleet.checks.verify import verify_here
from robomarl.fleet.pipe import Pipe
from robomarl.fleet.store import Store
from tests.core.bundle.sealing import copy, reseal


def altered(tmp_path: Path, change: Callable[[Path], None]) -> Path:
    folder = copy(bundles_dir() / "swap_4", tmp_path)
    (folder / "eval.json").unlink(missing_ok=True)
    change(folder)
    return folder


def change_graph(folder: Path, nodes: list[onnx.NodeProto], constants: dict[str, np.ndarray]) -> None:
    """Add the sum of `big` to the action."""
    model = onnx.load(folder / "policy.onnx")
    for name, value in constants.items():
        model.graph.initializer.append(numpy_helper.from_array(value, name))
    last = next(node for node in model.graph.node if "action" in node.output)
    last.output[0] = "before"
    ends = [
        helper.make_node("ReduceSum", ["big"], ["sum"], keepdims=0),
        helper.make_node("Add", ["before", "sum"], ["action"]),
    ]
    model.graph.node.extend([*nodes, *ends])
    (folder / "policy.onnx").write_bytes(model.SerializeToString())
    reseal(folder)


def huge_array(folder: Path) -> None:
    shape = {"one": np.zeros(1, np.float32), "shape": np.array([2**33], np.int64)}
    change_graph(folder, [helper.make_node("Expand", ["one", "shape"], ["big"])], shape)


def huge_work(folder: Path) -> None:
    """Products of large matrices, one after the other: minutes.

    Made of the input: of constants they are worked out as the file is opened, and memory ends first where that is fast.
    """
    nodes = [helper.make_node("ReduceSum", ["obs"], ["all"], keepdims=0)]
    nodes += [helper.make_node("Expand", ["all", "shape"], ["m0"])]
    nodes += [helper.make_node("MatMul", [f"m{i}", "m0"], [f"m{i + 1}"]) for i in range(3000)]
    nodes += [helper.make_node("Identity", ["m3000"], ["big"])]
    change_graph(folder, nodes, {"shape": np.array([1500, 1500], np.int64)})


def endless_filter(folder: Path) -> None:
    """The filter's graph may loop; this one goes on after it is done."""
    model = onnx.load(folder / "policy_filtered.onnx")
    for node in (node for node in model.graph.node if node.op_type == "Loop"):
        body = node.attribute[0].g
        body.initializer.append(numpy_helper.from_array(np.array(True), "for_ever"))
        body.node.append(helper.make_node("Identity", ["for_ever"], ["goes_on"]))
        body.output[0].name = "goes_on"
    (folder / "policy_filtered.onnx").write_bytes(model.SerializeToString())
    reseal(folder)


@pytest.mark.parametrize("attack", [huge_array, huge_work, endless_filter], ids=lambda attack: attack.__name__)
def test_what_takes_too_long_or_too_much_is_ended(attack, tmp_path: Path):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    verdict = verify_bundle(altered(tmp_path, attack))
    assert not verdict.ok
    (problem,) = verdict.problems
    assert "was ended, it took over" in problem or "can't" in problem or "wants over" in problem
    assert problem.count("\n") == 0
    assert verify_bundle(bundles_dir() / "swap_4", timed=False).ok, "the next check works"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 * 1024, "[KiB] of who asked"


def test_a_check_stays_below_300_mib(tmp_path: Path):
    """In a process of its own, so that no other child counts."""
    code = (
        "import resource, sys; from robomarl.fleet.checks.isolated_check import Warden; warden = Warden(); "
        "found = warden.check(sys.argv[1], timed=False, filtered=False); warden.close(); "
        "print(found.ok, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, str(altered(tmp_path, huge_array))]
    ok, most_kib = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert ok == "False"
    assert int(most_kib) < 300 * 1024


def test_the_process_that_checks_may_be_lost(tmp_path: Path):
    warden = Warden()
    warden.start()
    assert warden.pid is not None
    os.kill(warden.pid, signal.SIGKILL)
    time.sleep(0.1)
    verdicts = [warden.check("swap_4", timed=False, filtered=False) for _ in range(2)]
    assert verdicts[1].ok
    warden.close()
    assert warden.pid is None


def test_the_verdict_is_that_of_a_check_here():
    here, apart = verify_here("swap_4", timed=False), verify_bundle("swap_4", timed=False)
    assert here == apart and here.ok
    assert verify_bundle("swap_4").step_p50_us, "timed"
    assert "Unknown bundle" in verify_bundle("nothing").problems[0]


def children(pid: int) -> list[int]:
    """All processes below one."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            child = int(file.parent.name)
            found += [child, *children(child)]
    return found


@pytest.mark.parametrize("how", ["answers", "is killed"])
def test_a_robot_is_free_after_a_bundle_that_never_ends(how: str, tmp_path: Path):
    """The robot's real process, at the other end of a pipe: its lock, and what it started."""
    folder = altered(tmp_path, huge_work)
    files = {p.name: p.read_bytes() for p in folder.iterdir()}
    guess, sizes = bundle_id(files), [[name, len(content)] for name, content in files.items()]
    link = Pipe([sys.executable, "-m", "robomarl.fleet.requests", str(tmp_path / "robot")], "robot")
    link.greet(60.0)
    link.call("hello", {"who": "test"}, b"", 30.0)
    link.call("lock", {}, b"", 30.0)
    link.call("add", {"id": guess, "files": sizes}, b"".join(files.values()), 60.0)
    process = link._process.pid
    if how == "answers":
        answer = link.call("check", {"id": guess}, b"", 120.0)
        assert not answer["ok"] and "was ended" in answer["problems"][0]
        with pytest.raises(UserError, match="was not checked"):
            link.call("switch", {"action": "flash", "current": guess, "previous": None}, b"", 30.0)
        below = children(process)
        link.close()
    else:
        with pytest.raises(UserError):
            link.call("check", {"id": guess}, b"", 2.0)
        below = children(process)
        os.kill(process, signal.SIGKILL)
        link.close()
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in below) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert below and not any(Path(f"/proc/{pid}").exists() for pid in below)
    assert Store(tmp_path / "robot").holder() == ""


def npz(arrays: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


def npy(shape: tuple[int, ...], content: bytes = b"", dtype: str = "<f4") -> bytes:
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + content


def bad_crc() -> bytes:
    content = bytearray(npz({"obs": npy((4,), bytes(16))}, zipfile.ZIP_STORED))
    content[content.index(b"\x93NUMPY") + 130] ^= 1
    return bytes(content)


@pytest.mark.parametrize(
    "content",
    [
        lambda: npz({"obs": npy((2**40,), bytes(16))}),
        lambda: npz({"obs": npy((2**62, 2**62), bytes(16))}),
        lambda: npz({"obs": npy((-1,), bytes(16))}),
        lambda: npz({"extra": npy((2**28,), bytes(2**30))}),
        lambda: npz({f"a{i}": npy((0,)) for i in range(2000)}),
        lambda: npz({"obs": npy((1,), bytes(8), "|O")}),
        lambda: npz({"obs": b"\x93NUMPY\x01\x00\xff\xff{"}),
        lambda: npz(
            {"obs": b"\x93NUMPY\x01\x00" + (60).to_bytes(2, "little") + b"{'descr': '<f4', 'shape': (".ljust(60)}
        ),
        lambda: npz({"obs": b"no array"}),
        lambda: npz({"obs": npy((4,), bytes(16))}, zipfile.ZIP_LZMA),
        bad_crc,
        lambda: b"PK\5\6" + bytes(18),
    ],
)
def test_golden_files_take_no_more_than_they_hold(content: Callable[[], bytes]):
    made = content()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match="golden.npz: can't be read"):
        golden.from_bytes(made)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


@pytest.mark.parametrize("count", [MAX_FILES + 1, 20_000])
def test_a_zip_of_many_entries_is_refused_unread(count: int, tmp_path: Path):
    packed = tmp_path / "many.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for i in range(count):
            archive.writestr(f"{i}", b"")
    with pytest.raises(UserError, match=f"over {MAX_FILES} entries"):
        load_bundle(packed)


def test_a_zip_of_a_zip_in_a_bundle_is_none_of_many(tmp_path: Path):
    """Golden files are ZIP files themselves, stored as they are."""
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for file in (bundles_dir() / "soccer_2v2").iterdir():
            archive.write(file, file.name)
    assert load_bundle(packed).id == load_bundle("soccer_2v2").id


def test_a_zip_with_offsets_sizes_and_names_that_are_none_is_one_sentence(tmp_path: Path):
    """Python's reader raises what it is not written to raise on those: one in eight was a traceback."""
    rng, packed = random.Random(3), tmp_path / "damaged.zip"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("policy.onnx", "bundle.json", "é.txt"):
            archive.writestr(f"mine/{name}", b"abc" * 30)
    for _ in range(400):
        data = bytearray(stream.getvalue())
        at = rng.randrange(len(data) - 4)
        size = rng.choice([0, 1, 2**16 - 1, 2**31, 2**32 - 1, len(data)])
        data[at : at + 4] = rng.choice([struct.pack("<I", size), rng.randbytes(4), b""])
        packed.write_bytes(data)
        with suppress(UserError):
            read_zip(packed, 2**20, 64)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_zip_that_is_packed_in_a_rare_way_is_refused(method: int, tmp_path: Path):
    packed = tmp_path / "rare.zip"
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("bundle.json", b"{}")
    with pytest.raises(UserError, match="packed in a way that few can read"):
        load_bundle(packed)


def test_a_folder_of_many_files_is_refused_unread(tmp_path: Path):
    folder = copy(bundles_dir() / "swap_4", tmp_path)
    for i in range(MAX_FILES):
        (folder / f"file_{i}").touch()
    with pytest.raises(UserError, match=f"holds over {MAX_FILES} files"):
        load_bundle(folder)


@pytest.mark.parametrize(
    "text",
    [
        '{"seal": "", "schema_version": 2, "rate_hz": 1e999}',
        '{"seal": "", "schema_version": 2, "x": ' + "[" * 900 + "]" * 900 + "}",
        "[" * 100_000,
        '{"seal": 1, "schema_version": [[]]}',
        '"text"',
        "\ud800",
        '{"x": "' + "y" * 2**20 + '"}',
        '{"seal": "", "schema_version": ' + "9" * 5000 + "}",
    ],
)
def test_a_contract_that_is_none_is_one_sentence(text: str, tmp_path: Path):
    folder = copy(bundles_dir() / "swap_4", tmp_path)
    (folder / "bundle.json").write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(UserError) as raised:
        load_bundle(folder)
    assert str(raised.value).count("\n") == 0
    assert not verify_bundle(folder).ok


def test_what_is_there_twice_is_refused(tmp_path: Path):
    """Of two keys, or two arrays, of one name Python takes the last: what else reads the file may take the first."""
    folder = copy(bundles_dir() / "swap_4", tmp_path)
    file, arrays = folder / "bundle.json", io.BytesIO((folder / "golden.npz").read_bytes())
    file.write_text(file.read_text().replace("{", '{"rate_hz": 10.0,', 1))
    with pytest.raises(UserError, match="is not valid JSON"):
        load_bundle(folder)
    with zipfile.ZipFile(arrays, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("obs.npy", archive.read("obs.npy"))
    with pytest.raises(UserError, match="obs is there twice"):
        golden.from_bytes(arrays.getvalue())


def test_figures_within_figures_are_one_sentence(tmp_path: Path):
    folder = copy(bundles_dir() / "swap_4", tmp_path)
    (folder / "eval.json").write_text("[" * 100_000)
    (problem,) = verify_bundle(folder, timed=False, filtered=False).problems
    assert "eval.json does not name this bundle's id" in problem
