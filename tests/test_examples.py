"""The examples of docs/python.md, each run as a user runs it but for a shorter time; and what they make is flown."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.front import cli


def run(root: Path, name: str, *words: str) -> str:
    """What an example prints."""
    command = [sys.executable, str(root / "examples" / name), *words]
    clean = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_bundle_flies_and_its_trajectories_are_arrays(root: Path, tmp_path: Path):
    run(root, "fly_bundle.py", "swap_4", str(tmp_path / "found.npz"), "1")
    with np.load(tmp_path / "found.npz") as data:
        found = {name: data[name] for name in data.files}
    assert found["position_m"].shape == (400, 1, 4, 3) and found["command"].shape == (400, 1, 4, 4)
    assert all(np.isfinite(array).all() for array in found.values())
    start, end = found["position_m"][0, 0], found["position_m"][-1, 0]
    assert np.linalg.norm(end - start, axis=-1).min() > 1.0  # everybody went to the far side
    gaps = np.linalg.norm(found["position_m"][:, 0, :, None] - found["position_m"][:, 0, None], axis=-1)
    assert gaps[:, *np.triu_indices(4, 1)].min() > 0.14  # and none touched: two radii


@pytest.mark.slow
def test_a_torch_module_learns_what_the_bundle_does_and_becomes_a_bundle(root: Path, tmp_path: Path):
    pytest.importorskip("torch")
    printed = run(root, "torch_policy.py", "swap_4", str(tmp_path), "60", "2")
    errors = [float(word) for word in re.findall(r"error ([\d.]+)", printed)]
    assert len(errors) == 2 and errors[-1] < 0.05
    assert load_bundle(tmp_path / "bundle").contract.team_size == (4, 4)


def flown(folder: Path) -> None:
    """The bundle is whole, and flies behind the filter without a contact."""
    assert load_bundle(folder).contract.team_size == (2, 2)
    figures = folder.parent / "figures.json"
    assert cli.main(["verify", str(folder)]) == 0
    words = ["--episodes", "2", "--require", "collisions==0", "--json", str(figures)]
    assert cli.main(["eval", str(folder), *words]) == 0


def test_stable_baselines3_trains_through_pettingzoo_and_is_imported(root: Path, tmp_path: Path):
    for module in ("stable_baselines3", "pettingzoo"):
        pytest.importorskip(module)
    run(root, "sb3_ppo.py", str(tmp_path), "1024", "2")
    flown(tmp_path / "bundle")


@pytest.mark.slow
def test_jaxmarl_trains_and_is_imported(root: Path, tmp_path: Path):
    for module in ("jaxmarl", "safetensors"):
        pytest.importorskip(module)
    assert "reward of a robot's decision" in run(root, "jaxmarl_ppo.py", str(tmp_path), "3", "8", "16")
    flown(tmp_path / "bundle")


def test_the_page_has_every_example_and_every_command_of_it_is_there(root: Path):
    page = (root / "docs" / "python.md").read_text()
    names = re.findall(r"examples/(\w+\.py)", page)
    assert {"fly_bundle.py", "torch_policy.py", "sb3_ppo.py", "jaxmarl_ppo.py"} <= set(names)
    assert all((root / "examples" / name).is_file() for name in names)
    assert {line.split()[1] for line in re.findall(r"^robomarl .*", page, re.M)} <= set(cli.COMMANDS)
    (block,) = re.findall(r"```python\n(.*?)```", page, re.S)
    exec(compile(block, "python.md", "exec"), {})
