"""What a shell profile left for ROS, looked at before ROS reads it: each variable, and real processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.front.cli import main
from robomarl.ros.environment_check import installed
from robomarl.ros.environment_check.check import check_environment
from robomarl.ros.io.environment import PROFILES, environment

GOOD = {name: value for name, value in os.environ.items() if name in ("HOME", "PATH", "LANG")}


def problem(**variables: str) -> str:
    """What is said of an environment with these variables; "" where nothing is wrong."""
    try:
        check_environment({**GOOD, **variables})
    except UserError as error:
        return str(error)
    return ""


WRONG = [
    ("RMW_IMPLEMENTATION", "rmw_cyclonedds_cp", "is not installed"),
    ("RCL_ASSERT_RMW_ID_MATCHES", "rmw_x", "is not installed"),
    ("ROS_DOMAIN_ID", "abc", "whole number from 0 to 232"),
    ("ROS_DOMAIN_ID", "300", "whole number from 0 to 232"),
    ("ROS_DOMAIN_ID", "-1", "whole number from 0 to 232"),
    ("ROS_DOMAIN_ID", "7.0", "whole number from 0 to 232"),
    ("ROS_LOCALHOST_ONLY", "yes", "must be 0 or 1"),
    ("RCUTILS_COLORIZED_OUTPUT", "true", "must be 0 or 1"),
    ("RCUTILS_LOGGING_BUFFERED_STREAM", "on", "must be 0 or 1"),
    ("RCUTILS_LOGGING_USE_STDOUT", "2", "must be 0 or 1"),
    ("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNETT", "did you mean 'SUBNET'?"),
    ("ROS_AUTOMATIC_DISCOVERY_RANGE", "localhost", "did you mean 'LOCALHOST'?"),
    ("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF", "no node would find another"),
    ("ROS_STATIC_PEERS", "10.0.0.1 10.0.0.2", "no host name or address"),
    ("FASTDDS_DEFAULT_PROFILES_FILE", "{folder}/none.xml", "can't be read (No such file or directory)"),
    ("FASTRTPS_DEFAULT_PROFILES_FILE", "{folder}/broken.xml", "is no XML"),
    ("FASTDDS_DEFAULT_PROFILES_FILE", "{folder}/other.xml", "it begins with <robot>, not <dds>"),
    ("CYCLONEDDS_URI", "file://{folder}/none.xml", "is not a file"),
    ("ROS_SECURITY_ENABLE", "true", "ROS_SECURITY_KEYSTORE is not set"),
    ("HOME", "{folder}/file", "ROS can't write its logs"),
    ("ROS_HOME", "{folder}/file", "ROS can't write its logs"),
    ("ROS_LOG_DIR", "{folder}/file/log", "set ROS_LOG_DIR to a folder that can be written"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "broken.xml").write_text("<dds><profiles>")
    (tmp_path / "other.xml").write_text("<robot/>")
    (tmp_path / "file").write_text("")
    return tmp_path


@pytest.mark.parametrize(("name", "value", "words"), WRONG, ids=[f"{name}={value}" for name, value, _ in WRONG])
def test_a_wrong_value_is_one_sentence_with_name_value_and_mend(folder: Path, name: str, value: str, words: str):
    if words == "is not installed":
        pytest.importorskip("rclpy")
    value = value.format(folder=folder)
    said = problem(**{name: value})
    assert said.startswith(f"{name}={value}: ")
    assert words in said
    assert "\n" not in said


def test_values_that_ros_knows_are_taken(folder: Path):
    (folder / "mine.xml").write_text('<dds xmlns="http://www.eprosima.com"><profiles/></dds>')
    for name, values in {
        "ROS_DOMAIN_ID": ("", "0", "42", "232"),
        "ROS_LOCALHOST_ONLY": ("", "0", "1"),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": ("", "SUBNET", "LOCALHOST", "SYSTEM_DEFAULT"),
        "ROS_STATIC_PEERS": ("10.0.0.1;robot-1.local;[::1]".replace("[::1]", "::1"),),
        "FASTDDS_DEFAULT_PROFILES_FILE": ("", str(PROFILES), str(folder / "mine.xml")),
        "CYCLONEDDS_URI": ("", "<CycloneDDS/>", f"file://{folder}/mine.xml,{folder}/mine.xml"),
        "ROS_LOG_DIR": (str(folder / "a" / "b"), "~"),
        "RMW_IMPLEMENTATION": ("",),
        "AMENT_PREFIX_PATH": ("", "/nowhere"),
    }.items():
        for value in values:
            assert problem(**{name: value}) == "", (name, value)
    assert problem(ROS_SECURITY_ENABLE="true", ROS_SECURITY_KEYSTORE=str(folder)) == ""
    assert "there is no such folder" in problem(ROS_SECURITY_ENABLE="true", ROS_SECURITY_KEYSTORE=f"{folder}/none")


def test_all_that_is_wrong_is_said_at_once():
    said = problem(ROS_DOMAIN_ID="abc", ROS_LOCALHOST_ONLY="yes")
    assert "ROS_DOMAIN_ID=abc" in said and "ROS_LOCALHOST_ONLY=yes" in said
    assert problem(HOME="").startswith("HOME is not set")


def test_a_ros_of_another_python_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As in an environment of Python 3.11 in a shell in which a ROS for 3.12 was sourced."""
    packages = tmp_path / "lib" / "site-packages"
    (packages / "rclpy").mkdir(parents=True)
    (packages / "rclpy" / "__init__.py").write_text("")
    (packages / "rclpy" / "_rclpy_pybind11.cpython-37-x86_64-linux-gnu.so").write_text("")
    code = "from robomarl.ros.environment_check.check import check_environment\ncheck_environment()"
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert f"PYTHONPATH={packages}: the rclpy in {packages}/rclpy is for cpython-37-" in done.stderr
    monkeypatch.setattr(installed, "rclpy_folder", lambda: None)
    assert "ROS_DISTRO=jazzy: Python" in problem(ROS_DISTRO="jazzy")
    assert "source /opt/ros/jazzy/setup.bash" in problem(ROS_DISTRO="jazzy")


def test_a_middleware_of_a_workspace_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A distribution finds middlewares in every folder of AMENT_PREFIX_PATH."""
    for prefix, name in (("ros", "rmw_fastrtps_cpp"), ("workspace", "rmw_cyclonedds_cpp")):
        (tmp_path / prefix / installed.MIDDLEWARES).mkdir(parents=True)
        (tmp_path / prefix / installed.MIDDLEWARES / name).write_text("")
    monkeypatch.setattr(installed, "rclpy_folder", lambda: tmp_path / "ros" / "lib" / "rclpy")
    wanted = {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"}
    assert "installed: rmw_fastrtps_cpp." in problem(**wanted).replace("did you mean 'rmw_fastrtps_cpp'?", "")
    assert problem(**wanted, AMENT_PREFIX_PATH=f"{tmp_path}/ros:{tmp_path}/workspace") == ""


def test_a_profile_under_its_old_name_is_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("FASTDDS_DEFAULT_PROFILES_FILE", raising=False)
    monkeypatch.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", "mine.xml")
    assert environment(True)["FASTDDS_DEFAULT_PROFILES_FILE"] == "mine.xml"


@pytest.mark.parametrize("words", [
    ("up", "local_4", "--sim", "mujoco", "--no-record", "--duration", "1"),
    ("demo", "--quick"),
    ("fleet", "check", "local_4"),
])  # fmt: skip
@pytest.mark.parametrize(("name", "value"), [("RMW_IMPLEMENTATION", "rmw_other"), ("ROS_STATIC_PEERS", "a b")])
def test_commands_look_before_they_begin(
    words: tuple[str, ...],
    name: str,
    value: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
):
    pytest.importorskip("rclpy")
    monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert main([*words]) == 1
    assert f"robomarl {words[0]}: {name}={value}: " in capsys.readouterr().err
    assert not list(tmp_path.iterdir()), "it has begun"


NODES = ("robomarl.ros.monitor_node", "robomarl.ros.policy_node", "robomarl.ros.recorder_node")


@pytest.mark.ros
@pytest.mark.parametrize("module", NODES)
@pytest.mark.parametrize(("name", "value"), [("ROS_DOMAIN_ID", "abc"), ("HOME", "/dev/null"), ("ROS_DOMAIN_ID", "300")])
def test_a_node_ends_with_the_sentence(module: str, name: str, value: str):
    """Of real processes, before: tracebacks of rclpy, and a port number that is too high."""
    pytest.importorskip("rclpy")
    done = subprocess.run(
        [sys.executable, "-m", module], env={**os.environ, name: value}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{name}={value}: ")


@pytest.mark.ros
@pytest.mark.parametrize("module", NODES)
def test_what_systemd_starts_names_a_middleware_that_is_not_installed(module: str):
    """The node's own module imports ROS, which ends the process with status 102."""
    pytest.importorskip("rclpy")
    words = [sys.executable, "-m", "robomarl.ros.environment_check.start", module]
    wrong = {**os.environ, "RMW_IMPLEMENTATION": "rmw_other"}
    done = subprocess.run(words, env=wrong, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{module.rpartition('.')[2]}: RMW_IMPLEMENTATION=rmw_other: is not installed; ")


@pytest.mark.ros
def test_what_ros_refuses_else_is_a_sentence_too():
    pytest.importorskip("rclpy")
    words = [sys.executable, "-m", "robomarl.ros.monitor_node", "--ros-args", "-p", "base:="]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ROS did not start: failed to initialize rcl: Couldn't parse")
    assert "Traceback" not in done.stderr
