"""Training that is killed with SIGKILL at random times and resumed, by real processes of the command line."""

import csv
import random
import subprocess
import sys
import time
from pathlib import Path

RECIPE = """scenario = "swap_4"
num_envs = 4
unroll = 2
minibatches = 2
epochs = 1
total_steps = {steps}
network = {{ actor_hidden = [8], critic_hidden = [8] }}
"""
"""So small that an update takes milliseconds; its 32 agent-steps make a row of metrics."""
STEPS_PER_ROW = 32
TIMEOUT_S = 600.0


def write_recipe(file: Path, rows: int) -> Path:
    """The recipe of a run with this many updates."""
    file.write_text(RECIPE.format(steps=rows * STEPS_PER_ROW))
    return file


def train(recipe: Path, out: Path) -> subprocess.Popen:
    """Start `robomarl train`, or resume it where the run folder is there."""
    words = ["--resume"] if (out / "config.json").is_file() else ["--recipe", str(recipe)]
    command = [sys.executable, "-m", "robomarl", "train", *words, "--out", str(out)]
    return subprocess.Popen([*command, "--quiet", "--save-every-s", "0.1"], stdout=subprocess.DEVNULL)


def train_with_kills(recipe: Path, out: Path, rows: int, kills: int, seed: int) -> list[int]:
    """Train to the end through SIGKILLs; returns the row of the metrics in which each of them fell.

    Raises:
        RuntimeError: the training ended by itself with an error, or made no progress.
    """
    draw, fell = random.Random(seed), []
    marks = sorted(draw.randrange(rows) for _ in range(kills))
    for mark in marks:
        process = train(recipe, out)
        wait_for_rows(process, out, mark)
        time.sleep(draw.uniform(0.0, 0.05))
        process.kill()
        process.wait()
        fell.append(len(metrics(out)))
    if train(recipe, out).wait(TIMEOUT_S) != 0:
        raise RuntimeError(f"{out}: the last resumed training failed.")
    return fell


def wait_for_rows(process: subprocess.Popen, out: Path, rows: int) -> None:
    """Wait until the metrics have this many rows."""
    deadline = time.monotonic() + TIMEOUT_S
    while len(metrics(out)) < rows:
        if time.monotonic() > deadline or process.poll() not in (None, 0):
            process.kill()
            raise RuntimeError(f"{out}: training stopped at row {len(metrics(out))} of {rows}.")
        if process.poll() == 0:
            return
        time.sleep(0.002)


def metrics(out: Path) -> list[dict[str, str]]:
    """Rows of metrics, without the wall-clock time."""
    if not (out / "metrics.csv").is_file():
        return []
    with (out / "metrics.csv").open(newline="") as stream:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(stream)]
