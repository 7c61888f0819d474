"""`robomarl doctor`: one row for each check, whatever is broken; the exit status says whether the basic job can run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from robomarl.front import cli
from robomarl.front.doctor import examine, graphics_checks, machine_checks, python_checks, ros_checks
from robomarl.front.doctor.finding import ChildEnd, Examination, Finding, child, findings_of


def rows(look) -> dict[str, Finding]:
    """Rows of a check by name."""
    return {row.name: row for row in look()}


def test_a_row_for_each_check_and_a_status(tmp_path: Path):
    command = [sys.executable, "-m", "robomarl", "doctor", "--quick", "--json", str(tmp_path / "f.json")]
    done = subprocess.run(command, capture_output=True, text=True)
    found = json.loads((tmp_path / "f.json").read_text())
    assert done.returncode == (0 if found["passed"] else 1)
    names = [check["name"] for check in found["checks"]]
    assert {"Python", "robomarl", "extra train", "ROS 2", "RMW", "GL", "JAX", "cores", "clock", "cache"} <= set(names)
    assert "DDS loopback" not in names and len(set(names)) == len(names)
    table = done.stdout.splitlines()
    assert [line.split()[0] for line in table[:-1]] == [check["state"] for check in found["checks"]]
    assert all(check["fix"] for check in found["checks"] if check["state"] != "ok")
    assert done.stderr == ""


def broken():
    yield Finding("before", "ok", "fine")
    raise RuntimeError("two\nlines")


def test_a_broken_check_is_one_row(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    checks = (Examination("needed", broken, True), Examination("other", broken), Examination("ssh", machine_checks.ssh))
    monkeypatch.setattr(examine, "EXAMINATIONS", checks)
    assert cli.main(["doctor"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("missing needed") and "RuntimeError: two lines" in said[0]
    assert said[1].startswith("note    other")
    assert [row.name for row in findings_of(checks[2])] == ["ssh", "sshd"]


@pytest.mark.parametrize(("extra", "state"), [("train", "missing"), ("view", "note")])
def test_extras_that_are_absent_have_their_command(extra: str, state: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(python_checks, "find_spec", lambda name: None)
    row = rows(python_checks.extras)[f"extra {extra}"]
    assert (row.state, row.fix) == (state, f"pip install 'robomarl[{extra}]'")


def test_every_extra_of_the_project_has_a_row(root: Path):
    import tomllib

    declared = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(rows(python_checks.extras)) >= {f"extra {name}" for name in declared}


def test_extras_of_required_packages_are_looked_at():
    """`jax[cuda12]` is not installed where only jax is."""
    assert {"jax", "jax-cuda12-plugin"} <= set(python_checks.requirements()["cuda"])


@pytest.mark.parametrize(
    ("name", "value", "state", "found"),
    [
        ("ROS_DOMAIN_ID", "", "ok", "not set: domain 0"),
        ("ROS_DOMAIN_ID", "7", "ok", "7"),
        ("ROS_DOMAIN_ID", "150", "note", "150: Linux gives the ports of domains above 101 to other programs"),
        ("ROS_DOMAIN_ID", "x", "missing", "must be a whole number"),
        ("ROS_LOCALHOST_ONLY", "1", "note", "nodes on other machines are not found"),
        ("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF", "missing", "no node would find another"),
        ("ROS_DISCOVERY_SERVER", "10.0.0.1:11811", "note", "only while this server runs"),
        ("ROS_STATIC_PEERS", "a b", "missing", "is no host name"),
        ("CYCLONEDDS_URI", "/nowhere.xml", "missing", "is not a file"),
    ],
)
def test_variables_of_ros(name: str, value: str, state: str, found: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(name, value)
    row = rows(ros_checks.ros_variables)[name]
    assert row.state == state and found in row.found
    assert bool(row.fix) == (state != "ok")


def test_a_middleware_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("rclpy")
    monkeypatch.setenv("RMW_IMPLEMENTATION", "rmw_fastrtp_cpp")
    row = rows(ros_checks.ros_installed)["RMW"]
    assert row.state == "missing" and row.fix.startswith("Did you mean 'rmw_fastrtps_cpp'?")


@pytest.mark.ros
def test_a_message_goes_over_loopback(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("rclpy")
    monkeypatch.setenv("ROS_DOMAIN_ID", "41")
    assert rows(ros_checks.loopback)["DDS loopback"].state == "ok"


@pytest.mark.ros
def test_a_transport_without_loopback_is_found(monkeypatch: pytest.MonkeyPatch):
    """A discovery server that nobody runs: two nodes never meet."""
    pytest.importorskip("rclpy")
    monkeypatch.setattr(ros_checks, "LIMIT_S", 1.5)
    monkeypatch.setenv("ROS_DISCOVERY_SERVER", "127.0.0.1:11999")
    (row,) = ros_checks.loopback()
    assert row.state == "missing" and "ROS_DISCOVERY_SERVER" in row.fix


def test_children_that_die_or_hang_are_told_by_their_last_line():
    assert child(["-c", "import sys; sys.exit('one\\ntwo')"], {}, 20) == ChildEnd(False, "", "two")
    assert child(["-c", "import os; os.kill(os.getpid(), 9)"], {}, 20).problem == "exit status -9"
    assert child(["-c", "import time; time.sleep(60)"], {}, 0.5).problem == "no end within 0.5 s"


def test_graphics_that_do_not_work_are_a_note(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(graphics_checks, "child", lambda *_: ChildEnd(False, "", "no EGL"))
    monkeypatch.setattr(graphics_checks, "gpus", lambda: ["H100"])
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    assert rows(graphics_checks.drawing)["GL"].state == "note"
    assert rows(graphics_checks.accelerator)["JAX"].state == "missing"
    end = ChildEnd(True, '["0.9", "cpu", ["cpu"]]', "")
    monkeypatch.setattr(graphics_checks, "child", lambda *_: end)
    row = rows(graphics_checks.accelerator)["JAX"]
    assert row.state == "note" and "robomarl[cuda]" in row.fix


def test_folders_that_can_not_be_written_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    row = rows(machine_checks.disks)["cache"]
    assert row.state == "note" and "XDG_CACHE_HOME" in row.fix
    assert machine_checks.disk("x", tmp_path / "file" / "a", True).state == "missing"
    assert machine_checks.disk("x", Path(os.devnull).parent / "a" / "b", True).name == "x"


def test_the_clock_is_read_and_never_set():
    (row,) = machine_checks.clock()
    assert row.name == "clock"
