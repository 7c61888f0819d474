"""Completeness of a recording: messages that have arrived recently, by robot. No ROS here."""

import math
from collections.abc import Callable, Iterable

from robomarl.ros import topics
from robomarl.ros.recording.watch import QUIET_S, RECORDED, Told
from robomarl.ros.robot.health import ERROR, OK, WARN

STEADY = (topics.ODOMETRY, topics.TICK, topics.ANNOUNCE)
"""Topics on which every robot publishes all the time."""


class Arrivals:
    """When something came last, on every topic that a recording can't do without."""

    def __init__(self, team: Iterable[str], base: str, sim: bool) -> None:
        """Nothing has come."""
        self._team, self._last_s = tuple(team), {}
        self._names = {robot: {topic.of(robot, base): topic.name for topic in STEADY} for robot in self._team}
        shared = [topics.ESTOP.of("", base), *([topics.TRUTH.of("sim", base)] if sim else [])]
        self._shared = tuple(shared)

    def note(self, name: str, steady_s: float) -> None:
        """Something came on a topic."""
        self._last_s[name] = steady_s

    def told(self, steady_s: float, is_published: Callable[[str], bool]) -> Told:
        """Return the state of the recording, with the topics that are missing now.

        Args:
            steady_s: current time [s].
            is_published: returns True if a topic has a publisher; the absence of a robot without any is
                less severe.
        """
        late = {name for name in self._all() if steady_s - self._last_s.get(name, -math.inf) > QUIET_S}
        robots = {r: [short for name, short in names.items() if name in late] for r, names in self._names.items()}
        there = {r: any(map(is_published, self._names[r])) or len(gone) < len(STEADY) for r, gone in robots.items()}
        missing = [f"{r}: {', '.join(gone)}" for r, gone in robots.items() if gone]
        missing += [name for name in self._shared if name in late]
        bad = not any(there.values()) or any(gone and there[r] for r, gone in robots.items())
        bad = bad or any(name in late and is_published(name) for name in self._shared)
        text = f"records nothing of {'; '.join(missing)}" if missing else "recording"
        said = {r: f"nothing of {', '.join(gone)}" if gone else RECORDED for r, gone in robots.items()}
        return Told(ERROR if bad else WARN if missing else OK, text, said)

    def _all(self) -> Iterable[str]:
        return [*(name for names in self._names.values() for name in names), *self._shared]
