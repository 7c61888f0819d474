"""What the README promises is run: its Python block, its commands' names, its files."""

import re
import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from robomarl.domains.soccer.lab.controllers import SCRIPTS
from robomarl.front.cli import COMMANDS

MAX_CLAIMS = 60


def _blocks(root: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (root / "README.md").read_text(), re.S)


def _run_readme(root: Path, end: str) -> str:
    """What the README's Python block prints, with more behind it."""
    (code,) = _blocks(root, "python")
    return subprocess.run([sys.executable, "-c", f"{code}\n{end}"], capture_output=True, text=True, check=True).stdout


def test_python_block_of_the_readme_runs_without_jax(root: Path) -> None:
    """In a process of its own; at the end JAX has not been imported, and a command was printed."""
    end = "import sys; assert 'jax' not in sys.modules and 'mujoco' not in sys.modules"
    assert _run_readme(root, end).strip()


def test_the_filter_of_the_readme_lets_nobody_fly_past_mates_that_it_cannot_hear(root: Path) -> None:
    """As it is shown, with nobody heard, whatever a policy asks for; and with all three heard it lets it pass."""
    end = """
import numpy as np
asked = np.array([1.2, 0.0, 0.0, 0.0])
safety = pilot.safety
print(safety(safety.init(), view, asked)[1].command[0])
view.heard.mask[:] = True
view.heard.pos_m[:] = view.heard.plan.pos_m[:] = [[9, 0, 0], [0, 9, 0], [-9, 0, 0]]
print(safety(safety.init(), view, asked)[1].command[0])"""
    unheard, heard = map(float, _run_readme(root, end).splitlines()[-2:])
    assert unheard == 0.0
    assert heard == 1.2


def test_one_command_by_line_15_and_code_by_line_30(root: Path) -> None:
    """A stranger sees what to type before scrolling."""
    lines = (root / "README.md").read_text().splitlines()
    assert "make demo" in "\n".join(lines[:15])
    assert any(line.startswith("print(result.command") for line in lines[:32])


def test_commands_and_files_of_the_readme_exist(root: Path) -> None:
    """Every `robomarl X` is a command, every linked or named file is there."""
    text = (root / "README.md").read_text()
    assert set(re.findall(r"^robomarl (\w+)", text, re.M)) <= set(COMMANDS)
    for name in re.findall(r"\]\(([^)#]+)\)", text):
        assert (root / name).is_file(), name
    assert (root / "docs" / "swap_4.gif").stat().st_size < 1_000_000


def test_figures_are_of_bundles_that_ship(root: Path) -> None:
    """A row may say what training came to, but none has a figure of a shipped bundle's forerunner in its place."""
    rows = (root / "docs" / "benchmarks.md").read_text().splitlines()
    assert not [row for row in rows if "before this one" in row]
    shipped = {file.parent.name for file in (root / "policies").glob("*/bundle.json")}
    evaluated = {
        name for row in rows for name in re.findall(r"`robomarl (?:eval|verify) (?:policies/)?([a-z]\w+)", row)
    }
    scripted = {"baseline", "law", *SCRIPTS, "runs"}
    assert evaluated <= shipped | scripted, evaluated - shipped - scripted


def test_the_page_of_figures_is_a_table_that_a_stranger_can_read(root: Path) -> None:
    """At most 60 claims; each has a command that can be pasted, a machine that is on the page, and a day."""
    page = (root / "docs" / "benchmarks.md").read_text()
    machines = set(re.findall(r"^- \*\*(\w)\*\*: ", page, re.M))
    lines = [line for line in page.splitlines() if line.startswith("|")]
    claims = [line.split(" | ") for line in lines if not line.startswith(("| what |", "| figure |", "| --- "))]
    assert 0 < len(claims) <= MAX_CLAIMS
    for *_, command, machine, day in claims:
        assert re.match(r"`(robomarl|pytest) .*`", command), command
        assert machine[0] in machines and re.fullmatch(r"2\d{3}-\d\d-\d\d \|", day), (command, machine, day)
    assert not re.search(r"\basked\b|\bto reach\b", page)


def test_the_page_of_keys_is_what_the_dataclasses_say(root: Path) -> None:
    """And says of every key what it means."""
    said = runpy.run_path(str(root / "docs" / "configuration.py"))["page"]()
    assert (root / "docs" / "configuration.md").read_text() == said, "run python docs/configuration.py"
    assert not re.findall(r"^.*\|  \|$", said, re.M)


def test_a_field_has_the_docstring_under_it_or_under_that_of_the_class_that_it_comes_from(root: Path) -> None:
    @dataclass(frozen=True)
    class Base:
        first: float
        """One,
        in two lines."""
        second: float

    @dataclass(frozen=True)
    class Derived(Base):
        second: float
        """Two."""

    meanings = runpy.run_path(str(root / "docs" / "configuration.py"))["meanings"]
    assert meanings(Derived) == {"first": "One, in two lines.", "second": "Two."}


def test_examples_are_few_and_short(root: Path) -> None:
    """Every example has a docstring and fits on a page; tests/lab/sim runs what brax_ppo.py does."""
    for file in (root / "examples").glob("*.py"):
        text = file.read_text()
        assert text.startswith('"""') and len(text.splitlines()) < 100, file.name
