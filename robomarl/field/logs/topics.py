"""`table_of_topics`: logs whose quantities come in topics, each with its own times, as one table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from robomarl.core.config import UserError, suggest
from robomarl.field.logs.layout import ReadColumns
from robomarl.field.logs.logged_topic import LoggedTopic

PX4_MOTORS = "actuator_motors"
"""Topic of PX4 in which a motor that is off has NaN, as every disarmed one."""


def table_of_topics(file: Path, read: ReadColumns) -> tuple[np.ndarray, np.ndarray]:
    """Return the times [K] of the messages of the topic `read.time`, and [K, C] numbers of its columns.

    Between two messages of a topic its values are linear; rows before the first message of any topic, or after the last
    one, are left out.

    Raises:
        UserError: the log can't be read, or lacks a topic or a field.
    """
    wanted = fields_of((*read.columns, f"{read.time}:"))
    topics = _read(file, read.format, wanted)
    columns = {name: _column(file, name, topics) for name in read.columns}
    for group in read.quaternions:
        columns |= _continuous({name: columns[name] for name in group})
    rows_s, _ = _increasing(file, read.time, _topic(file, read.time, topics).time_s)
    first = max([rows_s[0], *(time_s[0] for time_s, _ in columns.values())])
    last = min([rows_s[-1], *(time_s[-1] for time_s, _ in columns.values())])
    rows_s = rows_s[(rows_s >= first) & (rows_s <= last)]
    if len(rows_s) < 2:
        raise UserError(
            f"{file}: its topics have no time in common; leave those out that were logged for moments only."
        )
    return rows_s, np.stack([np.interp(rows_s, *columns[name]) for name in read.columns], -1)


def fields_of(columns: Sequence[str]) -> dict[str, list[str]]:
    """Return the fields that are wanted of each topic, from names `TOPIC:FIELD`."""
    found: dict[str, list[str]] = {}
    for column in columns:
        topic, _, field = column.rpartition(":")
        found.setdefault(topic, []).extend([field] if field else [])
    return found


def _read(file: Path, kind: str, wanted: Mapping[str, Sequence[str]]) -> dict[str, LoggedTopic]:
    """All topics of ULog and of Crazyflies; those that are wanted of MCAP, which may hold films."""
    if kind == "ulog":
        from robomarl.field.logs.ulog import read_ulog

        return read_ulog(file, wanted)
    if kind == "crazyflie":
        from robomarl.field.logs.crazyflie_card import read_card

        return read_card(file)
    from robomarl.field.logs.mcap_log import read_mcap

    return read_mcap(file, wanted)


def _topic(file: Path, name: str, topics: Mapping[str, LoggedTopic]) -> LoggedTopic:
    if name not in topics:
        raise UserError(f"{file}: there is no topic {name!r}; {suggest(name, sorted(topics))}")
    if not len(topics[name].time_s):
        raise UserError(f"{file}: topic {name!r} has no message; leave its columns out of the layout.")
    return topics[name]


def _column(file: Path, name: str, topics: Mapping[str, LoggedTopic]) -> tuple[np.ndarray, np.ndarray]:
    """Increasing times [N] and values [N]."""
    topic, _, field = name.rpartition(":")
    found = _topic(file, topic, topics)
    if field not in found.fields:
        raise UserError(f"{file}: topic {topic!r} has no field {field!r}; {suggest(field, sorted(found.fields))}")
    values = np.asarray(found.fields[field], float)
    if topic == PX4_MOTORS:
        values = np.nan_to_num(values, nan=0.0)  # a motor that is off
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise UserError(f"{file}: column {name!r} is {values[row]} in message {row + 1}; name a field that is filled.")
    time_s, kept = _increasing(file, topic, found.time_s)
    return time_s, values[kept]


def _increasing(file: Path, topic: str, time_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and rows, where the last of several messages with one time counts."""
    steps = np.diff(time_s)
    if (steps < 0).any():
        raise UserError(
            f"{file}: the time of topic {topic!r} runs backwards in message {int(np.argmax(steps < 0)) + 2}."
        )
    kept = np.concatenate([steps > 0, [True]])
    return time_s[kept], kept


def _continuous(
    parts: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Parts of a quaternion whose sign never jumps, so that values between two messages are attitudes."""
    if not parts or len({len(time_s) for time_s, _ in parts.values()}) > 1:
        return dict(parts)
    quat = np.stack([values for _, values in parts.values()], -1)
    flips = np.cumprod(np.concatenate([[1.0], np.where((quat[1:] * quat[:-1]).sum(-1) < 0, -1.0, 1.0)]))
    return {name: (time_s, values * flips) for name, (time_s, values) in parts.items()}
