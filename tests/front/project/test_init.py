"""`robomarl init`: everything in a new project works, once pip has installed it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.front import cli
from robomarl.front.project.create import create

TINY = 'version = 2\nextends = "recipe.toml"\ntotal_steps = 1024\nnum_envs = 16\nunroll = 8\nminibatches = 2\n'


def test_a_project_is_made_of_the_folder_s_name(tmp_path: Path):
    assert cli.main(["init", str(tmp_path / "Night Team"), "--json", str(tmp_path / "f.json")]) == 0
    files = [Path(name) for name in json.loads((tmp_path / "f.json").read_text())["files"]]
    names = {file.relative_to(tmp_path / "Night Team").as_posix() for file in files}
    assert names >= {"night_team.toml", "recipe.toml", "fleet.yaml", "night_team/task.py", "tests/test_task.py"}
    assert not [file for file in files if "${" in file.read_text()]
    assert "robomarl eval runs/first" in (tmp_path / "Night Team" / "README.md").read_text()


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path):
    (tmp_path / "mine.txt").touch()
    with pytest.raises(UserError, match="is not empty; name a new folder"):
        create(tmp_path, "night_team")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(UserError, match="Not a directory"):
        create(tmp_path / "mine.txt", "night_team")


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ("swap", "robomarl has a task of that name"),
        ("numpy", "Python has a module of that name"),
        ("tests", "Python has a module of that name"),
        ("class", "must be small letters"),
        ("2d", "must be small letters"),
    ],
)
def test_names_that_are_taken_or_none_are_refused(task: str, told: str, tmp_path: Path):
    with pytest.raises(UserError, match=told):
        create(tmp_path / "project", task)
    assert not list(tmp_path.iterdir())


def test_everything_in_a_project_works(tmp_path: Path):
    """Its own tests, a check of its files, a tiny training and an evaluation, in processes that have it installed."""
    project, site = tmp_path / "project", tmp_path / "site"
    create(project, "night_team")
    (project / "tiny.toml").write_text(TINY)
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(site)]
    path = os.pathsep.join([str(site), str(Path(cli.__file__).parents[3])])
    environment = {**os.environ, "PYTHONPATH": path}
    for words in (
        ["pip", "install", *options, "."],
        ["pytest", "-q", "-p", "no:cacheprovider"],
        ["robomarl", "train", "--recipe", "tiny.toml", "--out", "run", "--quiet", "--evaluations", "0"],
        ["robomarl", "eval", "run", "--episodes", "2", "--json", "eval.json"],
    ):
        command = [sys.executable, "-m", *words]
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    assert json.loads((project / "eval.json").read_text())["scenario"] == "night_team"
    config = json.loads((project / "run" / "config.json").read_text())
    assert config["weights"]["effort"] == -0.01
