"""The first page and the tutorials: every command is run in order, as a reader would run it, with shorter settings."""

import importlib
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from robomarl.front import cli
from robomarl.front.cli.misuse import parse

PAGES = {
    "start.md": (),
    "tutorials/scenario.md": ("--minutes 5", "--minutes 1", "--episodes 100"),
    "tutorials/vehicle.md": ("--agent-steps 20000 --seconds 4", "--episodes 100"),
    "tutorials/task.md": ("pip install -e '.[test]'", "--minutes 3", "--episodes 100"),
    "tutorials/torch.md": ("torch_policy.py swap_4 runs/torch", "--episodes 100"),
    "tutorials/trainers.md": ("runs/sb3 20000", "runs/jaxmarl 200", "--episodes 100"),
    "tutorials/recording.md": (),
    "tutorials/field.md": (),
    "tutorials/red_button.md": (),
}
"""Pages whose every block of commands is run here, with the words that `SHORTER` has to find on them."""
SHOWN = {"tutorials/torch.md": "torch_policy.py", "tutorials/trainers.md": "sb3_ppo.py"}
"""Examples whose code a page shows."""
SHORT_TRAINING = ("tutorials/task.md", "tutorials/torch.md", "tutorials/trainers.md")
"""Pages whose policies are trained so shortly here that a flight need not arrive."""
SHORTER = {
    "--minutes 5": "--minutes 0.2 --quiet",
    "--minutes 1": "--minutes 0.05 --quiet",
    "--minutes 3": "--minutes 0.2 --quiet",
    "--agent-steps 20000 --seconds 4": "--agent-steps 2000 --seconds 2 --workers 1",
    "torch_policy.py swap_4 runs/torch": "torch_policy.py swap_4 runs/torch 60 2",
    "runs/sb3 20000": "runs/sb3 1024 2",
    "runs/jaxmarl 200": "runs/jaxmarl 3 8 16",
    re.escape("pip install -e '.[test]'"): (
        "pip install --quiet --no-index --no-deps --no-build-isolation --target site ."
        ' && export PYTHONPATH="$PWD/site:$PYTHONPATH"'
    ),
    "--episodes [12]00": "--episodes 2",
    "train swap_4 --out runs/mine": "train swap_4 --out runs/mine --minutes 0.1 --quiet --evaluations 0",
    "robomarl prove swap_4": "robomarl prove swap_4 --agent-steps 2000 --seconds 2 --workers 1",
    "robomarl bench": "robomarl bench --help",
    "--out runs/adapted": "--out runs/adapted --minutes 0.1 --episodes 4",
    "robomarl view": "robomarl view --seconds 2",
    "--flights 10": "--flights 4",
    "make setup": "make --dry-run setup",
    "make demo": "make --dry-run demo",
}
"""What a test runs in place of what takes long."""
FOLDERS = ("sim", "policies", "hardware_configs", "ros_nodes", "examples")
LIMIT_S = 900
HELPERS = """
set -ex
nodes=
quit_nodes() {
    if [ -n "$nodes" ]; then kill -INT $nodes; wait $nodes || true; fi
    nodes=
}
trap quit_nodes EXIT
again() {
    local end=$((SECONDS + 90))
    until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 1; done
}
"""
"""`again` runs a command until it succeeds, for 90 s at most, because nodes take a while to be ready; `quit_nodes` is
the reader's Ctrl-C in the first shell."""


def blocks_of(page: Path, kind: str) -> list[str]:
    """Blocks of one kind, in the order of the page."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(), re.M | re.S)


def files_of(page: Path) -> dict[str, str]:
    """Files that the reader saves: blocks of the page with a title, which is the name."""
    return dict(re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', page.read_text(), re.M | re.S))


def commands_of(page: Path) -> list[str]:
    """Lines of the page's blocks of commands."""
    return [line for block in blocks_of(page, "sh") for line in block.splitlines() if line.strip()]


def stays(line: str) -> bool:
    """True for nodes that stay up while the reader goes on in another shell."""
    return line.startswith("robomarl up ") and "--flights" not in line and "--mission" not in line


def as_run(line: str, end: str = "") -> str:
    """A reader's line as a line of the test's script.

    Nodes stay up in the background, and an order or a check is given again until they are ready for it.

    Args:
        line: the reader's line.
        end: is put behind a line that flies.
    """
    line = re.sub(r" {2,}#.*$", "", line)
    for long, short in SHORTER.items():
        line = re.sub(rf"{long}(?!\d)", short, line)
    if stays(line):
        return f"quit_nodes\n{line} > nodes.log 2>&1 &\nnodes=$!"
    if line.startswith("robomarl up "):
        return f"quit_nodes; {line}{end}"
    if line.startswith(("robomarl fleet check", "ros2 service call")) and "|| true" not in line:
        return f"again {line}"
    if line.startswith("robomarl adapt"):  # 1: no better bundle was found, as the page says
        return f"{line} || test $? = 1"
    return line


def script_of(page: Path) -> str:
    """The page as a script of bash."""
    late = " || test $? = 1" if page.as_posix().endswith(SHORT_TRAINING) else ""
    return "\n".join([HELPERS, *(as_run(line, late) for line in commands_of(page))])


def run_page(root: Path, name: str, folder: Path) -> str:
    """Run a page's commands in a folder; returns what they print.

    Raises:
        AssertionError: one of them failed.
    """
    programs = folder / "programs"
    programs.mkdir()
    (programs / "ros2").write_text(f'#!/bin/sh\nexec {sys.executable} {root}/tests/ros2_stand_in.py "$@"\n')
    (programs / "ros2").chmod(0o755)
    for data in FOLDERS:
        (folder / data).symlink_to(root / data)
    paths = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
    clean = {**os.environ, "PATH": os.pathsep.join(paths), "PYTHONPATH": str(root), "ROS_LOG_DIR": str(folder / "log")}
    for file, text in files_of(root / "docs" / name).items():
        (folder / file).write_text(text)
    command = ["bash", "-c", script_of(root / "docs" / name)]
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, timeout=LIMIT_S)
    nodes = folder / "nodes.log"
    tail = nodes.read_text()[-2000:] if nodes.is_file() else ""
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}\n{tail}"
    assert "did not foresee" not in done.stderr, done.stderr[-3000:]
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_the_page_can_be_parsed(root: Path, name: str):
    lines = [line for line in commands_of(root / "docs" / name) if line.startswith("robomarl ")]
    assert lines
    for line in lines:
        _, command, *words = shlex.split(line, comments=True)
        module = importlib.import_module(f"robomarl.front.cli.{cli.MODULES.get(command, command.replace('-', '_'))}")
        parse(module, command, words)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_only_blocks_that_are_run_printed_or_of_an_example(root: Path, name: str):
    page = root / "docs" / name
    kinds = set(re.findall(r"^```(.*)", page.read_text(), re.M))
    assert kinds <= {"sh", "text", "", "python"} | {f'yaml title="{file}"' for file in files_of(page)}
    for block in blocks_of(page, "python"):
        example = textwrap.dedent((root / "examples" / SHOWN[name]).read_text())
        assert block in example or textwrap.indent(block, "    ") in example, block
    for long in PAGES[name]:
        assert long in (root / "docs" / name).read_text(), f"{long} is on the page no more"


@pytest.fixture
def cloned(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone has our environment in place of one of its own, which takes minutes."""
    for module in ("viser", "mujoco"):
        pytest.importorskip(module)
    monkeypatch.setitem(SHORTER, "REPOSITORY", f"--quiet {root}")
    monkeypatch.setitem(SHORTER, "cd robomarl", f"cd robomarl; ln -s {root / '.venv'} .venv")


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.usefixtures("cloned")
def test_the_commands_of_the_readme_run_in_order(root: Path, tmp_path: Path):
    for module in ("rclpy", "jax"):
        pytest.importorskip(module)
    printed = run_page(root, "../README.md", tmp_path)
    assert "bundles/mine: sound" in printed


@pytest.mark.usefixtures("cloned")
def test_start_runs_from_a_clone_and_prints_what_the_page_shows(root: Path, tmp_path: Path):
    page = root / "docs" / "start.md"
    printed = run_page(root, "start.md", tmp_path)
    for line in "".join(blocks_of(page, "text")).splitlines():
        pattern = ".*".join(re.escape(part) for part in line.split("..."))
        assert re.search(pattern, printed), line


@pytest.mark.slow
def test_a_scenario_of_ones_own_is_trained_and_becomes_a_bundle(root: Path, tmp_path: Path):
    for module in ("jax", "viser"):
        pytest.importorskip(module)
    printed = run_page(root, "tutorials/scenario.md", tmp_path)
    assert "bundles/ring_4: sound" in printed
    assert "ring_radius_m = 1.3" in (tmp_path / "ring_4.toml").read_text()


@pytest.mark.slow
def test_a_vehicle_of_ones_own_flies(root: Path, tmp_path: Path):
    pytest.importorskip("mujoco")
    printed = run_page(root, "tutorials/vehicle.md", tmp_path)
    assert "mass_kg: 0.037" in (tmp_path / "camera_fly.yaml").read_text()
    assert "success" in printed


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.parametrize(
    ("name", "bundle", "needed"),
    [
        ("tutorials/task.md", "bundles/first", ("viser",)),
        ("tutorials/torch.md", "runs/torch/bundle", ("torch",)),
        ("tutorials/trainers.md", "runs/sb3/bundle", ("stable_baselines3", "pettingzoo", "jaxmarl", "safetensors")),
    ],
)
def test_a_policy_of_the_reader_is_sealed_and_flown(
    root: Path, tmp_path: Path, name: str, bundle: str, needed: tuple[str, ...]
):
    for module in ("rclpy", "mujoco", "jax", *needed):
        pytest.importorskip(module)
    printed = run_page(root, name, tmp_path)
    assert f"{bundle}: sound" in printed or name == "tutorials/task.md"
    assert re.search("arrived after|not all robots arrived in time", printed)


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.parametrize("name", ["tutorials/recording.md", "tutorials/field.md", "tutorials/red_button.md"])
def test_flights_of_the_page_are_flown(root: Path, tmp_path: Path, name: str):
    for module in ("rclpy", "mujoco", "jax", "viser"):
        pytest.importorskip(module)
    run_page(root, name, tmp_path)
