"""The notebooks of the site: saved with outputs that are small and belong to no machine, and every cell runs."""

import os
import re
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")

NAMES = ("first_flight", "train_and_look", "recording_and_simulation")
SHORTER = {"--minutes 1 ": "--minutes 0.3 "}
"""What a test runs in place of what takes long."""
MOST_BYTES = 200_000
LIMIT_S = 600


def notebook_of(root: Path, name: str):
    """A notebook as it is saved."""
    return nbformat.read(root / "docs" / "notebooks" / f"{name}.ipynb", as_version=4)


def texts_of(notebook) -> list[str]:
    """All that its cells print."""
    return [output.text for cell in notebook.cells for output in cell.get("outputs", []) if "text" in output]


def pictures_of(notebook) -> int:
    """How many pictures it shows."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("name", NAMES)
def test_saved_outputs_are_whole_small_and_of_no_machine(root: Path, name: str):
    saved = notebook_of(root, name)
    assert (root / "docs" / "notebooks" / f"{name}.ipynb").stat().st_size < MOST_BYTES
    assert all(cell.execution_count for cell in saved.cells if cell.cell_type == "code")
    kinds = {output.output_type for cell in saved.cells for output in cell.get("outputs", [])}
    assert kinds <= {"stream", "display_data", "execute_result"} and pictures_of(saved)
    everything = "\n".join([*texts_of(saved), *(cell.source for cell in saved.cells)])
    assert not re.search(r"(?<![\w.])/(?:home|root|tmp|work|usr|opt)/", everything)


def run(root: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    """Run a notebook in its folder; returns it with what its cells gave. A cell that fails raises."""
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    notebook = notebook_of(root, name)
    for cell in notebook.cells:
        for long, short in SHORTER.items():
            cell.source = cell.source.replace(long, short)
    folder = {"metadata": {"path": str(root / "docs" / "notebooks")}}
    return client.NotebookClient(notebook, timeout=LIMIT_S, kernel_name="python3", resources=folder).execute()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first_flight", "train_and_look"])
def test_a_notebook_runs_and_shows_as_many_pictures_as_it_has_saved(root: Path, name: str, monkeypatch):
    for module in ("jax", "mujoco", "matplotlib"):
        pytest.importorskip(module)
    assert pictures_of(run(root, name, monkeypatch)) == pictures_of(notebook_of(root, name))


@pytest.mark.slow
@pytest.mark.ros
def test_a_recording_is_made_decided_again_and_flown_again(root: Path, monkeypatch):
    for module in ("rclpy", "jax", "mujoco"):
        pytest.importorskip(module)
    done = run(root, "recording_and_simulation", monkeypatch)
    printed = "".join(texts_of(done))
    assert "exit status 0" in printed
    assert len(re.findall(r"robot_\d: \d+ actions compared, largest difference 0$", printed, re.M)) == 4
    assert pictures_of(done) == 2
