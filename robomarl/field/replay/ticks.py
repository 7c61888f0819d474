"""`TickTable`: the rows of a `tick` topic by the names of their columns."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message
from std_msgs.msg import Float64MultiArray

from robomarl.ros.recording.tick_record import HEAD, SENSED, SOURCE
from robomarl.ros.robot.inbox import OWN


class TickColumns(NamedTuple):
    """Positions of the numbers in a row."""

    head: dict[str, int]
    nominal: slice
    command: slice
    sources: dict[str, int]
    """Per source, its first column: the odometry, the team-mates, the sensors of the task, in the inbox's order."""
    observation: slice
    seen: tuple[str, ...]
    """Names of the observation's elements."""

    def ages_s(self, row: np.ndarray) -> np.ndarray:
        """Return the time [sources] since the stamp of the data used of each source; +inf if there were none."""
        return row[list(self.sources.values())]


class TickTable:
    """Decodes the messages of one robot's `tick` topic."""

    def __init__(self) -> None:
        """No message has been read."""
        self._label = ""
        self._width = 0
        self.columns: TickColumns | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self._label.split(","))

    def rows(self, data: bytes) -> np.ndarray:
        """[ticks, columns] of one message; [0, 0] where its columns are not those of a `tick` topic."""
        message = deserialize_message(data, Float64MultiArray)
        labels = [dimension.label for dimension in message.layout.dim]
        label: str = labels[1] if len(labels) == 2 else ""
        if label != self._label:
            names = label.split(",")
            self._label, self._width, self.columns = label, len(names), columns_of(names)
        values = np.asarray(message.data, float)
        if self.columns is None or len(values) % self._width:
            return np.zeros((0, 0))
        return values.reshape(-1, self._width)


def columns_of(names: Sequence[str]) -> TickColumns | None:
    """Return the positions of the columns; None if names are missing, because another program wrote these rows."""
    at = {name: i for i, name in enumerate(names)}
    sources = {name.removesuffix(f".{SOURCE[0]}"): i for name, i in at.items() if name.endswith(f".{SOURCE[0]}")}
    nominal, command, seen = (_span(names, prefix) for prefix in ("nominal.", "command.", "obs."))
    if not all(name in at for name in HEAD) or OWN not in sources or nominal == command:
        return None
    head = {name: at[name] for name in HEAD}
    return TickColumns(head, nominal, command, sources, seen, tuple(n.removeprefix("obs.") for n in names[seen]))


def is_sensed(source: str) -> bool:
    """A sensor of the task, not a robot."""
    return source.startswith(SENSED)


def _span(names: Sequence[str], prefix: str) -> slice:
    found = [i for i, name in enumerate(names) if name.startswith(prefix)]
    return slice(found[0], found[-1] + 1) if found else slice(0, 0)
