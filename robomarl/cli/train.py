"""Train the policies of a scenario's team.

The run folder holds the recipe, the scenario, metrics as CSV and TensorBoard, and checkpoints.
"""

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from robomarl.cli.train_names import named_run, team_scenario
from robomarl.config import Count, Natural, NonNegative, Positive, UserError


@dataclass(frozen=True)
class Args:
    """Options of `robomarl train`."""

    scenario: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[SCENARIO]")] = ""
    """Scenario to train, by name or path; with --resume the run folder. Not needed with --recipe, or with --out and
    --resume."""
    count: Count | None = None
    """Robots in the team, instead of as many as the name says: `swap_4 --count 7` is swap_7, with swap_4's recipe."""
    out: Path | None = None
    """Run folder; runs/SCENARIO by default."""
    recipe: str = ""
    """Recipe by name (policies/recipes) or path; by default the scenario's own, if there is one."""
    seed: Natural | None = None
    """Seed; by default the recipe's."""
    seeds: Count = 1
    """Train this many seeds side by side, from --seed on; each has a folder of its own below --out."""
    minutes: Positive = math.inf
    """Stop after this wall-clock time."""
    steps: Count | None = None
    """Agent-steps in all, instead of the recipe's; with --resume the run goes on to here."""
    resume: bool = False
    """Go on from the checkpoint in --out, with the recipe and scenario that are there."""
    init: str = ""
    """Start from the weights of this bundle or run folder (fine-tune)."""
    profile: bool = False
    """Do not train: print where the time of one update goes."""
    imitate: bool = False
    """Do not train: fit the policy to the task's own law, for `--init` to start from."""
    quiet: bool = False
    """No progress bar."""
    save_every_s: NonNegative = 20.0
    """Time between two checkpoints; what a kill costs at most."""


def run(args: Args) -> dict[str, Any]:
    """Train, and say where the run is."""
    quiet_compiler()
    from robomarl.train.runner import RunOptions, train_run

    args = replace(args, out=named_run(args.scenario, args.out) if args.resume else args.out)
    check(args)
    config, scenario, seed = choose(args)
    if args.profile:
        return print_profile(config)
    out = args.out or Path("runs") / Path(config.scenario).stem
    if args.imitate:
        return imitate(config, out, seed, args.quiet)
    times = {"minutes": args.minutes, "steps": args.steps, "save_every_s": args.save_every_s}
    options = RunOptions(out, seed, args.seeds, resume=args.resume, init=args.init, quiet=args.quiet, **times)
    rows = train_run(config, scenario, options)
    for folder, row in zip(options.folders.values(), rows, strict=True):
        print(
            f"{folder}: {row.get('steps', 0) / 1e6:.1f} million agent-steps in {row.get('seconds', 0):.0f} s, "
            f"success {row.get('success', 0):.0%} of the last episodes in fast."
        )
        if scenario.task != "soccer":
            write_report(folder)
    about = {"run": str(out), "scenario": config.scenario, "seed": seed}
    runs = [{"run": str(f), **row} for f, row in zip(options.folders.values(), rows, strict=True)]
    return {**about, **rows[0], "runs": runs}


def check(args: Args) -> None:
    """Raises `UserError` where options are missing or contradict each other."""
    if not (args.scenario or args.recipe or args.resume):
        raise UserError("name a SCENARIO or a --recipe; `robomarl list` shows the scenarios.")
    if args.resume and args.init:
        raise UserError("--init starts a new run, --resume goes on with an old one; leave one of them out.")
    if args.count and (args.resume or not args.scenario):
        raise UserError(f"--count {args.count} needs a SCENARIO whose name ends with a number, to begin a run with.")


def quiet_compiler() -> None:
    """Keep XLA from printing, for every program out of the cache, which features of the processor it does not use."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def imitate(config: Any, out: Path, seed: int, quiet: bool) -> dict[str, Any]:
    """Fit a policy to the task's law; a run folder as of training."""
    from robomarl.sim.scenario import load_scenario
    from robomarl.train.imitate import imitate_run

    found = imitate_run(config, load_scenario(config.scenario), out, seed, quiet)
    print(f"{out}: imitates the law of {config.scenario}; train on with --init {out}.")
    return found


def print_profile(config: Any) -> dict[str, Any]:
    """Where the time of one update goes."""
    from robomarl.sim.scenario import load_scenario
    from robomarl.train.profile import profile, table
    from robomarl.train.programs import training_env

    env = training_env(config, load_scenario(config.scenario))
    parts = profile(config, env)
    print(table(parts, config, env))
    return {f"{name}_s": value for name, value in parts.items()}


def write_report(out: Path) -> None:
    """Fly a few episodes with the best policy, keep one flight, write the run's report page."""
    from robomarl.field.report import write_run_report
    from robomarl.flight import save_flight
    from robomarl.train.checkpoint import RunPolicy, load_run
    from robomarl.train.evaluate import EvalConfig, evaluate

    run = load_run(out)
    found = evaluate(RunPolicy(run), run.scenario, EvalConfig(episodes=4, filter="off", record=0, progress=False))
    if found.log is not None:
        (out / "flights").mkdir(exist_ok=True)
        save_flight(out / "flights" / "mujoco.npz", found.log)
    write_run_report(out, out / "report.html")
    print(f"report: {out / 'report.html'}")


def choose(args: Args) -> tuple[Any, Any, int]:
    """The configuration, scenario and seed that the options ask for; of a run that goes on, those in its folder."""
    from robomarl.sim.anyscenario import load_any_scenario
    from robomarl.train.checkpoint import load_recipe_of
    from robomarl.train.config import TrainConfig, load_recipe, recipe_names

    if args.resume and args.out:
        first = args.out if args.seeds == 1 else args.out / f"seed_{args.seed or 0}"
        config, scenario, about = load_recipe_of(first)
        return config, scenario, about["seed"] if args.seed is None else args.seed
    name = args.recipe or (args.scenario if args.scenario in recipe_names() else "")
    config, seed = load_recipe(name) if name else (TrainConfig(scenario=args.scenario), 0)
    changes: dict[str, Any] = {"total_steps": args.steps} if args.steps else {}
    if args.scenario:
        changes["scenario"] = team_scenario(args.scenario, args.count)
    config = replace(config, **changes)
    return config, load_any_scenario(config.scenario), seed if args.seed is None else args.seed
