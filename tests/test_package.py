"""`from robomarl import ...`: what a user needs first, and nothing heavy with it."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import robomarl
from robomarl import UserError, load_pilot
from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.bundle.golden import map_view
from robomarl.core.bundle.runtime import read_golden

SIMULATES = {"make_env", "load_scenario", "Simulation"}
NAMES = sorted(robomarl._MODULE_OF)


def printed(code: str) -> str:
    """What a process of its own prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_that_of_its_module(name: str):
    module = import_module(f"robomarl.{robomarl._MODULE_OF[name]}")
    assert getattr(robomarl, name) is getattr(module, name)
    assert name in dir(robomarl)


def test_type_checkers_know_the_same_names(root: Path):
    tree = ast.parse((root / "robomarl" / "__init__.py").read_text())
    typed = [node for branch in tree.body if isinstance(branch, ast.If) for node in branch.body]
    found = {a.asname: node.module for node in typed if isinstance(node, ast.ImportFrom) for a in node.names}
    assert found == {name: f"robomarl.{module}" for name, module in robomarl._MODULE_OF.items()}


def test_the_docstring_says_what_there_is():
    assert set(re.findall(r"`(\w+)`", robomarl.__doc__ or "")) - {"train"} == set(NAMES)


def test_the_package_alone_imports_nothing():
    code = "import sys; before = set(sys.modules); import robomarl; print(*sorted(set(sys.modules) - before))"
    assert not re.findall(r"\b(numpy|jax|onnxruntime|robomarl\.\w+)\b", printed(code))


def test_what_a_robot_needs_brings_no_simulator():
    onboard = sorted(set(NAMES) - SIMULATES)
    code = (
        f"import sys; from robomarl import {', '.join(onboard)}; print(*(m in sys.modules for m in ('jax', 'mujoco')))"
    )
    assert printed(code) == "False False"


def test_another_name_is_no_part_of_it():
    with pytest.raises(AttributeError, match=r"module 'robomarl' has no attribute 'load_polic'; it has UserError, "):
        robomarl.load_polic  # noqa: B018


def test_a_pilot_sends_what_its_bundle_sent_in_training():
    """Golden commands are of the whole team; one robot's are the same."""
    name = "lift_3"  # no rules before the filter, so that its commands are those of the policy behind the filter
    golden, pilot = read_golden(load_bundle(name)), load_pilot(name)
    views = [map_view(lambda leaf, t=t: np.array(leaf[0, t, 0]), golden.views) for t in range(20)]
    memory = pilot.init(views[0])
    for t, view in enumerate(views):
        memory, result = pilot.step(memory, view)
        np.testing.assert_allclose(result.nominal, golden.action[0, t, 0], atol=1e-5)
        np.testing.assert_allclose(result.command, golden.command[0, t, 0], atol=1e-4)


def test_a_pilot_is_for_a_team_whose_others_must_be_heard():
    assert load_pilot("swap_4", team_size=4).safety.params.min_mates == 3
    with pytest.raises(UserError, match=r"swap_4: is for teams of 4 robots, not 1; name another team_size"):
        load_pilot("swap_4", team_size=1)
