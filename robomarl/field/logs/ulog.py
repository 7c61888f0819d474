"""`read_ulog`: PX4's logs, by PX4's own reader (extra `logs`)."""

import struct
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from robomarl.core.config import UserError
from robomarl.field.logs.logged_topic import LoggedTopic

SECONDS = 1e-6
HEADER_BYTES, MESSAGE = 16, struct.Struct("<HB")
"""Length of the file's header; head of each message: the length of its body, and its kind."""


def read_ulog(file: Path, wanted: Mapping[str, Sequence[str]]) -> dict[str, LoggedTopic]:
    """Return the wanted topics by name; the second instance of a topic is `NAME#1`.

    Raises:
        UserError: the file is no ULog, it is cut short or damaged, or nothing was logged.
    """
    from pyulog import ULog

    try:
        with file.open("rb") as stream, redirect_stdout(StringIO()):  # it prints what it skips
            log = ULog(stream)
    except Exception as error:  # pyulog raises whatever the bytes lead to
        raise UserError(f"{file}: can't be read as ULog ({error}); name a file of PX4 that ends in .ulg.") from None
    size, whole = file.stat().st_size, whole_bytes(file)
    if whole < size:
        mend = f"copy it again, or keep what is whole with head -c {whole}"
        raise UserError(
            f"{file}: is cut short or damaged: it ends within the message at byte {whole} of {size}; {mend}."
        )
    if log.file_corruption:
        raise UserError(f"{file}: is damaged, and messages of it can't be read; copy it again from the vehicle.")
    if not log.data_list:
        raise UserError(f"{file}: no message of any topic is in it; copy it again, or name another flight.")
    found: dict[str, LoggedTopic] = {}
    for data in log.data_list:
        name = f"{data.name}#{data.multi_id}" if data.multi_id else data.name
        fields = data.data if name in wanted else {}
        found[name] = LoggedTopic(
            SECONDS * np.asarray(data.data["timestamp"], float),
            {key: np.asarray(values) for key, values in fields.items()},
        )
    return found


def whole_bytes(file: Path) -> int:
    """Length of a log up to the end of its last whole message."""
    raw, at = file.read_bytes(), HEADER_BYTES
    while at + MESSAGE.size <= len(raw):
        end = at + MESSAGE.size + MESSAGE.unpack_from(raw, at)[0]
        if end > len(raw):
            break
        at = end
    return at
