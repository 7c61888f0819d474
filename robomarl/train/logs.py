"""What a training run writes while it goes on: CSV, TensorBoard, and the progress bar."""

import csv
import math
import time
from pathlib import Path

from tqdm import tqdm

SAVE_EVERY_S = 20.0
"""Time between two checkpoints."""


class Logs:
    """CSV and TensorBoard of one run."""

    def __init__(self, out: Path, steps: int) -> None:
        """Open the logs; rows after the checkpoint that a resumed run starts from are dropped."""
        from tensorboardX import SummaryWriter

        self._file = out / "metrics.csv"
        rows = self._old_rows(steps)
        self.last_update = int(rows[-1]["update"]) if rows else 0
        self.last_seconds = float(rows[-1]["seconds"]) if rows else 0.0
        self._stream = self._file.open("w", newline="")
        self._writer: csv.DictWriter | None = None
        for row in rows:
            self._write_csv(row)
        self._board = SummaryWriter(str(out / "tb"))

    def _old_rows(self, steps: int) -> list[dict[str, str]]:
        if not self._file.is_file() or steps == 0:
            return []
        with self._file.open(newline="") as stream:
            return [row for row in csv.DictReader(stream) if float(row["steps"] or "inf") <= steps]

    def _write_csv(self, row: dict) -> None:
        if self._writer is None:
            self._writer = csv.DictWriter(self._stream, list(row))
            self._writer.writeheader()
        self._writer.writerow({name: "" if value != value else value for name, value in row.items()})

    def write(self, row: dict[str, float]) -> None:
        """Log one update; NaN is a blank."""
        self._write_csv(row)
        self._stream.flush()
        for name, value in row.items():
            if math.isfinite(value):
                self._board.add_scalar(name, value, int(row["steps"]))

    def close(self) -> None:
        """Flush and close everything."""
        self._board.close()
        self._stream.close()


class ProgressBar:
    """Steps done, rate and time left, with the success of the latest update."""

    def __init__(self, steps: int, total: int, quiet: bool) -> None:
        """Start at `steps` of `total`."""
        self._bar = tqdm(
            total=total,
            initial=steps,
            unit=" steps",
            unit_scale=True,
            disable=quiet,
            smoothing=0.05,
            dynamic_ncols=True,
        )
        self._saved = time.monotonic()

    def show(self, rows: list[dict[str, float]]) -> None:
        """Show the latest rows, one of each seed."""
        self._bar.update(sum(row["steps"] for row in rows) - self._bar.n)
        success = "/".join(f"{row['success']:.0%}" for row in rows)
        contact = "/".join(f"{row['contact']:.0%}" for row in rows)
        self._bar.set_postfix(success=success, contact=contact, refresh=False)

    def is_time_to_save(self) -> bool:
        """True once every `SAVE_EVERY_S` seconds."""
        if time.monotonic() - self._saved < SAVE_EVERY_S:
            return False
        self._saved = time.monotonic()
        return True

    def close(self) -> None:
        """Leave the bar where it is."""
        self._bar.close()
