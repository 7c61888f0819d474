"""Blocks of the how-to pages and concepts: commands can be parsed, files can be read, and what is quick is run."""

import importlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from robomarl.core.hardware.fleet import load_fleet
from robomarl.front import cli
from robomarl.front.cli.misuse import parse

BLOCK = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
RUN_ELSEWHERE = ("start.md", "tour.md", "cli.md", "new_domain.md", "new_vehicle.md", "cover_team.md")
"""Pages whose blocks other tests run; so are those of docs/tutorials. The log has what was typed once."""


def pages_of(root: Path) -> list[Path]:
    """README and the pages with commands, without those that are run elsewhere."""
    found = [page for page in sorted((root / "docs").glob("*.md")) if page.name not in RUN_ELSEWHERE]
    return [root / "README.md", root / "ros_nodes" / "README.md", root / "CONTRIBUTING.md", *found]


def blocks_of(page: Path, kind: str) -> list[str]:
    """Blocks of one kind, in the order of the page."""
    return [found["text"] for found in BLOCK.finditer(page.read_text()) if found["kind"] == kind]


def commands_of(page: Path) -> list[str]:
    """Lines of blocks, fenced or indented, that call robomarl, without what is optional and without `--json`."""
    text = page.read_text().replace("\\\n", "")
    fenced = "\n".join(found["text"] for found in BLOCK.finditer(text))
    lines = [*fenced.splitlines(), *re.findall(r"^ {4}(robomarl .*)$", BLOCK.sub("", text), re.M)]
    joined = [part.strip() for line in lines for part in line.split(" && ")]
    return [re.sub(r"\[--.*?\]|--json \S+", "", line) for line in joined if line.startswith("robomarl ")]


def test_every_command_of_a_page_can_be_parsed(root: Path):
    pages = {page: commands_of(page) for page in pages_of(root)}
    assert sum(map(len, pages.values())) > 40
    wrong = []
    for page, lines in pages.items():
        for line in lines:
            _, command, *words = shlex.split(line, comments=True)
            module = importlib.import_module(
                f"robomarl.front.cli.{cli.MODULES.get(command, command.replace('-', '_'))}"
            )
            try:
                parse(module, command, words)
            except (Exception, SystemExit) as error:
                wrong.append(f"{page.name}: {line}: {error}")
    assert not wrong, "\n".join(wrong)


def test_only_kinds_of_blocks_that_are_looked_at(root: Path):
    kinds = {found["kind"] for page in pages_of(root) for found in BLOCK.finditer(page.read_text())}
    assert kinds <= {"sh", "bash", "python", "toml", "yaml", "text", ""}


def test_the_fleet_of_the_page_of_flash_can_be_read(root: Path, tmp_path: Path):
    (text,) = blocks_of(root / "docs" / "flash.md", "yaml")
    (tmp_path / "lab.yaml").write_text(text)
    fleet = load_fleet(str(tmp_path / "lab.yaml"))
    assert [robot.name for robot in fleet.robots] == ["robot_0", "robot_1"]


def test_the_scenario_of_the_page_of_loads_can_be_read(root: Path, tmp_path: Path):
    pytest.importorskip("jax")
    from robomarl.lab.sim.scenario import load_scenario

    (text,) = blocks_of(root / "docs" / "load.md", "toml")
    (tmp_path / "mine.toml").write_text(text)
    assert load_scenario(str(tmp_path / "mine.toml")).count == 3


def test_the_curriculum_of_the_page_of_training_is_a_recipe(root: Path, tmp_path: Path):
    pytest.importorskip("jax")
    from robomarl.lab.train.config import load_recipe

    texts = blocks_of(root / "docs" / "training.md", "toml")
    (text,) = [text for text in texts if "[[curriculum]]" in text]
    (tmp_path / "mine.toml").write_text(f'version = 2\nextends = "swap_4"\n{text}')
    recipe, _ = load_recipe(str(tmp_path / "mine.toml"))
    assert [lesson.parameter for lesson in recipe.curriculum] == ["randomize.wind_m_s", "start.jitter_m"]
    (points,) = [tomllib.loads(text) for text in texts if "entry-points" in text]
    assert set(points["project"]["entry-points"]) == {"robomarl.tasks", "robomarl.features"}


def test_the_contracts_of_the_page_of_imports_can_be_read(root: Path, tmp_path: Path):
    pytest.importorskip("jax")
    from robomarl.lab.foreign.contract_file import read_contract_file

    whole, wiring = blocks_of(root / "docs" / "import.md", "toml")
    for name, text in (("whole", whole), ("wiring", f'scenario = "swap_4"\n{wiring}')):
        (tmp_path / f"{name}.toml").write_text(text)
        assert read_contract_file(tmp_path / f"{name}.toml").scenario == "swap_4"


def test_the_code_of_the_page_of_imports_runs(root: Path):
    for module in ("jax", "pettingzoo", "jaxmarl"):
        pytest.importorskip(module)
    (code,) = blocks_of(root / "docs" / "import.md", "python")
    exec(compile(code, "import.md", "exec"), {})


def test_the_layout_of_the_page_of_recordings_can_be_read(root: Path, tmp_path: Path):
    pytest.importorskip("mcap")
    from robomarl.field.foreign_bags.layout import load_layout

    (text,) = blocks_of(root / "docs" / "recordings.md", "toml")
    (tmp_path / "layout.toml").write_text(text)
    assert load_layout(tmp_path / "layout.toml").stack == "px4"


def run(line: str, folder: Path) -> str:
    """Run a command in a folder; returns what it prints."""
    command = [sys.executable, "-m", *shlex.split(line, comments=True)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{line}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.slow
def test_the_keys_of_the_page_of_flash_are_made_trusted_and_taken_away(root: Path, tmp_path: Path, monkeypatch):
    """In its order, with robots that are folders, and with keys for bob and carol."""
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(root / "policies" / "swap_4", tmp_path / "bundles" / "mine")
    shutil.copy(root / "hardware_configs" / "fleets" / "local_4.yaml", tmp_path / "lab.yaml")
    for name in ("bob", "carol"):
        run(f"robomarl key new {name}", tmp_path)
    lines = [line for line in commands_of(root / "docs" / "flash.md") if line.startswith("robomarl key")]
    assert len(lines) == 10
    for line in lines:
        run(re.sub(r"\blab\b(?! *#.*\blab\b)", "lab.yaml", line.partition("  #")[0]), tmp_path)


@pytest.mark.slow
def test_the_data_of_the_page_of_recordings_is_flown_and_learned_from(root: Path, tmp_path: Path, monkeypatch):
    for module in ("jax", "pyarrow"):
        pytest.importorskip(module)
    monkeypatch.setenv("PYTHONPATH", str(root))
    *_, fly, train = commands_of(root / "docs" / "recordings.md")
    assert "--episodes 150" in fly and fly.endswith("--out field.parquet")
    run(fly.replace("--episodes 150", "--episodes 4"), tmp_path)
    run(train.partition("#")[0] + "--minutes 0.1 --quiet --evaluations 0", tmp_path)
    assert (tmp_path / "runs" / "from_data" / "metrics.csv").is_file()
