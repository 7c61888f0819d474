"""The command line as a stranger meets it: help, lists, mistakes, JSON files. Real processes where it matters."""

import errno
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.front import cli
from robomarl.front.cli.failures import EXTRAS, missing_extra


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
    said = capsys.readouterr().out
    assert f"robomarl {name}" in said and "--json FILE" in said.partition("options")[2]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_mistakes_are_told_in_terminals_with_and_without_boxes(encoding: str) -> None:
    """tyro draws a box around its text where the terminal knows UTF-8."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    for words, said in (
        (["flash"], "robomarl flash: missing: BUNDLE, FLEET; see: robomarl flash --help\n"),
        (["key", "lst"], "robomarl key: action can't be 'lst'; did you mean 'list'? See: robomarl key --help\n"),
        (["eval", "x", "--agaist", "y"], "robomarl eval: unknown option --agaist; did you mean '--against'? See: "),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "robomarl", *words], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 2 and done.stderr.startswith(said), done.stderr


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
        (["fyl"], "unknown command 'fyl'; allowed: demo"),
        (["trian"], "unknown command 'trian'; did you mean 'train'?"),
        (["up", "local4"], "Unknown fleet 'local4': no file local4.yaml; did you mean 'local_4'?"),
        (["list", "--json"], "--json needs the name"),
        (["list", "--json", "/dev/null/x.json"], "can't be written"),
        (["train"], "name a SCENARIO or a --recipe"),
        (["train", "swap_f"], "Unknown scenario 'swap_f'"),
        (["eval", "swop_4"], "Unknown policy 'swop_4': no run folder or bundle there; did you mean 'swap_4'?"),
        (["verify", "swop_4"], "Unknown bundle 'swop_4': no such folder; did you mean 'swap_4'?"),
        (["flash", "policies/swop_4", "local_4"], "no such folder; did you mean 'swap_4'?"),
        (["train", "swap_4", "--recipe", "swap_4_calmer"], "no file swap_4_calmer.toml; did you mean 'swap_4_calm'?"),
        (["identify-limits", "crazyflie_2"], "no file crazyflie_2.yaml; did you mean 'crazyflie_21'?"),
        (["prove", "crazyflie_2"], "Unknown scenario, bundle or vehicle 'crazyflie_2'; did you mean 'crazyflie_21'?"),
        (["bench", "filtr"], "unknown benchmark 'filtr'; did you mean 'filter'?"),
        (["eval", "swap_4", "--perturb", "wndy"], "is not a randomized parameter; did you mean 'windy'?"),
        (["train", "swap_44"], "did you mean 'swap_4'? A team of 44 is trained with `swap_4 --count 44`."),
        (["train", "soccer_2v2", "--count", "3"], "--count 3: the name soccer_2v2 ends with no number"),
        (["train", "--recipe", "swap_4", "--count", "3"], "--count 3 needs a SCENARIO"),
        (["train", "swap_4", "--minutes", "-1"], "--minutes -1 is out of range; it must be above 0."),
        (["train", "swap_4", "--minutes", "nan"], "--minutes nan is out of range; it must be above 0."),
        (["train", "swap_4", "--seed", "-1"], "--seed -1 is out of range; it must be from 0 to 4294967295."),
        (["eval", "swap_4", "--episodes", "0"], "--episodes 0 is out of range; it must be at least 1."),
        (["prove", "swap_4", "--loss", "1.5"], "--loss 1.5 is out of range; it must be from 0 to 1."),
        (["prove", "swap_4", "--worst", "--scales", "1", "-2"], "--scales -2 is out of range; it must be above 0."),
        (["export", "runs/x", "--team-size", "0", "4"], "--team-size 0 is out of range; it must be at least 1."),
        (["train", "swap_4", "--recipe", "nothing"], "Unknown recipe 'nothing'"),
        (["eval", "nothing"], "Unknown policy 'nothing'"),
        (["eval", "swap_4", "--perturb", "mas_scale=1"], "mas_scale"),
        (["bench", "nothing"], "unknown benchmark 'nothing'"),
        (["verify", "nothing"], "nothing"),
        (["flash", "swap_4", "nothing"], "nothing"),
        (["runs", "/nonexistent"], "no run folder"),
        (["check", "swap_4", "--seconds", "inf"], "--seconds inf is out of range; it must be above 0 and finite."),
        (["prove", "swap_4", "--agent-steps", "inf"], "it must be at least 1 and finite."),
        (["prove", "swap_4", "--count", "1"], "--count 1 is out of range; it must be at least 2."),
        (["prove", "swap_4", "--rate-hz", "1e9"], "--rate-hz 1e+09 is out of range; it must be from 1 to 1000."),
        (["prove", "swap_4", "--delay-s", "100"], "--delay-s 100 is out of range; it must be from 0 to 1."),
        (["prove", "swap_4", "--seconds", "1e-9"], "--seconds 1e-09 is no decision: the period is 0.02 s"),
        (
            ["train", "swap_4", "--seed", str(2**63)],
            "--seed 9.22337e+18 is out of range; it must be from 0 to 4294967295.",
        ),
        (
            ["train", "swap_4", "--seed", str(2**32 - 1), "--seeds", "2"],
            "--seeds 2: from seed 4294967295 on they go beyond",
        ),
        (["eval", "swap_4", "--paired"], "--paired compares the first policy with others; name another one"),
        (["eval", "swap_4", "--perturb", "mass_scale=nan"], "write NAME=VALUE, a number, as in mass_scale=1.1."),
        (["eval", "swap_4", "--perturb", "mass_scale=1", "--perturb", "mass_scale=2"], "mass_scale is pinned twice"),
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


NO_TEXT = b"\xff\xfe task"


@pytest.mark.parametrize(
    ("words", "file", "said"),
    [
        (["check", "x.toml"], NO_TEXT, "x.toml: byte 0 is no text (UTF-8); name another file."),
        (["check", "x.toml"], b'extends = "x.toml"', "x.toml: extends goes round in a circle; name another file"),
        (["check", "x.toml"], b"", "x.toml: key 'version' is missing; add it"),
        (["train", "swap_4", "--recipe", "x.toml"], NO_TEXT, "x.toml: byte 0 is no text (UTF-8)"),
        (["train", "swap_4", "--recipe", "x.toml"], b'extends = "x.toml"', "x.toml: extends goes round in a circle"),
        (["flash", "swap_4", "x.yaml"], NO_TEXT, "x.yaml: byte 0 is no text (UTF-8); name another file."),
        (["flash", "swap_4", "x.yaml"], b"- 1", "x.yaml: the file must be a table of keys, not a list."),
        (["identify-limits", "x.yaml"], NO_TEXT, "x.yaml: byte 0 is no text (UTF-8); name another file."),
        (["check", "nothing.toml"], b"", "Unknown scenario 'nothing.toml': no file nothing.toml;"),
        (["replay", "x.bag"], b"", "x.bag: holds no .mcap file, so it is no recording that can be read here."),
        (["runs", "run", "--plot", "x.bag/x.svg"], b"", "--plot x.bag/x.svg: can't be written (Not a directory)"),
        (["eval", "swap_4", "--video", "run"], b"", "--video run: can't be written (Is a directory)"),
        (["eval", "swap_4", "--video", "x.avi"], b"", "x.avi: films are .gif, .mp4 or .png; name the file so."),
        (["eval", "crowd", "--video", "x.avi"], b"", "x.avi: films are .gif, .mp4 or .png; name the file so."),
        (["eval", "soccer_2v2", "--video", "x.webm"], b"", "x.webm: films are .gif, .mp4 or .png"),
        (["demo", "--quick", "--out", "x.bag"], b"", "demo: --out x.bag: can't be written (Not a directory)"),
        (["list", "--json", "run"], b"", "--json run: can't be written (Is a directory)"),
    ],
)
def test_files_that_are_not_what_they_should_be_are_named(
    words: list[str],
    file: bytes,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever writes one by hand, or names the wrong one, is told which it is."""
    monkeypatch.chdir(tmp_path)
    for name in ("x.toml", "x.yaml", "x.bag"):
        Path(name).write_bytes(file)
    Path("run").mkdir()
    Path("run/config.json").write_text("{}")
    assert cli.main(words) == 1
    assert said in capsys.readouterr().err


def test_figures_that_cannot_be_written_stop_a_command_before_its_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a command that fails leaves no empty file."""
    import robomarl.front.cli.list as command

    monkeypatch.setattr(command, "run", lambda args: pytest.fail("it has begun"))
    assert cli.main(["list", "--json", str(tmp_path)]) == 1
    assert "can't be written" in capsys.readouterr().err
    assert cli.main(["check", "nothing", "--json", str(tmp_path / "x.json")]) == 1
    assert not (tmp_path / "x.json").exists()


def test_figures_are_json_whatever_they_are(tmp_path: Path) -> None:
    """NaN and infinity, which JSON does not have, are null; NumPy's numbers are numbers."""
    figures = {
        "a": float("nan"),
        "b": [np.float32(0.5), -np.inf, True, 3],
        "c": {"d": np.int64(2), "e": None, "f": "x"},
    }
    cli.write_json(tmp_path / "x.json", figures)
    said = json.loads((tmp_path / "x.json").read_text(), parse_constant=pytest.fail)
    assert said == {"a": None, "b": [0.5, None, True, 3], "c": {"d": 2, "e": None, "f": "x"}}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "a file: can't be written (No space left on device); make room",
        ),
        (
            MemoryError("Unable to allocate 23.3 TiB"),
            "it does not fit into the memory (Unable to allocate 23.3 TiB); ask",
        ),
        (MemoryError(), "it does not fit into the memory (MemoryError); ask for less"),
    ],
)
def test_a_full_disk_and_a_full_memory_are_a_sentence(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """NumPy and others name no file when they can't write on."""
    import robomarl.front.cli.list as command

    def run(args: object) -> None:
        raise error

    monkeypatch.setattr(command, "run", run)
    assert cli.main(["list"]) == 1
    assert f"robomarl list: {said}" in (shown := capsys.readouterr().err) and shown.count("\n") == 1


def test_benchmarks_are_found_from_any_folder(tmp_path: Path) -> None:
    """They are beside the package, whose folder need not be where Python looks for modules."""
    root = str(Path(cli.__file__).parents[2])
    code = f"import sys; sys.path.insert(0, {root!r}); from robomarl.front.cli import main; sys.path.remove({root!r})"
    code += "; sys.exit(main(['bench', 'nothing']))"
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert "unknown benchmark 'nothing'" in done.stderr


def shell(words: str, cwd: Path, command: str = f"{sys.executable} -m robomarl") -> subprocess.CompletedProcess[str]:
    """A real shell, whose status is that of the command before the pipe."""
    line = f"set -o pipefail; {command} {words}"
    return subprocess.run(["bash", "-c", line], cwd=cwd, capture_output=True, text=True)


def test_python_m_robomarl_is_the_command_line(root: Path) -> None:
    """Where no script is on the path."""
    done = shell("--version", root)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("robomarl ")


@pytest.mark.parametrize("unbuffered", ["", "PYTHONUNBUFFERED=1 "])
@pytest.mark.parametrize("words", ["list", "train --help"])
def test_a_reader_that_leaves_gets_no_traceback(root: Path, words: str, unbuffered: str) -> None:
    """As with `| head`: this reader has gone before the first line is printed."""
    done = shell(f"{words} | (exec <&-; sleep 0.1)", root, f"{unbuffered}{sys.executable} -m robomarl")
    assert (done.returncode, done.stderr) == (141, "")


def test_another_pipe_that_breaks_is_no_quiet_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A command that can't talk to a process of its own has failed; somebody reads what it prints."""
    import robomarl.front.cli.list as command

    def run(_args: object) -> None:
        raise BrokenPipeError("ssh has gone")

    monkeypatch.setattr(command, "run", run)
    with (tmp_path / "out").open("w") as stream, pytest.raises(BrokenPipeError, match="ssh has gone"):
        monkeypatch.setattr(sys, "stdout", stream)
        cli.main(["list"])


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_positional_words_have_names_in_the_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`flash BUNDLE FLEET`, and not `flash STR STR`."""
    with pytest.raises(SystemExit):
        cli.main([name, "--help"])
    words = capsys.readouterr().out.partition("─ options")[0]
    assert not re.search(r"│ \W*(STR|PATH|INT|FLOAT)\b", words), words


def test_a_team_of_another_size_is_asked_for_in_so_many_words() -> None:
    """And has the recipe of the scenario that was named."""
    from robomarl.front.cli.train import Args, choose

    config, scenario, _ = choose(Args("swap_4", count=7))
    shipped, _, _ = choose(Args("swap_4"))
    assert (config.scenario, scenario.count, scenario.name) == ("swap_7", 7, "swap_7")
    assert replace(config, scenario="swap_4") == shipped
    assert choose(Args("swap_8"))[1].count == 8


def test_resume_says_which_runs_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked for a scenario: the run has one."""
    from robomarl.front.cli.train_names import named_run

    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"--resume goes on with a run: name its folder.* below runs/: none\."):
        named_run("", None)
    for name in ("mine", "many/seed_0"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "config.json").write_text("{}")
    with pytest.raises(UserError, match=r"below runs/: runs/many/seed_0, runs/mine\."):
        named_run("", None)
    found = [named_run(word, None) for word in ("runs/mine", "runs/many", "swap_4")]
    assert named_run("swap_4", Path("elsewhere")) == Path("elsewhere")
    assert found == [Path("runs/mine"), Path("runs/many"), Path("runs/swap_4")]


CACHED = """
import sys
from robomarl.front import cli
from robomarl.front.cli.failures import EXTRAS, missing_extra
assert cli.main(["list"]) == 0
import jax
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
for _ in ("into the cache", "out of it"):
    jax.jit(lambda x: x @ x)(jax.numpy.ones((9, 9)))
    jax.clear_caches()
"""


def test_a_program_out_of_the_cache_prints_nothing(root: Path, tmp_path: Path) -> None:
    """XLA says of each, in 2 kB, which features of the processor it does not use."""
    pytest.importorskip("jax")
    environment = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"}
    command = [sys.executable, "-c", CACHED, str(tmp_path)]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert list(tmp_path.iterdir()), "it was kept"


def test_importing_brax_prints_nothing(root: Path) -> None:
    """MJX says of two modules, which are for accelerators, that they are not there."""
    pytest.importorskip("brax")
    code = "from robomarl.front.cli.quiet import quiet_libraries; quiet_libraries(); import brax.base"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_extra_of_the_package_brings_something(root: Path) -> None:
    """What is installed with `robomarl[X]` is named in a sentence when it is missing; these five are not."""
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(EXTRAS) == set(extras) - {"cuda", "bench", "dev", "site", "wheels"}


def test_missing_extra_is_one_sentence_with_the_pip_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Whichever module of an extra is missing, the sentence names the extra."""
    assert "pip install 'robomarl[ros]'" in missing_extra(ModuleNotFoundError(name="rclpy"))
    assert "pip install 'robomarl[train]'" in missing_extra(ModuleNotFoundError(name="jax.numpy"))


def test_a_figure_that_says_not_passed_fails_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` and `verify` report; the exit status follows their verdict."""
    import robomarl.front.cli.list as command

    for figures, status in (({"passed": False}, 1), ({"ok": False}, 1), ({"ok": True}, 0), ({}, 0)):
        monkeypatch.setattr(command, "run", lambda args, figures=figures: figures)
        assert cli.main(["list"]) == status
