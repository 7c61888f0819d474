"""Checks of ROS 2: its installation, its variables, and a message over the loopback interface. No ROS in here."""

import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from robomarl.front.doctor.finding import Finding, child
from robomarl.ros.environment_check.files import file_problems
from robomarl.ros.environment_check.installed import MIDDLEWARES, NO_MIDDLEWARE, installed_problems, prefix_of
from robomarl.ros.environment_check.installed import rclpy_folder as folder_of_rclpy
from robomarl.ros.environment_check.values import value_problems
from robomarl.ros.io.environment import MAX_DOMAIN, environment

INSTALL = "pip install 'robomarl[ros]', or source the setup.bash of a ROS 2 distribution"
LIMIT_S = 10.0
"""Longest time for a message over loopback [s]; it takes below 1 s where nothing is wrong."""
VARIABLES = ("ROS_DOMAIN_ID", "ROS_DISCOVERY_SERVER", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_LOCALHOST_ONLY")
UNSET = {
    "ROS_DOMAIN_ID": "not set: domain 0",
    "ROS_DISCOVERY_SERVER": "not set: nodes find each other by multicast",
    "ROS_AUTOMATIC_DISCOVERY_RANGE": "not set: the local network",
    "ROS_LOCALHOST_ONLY": "not set: the local network",
}
"""Meaning of each variable's absence."""
ALONE = "nodes on other machines are not found"


def ros_installed() -> Iterator[Finding]:
    """Yield the rows of rclpy and of the middleware."""
    folder = folder_of_rclpy()
    problems = list(installed_problems(os.environ))
    if folder is None:
        yield Finding("ROS 2", "missing", problems[0] if problems else "Python finds no rclpy", INSTALL)
        return
    try:
        release = f"wheel {version('ros-rclpy')}"
    except PackageNotFoundError:
        release = os.environ.get("ROS_DISTRO", "unknown distribution")
    yield Finding("ROS 2", "ok", f"{release}, {folder}")
    prefix = prefix_of(folder)
    names = sorted({file.name for file in (prefix / MIDDLEWARES).glob("*")} - {NO_MIDDLEWARE}) if prefix else []
    asked = os.environ.get("RMW_IMPLEMENTATION", "")
    found = f"{asked or 'RMW_IMPLEMENTATION is not set'}; installed: {', '.join(names) or 'unknown'}"
    yield Finding("RMW", "ok", found) if not problems else by_problem("RMW", problems[0])


def by_problem(name: str, problem: str) -> Finding:
    """Return the row of a sentence of `environment_check`, which has the fix after its last semicolon."""
    found, _, fix = problem.rpartition("; ")
    return Finding(name, "missing", found or problem, fix[:1].upper() + fix[1:])


def ros_variables() -> Iterator[Finding]:
    """Yield a row for each variable of the network, and for each other variable of ROS with a wrong value."""
    problems = [*value_problems(os.environ), *file_problems(os.environ)]
    wrong = {text.partition("=")[0]: text for text in problems}
    for name in VARIABLES:
        if name in wrong:
            yield by_problem(name, wrong.pop(name))
        else:
            yield variable(name, os.environ.get(name, ""))
    yield from (by_problem(name, text) for name, text in wrong.items())


def variable(name: str, value: str) -> Finding:
    """Return the row of a variable with a value that ROS knows."""
    if not value:
        return Finding(name, "ok", UNSET[name])
    if name == "ROS_DOMAIN_ID" and int(value) > MAX_DOMAIN:
        found = f"{value}: Linux gives the ports of domains above {MAX_DOMAIN} to other programs"
        return Finding(name, "note", found, f"export ROS_DOMAIN_ID=N, N from 0 to {MAX_DOMAIN}")
    if (name, value) in ((VARIABLES[2], "LOCALHOST"), (VARIABLES[3], "1")):
        return Finding(name, "note", f"{value}: {ALONE}", f"unset {name}, for robots on other machines")
    if name == "ROS_DISCOVERY_SERVER":
        found = f"{value}: nodes find each other only while this server runs"
        return Finding(name, "note", found, f"Start the server there, or: unset {name}")
    return Finding(name, "ok", value)


def loopback() -> Iterator[Finding]:
    """Yield the row of a message between two contexts, in the environment that `up --sim` gives its nodes."""
    words = ["-m", "robomarl.ros.preflight.loopback", "--limit-s", str(LIMIT_S)]
    end = child(words, environment(sim=True), LIMIT_S + 10)
    if end.ok:
        yield Finding("DDS loopback", "ok", f"a message arrived {end.output} s after the start of two nodes")
        return
    fix = "Allow UDP on the interface lo (firewall, container), and unset ROS_DISCOVERY_SERVER and RMW_IMPLEMENTATION."
    if folder_of_rclpy() is None:
        fix = INSTALL
    yield Finding("DDS loopback", "missing", f"no message within {LIMIT_S:g} s ({end.problem})", fix)
