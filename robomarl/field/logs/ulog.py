"""`read_ulog`: PX4's logs, by PX4's own reader (extra `logs`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from robomarl.core.config import UserError
from robomarl.field.logs.logged_topic import LoggedTopic

SECONDS = 1e-6


def read_ulog(file: Path, wanted: Mapping[str, Sequence[str]]) -> dict[str, LoggedTopic]:
    """Return the wanted topics by name; the second instance of a topic is `NAME#1`.

    Raises:
        UserError: the file is no ULog.
    """
    from pyulog import ULog

    try:
        with file.open("rb") as stream:
            log = ULog(stream)
    except Exception as error:  # pyulog raises whatever the bytes lead to
        raise UserError(f"{file}: can't be read as ULog ({error}); name a file of PX4 that ends in .ulg.") from None
    found = {}
    for data in log.data_list:
        name = f"{data.name}#{data.multi_id}" if data.multi_id else data.name
        fields = data.data if name in wanted else {}
        found[name] = LoggedTopic(
            SECONDS * np.asarray(data.data["timestamp"], float),
            {key: np.asarray(values) for key, values in fields.items()},
        )
    return found
