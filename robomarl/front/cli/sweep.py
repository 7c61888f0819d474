"""Train many trials with different recipes and seeds, on this machine or a cluster, and compare them.

The plan is a TOML file: [space] has values or ranges of recipe keys, `metric` what trials are compared by. Trials are
ordinary run folders below --out. A killed worker loses no finished trial and goes on from its checkpoint.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from robomarl.core.config import Natural, UsageError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder


@dataclass(frozen=True)
class Args:
    """Options of `robomarl sweep`."""

    scenario: Annotated[str, tyro.conf.Positional]
    """Scenario to train, by name or path."""
    space: Path | None = None
    """Plan as TOML; with --resume by default that of --out."""
    recipe: str = ""
    """Recipe that the plan replaces parts of, by name or path; by default the scenario's own, if there is one."""
    on: str = "local"
    """Place: local, slurm, or ray://HOST:PORT of a Ray cluster."""
    workers: Natural = 0
    """Trials at a time; 0: one a core, as far as memory holds them."""
    out: OutFolder | None = None
    """Folder of the sweep; runs/sweep_SCENARIO by default."""
    resume: bool = False
    """Go on with the sweep in --out."""
    quiet: bool = False
    """No progress bar."""


def run(args: Args) -> Figures:
    """Train all trials, and print the best three."""
    from tqdm import tqdm

    from robomarl.front.report.sweep_page import write_sweep_page
    from robomarl.lab.cluster.connect import Cluster
    from robomarl.lab.sweep.sweep import SweepOptions, plan_of, run_sweep
    from robomarl.lab.train.config import TrainConfig, load_recipe, recipe_names

    out = args.out or Path("runs") / f"sweep_{Path(args.scenario).stem}"
    if args.space is None and not args.resume:
        raise UsageError("name the plan with --space FILE; `docs/scale.md` has one to begin with.")
    space = args.space or plan_of(out)
    recipe = args.recipe or (args.scenario if args.scenario in recipe_names() else "")
    base = load_recipe(recipe)[0] if recipe else TrainConfig()
    options = SweepOptions(args.scenario, recipe, space, out, args.resume)
    with tqdm(desc="sweep", unit=" agent-steps", unit_scale=True, disable=args.quiet, leave=False, delay=1) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        figures = run_sweep(base, options, Cluster(args.on, args.workers), show)
    _print(figures, out)
    print(f"  report: {write_sweep_page(figures, out)}")
    return figures


def _print(figures: Figures, out: Path) -> None:
    """The best three trials, with the command that makes each again."""
    trials, metric = figures["trials"], figures["metric"]
    states = ", ".join(f"{figures[state]} {state}" for state in ("finished", "stopped", "failed") if figures[state])
    print(f"{out}: {len(trials)} trials ({states}); the best by {metric}:")
    for row in trials[:3]:
        values = ", ".join(f"{key} = {value}" for key, value in row["values"].items())
        value = "-" if row[metric] is None else f"{row[metric]:.3g}"
        print(f"  {value:>6}  {values}, seed {row['seed']}\n          {row['command']}")
    for row in trials:
        if row["state"] == "failed":
            print(f"  trial {row['trial']} failed: {row['error']}")
