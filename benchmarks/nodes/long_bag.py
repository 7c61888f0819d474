"""How fast a long recording is replayed, and in how much memory: `python -m benchmarks.nodes.long_bag BAG`.

A short recording of whole flights is repeated until it is long enough, its stamps, ticks and goals counted on, so that
to the replay it is one recording in which the team flies the same again and again. `robomarl replay` then reads it in a
process of its own.
"""

import argparse
import json
import math
import resource
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from robomarl.field.replay.bag import Bag, RecordedMessage, open_bag
from robomarl.field.replay.ticks import TickTable
from robomarl.ros import topics
from robomarl.ros.io.fast_messages import RowsWriter
from robomarl.ros.recording.bag_writer import BagWriter
from robomarl.ros.topics import Topic

STAMPED = (topics.ODOMETRY.type, topics.STATE_AND_PLAN.type, topics.GOAL.type)
"""Types that begin with a header, whose seconds are a whole number behind the four bytes of the encapsulation."""
COUNTED = ("count", "goals")
"""Columns of a tick that count from the start of its node."""


def repeated(bag: Bag, seconds: float) -> Iterator[RecordedMessage]:
    """The messages of a bag again and again, each time so many whole seconds later, for so long."""
    messages = list(bag.messages())
    every_s = math.ceil(messages[-1].received_s - messages[0].received_s) + 1
    tables: dict[str, TickTable] = {}
    last: dict[str, np.ndarray] = {}
    for number in range(math.ceil(seconds / every_s)):
        for message in messages:
            data, shift_s = message.data, number * every_s
            if bag.kinds[message.topic] in STAMPED:
                data = _later(data, shift_s)
            elif message.topic.endswith(f"/{topics.TICK.name}"):
                rows, table = _rows(tables, message)
                if number == 0 and len(rows):
                    last[message.topic] = np.maximum(last.get(message.topic, 0.0), _counted(table, rows).max(0))
                if len(rows):
                    data = _ticked(table, rows, shift_s, number * last[message.topic])
            yield RecordedMessage(message.topic, message.received_s + shift_s, data)


def _later(data: bytes, shift_s: int) -> bytes:
    order = "<" if data[1] & 1 else ">"
    (stamp_s,) = struct.unpack_from(f"{order}i", data, 4)
    return data[:4] + struct.pack(f"{order}i", stamp_s + shift_s) + data[8:]


def _rows(tables: dict[str, TickTable], message: RecordedMessage) -> tuple[np.ndarray, TickTable]:
    table = tables.setdefault(message.topic, TickTable())
    return table.rows(message.data), table


def _counted(table: TickTable, rows: np.ndarray) -> np.ndarray:
    assert table.columns is not None
    return rows[:, [table.columns.head[name] for name in COUNTED]]


def _ticked(table: TickTable, rows: np.ndarray, shift_s: int, more: np.ndarray) -> bytes:
    """Rows of ticks so much later; what counts goes on from where the node's first recording ended."""
    assert table.columns is not None
    head, rows = table.columns.head, rows.copy()
    rows[:, head["stamp_s"]] += shift_s
    rows[:, [head[name] for name in COUNTED]] += more
    return RowsWriter(",".join(table.names), len(table.names))(list(rows))


def write_long(folder: Path, seconds: float, out: Path) -> int:
    """A bag that is so long; returns its messages."""
    bag = open_bag(folder)
    writer, channels = BagWriter(out, bag.about), dict[str, int]()
    for count, message in enumerate(repeated(bag, seconds)):
        if message.topic not in channels:
            topic = Topic(message.topic, bag.kinds[message.topic], False, False, 1, "", "", "")
            channels[message.topic] = writer.add_channel(message.topic, topic, "")
        stamp_ns = round(message.received_s * 1e9)
        writer.write(channels[message.topic], stamp_ns, stamp_ns, message.data)
        if count % 10_000 == 0:
            writer.flush()
    writer.close()
    return writer.count


def measure(folder: Path, temporary: Path) -> dict[str, Any]:
    """What `robomarl replay` of a folder takes, as a command, without the gap to the simulator."""
    figures, page = temporary / "figures.json", temporary / "replay.html"
    command = [sys.executable, "-m", "robomarl", "replay", str(folder), "--no-gap", "--out", str(page)]
    before, started_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*command, "--json", str(figures)], check=True, stdout=sys.stderr)
    took_s, after = time.perf_counter() - started_s, resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(figures.read_text())
    return {
        "recorded_s": found["recorded_s"], "seconds": took_s, "cpu_s": after.ru_utime - before.ru_utime,
        "real_time_factor": found["recorded_s"] / took_s, "peak_mib": after.ru_maxrss / 1024,
        "robots": len(found["robots"]), "ticks": found["ticks"], "action_diff_max": found["action_diff_max"],
    }  # fmt: skip


def main() -> None:
    """Print the figures of a recording and of one that repeats it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bag", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        short = measure(said.bag, temporary)
        messages = write_long(said.bag, said.seconds, temporary / "long")
        print(json.dumps({"short": short, "long": {**measure(temporary / "long", temporary), "messages": messages}}))


if __name__ == "__main__":
    main()
