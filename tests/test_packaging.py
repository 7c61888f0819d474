"""What users install: the wheel, and both colcon builds, each run outside the checkout."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

DATA_FOLDERS = ("sim", "policies", "ros_nodes", "hardware_configs")
SHOW_PEER = (
    "import robomarl_peers; from robomarl.ros.operator.peers import peer_program;"
    'print(robomarl_peers.__file__, *peer_program("px4"))'
)
SHOW_SHARE = "import json, robomarl.core.paths as p; print(json.dumps([p.__file__, str(p.share_dir())]))"


def run(*command: str | Path, cwd: Path, **env: str) -> str:
    """Output of a command that has to succeed; the checkout is kept out of its import path."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | env
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def data_files(tracked_files: list[Path]) -> list[Path]:
    return [path for path in tracked_files if path.parts[0] in DATA_FOLDERS and not path.name.startswith(".")]


def assert_same_data(root: Path, share: Path, tracked_files: list[Path]) -> None:
    files = data_files(tracked_files)
    missing = [str(path) for path in files if not (share / path).is_file()]
    assert not missing, f"not in {share}: {missing}"
    assert all((share / path).read_bytes() == (root / path).read_bytes() for path in files)


@pytest.fixture(scope="module")
def source(root: Path, tracked_files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a commit would hold: builds leave their files there, and cannot lean on ignored ones."""
    copy = tmp_path_factory.mktemp("source") / "robomarl"
    for path in tracked_files:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, copy / path)
    return copy


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(out)]
    run(sys.executable, "-m", "pip", "wheel", *options, source, cwd=source)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel_venv(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; its dependencies are borrowed from this one, not downloaded."""
    prefix = tmp_path_factory.mktemp("wheel_venv")
    venv.create(prefix, with_pip=False)
    python = prefix / "bin" / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    run(sys.executable, "-m", "pip", "--python", python, *install, cwd=prefix)
    site = sysconfig.get_path("purelib", vars={"base": str(prefix)})
    Path(site, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return prefix


def test_the_wheel_holds_one_package_and_all_of_it(wheel: Path, tracked_files: list[Path]):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"robomarl"}
    code = {str(path) for path in tracked_files if path.parts[0] == "robomarl"}
    assert code - set(names) == set()


def test_the_wheel_runs_elsewhere(wheel_venv: Path, root: Path, tracked_files: list[Path], tmp_path: Path):
    module, share = json.loads(run(wheel_venv / "bin" / "python", "-c", SHOW_SHARE, cwd=tmp_path))
    assert Path(module).is_relative_to(wheel_venv)
    assert Path(share) == wheel_venv / "share" / "robomarl"
    assert_same_data(root, Path(share), tracked_files)


def test_the_wheels_command_runs_elsewhere(wheel_venv: Path, tmp_path: Path):
    run(wheel_venv / "bin" / "robomarl", "list", cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["", "[train]"], ids=["robot", "train"])
def test_readme_example_flies_in_a_bare_environment(extra: str, wheel: Path, root: Path, tmp_path: Path):
    """All dependencies come from the package index, and nothing of this environment is borrowed."""
    venv.create(tmp_path / "venv", with_pip=True)
    python, constraints = tmp_path / "venv/bin/python", root / "constraints-cpu.txt"
    words = [python, "-m", "pip", "install", "--quiet", "--constraint", constraints, f"{wheel}{extra}"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    if "No matching distribution" in done.stderr or "NewConnectionError" in done.stderr:
        pytest.skip(f"pip reaches no package index: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    (block,) = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.S)
    said = run(python, "-c", f"{block}\nimport json; print(json.dumps(result.command.tolist()))", cwd=tmp_path)
    command = json.loads(said.splitlines()[-1])
    assert len(command) == 4 and max(map(abs, command)) < 1e-6  # it hovers: no teammate has been received
    if extra:
        assert "success" in run(tmp_path / "venv/bin/robomarl", "eval", "swap_4", "--episodes", "2", cwd=tmp_path)


def test_benchmarks_are_not_in_the_wheel_and_the_command_says_so(wheel_venv: Path, tmp_path: Path):
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [wheel_venv / "bin" / "robomarl", "bench"]
    done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert "benchmarks/ is not installed with robomarl; run `robomarl bench` in a checkout of it." in line


@pytest.fixture(scope="module", params=["copy", "symlink"])
def colcon_install(request: pytest.FixtureRequest, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp(request.param)
    colcon = Path(sysconfig.get_path("scripts")) / "colcon"
    flags = ["--symlink-install"] if request.param == "symlink" else []
    run(colcon, "build", "--base-paths", source, source / "peers", *flags, cwd=workspace, COLCON_HOME=str(workspace))
    return workspace / "install"


def in_ros(install: Path, command: str, cwd: Path) -> str:
    return run("sh", "-c", f". {install}/setup.sh && {command}", cwd=cwd, COLCON_CURRENT_PREFIX="")


def test_colcon_installs_the_package(colcon_install: Path, root: Path, tracked_files: list[Path]):
    prefix = colcon_install / "robomarl"
    assert (prefix / "share/ament_index/resource_index/packages/robomarl").is_file()
    assert (prefix / "share/robomarl/package.xml").is_file()
    assert (prefix / "lib/robomarl/policy_node").is_file()
    peers = colcon_install / "robomarl_peers"
    assert (peers / "share/ament_index/resource_index/packages/robomarl_peers").is_file()
    assert (peers / "lib/robomarl_peers/px4_peer_node").is_file()
    assert_same_data(root, prefix / "share/robomarl", tracked_files)


def test_what_colcon_installed_runs(colcon_install: Path, source: Path, tmp_path: Path):
    module, share = json.loads(in_ros(colcon_install, f"{sys.executable} -c '{SHOW_SHARE}'", tmp_path))
    links = (colcon_install / "robomarl/share/robomarl/package.xml").is_symlink()
    home = source if links else colcon_install
    assert links is ("symlink" in colcon_install.parent.name)
    assert Path(module).is_relative_to(home) or Path(module).resolve().is_relative_to(home)
    assert Path(share).is_relative_to(home)
    in_ros(colcon_install, f"{colcon_install}/robomarl/lib/robomarl/robomarl list", tmp_path)
    file, *program = in_ros(colcon_install, f"{sys.executable} -c '{SHOW_PEER}'", tmp_path).split()
    assert Path(file).resolve().is_relative_to(home)
    assert program == ["robomarl_peers", "px4_peer_node", "robomarl_peers.flying", "px4_peer_node"]


KEYS = {"onnxruntime": "python3-onnxruntime-pip", "pyyaml": "python3-yaml", "tyro": ""}
"""Keys of rosdep that are not `python3-NAME`; tyro has none."""


def test_package_xml_names_what_a_robot_needs_in_the_keys_of_rosdep(root: Path):
    catkin = pytest.importorskip("catkin_pkg.package")
    package = catkin.parse_package(str(root / "package.xml"))
    package.validate()
    keys = {depend.name for depend in (*package.exec_depends, *package.build_depends)}
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    names = [re.split(r"[\[>;=<]", text)[0] for text in project["dependencies"]]
    assert {KEYS.get(name, f"python3-{name}") for name in names} - {""} <= keys
    ros = [re.split(r"[\[;]", text)[0] for text in project["optional-dependencies"]["ros"] if text.startswith("ros-")]
    assert {name.removeprefix("ros-").replace("-", "_") for name in ros} <= keys


SHOW_KERNEL = "from robomarl.core.filter.kernel import usable; import robomarl.core.filter.filter; print(usable())"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_the_wheel_has_the_kernel_where_there_is_a_compiler(wheel: Path, wheel_venv: Path, tmp_path: Path):
    assert [
        name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("robomarl/core/filter/kernel/_kernel.")
    ]
    assert run(wheel_venv / "bin" / "python", "-c", SHOW_KERNEL, cwd=tmp_path).strip() == "True"


@pytest.mark.slow
def test_without_a_compiler_all_but_the_kernel_is_built_and_runs(source: Path, tmp_path: Path):
    """A copy, so that no extension of another build lies there; installed elsewhere, the filter is numpy's."""
    copy, out, site = (tmp_path / name for name in ("copy", "out", "site"))
    left = shutil.ignore_patterns("*.so", "build", "*.egg-info")
    shutil.copytree(source, copy, ignore=left)
    options = ["--quiet", "--no-deps", "--no-build-isolation"]
    run(sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", out, copy, cwd=copy, CC="/nowhere/no-compiler")
    wheel = next(out.glob("*.whl"))
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith((".so", ".o"))]
    run(sys.executable, "-m", "pip", "install", *options, "--no-index", "--target", site, wheel, cwd=tmp_path)
    assert run(sys.executable, "-c", SHOW_KERNEL, cwd=tmp_path, PYTHONPATH=str(site)).strip() == "False"


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.robot"])
def test_dockerfiles_copy_files_that_the_context_has(name: str, root: Path, tracked_files: list[Path]):
    """Whether the steps succeed is what packaging/check.py tries, which takes minutes, and root."""
    parse = pytest.importorskip("dockerfile_parse")
    parser = parse.DockerfileParser(fileobj=io.BytesIO((root / "packaging" / name).read_bytes()), env_replace=False)
    sources = [word for row in parser.structure if row["instruction"] == "COPY" for word in row["value"].split()[:-1]]
    context = {line[1:] for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert all((root / path).exists() or path == "dist/robot" for path in context)
    files = {path for path in sources if path != "." and not path.startswith(("--from", "/"))}
    assert files and {path.rstrip("/") for path in files} <= context
    if "." in sources:
        assert {path.parts[0] for path in data_files(tracked_files)} | {"robomarl", "setup.py"} <= context
