"""Output of a training run while it goes on: CSV, boards such as TensorBoard, and the progress bar."""

import csv
import math
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path

from tqdm import tqdm

from robomarl.lab.train.boards import BoardName, open_boards
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.storage import replace_text


class Logs:
    """CSV and boards of one run."""

    def __init__(
        self,
        out: Path,
        steps: int,
        boards: tuple[BoardName, ...] = (),
        about: Mapping[str, object] | None = None,
    ) -> None:
        """Open the logs; rows after the checkpoint that a resumed run starts from are dropped, atomically.

        Args:
            out: run folder.
            steps: agent-steps of that checkpoint; 0 for a new run.
            boards: boards beside TensorBoard.
            about: the recipe, which these show.
        """
        file = out / "metrics.csv"
        lines = kept_lines(file, steps)
        last = next(csv.DictReader([lines[0], lines[-1]]), {}) if lines else {}
        self.last_update, self.last_seconds = int(last.get("update", 0)), float(last.get("seconds", 0.0))
        replace_text(file, "".join(lines))
        self._stream = file.open("a", newline="")
        self._names = next(csv.reader(lines[:1]), [])
        self._waiting: deque[tuple[dict[str, float], Future[dict[str, float]]]] = deque()
        self._boards = open_boards(boards, out, about or {}, steps if lines else 0)

    def write(self, row: dict[str, float], more: "Future[dict[str, float]] | None" = None) -> None:
        """Log one update; rows with figures that are still being computed wait for these, and keep their
        order.

        Args:
            row: figures of the update.
            more: the rest of the row.
        """
        self._waiting.append((row, more or known({})))
        while self._waiting and self._waiting[0][1].done():
            self._write_next()

    def flush(self) -> None:
        """Wait for all figures, and write all rows.

        Raises:
            Exception: the error that ended the computation of figures.
        """
        while self._waiting:
            self._write_next()

    def _write_next(self) -> None:
        row, more = self._waiting.popleft()
        self._write(row | more.result())

    def _write(self, row: dict[str, float]) -> None:
        """NaN is a blank."""
        writer = csv.DictWriter(self._stream, self._names or list(row))
        if not self._names:
            self._names = list(row)
            writer.writeheader()
        writer.writerow({name: "" if value != value else value for name, value in row.items()})
        self._stream.flush()
        finite = {name: value for name, value in row.items() if math.isfinite(value)}
        for board in self._boards:
            board.write(finite, int(row["steps"]))

    def close(self) -> None:
        """Flush and close everything."""
        for board in self._boards:
            board.close()
        self._stream.close()


def known(figures: dict[str, float]) -> "Future[dict[str, float]]":
    """Figures that need not be waited for."""
    done: Future[dict[str, float]] = Future()
    done.set_result(figures)
    return done


def kept_lines(file: Path, steps: int) -> list[str]:
    """Lines of a metrics file up to these agent-steps, the header first; a line that a kill cut short is dropped."""
    if not file.is_file() or steps == 0:
        return []
    with file.open(newline="") as stream:
        lines = [line for line in stream if line.endswith("\n")]
    rows = zip(lines[1:], csv.DictReader(lines), strict=True)
    kept = [line for line, row in rows if float(row["steps"]) <= steps]
    return [lines[0], *kept] if kept else []


class ProgressBar:
    """Steps done, rate, and the time left of all that is to come, with the success of the latest update."""

    def __init__(self, steps: int, total: int, options: RunOptions) -> None:
        """Start at `steps` of `total` agent-steps of all seeds."""
        self._bar = tqdm(
            desc=options.label or None,
            total=total,
            initial=steps,
            unit=" steps",
            unit_scale=True,
            disable=options.quiet,
            smoothing=0.05,
            dynamic_ncols=True,
            bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}, {rate_fmt}{postfix}]",
        )
        self._later, self._limit_s = options.later * options.seeds, options.minutes * 60
        self._begun = self._saved = time.monotonic()

    def show(self, rows: list[dict[str, float]]) -> None:
        """Show the latest rows, one of each seed."""
        self._bar.update(sum(row["steps"] for row in rows) - self._bar.n)
        success = "/".join(f"{row['success']:.0%}" for row in rows)
        contact = "/".join(f"{row['contact']:.0%}" for row in rows)
        self._bar.set_postfix(left=self._left(), success=success, contact=contact, refresh=False)

    def _left(self) -> str:
        """Return the time until this run and the stages after it are done, or the minutes of all are spent."""
        rate = self._bar.format_dict["rate"]
        if not rate:
            return "?"
        spent_s = time.monotonic() - self._begun
        left_s = min((self._bar.total - self._bar.n + self._later) / rate, max(self._limit_s - spent_s, 0.0))
        return tqdm.format_interval(left_s)

    def is_time_to_save(self, every_s: float) -> bool:
        """Return True once every `every_s` seconds."""
        if time.monotonic() - self._saved < every_s:
            return False
        self._saved = time.monotonic()
        return True

    def close(self) -> None:
        """Leave the bar where it is."""
        self._bar.close()
