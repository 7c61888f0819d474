"""`Report`: what came of one robot; and how many are asked at once."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from robomarl.config import UserError
from robomarl.fleet.robot import Robot

Robots = Mapping[str, Robot]
Look = Callable[[Robot], dict[str, Any]]
"""Asks one robot; returns fields of its `Report`."""


@dataclass(frozen=True)
class Report:
    """What happened to one robot."""

    name: str
    ok: bool = True
    previous: str | None = None
    """Id that rollback would go to, afterwards."""
    current: str | None = None
    """Id that is current, afterwards."""
    seconds: float = 0.0
    """Spent on this robot."""
    reason: str = ""
    """Why it is not ok, or what was special."""
    absent: bool = False
    """Could not be connected to, and was left out."""
    healthy: bool | None = None
    """Whether it was seen to be well on `current` before that was confirmed; None where nobody looked."""
    latency_p50_us: float | None = None
    """One decision, view to command, timed on the robot."""
    latency_p99_us: float | None = None
    bundles: tuple[str, ...] = field(default=(), compare=False)
    """Ids that are on the robot, or that prune removed."""
    facts: dict[str, Any] = field(default_factory=dict, compare=False)
    """What status found."""


def each(robots: Robots, look: Look) -> list[Report]:
    """Ask all robots at once; one that can't answer is a report that is not ok."""

    def one(name: str) -> Report:
        start, robot = time.perf_counter(), robots[name]
        try:
            found = look(robot)
        except UserError as error:
            found = {"ok": False, "reason": str(error)}
        except Exception as error:  # whatever one robot brings about, the others have their rows
            found = {"ok": False, "reason": f"{name}: its answer can't be understood ({type(error).__name__})."}
        try:
            return _report(robot, found, time.perf_counter() - start)
        finally:
            robot.close()

    with ThreadPoolExecutor(len(robots)) as pool:
        return list(pool.map(one, robots))


def _report(robot: Robot, found: dict[str, Any], seconds: float) -> Report:
    values = {**found, "bundles": tuple(found.get("bundles", ()))}
    try:
        state = robot.state()
    except UserError as error:
        reason = found.get("reason", str(error))
        return Report(robot.name, False, seconds=seconds, reason=reason)
    return Report(robot.name, previous=state.previous, current=state.current, seconds=seconds, **values)
