"""`read_card`: logs that a Crazyflie writes on its micro SD card, whole.

The format is the firmware's (`src/deck/drivers/src/usddeck.c`), little-endian: 0xBC, version and number of kinds of
events (uint16 each); each kind has an id (uint16), a name that ends in 0, the number of its variables (uint16), and
their names as `group.name(f)`, f being a format character of `struct`, each ending in 0. Events are an id, a time
(version 1: uint32 in ms, version 2: uint64 in us) and the values. A CRC-32 of all before it ends the file.
"""

import struct
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

from robomarl.core.config import UserError
from robomarl.field.logs.logged_topic import LoggedTopic

MAGIC = 0xBC
TYPES = frozenset("bBhHiIqQefd")
TIMES = {1: ("I", 1e-3), 2: ("Q", 1e-6)}
"""Type and unit [s] of a time, by version."""


class _Kind(NamedTuple):
    """One kind of events."""

    name: str
    variables: list[str]
    row: np.dtype


def read_card(file: Path) -> dict[str, LoggedTopic]:
    """Return all kinds of events by name.

    Raises:
        UserError: it is no such log, or its end is missing.
    """
    try:
        data = file.read_bytes()
        if len(data) < 9 or data[0] != MAGIC:
            raise UserError(f"{file}: is no log of a Crazyflie's micro SD card, which begins with 0xBC.")
        if crc32(data[:-4]) != struct.unpack("<I", data[-4:])[0]:
            raise UserError(f"{file}: its checksum is wrong; copy it again from the card, after the log was stopped.")
        version, count = struct.unpack("<HH", data[1:5])
        if version not in TIMES:
            raise UserError(f"{file}: is of version {version}; 1 and 2 can be read.")
        kinds, start = _kinds(data, count, version)
        return _events(data, start, kinds, TIMES[version][1])
    except (OSError, IndexError, KeyError, ValueError, struct.error) as error:
        raise UserError(f"{file}: can't be read as a log of a Crazyflie's micro SD card ({error}).") from None


def _kinds(data: bytes, count: int, version: int) -> tuple[dict[int, _Kind], int]:
    """Kinds of events by id, and where the events begin."""
    kinds, at = {}, 5
    for _ in range(count):
        (number,) = struct.unpack_from("<H", data, at)
        name, at = _text(data, at + 2)
        (variables,) = struct.unpack_from("<H", data, at)
        at += 2
        fields: list[tuple[str, str]] = []
        for _ in range(variables):
            word, at = _text(data, at)
            if word[-3] != "(" or word[-2] not in TYPES:
                raise ValueError(f"variable {word!r} of {name!r} has no type that is known")
            fields.append((word[:-3], f"<{_code(word[-2])}"))
        row = np.dtype([("", "<u2"), ("", f"<{_code(TIMES[version][0])}"), *(("", kind) for _, kind in fields)])
        kinds[number] = _Kind(name, [field for field, _ in fields], row)
    return kinds, at


def _code(character: str) -> str:
    """NumPy's code of a format character of `struct`."""
    return {"b": "i1", "B": "u1", "h": "i2", "H": "u2", "i": "i4", "I": "u4", "q": "i8", "Q": "u8",
            "e": "f2", "f": "f4", "d": "f8"}[character]  # fmt: skip


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(0, at)
    return data[at:end].decode("utf-8"), end + 1


def _events(data: bytes, start: int, kinds: dict[int, _Kind], second: float) -> dict[str, LoggedTopic]:
    """Rows of each kind. Kinds mix, so that where a row begins is known only from the row before."""
    starts: dict[int, list[int]] = {number: [] for number in kinds}
    at, end = start, len(data) - 4
    while at < end:
        number = data[at] | data[at + 1] << 8
        starts[number].append(at)
        at += kinds[number].row.itemsize
    if at != end:
        raise ValueError("its last event is cut")
    whole = np.frombuffer(data, np.uint8)
    found = {}
    for number, kind in kinds.items():
        size = kind.row.itemsize
        rows = whole[np.array(starts[number], int)[:, None] + np.arange(size)].reshape(-1).view(kind.row)
        names = list(kind.row.names or ())[2:]
        fields = {name: rows[key].astype(float) for name, key in zip(kind.variables, names, strict=True)}
        found[kind.name] = LoggedTopic(second * rows["f1"].astype(float), fields)
    return found
