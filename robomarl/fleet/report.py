"""`Report`: result of one robot; and requests to all robots at once."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field

from robomarl.core.config import UserError
from robomarl.fleet.robot import Robot
from robomarl.fleet.serve import Facts
from robomarl.fleet.waiting import Waiting, waits

PING_S, PONG_S = 3.0, 6.0
"""How often robots that wait for others are told that we are still there, and how long each may take to answer [s]."""
AT_ONCE = 8
"""Number of robots that are sent a bundle, or check one, at a time: they share this machine and its radio."""

Robots = Mapping[str, Robot]
Look = Callable[[Robot], Facts]
"""Asks one robot; returns fields of its `Report`."""


@dataclass(frozen=True)
class Report:
    """Result of one robot."""

    name: str
    ok: bool = True
    previous: str | None = None
    """Id that rollback would go to, afterwards."""
    current: str | None = None
    """Id that is current, afterwards."""
    seconds: float = 0.0
    """Spent on this robot."""
    reason: str = ""
    """Reason why it is not ok, or a remark."""
    absent: bool = False
    """Could not be connected to, and was left out."""
    healthy: bool | None = None
    """True if it was seen to be well on `current` before the confirmation; None without a check."""
    latency_p50_us: float | None = None
    """One decision, view to command, timed on the robot."""
    latency_p99_us: float | None = None
    bundles: tuple[str, ...] = field(default=(), compare=False)
    """Ids that are on the robot, or that prune removed."""
    facts: Facts = field(default_factory=dict, compare=False)
    """Facts that status found."""


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

    answered: set[str] = set()

    def noted(name: str) -> Report:
        report = one(name)
        answered.add(name)
        return report

    def silent() -> str:
        return f"the answers of {', '.join(name for name in robots if name not in answered)}"

    with ThreadPoolExecutor(len(robots)) as pool, waits(silent):
        return list(pool.map(noted, robots))


@dataclass(frozen=True)
class Together:
    """Robots that do one step after another, each step at once, while those that wait are told that we are there."""

    robots: Robots
    pool: Executor
    """Threads, one for each robot; each robot gets only one request at a time."""
    step_of: Callable[[str], str] = lambda name: ""
    """Step that a robot is at, for people."""

    def all(self, act: Callable[[str], bool], names: Iterable[str], held: Iterable[str], at_once: int = 0) -> str:
        """Act on robots by name; return the first robot, in their order, for which the act returned False, or
        nothing.

        Args:
            act: does one step of one robot; raises nothing.
            names: names of the robots.
            held: robots that go back if they do not hear from us; asked again at every turn.
            at_once: maximum number of robots at a time; 0: all.
        """
        names, jobs, good, pings = list(names), {}, {}, {}
        queue, next_s = deque(names), time.monotonic() + PING_S
        waiting = Waiting(lambda: self._busy(jobs.values()))
        while queue or jobs:
            waiting.look()
            while queue and len(jobs) < (at_once or len(names)):
                name = queue.popleft()
                wait(pings.pop(name, ()))
                jobs[self.pool.submit(act, name)] = name
            done, _ = wait(jobs, max(next_s - time.monotonic(), 0.0), FIRST_COMPLETED)
            good |= {jobs.pop(job): job.result() for job in done}
            if (queue or jobs) and time.monotonic() >= next_s:
                next_s = time.monotonic() + PING_S
                self._ping([name for name in list(held) if name not in jobs.values()], pings)
        wait([ping for sent in pings.values() for ping in sent])
        return next((name for name in names if not good[name]), "")

    def _busy(self, names: Iterable[str]) -> str:
        """Return the robots that are at work, each with its step."""
        steps = {name: self.step_of(name) for name in names}
        return ", ".join(f"{name} ({step})" if step else name for name, step in steps.items())

    def _ping(self, names: list[str], pings: dict[str, tuple[Future]]) -> None:
        """Ping side by side: a robot that does not answer must not keep the rest waiting until they give up."""
        for name in names:
            if all(ping.done() for ping in pings.get(name, ())):
                pings[name] = (self.pool.submit(self._say, name),)

    def _say(self, name: str) -> None:
        with suppress(UserError):  # the next step of this robot is told
            self.robots[name].call("ping", within_s=PONG_S)


def _report(robot: Robot, found: Facts, seconds: float) -> Report:
    values = {**found, "bundles": tuple(found.get("bundles", ()))}
    try:
        state = robot.state()
    except UserError as error:
        reason = found.get("reason", str(error))
        return Report(robot.name, False, seconds=seconds, reason=reason)
    return Report(robot.name, previous=state.previous, current=state.current, seconds=seconds, **values)
