"""`read_foreign`: the state estimates and commands of every robot of a recording of other software."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message

from robomarl.core.config import UserError
from robomarl.field.foreign_bags.layout import ForeignLayout
from robomarl.field.foreign_bags.messages import COMMANDS, SeenState, ToldCommand, estimate_readers
from robomarl.field.foreign_bags.motion import body_rates, in_recorder_time, newest_only, parts_by_clock, slopes
from robomarl.field.replay.bag import RecordedMessage, open_bag
from robomarl.ros.io.messages import Message
from robomarl.ros.io.node_base import message_class

LEAST = 3
"""Estimates between two jumps of a clock; fewer say nothing of motion."""
VELOCITY, RATES = "velocity", "body rates"
"""Parts of the state that may be computed instead of read."""


class ForeignRobot(NamedTuple):
    """One robot, by the recorder's clock; K estimates and C commands."""

    seen_s: np.ndarray
    """[K] increasing within each part."""
    state: np.ndarray
    """[K, 13] position, attitude wxyz, velocity (world), body rates."""
    part: np.ndarray
    """[K] which part between two jumps of a clock."""
    sent_s: np.ndarray
    """[C]."""
    command: np.ndarray
    """[C, 4] acceleration, world, and yaw rate."""
    estimated: tuple[str, ...]
    """Parts of the state that were not in the recording."""


class ForeignRecording(NamedTuple):
    """Content of a recording of other software."""

    robots: dict[str, ForeignRobot]
    problems: tuple[str, ...]
    """Sentences, one for each thing that is missing or was repaired."""


def read_foreign(folder: Path, layout: ForeignLayout) -> ForeignRecording:
    """Read a bag by a layout.

    Args:
        folder: folder of the bag.
        layout: names of the robots and their topics.

    Returns:
        Robots with estimates, and sentences on missing data.

    Raises:
        UserError: no bag, no estimate of any robot, or the types of its messages are not installed.
    """
    bag = open_bag(folder)
    series = {name: _Series(name, layout, namespace) for name, namespace in layout.robots.items()}
    takers = {topic: take for one in series.values() for topic, take in one.takers().items()}
    for heard in bag.messages():
        if heard.topic in takers:
            takers[heard.topic](heard)
    robots, problems = {}, [*bag.problems]
    for name, one in series.items():
        made, said = one.finish()
        problems += said
        if made is not None:
            robots[name] = made
    problems += _strangers(bag.kinds, layout)
    if not robots:
        wanted = f"/{next(iter(layout.robots.values()))}/{layout.topics.estimate}"
        has = ", ".join(sorted(bag.kinds)[:8]) or "nothing"
        said = f"{folder}: holds no state estimate, as on {wanted}; it holds {has}; mend --layout."
        raise UserError(" ".join([said, *bag.problems]))
    return ForeignRecording(robots, tuple(problems))


def _strangers(topics: Iterable[str], layout: ForeignLayout) -> list[str]:
    """Return a sentence on vehicles of this kind that the layout does not name, perhaps of another fleet."""
    end, known = f"/{layout.topics.estimate}", {f"/{namespace}" for namespace in layout.robots.values()}
    others = sorted({topic.removesuffix(end) for topic in topics if topic.endswith(end)} - known)
    return [f"the layout does not name {', '.join(others)}, which the bag has too; left out."] if others else []


class _Series:
    """Messages read of one robot."""

    def __init__(self, name: str, layout: ForeignLayout, namespace: str) -> None:
        self._name, self._layout, self._namespace = name, layout, namespace.strip("/")
        self._seen: list[tuple[float, SeenState]] = []
        self._told: list[tuple[float, ToldCommand]] = []
        self._problems: dict[str, str] = {}

    def takers(self) -> dict[str, Callable[[RecordedMessage], None]]:
        """Return the handlers of messages by topic."""
        names, readers = self._layout.topics, estimate_readers(self._layout.stack)
        own = ((names.estimate, readers, self._seen), (names.command, COMMANDS, self._told))
        return {f"/{self._namespace}/{topic}": self._taker(rows, kinds) for topic, kinds, rows in own}

    def _taker(
        self, rows: list, readers: Mapping[str, Callable[[Message], tuple]]
    ) -> Callable[[RecordedMessage], None]:
        def take(heard: RecordedMessage) -> None:
            kind = heard.kind
            if kind not in readers:
                self._problems[heard.topic] = f"{heard.topic} is of type {kind}; read are {', '.join(readers)}."
                return
            message = _decoded(heard, kind)
            try:
                if message is None:
                    raise ValueError("can't be decoded")
                found = readers[kind](message)
                if not all(np.isfinite(part).all() for part in found[:3]):
                    raise ValueError("has numbers that are none")
                rows.append((heard.received_s, found))
            except ValueError as error:
                self._problems[heard.topic] = f"{heard.topic}: a message {error}; such are left out."

        return take

    def finish(self) -> tuple[ForeignRobot | None, list[str]]:
        """Return the robot, None without estimates, and sentences on its missing data."""
        problems = list(self._problems.values())
        if not self._seen:
            return None, [*problems, f"{self._name}: the bag has no state estimate of it."]
        seen_s, state, part, estimated, jumps = _states(self._seen)
        problems += [f"{self._name}: a clock jumps by {size:+.1f} s; the flight is cut there." for size in jumps]
        problems += [f"{self._name}: its {what} is not in the bag and was worked out." for what in estimated]
        if not len(seen_s):
            return None, [*problems, f"{self._name}: no two estimates are of one clock."]
        if not self._told:
            problems.append(f"{self._name}: the bag has no command to it; nothing is learned from its own motion.")
        sent_s, command = _commands(self._told)
        return ForeignRobot(seen_s, state, part, sent_s, command, estimated), problems


def _decoded(heard: RecordedMessage, kind: str) -> Message | None:
    """The message; None where its bytes are no such message. Raises `UserError` where its package is missing."""
    try:
        return deserialize_message(heard.data, message_class(kind))
    except ModuleNotFoundError:
        package = kind.split("/")[0]
        raise UserError(
            f"{heard.topic}: {package} is not installed; source the workspace that has it, or install it."
        ) from None
    except Exception:
        return None


def _states(
    rows: list[tuple[float, SeenState]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[str, ...], list[float]]:
    """Return stamps, states, parts, the names of computed parts of the state, and the sizes of the clocks' jumps."""
    received = np.array([at_s for at_s, _ in rows])
    stamps = np.array([seen.stamp_s for _, seen in rows])
    state = np.array([np.concatenate(seen[1:]) for _, seen in rows])
    cuts = parts_by_clock(received, stamps)
    late = received - stamps
    jumps = [float(late[b.start] - late[a.stop - 1]) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
    found, estimated = [], set()
    for number, cut in enumerate(cuts):
        fresh = newest_only(stamps[cut]) + cut.start
        if len(fresh) < LEAST:
            continue
        at_s, own = in_recorder_time(received[fresh], stamps[fresh]), state[fresh]
        for name, columns, worked_out in ((VELOCITY, slice(7, 10), own[:, :3]), (RATES, slice(10, 13), own[:, 3:7])):
            if (missing := ~np.isfinite(own[:, columns]).all(-1)).any():
                made = slopes(at_s, worked_out) if name == VELOCITY else body_rates(at_s, worked_out)
                own[missing, columns] = made[missing]
                estimated.add(name)
        found.append((at_s, own, np.full(len(at_s), number)))
    every = [np.concatenate(column) for column in zip(*found, strict=True)] if found else [np.zeros(0)] * 3
    return every[0], every[1], every[2], tuple(sorted(estimated, reverse=True)), jumps


def _commands(rows: list[tuple[float, ToldCommand]]) -> tuple[np.ndarray, np.ndarray]:
    """Return when each command was sent, by the recorder's clock, and the commands."""
    if not rows:
        return np.zeros(0), np.zeros((0, 4))
    received, stamps = np.array([at_s for at_s, _ in rows]), np.array([told.stamp_s for _, told in rows])
    times = [in_recorder_time(received[cut], stamps[cut]) for cut in parts_by_clock(received, stamps)]
    return np.concatenate(times), np.array([told.command for _, told in rows])
