"""A sweep beside its trials one after the other, and sweeps that are killed at random: `robomarl bench scale`.

Whole: half an hour on two cores. `--trials` and `--seconds` shrink the sweep, `--kills` is the number of the kills.
"""

import csv
import json
import os
import random
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks import Row, Size, seconds
from benchmarks.processes import below

WORKERS, PROBE_STEPS, TIMEOUT_S = 2, 400_000, 3600.0
ENVIRONMENT = os.environ | {"RAY_worker_niceness": "0", "JAX_PLATFORMS": "cpu"}
PLAN = """steps = {steps}
metric = "success"
seeds = [{seeds}]
[space]
learning_rate = [{rate}]
"""
SMALL_STEPS = 65536
SMALL = f"""steps = {SMALL_STEPS}
metric = "reward"
seeds = [0, 1, 2, 3]
[space]
learning_rate = [1e-3]
num_envs = [16]
unroll = [16]
minibatches = [2]
epochs = [1]
"""
"""Four trials of some seconds, in which a kill often falls."""
KILLS_OF_A_SWEEP = 5
"""As many as the workers of one trial may die (`tuned.DEATHS`)."""
PAUSE_S = (4.0, 20.0)
"""Least and largest time [s] from the start, or the last kill, to the next one."""
VICTIMS = {"worker": "ray::ImplicitFunc", "raylet": "raylet/raylet", "driver": ""}
"""Word in the command of each process that is killed; the driver is `robomarl sweep` itself."""


def rows(cases: tuple[str, ...] = ("workers", "kills"), size: Size | None = None) -> list[Row]:
    """The cases one after the other."""
    return [row for case in cases for row in CASES[case](size or Size())]


def workers(size: Size) -> list[Row]:
    """Time of a sweep on two workers beside its trials as commands one after the other, and what a trial costs more."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        plan = PLAN.format(steps=_steps(folder, size), seeds=", ".join(map(str, range(size.trials))), rate="1e-3")
        together_s = seconds(lambda: _ended(_sweep(folder / "together", plan, WORKERS)))
        commands = [t["command"] for t in _figures(folder / "together")]
        alone_s = seconds(lambda: [_train(words, folder / "alone" / str(i)) for i, words in enumerate(commands)])
        alone = sorted((folder / "alone").glob("*/metrics.csv"))
        kept = sorted(_metrics(file) for file in alone) == sorted(_trials(folder / "together").values())
        one = PLAN.format(steps=PROBE_STEPS, seeds="0, 1, 2, 3", rate="1e-3")
        _ended(_sweep(folder / "one", one, 1))
        more_s = _overhead_s(folder / "one")
    case = f"{size.trials} trials of swap_4, {size.seconds:g} s each"
    return [
        Row(case, "two workers / one by one", together_s / alone_s, ""),
        Row(case, "trials equal in every bit", float(kept), "of 1"),
        Row("a trial after the first", "before its updates", more_s, "s"),
    ]


def kills(size: Size) -> list[Row]:
    """Finished trials that were lost, and trials that differ, after kills of random processes at random times."""
    draw, lost, differ, counts, number = random.Random(0), 0, 0, dict.fromkeys(VICTIMS, 0), 0
    with TemporaryDirectory() as name:
        _ended(_sweep(Path(name) / "whole", SMALL, WORKERS))
        whole = _trials(Path(name) / "whole")
        while (done := sum(counts.values())) < size.kills:
            number += 1
            folder = Path(name) / str(number)
            lost += _killed(folder, draw, counts, min(size.kills - done, KILLS_OF_A_SWEEP))
            differ += sum(_trials(folder).get(trial) != rows for trial, rows in whole.items())
            print(f"  {sum(counts.values())} kills: {lost} trials lost, {differ} differ", file=sys.stderr, flush=True)
    told = ", ".join(f"{count} of {victim}" for victim, count in counts.items())
    case = f"{size.kills} kills at random ({told})"
    return [Row(case, "finished trials lost", lost, "trials"), Row(case, "trials that differ", differ, "trials")]


CASES = {"workers": workers, "kills": kills}
"""Cases by the name that `--case` takes."""


def _killed(folder: Path, draw: random.Random, counts: dict[str, int], most: int) -> int:
    """Take one sweep to its end through this many kills; returns the finished trials that were trained again."""
    lost, left = 0, most
    while True:
        running, finished = _sweep(folder, SMALL, WORKERS), dict[str, float]()
        while running.poll() is None and left:
            with suppress(subprocess.TimeoutExpired):
                running.wait(draw.uniform(*PAUSE_S))
            finished |= _finished(folder)
            victim = draw.choice(list(VICTIMS))
            pids = [running.pid] if victim == "driver" else below(running.pid, VICTIMS[victim])
            if running.poll() is None and pids:
                os.kill(draw.choice(pids), signal.SIGKILL)
                counts[victim], left = counts[victim] + 1, left - 1
        status = running.wait(TIMEOUT_S)
        after = _finished(folder)
        lost += sum(after.get(trial) != when for trial, when in finished.items())
        if status == 0:
            return lost


def _finished(folder: Path) -> dict[str, float]:
    """Trials whose checkpoint holds all of their rows, with the times at which their metrics were written last."""
    written = {}
    for file in (folder / "trials").glob("*/metrics.csv"):
        saved, when = file.with_name("checkpoint.npz"), file.stat().st_mtime
        if saved.is_file() and saved.stat().st_mtime >= when and _last_step(file) >= SMALL_STEPS:
            written[file.parent.name] = when
    return written


def _last_step(file: Path) -> int:
    found = _metrics(file)
    return int(float(dict(found[-1])["steps"])) if found else 0


def _sweep(folder: Path, plan: str, count: int) -> subprocess.Popen[bytes]:
    """Begin a sweep, or go on with it."""
    file = folder.with_suffix(".plan.toml")
    file.write_text(plan)
    words = ["--resume"] if (folder / "plan.toml").is_file() else ["--space", str(file)]
    scenario = "swap_2" if plan == SMALL else "swap_4"
    words += ["--out", str(folder), "--workers", str(count), "--quiet"]
    command = [sys.executable, "-m", "robomarl", "sweep", scenario, *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process; raises `RuntimeError` where it failed."""
    if process.wait(TIMEOUT_S) != 0:
        raise RuntimeError(f"{shlex.join(map(str, process.args))} ended with status {process.returncode}.")  # type: ignore[arg-type]


def _train(command: str, out: Path) -> None:
    """Train one trial again by its command."""
    out.parent.mkdir(exist_ok=True)
    words = shlex.split(command.replace(" --out FOLDER", f" --out {out} --quiet"))
    _ended(subprocess.Popen([sys.executable, "-m", *words], stdout=subprocess.DEVNULL, env=ENVIRONMENT))


def _steps(folder: Path, size: Size) -> int:
    """Agent-steps that train for the seconds of a trial, alone on the machine."""
    _ended(_sweep(folder / "probe", PLAN.format(steps=PROBE_STEPS, seeds="0", rate="1e-3"), 1))
    with (folder / "probe" / "trials" / "0000" / "metrics.csv").open(newline="") as stream:
        found = list(csv.DictReader(stream))
    first, last = found[len(found) // 2], found[-1]
    rate = (float(last["steps"]) - float(first["steps"])) / (float(last["seconds"]) - float(first["seconds"]))
    return round(rate * size.seconds)


def _overhead_s(folder: Path) -> float:
    """Median time [s] from the end of a trial to the end of the next one's first update, less that of an update."""
    files = sorted((folder / "trials").glob("*/metrics.csv"), key=lambda file: file.stat().st_mtime)
    return median(_first_update_s(now, before.stat().st_mtime) for before, now in pairwise(files))


def _first_update_s(file: Path, since_s: float) -> float:
    """Time [s] from `since_s` to the end of a run's first update, less the mean of the later ones.

    Evaluations on `mujoco`, which go on beside the updates and after them, are part of a trial as of any run.
    """
    with file.open(newline="") as stream:
        times = [float(row["seconds"]) for row in csv.DictReader(stream)]
    begun_s = (file.parent / "config.json").stat().st_mtime
    return begun_s - since_s + times[0] - (times[-1] - times[0]) / max(len(times) - 1, 1)


def _metrics(file: Path) -> list[tuple[tuple[str, str], ...]]:
    """Rows of a run's metrics, but the clock's."""
    with file.open(newline="") as stream:
        return [tuple((k, v) for k, v in row.items() if k != "seconds") for row in csv.DictReader(stream)]


def _trials(folder: Path) -> dict[str, list[tuple[tuple[str, str], ...]]]:
    return {file.parent.name: _metrics(file) for file in sorted((folder / "trials").glob("*/metrics.csv"))}


def _figures(folder: Path) -> list[dict[str, str]]:
    """Trials of `sweep.json` in the order of their numbers."""
    return sorted(json.loads((folder / "sweep.json").read_text())["trials"], key=lambda trial: trial["trial"])
