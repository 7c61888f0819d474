"""Fleet files and robots' answers are data: neither runs anything, writes lines of its own, or stops the others."""

import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import RobotConfig, load_fleet
from robomarl.fleet.pipe import MAX_ANSWER, Pipe
from robomarl.fleet.transport import remote_command, ssh_command
from robomarl.front.cli import main
from robomarl.ros.install.systemd_unit import unit_file

HEAD = "version: 1\nvehicle: crazyflie_21\nscenario: swap_4\n"


def fleet_text(name: str = "lab", folder: str = "robomarl", host: str = "robot_0", more: str = "") -> str:
    row = json.dumps({"name": "robot_0", "index": 0, "folder": folder, "host": host})
    return f"{HEAD}name: {json.dumps(name)}\n{more}\nrobots:\n  - {row}\n"


def loaded(tmp_path: Path, **about: str):
    file = tmp_path / "fleet.yaml"
    file.write_text(fleet_text(**about))
    return load_fleet(str(file))


@pytest.mark.parametrize(
    "name", ["lab\n[Service]\nUser=root\nExecStartPre=+/bin/sh", "a b", "", "-x", "%i", "a/b", "$(id)", "x" * 65, "é\n"]
)
def test_a_fleets_name_is_a_name(name: str, tmp_path: Path):
    with pytest.raises(UserError, match="name = "):
        loaded(tmp_path, name=name)


@pytest.mark.parametrize(
    "folder", ['a"b', "a$b", "a`b", "a\nb", "a;b", "a\\b", "a'b", "-a", "a b", "a%b", "a\x1bb", "~bob/x", "a{b", "*"]
)
def test_a_robots_folder_is_a_path(folder: str, tmp_path: Path):
    with pytest.raises(UserError, match="folder = "):
        loaded(tmp_path, folder=folder)


@pytest.mark.parametrize("folder", ["robomarl", "~/robomarl", "/opt/robo-marl/1.0", "a_b/c+d@e"])
def test_folders_that_are_paths_are_taken(folder: str, tmp_path: Path):
    assert loaded(tmp_path, folder=folder).robots[0].folder == folder


def test_a_folder_here_may_have_blanks_but_no_lines(tmp_path: Path):
    assert loaded(tmp_path, folder="my robots/ä", host="").robots[0].folder == "my robots/ä"
    with pytest.raises(UserError, match="folder = "):
        loaded(tmp_path, folder="a\nb", host="")


def test_what_the_robot_says_of_itself_does_not_reach_the_unit_unread(tmp_path: Path):
    fleet = loaded(tmp_path)
    bad = replace(fleet.robots[0])
    object.__setattr__(bad, "folder", '/x"\nExecStartPre=+/bin/sh')
    with pytest.raises(UserError, match="folder"):
        unit_file(fleet, bad, "pilot")
    with pytest.raises(UserError, match="user"):
        unit_file(fleet, fleet.robots[0], "pilot\nUser=root")
    assert "User=pilot\n" in unit_file(fleet, fleet.robots[0], "pilot")


@pytest.mark.parametrize(
    "line",
    [
        "ProxyCommand touch {ran}",
        "proxycommand=touch {ran}",
        '"ProxyCommand" touch {ran}',
        'Match exec "touch {ran}"\n  Port 1',
        "LocalCommand touch {ran}\nPermitLocalCommand yes",
        "KnownHostsCommand touch {ran}",
        "Include /etc/ssh/ssh_config",
        "PKCS11Provider /tmp/x.so",
    ],
)
def test_ssh_settings_that_a_fleet_file_names_run_nothing(line: str, tmp_path: Path, capsys):
    ran, config = tmp_path / "ran", tmp_path / "ssh_config"
    config.write_text(f"Host robot_0\n    {line.format(ran=ran)}\n")
    file = tmp_path / "fleet.yaml"
    file.write_text(fleet_text(more=f"ssh_config: {config}"))
    assert main(["fleet", "status", str(file)]) == 1
    told = capsys.readouterr()
    assert "ssh_config" in told.out + told.err and not ran.exists()


def test_plain_ssh_settings_are_taken(tmp_path: Path):
    config = tmp_path / "ssh_config"
    config.write_text(
        "# ours\nHost a b\n  HostName 127.0.0.1\n  Port=22\n\n  IdentityFile ~/.ssh/x\n  ProxyJump gate\n"
    )
    assert "-F" in ssh_command(RobotConfig("a", 0, "x", "a"), str(config), "true")


def test_a_file_in_the_robots_home_is_not_imported():
    """`python -m` looks in the working directory first, and that is home."""
    assert " -P -m robomarl.fleet.requests" in remote_command(RobotConfig("a", 0, "x", "a"))


FAKE = """#!{python}
import json, sys
print("robomarl-onboard", flush=True)
for line in sys.stdin.buffer:
    sys.stdin.buffer.read(json.loads(line)["size"])
    print({answer!r}, flush=True)
"""
WRONG = {
    **{"current": "../x", "previous": None, "pending": False, "ids": [], "age_s": 0.0, "verified": "", "holder": ""},
    **{"entries": [3, {}], "signed": True, "names": [3], "protocol": 2, "time_s": "noon"},
}
ANSWERS = {
    "a list": "[1]",
    "no answer": '{"ok": true}',
    "nothing": '{"ok": true, "answer": null}',
    "a number": "7",
    "depth": "[" * 100_000,
    "nested": '{"ok": true, "answer": {"a": ' + "[" * 900 + "]" * 900 + "}}",
    "numbers for ids": json.dumps({"ok": True, "answer": {**WRONG, "current": 3, "ids": 1}}),
    "a path for an id": json.dumps({"ok": True, "answer": WRONG}),
    "lines": json.dumps({"ok": False, "error": "a\nrobot_1  ok  current deadbeef\u001b[2J\u202e"}),
    "noise": "x" * 2**23,
}


@pytest.fixture
def liar(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fleet of a robot that is sound and one that lies, behind an `ssh` of our own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "ssh"
    script.write_text(FAKE.format(python=sys.executable, answer=ANSWERS[request.param]))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    file = tmp_path / "two.yaml"
    rows = "  - {name: liar, index: 0, folder: x, host: liar}\n  - {name: sound, index: 1, folder: sound}\n"
    file.write_text(f"{HEAD}name: two\nrobots:\n{rows}")
    return file


@pytest.mark.parametrize("liar", ANSWERS, indirect=True)
@pytest.mark.parametrize("words", [["fleet", "status"], ["fleet", "log"], ["fleet", "rollback"], ["key", "list"]])
def test_one_bad_answer_is_one_row(liar: Path, words: list[str], tmp_path: Path, capsys):
    assert main([*words, str(liar), "--root", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert "Traceback" not in told.out + told.err
    assert not any(ord(c) < 32 and c != "\n" for c in told.out + told.err)
    rows = [line for line in told.out.splitlines() if line.startswith(("liar  ", "sound  ", "robot_1"))]
    assert [row.split()[0] for row in rows] == ["liar", "sound"], told
    assert "FAILED" in rows[0]


def test_a_flood_is_not_kept(tmp_path: Path):
    code = 'import sys\nprint("robomarl-onboard", flush=True)\nwhile True: sys.stdout.write("x" * 2**16)'
    link = Pipe([sys.executable, "-c", code], "robot")
    link.greet(30.0)
    with pytest.raises(UserError, match="says more than"):
        link.call("state", {}, b"", 60.0)
    assert len(link._buffer) < 2 * MAX_ANSWER
    link.close()
    noisy = Pipe([sys.executable, "-c", code.replace("robomarl-onboard", "hello")], "robot")
    with pytest.raises(UserError, match="talks, but not as robomarl does"):
        noisy.greet(30.0)
    noisy.close()


def test_errors_are_one_line_without_control_characters():
    assert str(UserError("a\nb\x1b[31m\u202ec")) == "a b?[31m?c"
