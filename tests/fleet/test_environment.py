"""A robot's environment is switched like a bundle: the new one answers, or the old one is kept."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import RobotConfig
from robomarl.fleet.install import environment as install
from robomarl.fleet.install.remote_install import RemoteInstall
from robomarl.fleet.preflight import Need, problems
from robomarl.fleet.store import Store

ABOUT = {"unit": "robot.service", "lock": "onboard.txt", "wheel": "robomarl.whl", "no_index": True, "who": "me@here"}


def interpreter(folder: Path, root: Path, code: str = "") -> None:
    """What stands for an environment: a Python that has robomarl, and runs some code first."""
    (folder / "bin").mkdir(parents=True)
    (folder / "sitecustomize.py").write_text(code)
    script = folder / "bin/python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:{root}" exec {sys.executable} "$@"\n')
    script.chmod(0o755)


@pytest.fixture
def robot(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A robot on which pip has nothing to do: `CODE` of the sent folder runs in its new environment."""

    def fill(made: Path, sent: Path, about: dict) -> None:
        interpreter(made, root, (sent / "code.py").read_text())
        install.put(sent / "policy_node.sh", made / "policy_node.sh")

    monkeypatch.setattr(install, "fill", fill)
    return tmp_path


def send(robot: Path, name: str, code: str = "") -> Path:
    sent = robot / f"setup-{name}"
    sent.mkdir()
    (sent / "code.py").write_text(code)
    (sent / "policy_node.sh").write_text(name)
    (sent / "robot.service").write_text(f"unit {name}")
    return sent


def used(robot: Path) -> str:
    return (robot / "venv").resolve().name


def test_a_second_environment_is_switched_to_and_the_one_before_is_kept(robot: Path):
    for name in ("one", "two", "three"):
        install.install(send(robot, name), ABOUT)
        assert used(robot) == name and (robot / "policy_node.sh").read_text() == name
    assert sorted(p.name for p in (robot / "venvs").iterdir()) == ["three", "two"]
    assert (robot / "robot.service").read_text() == "unit three"


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.modules['onnxruntime'] = None",
        "raise SystemExit(3)",
        "import sys; sys.modules['robomarl'] = None",
    ],
)
def test_one_that_does_not_answer_changes_nothing(robot: Path, code: str):
    install.install(send(robot, "one"), ABOUT)
    with pytest.raises(install.InstallError, match="does not answer as it should .*the old one is kept"):
        install.install(send(robot, "two", f"import os, sys\nif 'two' in __file__:\n    {code}"), ABOUT)
    assert used(robot) == "one" and (robot / "robot.service").read_text() == "unit one"
    assert [p.name for p in (robot / "venvs").iterdir()] == ["one"]


def test_one_that_fails_after_the_switch_is_taken_back(robot: Path, monkeypatch: pytest.MonkeyPatch):
    install.install(send(robot, "one"), ABOUT)
    honest, greeted = install.hello, []

    def hello(environment: Path, folder: Path) -> None:
        greeted.append(environment.name)
        if greeted == ["two", "venv"]:
            assert used(robot) == "two"
            raise install.InstallError("gone wrong")
        honest(environment, folder)

    monkeypatch.setattr(install, "hello", hello)
    with pytest.raises(install.InstallError, match="gone wrong"):
        install.install(send(robot, "two"), ABOUT)
    assert used(robot) == "one"
    assert json.loads(subprocess.run([robot / "venv/bin/python", "-c", "print(1)"], capture_output=True).stdout) == 1


ALONE = """
import sys
from pathlib import Path
from robomarl.fleet.install import environment as install
from tests.fleet.test_environment import interpreter
install.fill = lambda made, sent, about: interpreter(made, Path(sys.argv[1]))
install.__file__ = sys.argv[2]
sys.exit(install.main())
"""


def at_work(robot: Path, root: Path, name: str) -> RemoteInstall:
    """`install.py` on a robot on which pip has nothing to do, as ssh would start it."""
    sent = send(robot, name)
    (sent / "install.json").write_text(json.dumps(ABOUT))
    command = ["env", f"PYTHONPATH={root}", sys.executable, "-c", ALONE, str(root), str(sent / "install.py")]
    return RemoteInstall(RobotConfig("robot_0", 0, str(robot), host="here"), command)


@pytest.mark.parametrize("steps", [0, 1])
def test_without_a_word_from_the_operator_a_robot_has_what_it_had(robot: Path, root: Path, steps: int):
    """Another robot failed, or the operator is gone, before the switch or after it."""
    install.install(send(robot, "one"), ABOUT)
    work = at_work(robot, root, "two")
    work.wait_for(install.PREPARED, 60.0)
    assert used(robot) == "one" and "fleet setup" in Store(robot).holder()
    for _ in range(steps):
        work.go_on()
        work.wait_for(install.SWITCHED, 60.0)
        assert used(robot) == "two"
    work.close()
    assert used(robot) == "one" and (robot / "robot.service").read_text() == "unit one"
    assert [p.name for p in (robot / "venvs").iterdir()] == ["one"]
    assert not Store(robot).holder() and not list(robot.glob("setup-two"))


def test_told_twice_to_go_on_a_robot_keeps_the_new_one(robot: Path, root: Path):
    work = at_work(robot, root, "two")
    for step in (install.PREPARED, install.SWITCHED):
        work.wait_for(step, 60.0)
        work.go_on()
    work.finish()
    work.close()
    assert used(robot) == "two" and (robot / "robot.service").read_text() == "unit two"


def test_what_a_robot_says_of_its_failure_is_one_sentence(robot: Path, root: Path):
    with Store(robot).lock("/robot_0/policy_node, which is active,"):
        work = at_work(robot, root, "two")
        with pytest.raises(UserError, match=r"^robot_0 \(here\): .*policy_node, which is active, .*has it now.*pip\.$"):
            work.wait_for(install.PREPARED, 60.0)
        work.close()


def test_a_robot_from_before_keeps_its_folder_as_the_way_back(robot: Path, root: Path):
    interpreter(robot / "venv", root)
    install.install(send(robot, "one"), ABOUT)
    assert used(robot) == "one" and (robot / "venvs/before/bin/python").exists()


CUT = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from robomarl.fleet.install import environment as install
left = [int(sys.argv[2])]
def dying(call):
    def run(*args, **kwargs):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return run
for name in ("rename", "unlink", "symlink_to"):
    setattr(Path, name, dying(getattr(Path, name)))
install.exchange = dying(install.exchange)
install.switch(Path(sys.argv[1]), Path(sys.argv[1]) / "venvs/two")
"""


@pytest.mark.parametrize("old_layout", [False, True])
def test_a_kill_in_the_switch_leaves_the_old_or_the_new(tmp_path: Path, root: Path, old_layout: bool):
    for step in range(20):
        folder = tmp_path / str(step)
        (folder / "venvs/two").mkdir(parents=True)
        (folder / "venvs/two/who").write_text("two")
        old = folder / "venv" if old_layout else folder / "venvs/one"
        old.mkdir()
        (old / "who").write_text("one")
        if not old_layout:
            (folder / "venv").symlink_to("venvs/one")
        done = subprocess.run([sys.executable, "-c", CUT, str(folder), str(step), str(root)])
        assert (folder / "venv/who").read_text() in ("one", "two"), f"step {step}"
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        install.switch(folder, folder / "venvs/two")
        assert used(folder) == "two"
    assert done.returncode == 0 and step >= 2


def test_the_lock_is_the_robots(tmp_path: Path):
    with Store(tmp_path).lock("/robot_0/policy_node, which is active,"):
        with pytest.raises(install.InstallError, match="policy_node, which is active, .*has it now"):
            with install.locked(tmp_path, "me@here"):
                pass
    with install.locked(tmp_path, "me@here"):
        assert "me@here, fleet setup (process" in Store(tmp_path).holder()


def test_a_robot_with_another_robomarl_is_not_flashed():
    from robomarl import __version__

    facts = {"robomarl": __version__, "python": "3.12", "onnxruntime": "1.20", "clock_error_s": 0.0}
    facts |= {"free_bytes": 2**40, "vehicle": "", "holder": ""}
    assert problems(facts, Need("x", 1)) == []
    said = problems({**facts, "robomarl": "0.0.9"}, Need("x", 1))
    assert said == [f"has robomarl 0.0.9, this machine {__version__}; run `robomarl fleet setup`."]


def test_what_runs_on_a_bare_robot_needs_nothing(tmp_path: Path):
    """It is sent alone, before robomarl is there; what was sent is gone afterwards."""
    sent = tmp_path / "setup-one"
    sent.mkdir()
    (sent / "install.py").write_bytes(Path(install.__file__).read_bytes())
    command = [sys.executable, "-I", "-S", str(sent / "install.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "install.json" in done.stderr and "Traceback" not in done.stderr
    assert not sent.exists()
