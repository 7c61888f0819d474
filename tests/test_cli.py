"""The command line as a stranger meets it: help, lists, mistakes, JSON files. Real processes where it matters."""

import json
from pathlib import Path

import pytest

from robomarl import cli


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`robomarl --help` succeeds; without words it prints the same and fails."""
    assert cli.main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in cli.COMMANDS)
    assert cli.main([]) != 0


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_a_module_with_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`robomarl COMMAND --help` explains itself."""
    pytest.importorskip("tyro")
    with pytest.raises(SystemExit) as stop:
        cli.main([name, "--help"])
    assert stop.value.code == 0
    assert f"robomarl {name}" in capsys.readouterr().out


def test_list_writes_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--json before or after, with a space or with =; folders are made."""
    for words in (["--json", str(tmp_path / "a" / "x.json")], [f"--json={tmp_path / 'y.json'}"]):
        assert cli.main(["list", *words]) == 0
    figures = json.loads((tmp_path / "a" / "x.json").read_text())
    assert "swap_4" in figures["scenarios"] and "swap_4" in figures["bundles"]
    assert "crazyflie_21" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fyl"], "unknown command 'fyl'"),
        (["list", "--json"], "--json needs the name"),
        (["list", "--json", "/dev/null/x.json"], "can't be written"),
        (["train"], "name a SCENARIO or a --recipe"),
        (["train", "swap_f"], "Unknown scenario 'swap_f'"),
        (["train", "swap_4", "--recipe", "nothing"], "Unknown recipe 'nothing'"),
        (["eval", "nothing"], "Unknown policy 'nothing'"),
        (["eval", "swap_4", "--perturb", "mas_scale=1"], "mas_scale"),
        (["bench", "nothing"], "unknown benchmark 'nothing'"),
        (["verify", "nothing"], "nothing"),
        (["flash", "swap_4", "nothing"], "nothing"),
        (["runs", "/nonexistent"], "no run folder"),
    ],
)
def test_mistakes_are_one_sentence_and_a_failure(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback, exit status not 0, and the sentence says what is wrong."""
    assert cli.main(words) != 0
    output = capsys.readouterr()
    assert said in output.err + output.out
    assert "Traceback" not in output.err


def test_missing_extra_is_one_sentence_with_the_pip_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Whichever module of an extra is missing, the sentence names the extra."""
    assert "pip install 'robomarl[ros]'" in cli.missing_extra(ModuleNotFoundError(name="rclpy"))
    assert "pip install 'robomarl[train]'" in cli.missing_extra(ModuleNotFoundError(name="jax.numpy"))


def test_a_figure_that_says_not_passed_fails_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` and `verify` report; the exit status follows their verdict."""
    import robomarl.cli.list as command

    for figures, status in (({"passed": False}, 1), ({"ok": False}, 1), ({"ok": True}, 0), ({}, 0)):
        monkeypatch.setattr(command, "run", lambda args, figures=figures: figures)
        assert cli.main(["list"]) == status
