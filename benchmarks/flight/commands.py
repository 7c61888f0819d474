"""What carriers are commanded, compared: `python -m benchmarks.flight.commands --out FOLDER`.

The ablation of Zeng et al. (CoRL 2025) on `lift_3` from nothing: each kind of `[command]` trains by the
recipe `lift_3_scratch`, and flies on `mujoco` without the filter, which knows one kind only.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

from robomarl.domains.flight.core.control.command_kinds import CommandConfig

KINDS = get_args(get_type_hints(CommandConfig)["kind"])
SHOWN = ("success_rate", "success_ci95", "return_mean", "collisions", "position_error_m", "attitude_error_rad")


def train(kind: str, seed: int, steps: int, out: Path) -> None:
    """A run folder of `lift_3` with commands of this kind; one that is there and not whole goes on."""
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.config import load_recipe
    from robomarl.lab.train.run.options import RunOptions
    from robomarl.lab.train.run.runner import NothingLeftError, longer, train_run

    scenario = replace(load_scenario("lift_3"), command=CommandConfig(kind))  # type: ignore[arg-type]
    options = RunOptions(out, seed, quiet=True, resume=(out / "checkpoint.npz").is_file())
    try:
        train_run(longer(load_recipe("lift_3_scratch")[0], steps), scenario, options)
    except NothingLeftError:
        pass


def fly(out: Path, episodes: int, seed: int) -> dict[str, Any]:
    """Figures of `robomarl eval --filter off`; errors and hovering have intervals in `eval.json` beside the run."""
    from robomarl.lab.evaluate.evaluate import evaluate
    from robomarl.lab.evaluate.evaluation import HOVER_FIGURES, HOVER_S, EvalConfig
    from robomarl.lab.evaluate.resolve import resolve_policy

    policy, scenario = resolve_policy(str(out))
    config = EvalConfig("mujoco", episodes, seed, filter="off", progress=False, hover_s=HOVER_S)
    found = evaluate(policy, scenario, config).figures
    (out / "eval.json").write_text(json.dumps(found, indent=1, default=float))
    return {key: found.get(key) for key in (*SHOWN, *HOVER_FIGURES)}


def main() -> None:
    """Print a row for each run; all of them are in FOLDER/rows.json at the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--steps", type=int, default=4_000_000, help="agent-steps of each")
    parser.add_argument("--episodes", type=int, default=100)
    args = parser.parse_args()
    rows = []
    for seed, kind in ((seed, kind) for seed in args.seeds for kind in args.kinds):
        out, before = args.out / f"{kind}_{seed}", time.process_time()
        train(kind, seed, args.steps, out)
        row = {"kind": kind, "seed": seed, "cpu_s": round(time.process_time() - before, 1)}  # compiling included
        rows.append(row | fly(out, args.episodes, 7))
        print(json.dumps(rows[-1]), flush=True)
        (args.out / "rows.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
