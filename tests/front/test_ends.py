"""What a command is to write is looked at before it works: every command, every option."""

import dataclasses
import importlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest

pytest.importorskip("tyro")

from robomarl.core.config import UserError
from robomarl.front import cli
from robomarl.front.cli.ends import LEAST_FREE_BYTES, _marks, check_ends, check_file, check_folder

READ = {
    "bag",
    "bags",
    "layout",
    "logs",
    "truth",
    "run",
    "file",
    "contract",
    "perception",
    "data",
    "folder",
    "folders",
    "wheels",
    "root",
    "space",
}
"""Options with paths that are read, or that robots' folders are below."""

WORDS = {
    "adapt": ["swap_4", "bag", "--out", "END"],
    "dataset": ["bag", "--out", "END"],
    "demo": ["--out", "END"],
    "eval --video": ["nothing", "--video", "END.gif"],
    "eval --sensitivity": ["nothing", "--sensitivity", "END.png"],
    "export": ["nothing", "END"],
    "export c": ["nothing", "END", "--target", "c"],
    "identify": ["bag", "--out", "END"],
    "identify-limits": ["nothing", "--plot", "END.svg"],
    "import": ["nothing", "END", "--contract", "nothing"],
    "import-flights": ["nothing", "--layout", "nanobench", "--out", "END"],
    "prove": ["swap_4", "--out", "END"],
    "prove --worst": ["swap_4", "--worst", "--out", "END"],
    "replay": ["bag", "--out", "END"],
    "runs": ["nothing", "--plot", "END.svg"],
    "train": ["nothing", "--out", "END"],
    "up": ["nothing", "--out", "END"],
    "up --record": ["nothing", "--record", "END"],
    **{f"{name} --json": ["nothing", "--json", "END"] for name in ("bench", "check", "verify")},
    "flash --json": ["nothing", "nothing", "--json", "END"],
}


@pytest.fixture
def small_disks(tmp_path: Path) -> Iterator[Path]:
    """A disk that is read only, and one of 1 MB."""
    for name, options in (("read_only", "ro"), ("full", "size=1m")):
        (tmp_path / name).mkdir()
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(tmp_path / name)]
        if subprocess.run(words, capture_output=True).returncode:
            pytest.skip("disks can't be mounted here")
    yield tmp_path
    for name in ("read_only", "full"):
        subprocess.run(["umount", str(tmp_path / name)], check=True)


@pytest.mark.parametrize("command", WORDS)
def test_an_end_that_can_not_be_written_stops_a_command_before_its_work(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Even what it should read is not looked for: nothing of that is there."""
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    words = [word.replace("END", "file/end") for word in WORDS[command]]
    assert cli.main([command.split()[0], *words]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "file/end" in said and ": can't be written (Not a directory); name another f" in said


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_path_of_a_command_is_read_or_marked_as_an_end(name: str):
    module = importlib.import_module(f"robomarl.front.cli.{cli.MODULES.get(name, name.replace('-', '_'))}")
    hints = get_type_hints(module.Args, include_extras=True)
    paths = {field.name for field in dataclasses.fields(module.Args) if "Path" in str(hints[field.name])}
    assert {path for path in paths - READ if not any(_marks(hints[path]))} == set()


def test_defaults_that_depend_on_what_is_read_are_looked_at_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("runs").touch()
    for words in (["replay", "bag"], ["train", "swap_4"], ["up", "local_4", "--sim", "mujoco"]):
        assert cli.main(words) == 1
        assert ": can't be written (Not a directory); name another f" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["replay", "prove", "train"])
def test_disks_that_are_read_only_or_full_are_named(
    command: str, small_disks: Path, capsys: pytest.CaptureFixture[str]
):
    for name, says in (("read_only", "can't be written (Read-only file system)"), ("full", "1.0 MB are free there")):
        end = str(small_disks / name / "a" / "b")
        assert cli.main([command, "nothing", "--out", end]) == 1
        assert f"--out {end}: {says}" in capsys.readouterr().err


def test_nothing_is_made_but_the_folder_of_a_file(tmp_path: Path):
    check_folder("--out", tmp_path / "a" / "b")
    assert not list(tmp_path.iterdir())
    check_file("--out", tmp_path / "a" / "x.html")
    assert [path.name for path in tmp_path.rglob("*")] == ["a"]
    (tmp_path / "old.html").write_text("old")
    check_file("--out", tmp_path / "old.html")
    assert (tmp_path / "old.html").read_text() == "old"
    check_file("--json", Path("/dev/null"))
    assert LEAST_FREE_BYTES < 1e9


@pytest.mark.parametrize("place", ["/proc/x/y", "/proc/x", "/dev/null/x", "x" * 300, "."])
def test_places_where_no_file_can_be(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"--out .*: can't be written \(.*\); name another file\."):
        check_file("--out", Path(place))


def test_one_file_has_one_end_and_is_not_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("a.mcap").write_bytes(b"recording")
    for words, says in (
        (["replay", "bag", "--out", "x", "--json", "./x"], "--out x: --json names it, too; name another file."),
        (["replay", "a.mcap", "--out", "a.mcap"], "--out a.mcap: this command reads it; name another file."),
        (["identify", "bag", "a.mcap", "--json", "a.mcap"], "--json a.mcap: this command reads it"),
    ):
        assert cli.main(words) == 2
        assert says in capsys.readouterr().err
    assert Path("a.mcap").read_bytes() == b"recording"


def test_endings_are_looked_at_first(tmp_path: Path):
    from robomarl.front.cli.eval import Args

    with pytest.raises(UserError, match=r"--sensitivity .*x\.pdf: the name must end in \.png or \.svg\."):
        check_ends(Args(("swap_4",), sensitivity=tmp_path / "no" / "x.pdf"))
    assert not list(tmp_path.iterdir())
