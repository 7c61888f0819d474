"""`read_mcap`: ROS 2 messages in MCAP, with the types of this machine; a time is when a message was recorded."""

import re
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

import numpy as np
from rclpy.serialization import deserialize_message

from robomarl.core.config import UserError
from robomarl.field.logs.logged_topic import LoggedTopic
from robomarl.field.replay.bag import open_bag
from robomarl.ros.io.node_base import message_class


def read_mcap(file: Path, wanted: Mapping[str, Sequence[str]]) -> dict[str, LoggedTopic]:
    """Return the wanted fields, `pose.position.x` or `ranges[0]`, of the wanted topics; others have no fields.

    Raises:
        UserError: it can't be read, or a field is not in the messages of its topic.
    """
    bag = open_bag(file)
    take = {topic: _taker(file, topic, kind, wanted[topic]) for topic, kind in bag.kinds.items() if topic in wanted}
    times: dict[str, list[float]] = {topic: [] for topic in bag.kinds}
    rows: dict[str, list[list[float]]] = {topic: [] for topic in take}
    for heard in bag.messages():
        if heard.topic in take:
            times[heard.topic].append(heard.received_s)
            rows[heard.topic].append(take[heard.topic](heard.data))
    if bag.problems:
        raise UserError(f"{bag.problems[0].rstrip('.')}; copy it again, or mend it with `mcap recover`.")
    return {
        topic: LoggedTopic(
            np.array(times[topic]),
            dict(zip(wanted.get(topic, ()), np.array(rows.get(topic, [])).T, strict=False)),
        )
        for topic in bag.kinds
    }


def _taker(file: Path, topic: str, kind: str, fields: Sequence[str]) -> Callable[[bytes], list[float]]:
    """Read the fields of a message."""
    of = message_class(kind)
    parts = [_path(field) for field in fields]

    def take(data: bytes) -> list[float]:
        message = deserialize_message(data, of)
        try:
            return [float(part(message)) for part in parts]
        except (AttributeError, IndexError, TypeError) as error:
            raise UserError(f"{file}: topic {topic!r}, {kind}: {error}; mend its columns in the layout.") from None

    return take


def _path(field: str) -> Callable[[object], float]:
    """Getter of `a.b[2].c`."""
    steps = [int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", field)]

    def get(message: object) -> float:
        for step in steps:
            message = message[step] if isinstance(step, int) else attrgetter(step)(message)  # type: ignore[index]
        return message  # type: ignore[return-value]

    return get
