"""Exit statuses of the real command line: 0 only if the claim holds, 1, 2 for misuse, 130 after Ctrl-C."""

import json
import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from robomarl.core.paths import share_dir
from robomarl.front import cli
from robomarl.lab.prove.worst.worst import holds

SHORT = ["--agent-steps", "4000", "--seconds", "5", "--workers", "1"]


def ran(*words: object) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    return subprocess.run([sys.executable, "-m", "robomarl", *map(str, words)], capture_output=True, text=True)


def figures_of(file: Path) -> dict:
    """What `--json` wrote."""
    return json.loads(file.read_text())


def test_prove_fails_with_collisions_and_writes_its_figures(tmp_path: Path):
    done = ran("prove", "crazyflie_21", "--filter", "off", *SHORT, "--json", tmp_path / "off.json")
    found = figures_of(tmp_path / "off.json")
    assert found["collisions"] > 0
    assert (done.returncode, found["passed"]) == (1, False)
    assert f"NOT PROVEN: {found['collisions']} collisions" in done.stdout


def test_prove_succeeds_without_a_collision(tmp_path: Path):
    assert cli.main(["prove", "crazyflie_21", "--count", "2", *SHORT, "--json", str(tmp_path / "full.json")]) == 0
    assert figures_of(tmp_path / "full.json")["collisions"] == 0


@pytest.mark.parametrize(
    ("scales", "contact", "outside", "passed"),
    [
        ((1.0, 1.1), 1.1, None, True),
        ((1.0, 1.1), None, 1.1, True),
        ((1.0,), 1.0, None, False),
        ((0.9, 1.0), 0.9, None, False),
        ((1.0,), None, 1.0, False),
        ((1.0,), None, None, True),
        ((1.2, 1.3), 1.2, None, False),
        ((1.2, 1.3), 1.3, None, True),
    ],
)
def test_the_worst_case_holds_up_to_the_declared_bounds(scales, contact, outside, passed: bool):
    rows = [{"scale": scale} for scale in scales]
    assert holds({"scales": rows, "first_contact_at": contact, "first_outside_at": outside}) is passed


def test_verify_fails_on_a_changed_bundle(tmp_path: Path):
    folder = tmp_path / "swap_4"
    shutil.copytree(share_dir() / "policies" / "swap_4", folder)
    policy = folder / "policy.onnx"
    policy.write_bytes(policy.read_bytes()[:-1] + b"x")
    assert ran("verify", folder, "--json", tmp_path / "x.json").returncode == 1
    assert figures_of(tmp_path / "x.json")["ok"] is False


@pytest.fixture
def evaluation(tmp_path: Path) -> list[str]:
    """Words that fly two episodes of 0.2 s."""
    file = tmp_path / "small.toml"
    file.write_text('extends = "swap_4"\ntime_limit_s = 0.2\ncount = 2\n')
    return ["eval", "baseline", "--scenario", str(file), "--episodes", "2", "--filter", "off"]


def test_eval_meets_its_requirements_or_fails(
    evaluation: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "x.json"

    def status(*required: str) -> int:
        file.unlink(missing_ok=True)
        return cli.main([*evaluation, "--json", str(file), *(word for one in required for word in ("--require", one))])

    assert status("success_rate>=0", "success_ci95.1 <= 1", "episodes==2") == 0
    assert figures_of(file)["passed"] is True
    assert status("success_rate>=0", "episodes>2") == 1
    assert [row["met"] for row in figures_of(file)["requirements"]] == [True, False]
    assert "NOT MET baseline: episodes > 2, found 2" in capsys.readouterr().out
    assert status("attitude_error_rad<=1") == 1  # null: nothing was measured
    assert status("succes_rate>=0.5") == 2
    assert "there is no such figure; did you mean 'success_rate'?" in capsys.readouterr().err
    assert figures_of(file)["episodes"] == 2
    for word in ("success_rate", "success_rate=>0.5", "success_rate>=nan", "success_rate>=x", ">=1"):
        assert status(word) == 2
        assert "write FIGURE, one of >= <= == > <, and a number" in capsys.readouterr().err
        assert not file.exists()


def test_every_policy_has_to_meet_a_requirement(evaluation: list[str], tmp_path: Path):
    words = [*evaluation, "--json", str(tmp_path / "x.json"), "--require", "episodes>=2"]
    assert cli.main([words[0], "baseline", *words[1:]]) == 0
    assert [row["policy"] for row in figures_of(tmp_path / "x.json")["requirements"]] == ["baseline", "baseline"]


@pytest.mark.parametrize(
    "words",
    [
        ["fyl"],
        ["list", "--json"],
        ["list", "--nothing"],
        ["prove", "swap_4", "--agent-steps", "0"],
        ["prove", "swap_4", "--sim", "mujoco"],
        ["check", "swap_4", "--sims", "fast"],
        ["eval", "swap_4", "--paired"],
        ["eval", "swap_4", "--perturb", "mass_scale"],
        ["bench", "nothing"],
        ["train", "swap_4", "--init", "a", "--resume", "--out", "b"],
        ["up", "local_4", "--flights", "2"],
    ],
)
def test_misuse_has_a_status_of_its_own(words: list[str], capsys: pytest.CaptureFixture[str]):
    try:
        status = cli.main(words)
    except SystemExit as stop:  # what tyro says no to
        status = stop.code
    assert status == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("figures", "status"),
    [
        (None, 0),
        ({"rows": []}, 0),
        ({"passed": True}, 0),
        ({"passed": False}, 1),
        ({"ok": False}, 1),
        ({"interrupted": 0.0}, 0),
        ({"interrupted": 1.0}, 130),
    ],
)
def test_figures_decide_the_status(figures: dict | None, status: int):
    """Training after Ctrl-C is `interrupted`; tests/lab/train/run/test_runner.py stops a real one."""
    assert cli.status_of(figures) == status


def test_ctrl_c_stops_a_command_with_130():
    with subprocess.Popen(
        [sys.executable, "-m", "robomarl", "prove", "swap_8", "--workers", "1", "--agent-steps", "1e8"],
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # shells ignore it in the background
    ) as proving:
        assert proving.stderr is not None
        while b"prove:" not in (said := os.read(proving.stderr.fileno(), 4096)):
            assert proving.poll() is None, said
        proving.send_signal(signal.SIGINT)
        _, said = proving.communicate(timeout=120)
    assert proving.returncode == 130
    assert b"robomarl prove: stopped." in said and b"Traceback" not in said
