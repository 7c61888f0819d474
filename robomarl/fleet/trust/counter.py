"""Counters of signed bundles: each one that this machine gives is larger than all that it gave before.

A counter is the second of signing since 1970, or one more than the last where the clock does not say more: two
bundles in one second, or a clock that was set back. The last one stands beside the operator's keys, in `last_counter`.
"""

import fcntl
import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from robomarl.core.config import Natural, UserError
from robomarl.fleet.disk import open_lock, replace_durably, written
from robomarl.fleet.trust.strict_file import complete, read_own

LAST_FILE = "last_counter"
AHEAD_S = 86400
"""Robots refuse a counter that is farther ahead of their clock: with it a stolen key would shut out all that comes."""


@dataclass(frozen=True)
class LastCounter:
    """Content of the file."""

    counter: Natural


def next_counter(folder: Path, asked: int = 0) -> int:
    """Return a counter that is larger than all before; one that was asked for is recorded, and returned
    unchanged.

    Args:
        folder: folder of the operator's keys.
        asked: counter that the operator asks for; 0: the next one.

    Raises:
        UserError: the file is damaged, can't be written, or is far ahead of this machine's clock.
    """
    now_s, file = int(datetime.now(UTC).timestamp()), folder / LAST_FILE
    with written(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open_lock(folder / f"{LAST_FILE}.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            last = _last(file)
            counter = asked or max(now_s, last + 1)
            if not asked and counter > now_s + AHEAD_S:
                raise UserError(
                    f"{file}: says counter {last}, over a day ahead of this machine's clock ({now_s}), and robots "
                    "would refuse the next one; set the clock, or name a counter with --counter."
                )
            if last < counter <= now_s + AHEAD_S:
                content = json.dumps(asdict(LastCounter(counter))) + "\n"
                replace_durably(file, content.encode(), folder / f"{LAST_FILE}.new")
    return counter


def _last(file: Path) -> int:
    if (content := read_own(file)) is None:
        return 0
    mend = "remove it, and sign with a --counter above those of your bundles"
    return complete(LastCounter, content, str(file), mend).counter
