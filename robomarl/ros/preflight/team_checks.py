"""Checks of a team: requirements on all its robots together. No ROS."""

from collections import Counter
from itertools import combinations
from urllib.parse import urlparse

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet
from robomarl.ros.preflight.checks import rows_of
from robomarl.ros.preflight.seen import CheckRow, Needs, TeamSeen
from robomarl.ros.vehicle_topics.crazyflie_uris import check_uris


def all_rows(seen: TeamSeen, needs: dict[str, Needs]) -> list[CheckRow]:
    """Every check of every robot, then those of the team."""
    rows = [row for name, robot in seen.robots.items() for row in rows_of(robot, needs[name])]
    found = {"monitor": _monitor(seen), "E-stop": _estop(seen), "recorder": _recorder(seen), "names": _names(seen)}
    found |= {"topics": _topics(seen), "bundle": _bundle(seen), "apart": _apart(seen, needs)}
    return rows + [CheckRow("", name, *result) for name, result in found.items()]


def radios(fleet: Fleet) -> CheckRow:
    """Check Crazyflies by radio, over one dongle or several: each URI is valid, and no two name one vehicle."""
    robots = [robot for robot in fleet.own if urlparse(robot.uri).scheme == "radio"]
    if not robots:
        return CheckRow("", "radios", None, "no robot is reached by radio")
    uris = tuple(robot.uri for robot in robots)
    try:
        check_uris(uris, tuple(robot.name for robot in robots))
    except UserError as error:
        return CheckRow("", "radios", False, str(error))
    dongles = sorted({urlparse(uri).netloc for uri in uris})
    which = "radio" if len(dongles) == 1 else "radios"
    return CheckRow("", "radios", True, f"{len(robots)} vehicles over {which} {', '.join(dongles)}")


def _monitor(seen: TeamSeen) -> tuple[bool | None, str]:
    if not seen.monitors:
        return False, "nobody publishes the E-stop: start the monitor, on one machine"
    if len(seen.monitors) > 1:
        return False, f"several nodes publish the E-stop: {', '.join(seen.monitors)}"
    return True, ", ".join(seen.monitors)


def _estop(seen: TeamSeen) -> tuple[bool | None, str]:
    if seen.pressed is None:
        return False, "nothing is heard of it"
    return (False, "is pressed: release it, then all/reset") if seen.pressed else (True, "released")


def _recorder(seen: TeamSeen) -> tuple[bool | None, str]:
    return (True, seen.recorder) if seen.recorder else (None, "nothing is recorded")


def _topics(seen: TeamSeen) -> tuple[bool | None, str]:
    """Check quality of service and message types of all publishers."""
    return (False, "; ".join(seen.unheard)) if seen.unheard else (True, "every publisher is received")


def _names(seen: TeamSeen) -> tuple[bool | None, str]:
    twice = sorted(name for name, count in seen.nodes.items() if count > 1)
    return (False, f"two nodes are called {twice[0]}: stop one") if twice else (True, f"{len(seen.nodes)} nodes")


def _bundle(seen: TeamSeen) -> tuple[bool | None, str]:
    """Check that all robots have one bundle, one contract and one version of robomarl."""
    said = {name: robot.announced for name, robot in seen.robots.items() if robot.announced}
    if len(said) < 2:
        return None, "no two robots announced themselves"
    for what, key in (("bundle", "bundle_id"), ("contract", "contract"), ("robomarl", "robomarl")):
        values = {name: getattr(announced, key) for name, announced in said.items()}
        most = Counter(values.values()).most_common(1)[0][0]
        if other := {name: value for name, value in values.items() if value != most}:
            name, value = next(iter(other.items()))
            return False, f"{name} has {what} {value[:12] or '(none)'}, the others {most[:12]}"
    return True, f"all have {next(iter(said.values())).bundle_id[:12]}"


def _apart(seen: TeamSeen, needs: dict[str, Needs]) -> tuple[bool | None, str]:
    """Check that no robot is within another one's safety distance."""
    places = {name: robot.odometry[-1].estimate.pos_m for name, robot in seen.robots.items() if robot.odometry}
    if len(places) < 2:
        return None, "no two robots have odometry"
    size, (a, b) = min((float(np.linalg.norm(places[a] - places[b])), (a, b)) for a, b in combinations(places, 2))
    most = needs[a].vehicle.safety.separation_m
    if size < most:
        return False, f"{a} and {b} are {size:.2f} m apart, separation_m is {most:g}; or one has the other's odometry"
    return True, f"{size:.2f} m, {a} and {b}"
