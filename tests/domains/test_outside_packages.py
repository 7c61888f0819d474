"""Packages from outside: what registers in training registers on robots, and a broken one grounds nobody else."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from robomarl.core.bundle.runtime import load_policy
from robomarl.core.config import UserError
from robomarl.core.domain import registry
from robomarl.core.features import FEATURES
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.domains.flight.lab.tasks.registry import TASKS
from robomarl.fleet.checks.isolated_check import warden
from robomarl.front.cli import main
from robomarl.lab.on_robots import SIMULATORS, check_on_robots

FEATURE = """
from robomarl.core.features import feature

@feature(("x", "y", "z"), "m", "world", ("own.pos_m", "goal.pos_m"))
def slot_error(view, rule):
    return 2 * (view.goal.pos_m - view.own.pos_m)
"""
TASK = """
from dataclasses import replace
from robomarl.domains.flight.lab.tasks import swap
from robomarl.core.spec import ObservationField, ObservationSpec

def observation(scenario):
    return ObservationSpec((ObservationField("slot_error"), ObservationField("velocity")))

TASK = replace(swap.TASK, observation=observation)
"""
PROJECT = """
[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"
[project]
name = "slot-team"
version = "1.0"
[project.entry-points."robomarl.tasks"]
slots = "slot_team:TASK"
[tool.setuptools]
py-modules = ["slot_team"]
"""
RECIPE = 'version = 2\nscenario = "slots_2.toml"\ntotal_steps = 2048\nnum_envs = 32\nunroll = 8\nminibatches = 2\n'
FLEET = """
version: 1
name: slots_2
vehicle: crazyflie_21
scenario: slots_2.toml
robots:
  - {name: red, index: 0, folder: robots/red}
  - {name: green, index: 1, folder: robots/green}
"""
Install = Callable[..., Path]


def forget() -> None:
    warden().close()  # its process would go on with the old search path
    registry.domains.cache_clear()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages, which this process and its children find; what it registers goes with it."""
    folder = tmp_path / "site"
    folder.mkdir()
    modules = set(sys.modules)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.chdir(tmp_path)
    forget()
    yield folder
    forget()
    FEATURES.pop("slot_error", None)
    TASKS.pop("slots", None)
    for name in set(sys.modules) - modules:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def install(site: Path) -> Install:
    """(name, entry points, files): a package as pip leaves it."""

    def installed(name: str, points: str, **files: str) -> Path:
        for module, text in files.items():
            (site / f"{module}.py").write_text(text)
        about = site / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(points)
        forget()
        return site

    return installed


def on_a_robot(code: str) -> str:
    """What a process without any simulator prints of it, or its error."""
    blocked = f"import sys; sys.modules.update(dict.fromkeys({SIMULATORS}))\n"
    done = subprocess.run([sys.executable, "-c", blocked + code], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else done.stderr


@pytest.fixture
def walked(site: Path, install: Install, tmp_path: Path) -> dict[str, dict]:
    """Figures of each command for a task with a feature of its own, from a package that pip has installed."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "pyproject.toml").write_text(PROJECT)
    (source / "slot_team.py").write_text(FEATURE + TASK)
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(site)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
    install("elsewhere", "[robomarl.tasks]\nother = elsewhere:TASK\n", elsewhere="raise SystemExit('imported')")
    for name, text in (("slots_2.toml", 'extends = "swap_2"\ntask = "slots"\n'), ("recipe.toml", RECIPE)):
        Path(name).write_text(text)
    Path("fleet.yaml").write_text(FLEET)
    found = {}
    for line in (
        "train --recipe recipe.toml --out run --quiet --evaluations 0",
        "export run bundle",
        "verify bundle",
        "eval bundle --episodes 2",
        "flash bundle fleet.yaml",
    ):
        name, *words = line.split()
        assert main([name, *words, "--json", f"{name}.json"]) == 0, line
        found[name] = json.loads(Path(f"{name}.json").read_text())
    return found


def test_a_task_with_a_feature_of_its_own_goes_all_the_way(walked: dict[str, dict], site: Path):
    bundle = walked["export"]["id"]
    assert (walked["verify"]["ok"], walked["verify"]["problems"]) == (True, [])
    assert walked["eval"]["agent_steps"] > 0
    assert {robot["current"] for robot in walked["flash"]["robots"]} == {bundle}
    look = "from robomarl.core.bundle.runtime import load_policy; import sys; load_policy('bundle')\n"
    assert on_a_robot(look + "print('slot_team' in sys.modules, 'elsewhere' in sys.modules)") == "True False"
    shutil.rmtree(next(site.glob("slot_team-*")))
    (site / "slot_team.py").unlink()
    told = on_a_robot(look)
    assert "No package that is installed here has task = 'slots'" in told and "'slot_error'" in told


def spec(*names: str) -> ObservationSpec:
    return ObservationSpec(tuple(map(ObservationField, names)))


def test_a_feature_has_an_entry_point_of_its_own(install: Install):
    install("slots", "[robomarl.features]\nslot_error = slot_features\n", slot_features=FEATURE)
    assert spec("slot_error", "velocity").element_names()[0] == "slot_error.x"
    check_on_robots(spec("slot_error"), "slots")


def test_a_feature_that_no_robot_finds_is_not_trained_with(install: Install):
    install("slots", "[robomarl.tasks]\nslots = slots:TASK\n", slots=f"import jax\n{FEATURE}{TASK}")
    exec("import slots")
    with pytest.raises(UserError, match=r"'slot_error' is registered by slots, which a robot does not import"):
        check_on_robots(spec("slot_error"), "slots")


def test_a_feature_that_nobody_installed_is_not_trained_with(site: Path):
    (site / "loose.py").write_text(FEATURE)
    exec("import loose")
    with pytest.raises(UserError, match='add slot_error = "loose" to '):
        check_on_robots(spec("slot_error"), "swap")


BROKEN = {
    "ImportError": "import nothing_of_that_name",
    "SyntaxError": "def (",
    "its own": "raise RuntimeError('two\\nlines')",
    "no domain": "DOMAIN = 3",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_domain_grounds_nobody_else(kind: str, install: Install):
    install("wreck", "[robomarl.domains]\nwreck = wreck:DOMAIN\n", wreck=BROKEN[kind])
    assert load_policy("swap_4").id
    assert set(registry.domains()) >= {"flight", "ground", "soccer", "payload"}
    (sentence,) = registry.broken().values()
    assert "Domain 'wreck'" in sentence and "\n" not in sentence
    for asks in (lambda: registry.domain_named("wreck"), lambda: registry.domain_of_task("dig")):
        with pytest.raises(UserError, match="Domain 'wreck'"):
            asks()
    with pytest.raises(UserError, match="task = 'dig' may be of what is broken here. Domain 'wreck'"):
        registry.onboard_of({"task": "dig"})


HALF = """
from robomarl.core.domain.base import Domain
DOMAIN = Domain("half", ("halve",), "half:nothing", "half:nothing")
"""


def test_a_domain_with_a_broken_half_grounds_nobody_else(install: Install):
    install("half", "[robomarl.domains]\nhalf = half:DOMAIN\n", half=HALF)
    assert load_policy("swap_4").id
    assert registry.commands()
    with pytest.raises(UserError, match="Domain 'half': half:nothing can't be imported"):
        registry.onboard_of({"task": "halve"})
    with pytest.raises(UserError, match="Observation field 'sideways' is not known.*Domain 'half'"):
        spec("sideways")
    assert main(["eval", "swap_4", "--episodes", "1", "--filter", "off"]) == 0


def test_a_task_that_two_domains_claim_grounds_that_task_alone(install: Install):
    install("thief", "[robomarl.domains]\nthief = thief:DOMAIN\n", thief=HALF.replace('"halve"', '"navigation"'))
    assert load_policy("swap_4").id
    with pytest.raises(UserError, match="'navigation' belongs to two domains, ground and thief; uninstall one"):
        registry.domain_of_task("navigation")


def test_a_broken_task_is_one_sentence(install: Install, capsys: pytest.CaptureFixture[str]):
    install("slots", "[robomarl.tasks]\nslots = slots:TASK\n", slots="import nothing_of_that_name")
    Path("slots_2.toml").write_text('extends = "swap_2"\ntask = "slots"\n')
    assert main(["check", "slots_2.toml"]) == 1
    said = capsys.readouterr().err
    assert "slots:TASK can't be imported" in said and "Traceback" not in said
