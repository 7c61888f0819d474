"""`write_dataset`: observations and actions of robots in recordings, as one Parquet file that needs no
robomarl to read.

One row is one tick of one robot while it moves. `docs/recordings.md` has the columns.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.core.types import Figures
from robomarl.field.replay.bag import open_bag
from robomarl.field.replay.bag_replay import BagReplay, Moment, Progress
from robomarl.field.replay.tally import reason_name
from robomarl.lab.dataset import schema_of, whole_file

ROWS = 4096
"""Rows that are written at once."""


def write_dataset(bags: Sequence[Path], file: Path, bundle: str = "", progress: Progress = lambda share: None) -> int:
    """Put recordings of one bundle into a Parquet file; returns its rows.

    Args:
        bags: folders of recordings.
        file: to write; replaced when it is whole.
        bundle: name or folder of the bundle; by default the one that was flown.
        progress: told the share that is done.

    Raises:
        UserError: a recording can't be read, or they are of different bundles.
    """
    rows = None
    with whole_file(file) as part:
        for number, bag in enumerate(bags):
            replay = BagReplay(open_bag(bag), bundle)
            if rows is None:
                rows = _Rows(part, replay)
            if rows.bundle != replay.loaded.id:
                raise UserError(
                    f"{bag}: flew bundle {replay.loaded.id[:12]}, the others {rows.bundle[:12]}; split them."
                )
            rows.recording = number
            replay.watch = rows.add
            replay.run(lambda share, done=number: progress((done + share) / len(bags)))
        if rows is None or not rows.close():
            raise UserError(f"{bags[0] if bags else 'no recording'}: holds no tick of a robot that moves.")
    return rows.count


class _Rows:
    """Rows on their way into a file."""

    def __init__(self, file: Path, replay: BagReplay) -> None:
        found, self.bundle = replay.recording, replay.loaded.id
        contract = load_bundle(replay.folders[found.team[0]]).contract
        about = {"bundle": replay.loaded.name, "bundle_id": self.bundle, "vehicle": replay.loaded.vehicle}
        about |= {"fleet": found.fleet, "scenario": found.scenario, "robots": list(found.team)}
        about |= {"rate_hz": contract.rate_hz, "actions_each": contract.actions_each}
        self._schema = schema_of(contract.observation.elements, contract.action.fields, about)
        self._writer = pq.ParquetWriter(file, self._schema, compression="zstd")
        self._waiting: list[Figures] = []
        self._before: dict[str, tuple[int, int, int]] = {}
        self.recording = self.count = 0

    def add(self, moment: Moment) -> None:
        """One tick of a robot that moves."""
        tick, own = moment.tick, moment.own
        recording, count, flight = self._before.get(moment.robot, (-1, -1, -1))
        follows = (recording, count + 1) == (self.recording, tick.count)
        flight += not follows
        self._before[moment.robot] = self.recording, tick.count, flight
        row, columns = tick.row, tick.columns
        self._waiting.append({
            "recording": self.recording, "robot": moment.robot, "index": moment.index, "flight": flight,
            "tick": tick.count, "follows": follows, "stamp_s": tick.at_s, "time_s": row[columns.head["time_s"]],
            "state": tick.state.name, "reason": reason_name(tick.reason),
            "filtered": bool(row[columns.head["filtered"]]), "whole": moment.whole,
            "observation": _finite(row[columns.observation].astype(np.float32)),
            "nominal": _finite(row[columns.nominal]), "command": _finite(row[columns.command]),
            "pos_m": own.pos_m, "quat_wxyz": own.quat_wxyz, "vel_m_s": own.vel_m_s, "omega_rad_s": own.omega_rad_s,
            "goal_m": _finite(moment.goal_m),
        })  # fmt: skip
        self.count += 1
        if len(self._waiting) >= ROWS:
            self._flush()

    def close(self) -> int:
        """Write the rest; returns how many rows there are."""
        self._flush()
        self._writer.close()
        return self.count

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_pylist(self._waiting, schema=self._schema))
        self._waiting.clear()


def _finite(values: np.ndarray) -> np.ndarray | None:
    """Return the values, or None if there were none: a policy that was not asked, a goal that was not given."""
    return values if np.isfinite(values).all() else None
