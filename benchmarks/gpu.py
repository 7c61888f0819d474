"""Figures of one GPU in at most eight minutes: `python -m benchmarks.gpu FOLDER [--quick]`.

Writes FOLDER/gpu.json: name of the card, versions, and rows of `bench sim` (swap_4 on `fast`, without MuJoCo beside
it, in batches that fill a card) and of `bench train --case success` (one seed; seconds to 95 % on `mujoco`). The file
is written again after every part, so that a run that is stopped leaves what it has. `--quick` measures all at tiny
sizes, to see that it runs; its figures mean nothing.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks import Row, seconds

MINUTES = 8.0
BATCHES, QUICK_BATCHES = (4096, 65_536, 524_288), (64,)
DECISIONS, CALLS = 100, 5


def main(words: list[str]) -> int:
    """Measure all parts, one after the other, as long as there is time."""
    if len(words) not in (1, 2) or words[1:] not in ([], ["--quick"]):
        print("python -m benchmarks.gpu FOLDER [--quick]", file=sys.stderr)
        return 2
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the training has a process of its own
    folder, quick, started = Path(words[0]), words[1:] == ["--quick"], time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    found: dict = {**machine(), "quick": quick, "rows": [], "left_out": []}
    for name, part in parts(quick).items():
        if time.monotonic() - started > MINUTES * 60 * 0.6:
            found["left_out"].append(name)
            continue
        found["rows"] += [{"part": name, **row._asdict()} for row in part()]
        found["seconds"] = time.monotonic() - started
        (folder / "gpu.json").write_text(json.dumps(found, indent=2) + "\n")
        print(f"{name}: {found['seconds']:.0f} s", flush=True)
    (folder / "gpu.json").write_text(json.dumps(found, indent=2) + "\n")
    return 0


def machine() -> dict[str, str]:
    """The card, and versions."""
    import jax

    device = jax.devices()[0]
    versions = {"jax": jax.__version__, "jaxlib": version("jaxlib")}
    return {"card": device.device_kind, "platform": device.platform, **versions}


def parts(quick: bool) -> dict[str, Callable[[], list[Row]]]:
    """What is measured, the most important first."""
    sizes = QUICK_BATCHES if quick else BATCHES
    return {
        "sim": lambda: [row for size in sizes for row in sub_steps("swap_4", size)],
        "success": lambda: success(quick),
        "teams": lambda: teams(quick),
    }


def sub_steps(scenario: str, batch: int) -> list[Row]:
    """Agent-steps and drone sub-steps per second of the whole environment, all randomization on, commands 0."""
    import jax
    import jax.numpy as jnp

    from robomarl.lab.sim.engines.batch_last import to_last, vmap_last
    from robomarl.lab.sim.env import make_env
    from robomarl.lab.sim.scenario import load_scenario

    env = make_env(load_scenario(scenario))
    state = jax.jit(lambda keys: to_last(jax.vmap(env.reset)(keys)))(jax.random.split(jax.random.key(0), batch))
    action, step = jnp.zeros((env.num_agents, env.action_size, batch)), vmap_last(env.step)
    roll = jax.jit(lambda s: jax.lax.scan(lambda s, _: (step(s, action), s.reward.mean()), s, None, DECISIONS))
    jax.block_until_ready(roll(state))
    took = median(seconds(lambda: jax.block_until_ready(roll(state))) for _ in range(CALLS))
    steps, case = batch * env.num_agents * DECISIONS / took, f"{scenario} fast, {batch} teams"
    return [
        Row(case, "agent-steps", steps, "1/s"),
        Row(case, "drone sub-steps", steps * env.scenario.substeps, "1/s"),
    ]


def success(quick: bool) -> list[Row]:
    """Seconds from exec to 95 % success on `mujoco`, one seed; quick: how long a tiny training takes."""
    from benchmarks.training.train import SEEDS, time_to_success

    if quick:
        return [Row("swap_4, two tiny updates", "from call to end", seconds(tiny_training), "s")]
    return time_to_success(SEEDS[:1])


def tiny_training() -> None:
    """Two updates of eight teams."""
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.config import TrainConfig
    from robomarl.lab.train.run.options import RunOptions
    from robomarl.lab.train.run.runner import train_run

    config = TrainConfig(num_envs=8, unroll=2, epochs=1, minibatches=2, total_steps=2 * 8 * 2 * 4)
    with TemporaryDirectory() as folder:
        train_run(config, load_scenario(config.scenario), RunOptions(Path(folder) / "run", quiet=True, evaluations=0))


def teams(quick: bool) -> list[Row]:
    """Cost and memory of a robot in large teams."""
    from benchmarks.training.teams import COUNTS, ROBOTS, measured

    return measured((8, 64), "cells", 64) if quick else measured(COUNTS, "cells", 8 * ROBOTS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
