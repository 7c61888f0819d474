"""The core stands alone: copied into an empty folder it flies a bundle, equal in every bit."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ALLOWED = ("numpy", "onnxruntime", "cffi", "_cffi_backend", "yaml", "_yaml")
"""Packages that a robot's decisions need, by the names that they are imported by."""
FLY = """
import hashlib, json, sys
from importlib.abc import MetaPathFinder

root, allowed = sys.argv[1], json.loads(sys.argv[2])


class OnlyThese(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names or top in allowed or top == "robomarl":
            return None
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.path.insert(0, root)
if allowed:
    sys.meta_path.insert(0, OnlyThese())
import numpy as np
import robomarl
from robomarl import load_pilot
from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.bundle.golden import map_view
from robomarl.core.bundle.runtime import read_golden
from robomarl.core.filter import kernel

golden = read_golden(load_bundle("swap_4"))
sequences, decisions, robots = golden.action.shape[:3]
pilot, found = load_pilot("swap_4", team_size=robots), hashlib.sha256()
for robot in range(robots):
    memory = None
    for t in range(decisions):
        view = map_view(lambda leaf: np.array(leaf[0, t, robot]), golden.views)
        memory = pilot.init(view) if memory is None else memory
        memory, result = pilot.step(memory, view)
        found.update(result.nominal.tobytes() + result.command.tobytes() + bytes([result.reason]))
print(json.dumps([robomarl.__file__, found.hexdigest(), kernel.usable(), robots * decisions]))
"""


def fly(folder: Path, allowed: tuple[str, ...]) -> list:
    """Where the package is, hash of what a team's policies and filters decide, whether in C, and how many decisions."""
    words = [sys.executable, "-I", "-c", FLY, str(folder), json.dumps(allowed)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_core_flies_a_bundle_alone(tmp_path: Path, root: Path):
    shutil.copytree(root / "robomarl" / "core", tmp_path / "robomarl" / "core")
    shutil.copy(root / "robomarl" / "__init__.py", tmp_path / "robomarl")
    share = tmp_path / "share" / "robomarl"
    shutil.copytree(root / "hardware_configs", share / "hardware_configs")
    shutil.copytree(root / "policies" / "swap_4", share / "policies" / "swap_4")
    shutil.copy(root / "policies" / "bundle.schema.json", share / "policies")
    alone, whole = fly(tmp_path, ALLOWED), fly(root, ())
    assert alone[0] == str(tmp_path / "robomarl" / "__init__.py") and whole[0] == str(root / "robomarl" / "__init__.py")
    assert alone[1:] == whole[1:] and alone[3] >= 200


def test_the_core_is_small(root: Path):
    """What decides on a robot can be read by those who answer for it."""
    lines = sum(len(path.read_text().splitlines()) for path in (root / "robomarl" / "core").rglob("*.py"))
    assert lines <= 13_000, f"{lines} lines"
