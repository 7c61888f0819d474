"""Training on four forced devices of the CPU beside one: `robomarl bench devices`.

Four devices of one CPU share its cores, so that time says nothing about several GPUs. What is measured is that
metrics are equal.
"""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import Row, seconds

DEVICES, UPDATES = 4, 20
RECIPE = f"""version = 2
scenario = "swap_4"
num_envs = 32
unroll = 8
epochs = 2
minibatches = 4
total_steps = {UPDATES * 32 * 8 * 4}
"""


def rows() -> list[Row]:
    """Differences of the metrics, and wall-clock time of each."""
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder) / "small.toml"
        recipe.write_text(RECIPE)
        outs = {count: Path(folder) / str(count) for count in (1, DEVICES)}
        took = {count: seconds(lambda count=count: train(recipe, outs[count], count)) for count in outs}
        one, many = (metrics(out) for out in outs.values())
    updates = zip(one, many, strict=True)
    pairs = [(row[name], other[name]) for row, other in updates for name in row]
    case = f"swap_4, {UPDATES} updates, {DEVICES} forced devices beside 1"
    return [
        Row(case, "largest difference of a metric", max(abs(a - b) for a, b in pairs), ""),
        Row(case, "largest, over 1 or the metric", max(abs(a - b) / max(1.0, abs(a)) for a, b in pairs), ""),
        *(Row(f"{count} devices", "exec to end, compiler included", took[count], "s") for count in outs),
    ]


def train(recipe: Path, out: Path, count: int) -> None:
    """One run in a process of its own, with that many devices."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={count}"
    words = [sys.executable, "-m", "robomarl", "train", "--recipe", str(recipe), "--out", str(out)]
    words += ["--devices", str(count), "--evaluations", "0", "--quiet"]
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)


def metrics(out: Path) -> list[dict[str, float]]:
    """Metrics of every update that are of the training, not of the clock or of an evaluation."""
    with (out / "metrics.csv").open(newline="") as stream:
        found = list(csv.DictReader(stream))
    skipped = ("seconds", "eval_success", "eval_collisions")
    return [{k: float(v) for k, v in row.items() if k not in skipped and v} for row in found]
