"""Hundreds of wrong calls and files, over all commands: one sentence each, no traceback, and the right status.

They run in this process: a command that does not refuse at once would begin its work here.
"""

import importlib
from pathlib import Path

import pytest

from robomarl.front import cli
from tests.wrong_calls import BASE, FAMILIES, VALUES, write_files

LEAST = {"options": 200, "files": 150, "edits": 35, "values": 100}
"""Rows that each family has at least, so that none is lost."""


def mistakes(words: tuple[str, ...], status: int, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What is wrong with how a call was refused."""
    try:
        found: object = cli.main(list(words))
    except SystemExit as stop:
        found = f"SystemExit({stop.code})"
    except Exception as error:
        found = repr(error)
    output = capsys.readouterr()
    told = output.err or output.out  # `verify` says what it has found on stdout
    wrong = [f"status {found}, not {status}"] if found != status else []
    if words and (told.strip().count("\n") or not told.startswith(("robomarl", "problem: "))):
        wrong.append("not one sentence")
    if "did not foresee" in told or "Traceback" in told:
        wrong.append("a fault")
    return [f"{' '.join(words)}: {', '.join(wrong)}: {told[:300]}"] if wrong else []


@pytest.mark.parametrize("family", FAMILIES)
def test_wrong_calls_and_files_are_one_sentence(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    rows = FAMILIES[family](tmp_path)
    assert len(rows) >= LEAST[family]
    wrong = [text for words, status in rows for text in mistakes(words, status, capsys)]
    assert not wrong, "\n".join(wrong)


def test_every_command_is_called_wrongly_in_every_way():
    assert set(BASE) == set(cli.COMMANDS)
    assert {words[0] for words, _ in VALUES if words} >= set(BASE)


def test_a_fault_that_nobody_foresaw_is_a_sentence_and_its_traceback_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    command = importlib.import_module("robomarl.front.cli.list")

    def run(args: object) -> None:
        raise KeyError("robots\n\x1b[2J")

    monkeypatch.setattr(command, "run", run)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cli.main(["list"]) == 1
    told = capsys.readouterr().err
    (kept,) = (tmp_path / "robomarl" / "faults").iterdir()
    assert told.startswith("robomarl list: a fault that robomarl did not foresee, KeyError in __init__.py:")
    assert told.count("\n") == 1 and str(kept) in told and "\x1b" not in told
    assert kept.read_text().startswith("robomarl list\n") and "KeyError" in kept.read_text()
    monkeypatch.setenv("ROBOMARL_TRACEBACK", "1")
    with pytest.raises(KeyError):
        cli.main(["list"])
