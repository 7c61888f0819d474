"""`robomarl completion`: real shells complete commands, options, choices and names."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from robomarl.front import cli
from robomarl.front.completion.install import LOADERS, MARK, add_line, install
from robomarl.front.completion.words import all_words, command_words, first_sentence

BASH = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_robomarl
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
CASES = [
    (["robomarl", "ev"], {"eval"}),
    (["robomarl", "eval", "--sc"], {"--scenario"}),
    (["robomarl", "eval", "--scenario", "swap_1"], {"swap_16"}),
    (["robomarl", "eval", "--scenario", "=", "swap_1"], {"swap_16"}),
    (["robomarl", "eval", "--sim", "mu"], {"mujoco"}),
    (["robomarl", "eval", "--sim", "=", "mj"], {"mjx"}),
    (["robomarl", "eval", "--episodes", "3", "lift_3"], {"lift_3", "lift_3_follow"}),
    (["robomarl", "flash", "swap_4_f"], {"swap_4_firmware"}),
    (["robomarl", "flash", "swap_4", "local"], {"local_4"}),
    (["robomarl", "flash", "--json", "f.json", "swap_4", "local"], {"local_4"}),
    (["robomarl", "fleet", "sta"], {"status"}),
    (["robomarl", "fleet", "status", "local"], {"local_4"}),
    (["robomarl", "up", "local_4", "--js"], {"--json"}),
    (["robomarl", "completion", "b"], {"bash"}),
    (["robomarl", "identify-limits", "gri"], {"gritsbot"}),
    (["robomarl", "nothing", "--x"], set()),
]


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script of bash, as a file."""
    file = tmp_path_factory.mktemp("completion") / "robomarl"
    with file.open("w") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", stream)
        assert cli.main(["completion", "bash"]) == 0
    return file


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(("words", "found"), CASES, ids=[" ".join(words[1:]) for words, _ in CASES])
def test_bash_completes(words: list[str], found: set[str], bash: Path):
    code = BASH.format(script=bash, words=" ".join(f"'{word}'" for word in words))
    done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    assert set(filter(None, done.stdout.splitlines())) == found


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_knows_the_command(bash: Path):
    words = ["bash", "--norc", "-c", f"source {bash}; complete -p robomarl"]
    assert "-F _robomarl robomarl" in subprocess.run(words, capture_output=True, text=True).stdout


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
@pytest.mark.parametrize(
    ("line", "found"), [("robomarl ev", "eval"), ("robomarl eval --sc", "--scenario"), ("robomarl up loc", "local_4")]
)
def test_fish_completes(line: str, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["completion", "fish"]) == 0
    (tmp_path / "robomarl.fish").write_text(capsys.readouterr().out)
    code = f"source {tmp_path}/robomarl.fish; complete -C '{line}'"
    done = subprocess.run(["fish", "--no-config", "-c", code], capture_output=True, text=True)
    assert found in [row.split("\t")[0] for row in done.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_zsh_reads_its_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["completion", "zsh"]) == 0
    (tmp_path / "_robomarl").write_text(capsys.readouterr().out)
    done = subprocess.run(["zsh", "-n", str(tmp_path / "_robomarl")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_option_of_every_command_is_there():
    found = {command.name: command for command in all_words()}
    assert set(found) == set(cli.COMMANDS)
    assert {"--help", "--json"} <= {option.name for option in found["key"].options}
    options = {option.name: option for option in found["eval"].options}
    assert options["--sim"].values == ("fast", "mujoco", "mjx")
    assert options["--scenario"].values == ("@scenario",) and not options["--paired"].takes_value
    assert options["--episodes"].text == "Episodes of each policy"
    assert [place.values for place in command_words("flash", "").places] == [("@bundle",), ("@fleet",)]
    assert first_sentence("One. Two.") == "One"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_it_installs_itself(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    assert cli.main(["completion", "--install"]) == 0
    file = Path(capsys.readouterr().out.splitlines()[0].partition(": ")[0])
    assert file.is_relative_to(tmp_path) and "robomarl" in file.read_text()
    start = tmp_path / f".{shell}rc"
    loads = shell == "zsh" or (shell == "bash" and not any(map(os.path.isfile, LOADERS)))
    assert start.is_file() == loads
    if loads:
        assert cli.main(["completion", "--install"]) == 0
        assert start.read_text().count(MARK) == 1


def test_a_line_is_added_to_what_is_there(tmp_path: Path):
    (tmp_path / "rc").write_text("alias x=y")
    add_line(tmp_path / "rc", tmp_path / "script")
    assert (tmp_path / "rc").read_text().splitlines()[0] == "alias x=y"
    done = install("fish", "text", {"HOME": str(tmp_path)})
    assert done.script.read_text() == "text" and done.start_file is None


def test_a_shell_that_is_not_known_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert cli.main(["completion"]) == 2
    assert "SHELL names tcsh; name one of: bash, zsh, fish." in capsys.readouterr().err
