"""robomarl's wheels for robots: they hold the C kernel, for another processor too, and it does what numpy does."""

import json
import os
import platform
import re
import struct
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from email.parser import Parser
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.fleet.install import wheels
from robomarl.fleet.install.sbom import SBOM
from tests.fleet import aarch64

ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
DECISIONS = Path(__file__).with_name("decisions.py")

needs_zig = pytest.mark.skipif(wheels.zig() is None, reason="ziglang is not installed here (make setup)")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """robomarl's wheel for a processor, built once."""
    return cache(lambda machine: wheels.build(tmp_path_factory.mktemp(machine), machine))


def decide(words: list[str], site: Path, folder: Path) -> dict:
    """What an interpreter that has robomarl only in `site` decides; no compiler is on its path."""
    env = {"PYTHONPATH": str(site), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*words, "-P", str(DECISIONS)], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-800:]
    return json.loads(done.stdout)


def assert_filters_in_c(found: dict, machine: str, site: Path) -> None:
    assert found["machine"] == machine
    assert found["backend"] == "c" and Path(found["file"]).is_relative_to(site)
    assert found["other_reasons"] == 0 and found["apart"] <= 1e-9
    assert found["reasons"] == [0, 1, 5] and found["active"] > 0.5, "the decisions are no test of anything"


@needs_zig
@pytest.mark.parametrize("machine", ["x86_64", pytest.param("aarch64", marks=pytest.mark.slow)])
def test_a_wheel_has_the_kernel_for_its_processor_and_for_old_linux(machine: str, built: Callable[[str], Path]):
    wheel = built(machine)
    assert re.fullmatch(rf"robomarl-.*-cp311-abi3-manylinux2014_{machine}\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        binary = archive.read("robomarl/core/filter/kernel/_kernel.abi3.so")
        assert not [name for name in archive.namelist() if name.endswith(".o") or "_kernel.c" in name]
    magic, bits, order = struct.unpack_from("<4sBB", binary)
    assert (magic, bits, order) == (b"\x7fELF", 2, 1), "64 bits, little-endian"
    assert struct.unpack_from("<H", binary, 18) == (ELF_MACHINES[machine],)
    assert b"PyInit__kernel\0" in binary and b"rm_decide\0" in binary
    needed = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_([0-9.]+)", binary)}
    assert needed and max(needed) <= (2, 17)
    assert str(Path.home()).encode() not in binary and str(wheel.parent).encode() not in binary


@needs_zig
@pytest.mark.skipif(platform.machine() not in wheels.PROCESSORS, reason="no wheel is for this machine")
def test_a_fresh_environment_without_a_compiler_filters_in_c(built: Callable[[str], Path], tmp_path: Path):
    site = install(built(platform.machine()), tmp_path / "venv")
    assert_filters_in_c(decide([str(tmp_path / "venv/bin/python")], site, tmp_path), platform.machine(), site)


def install(wheel: Path, prefix: Path) -> Path:
    """A fresh environment with a wheel, where packages go; its dependencies are borrowed from this one."""
    venv.create(prefix, with_pip=False)
    command = [sys.executable, "-m", "pip", "--python", prefix / "bin/python", "install", "--quiet"]
    subprocess.run([*command, "--no-deps", "--no-index", wheel], env={**os.environ, "PYTHONPATH": ""}, check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(prefix)}))
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return site


@needs_zig
@pytest.mark.slow
def test_the_aarch64_wheel_filters_in_c_on_aarch64(built: Callable[[str], Path], tmp_path: Path):
    """All that is locked, as a robot gets it; the kernel and numpy run emulated, and decide what they decide here."""
    words = aarch64.interpreter(tmp_path / "aarch64")
    site = tmp_path / "site"
    options = ["--quiet", "--target", site, "--only-binary=:all:", "--python-version", "3.11", "--no-deps"]
    options += [word for tag in ("manylinux_2_28", "manylinux2014") for word in ("--platform", f"{tag}_aarch64")]
    pip = [sys.executable, "-m", "pip", "install", *options]
    done = subprocess.run([*pip, "--require-hashes", "--requirement", wheels.LOCK], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"pip can't get the robot's packages: {done.stderr[-300:]}")
    subprocess.run([*pip, "--no-index", built("aarch64")], check=True)
    there, here = decide(words, site, tmp_path), decide([sys.executable], Path(__file__).parents[2], tmp_path)
    assert_filters_in_c(there, "aarch64", site)
    np.testing.assert_allclose(there["command"], here["command"], atol=1e-9, rtol=0)


def test_without_a_kernel_the_wheel_is_for_any_processor_and_wants_no_simulation(built: Callable[[str], Path]):
    wheel = built("riscv64")
    assert wheel.name.endswith("-py3-none-any.whl") and not wheels.has_kernel(wheel)
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        wanted = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist") or []
        # The bill of materials of `test_sbom`.
        assert archive.read("robomarl/fleet/install/onboard.cdx.json") == SBOM.read_bytes()
    core = " ".join(line for line in wanted if "extra ==" not in line)
    assert "onnxruntime" in core and "cryptography" in core
    assert not any(name in core for name in ("jax", "brax", "mujoco", "torch"))


@needs_zig
@pytest.mark.slow
def test_a_kernel_that_cannot_be_compiled_leaves_a_wheel_for_any_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """No wheel says that it is for a processor and has nothing for it."""
    monkeypatch.setenv("CFLAGS", "--no-compiler-knows-this")
    assert wheels.build(tmp_path / "one", "aarch64").name.endswith("-py3-none-any.whl")
    with pytest.raises(UserError, match="can't be built for x86_64"):
        wheels.release(tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


def folder_of(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    return folder


@needs_zig
@pytest.mark.skipif(platform.machine() not in wheels.PROCESSORS, reason="no wheel is for this machine")
def test_a_robot_gets_the_floors_that_it_runs_and_no_more(tmp_path: Path):
    (wheel,) = wheels.Shelf(None, tmp_path / "shelf").files(platform.machine())
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        modules = [name for name in archive.namelist() if name.endswith(".py") and name.startswith("robomarl/")]
        lines = sum(archive.read(name).count(b"\n") for name in modules)
        kinds = {part for name in modules for part in name.split("/")[1:-1]}
        (points,) = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
        targets = re.findall(r"= (robomarl[\w.]+):", archive.read(points).decode())
    assert not kinds & {"lab", "field", "front"} and {"core", "fleet", "ros", "vehicles"} <= kinds
    assert lines < 48_000, lines
    site = install(wheel, tmp_path / "venv")
    assert_filters_in_c(decide([str(tmp_path / "venv/bin/python")], site, tmp_path), platform.machine(), site)
    found = {target: (site / (target.replace(".", "/"))) for target in targets}
    assert targets and all(at.with_suffix(".py").is_file() or at.is_dir() for at in found.values()), found


def test_a_robot_gets_the_wheels_that_fit_it(tmp_path: Path):
    arm, plain = "robomarl-0.1.0-cp311-abi3-manylinux2014_aarch64.whl", "robomarl-0.1.0-py3-none-any.whl"
    x86 = arm.replace("aarch64", "x86_64")
    others = ("tyro-1-py3-none-any.whl", "numpy-2-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl")
    simulated = "robomarl_peers-0.2.0-py3-none-any.whl"
    shelf = wheels.Shelf(folder_of(tmp_path / "all", arm, plain, x86, simulated, *others), tmp_path)
    assert [file.name for file in shelf.files("aarch64")] == [*sorted(others), arm]
    assert [file.name for file in shelf.files("x86_64")] == [others[0], x86]
    assert [file.name for file in shelf.files("armv7l")] == [others[0], plain]
    two = folder_of(tmp_path / "two", arm, arm.replace("0.1.0", "0.2.0"))
    with pytest.raises(UserError, match="several wheels of robomarl .* leave one"):
        wheels.Shelf(two, tmp_path).files("aarch64")
