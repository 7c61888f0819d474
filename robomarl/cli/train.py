"""Train the policies of a scenario's team.

The run folder holds the recipe, the scenario, metrics as CSV and TensorBoard, and checkpoints.
"""

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from robomarl.cli.stages import print_run, train_in_stages, write_report
from robomarl.config import UserError


@dataclass(frozen=True)
class Args:
    """Options of `robomarl train`."""

    scenario: Annotated[str, tyro.conf.Positional] = ""
    """Scenario to train, by name or path; not needed with --recipe, or with --resume and --out."""
    out: Path | None = None
    """Run folder; runs/SCENARIO by default."""
    recipe: str = ""
    """Recipe by name (policies/recipes) or path; by default the scenario's own, if there is one."""
    stage: str = ""
    """Train this stage of the recipe only, as one run; by default all, each in a folder of its own below --out."""
    seed: int | None = None
    """Seed; by default the recipe's."""
    seeds: int = 1
    """Train this many seeds side by side, from --seed on; each has a folder of its own below --out."""
    minutes: float = math.inf
    """Stop after this wall-clock time."""
    steps: int | None = None
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
    save_every_s: float = 20.0
    """Time between two checkpoints; what a kill costs at most."""


def run(args: Args) -> dict[str, Any]:
    """Train, and say where the run is."""
    quiet_compiler()
    check(args)
    plan = choose_plan(args)
    if plan is not None and not (args.stage or args.profile or args.imitate):
        return train_in_stages(plan, staged_options(args, plan))
    config, seed = choose_recipe(args, plan)
    if args.profile:
        return print_profile(config)
    options = options_of(args, config, seed)
    return imitate(config, options.out, seed, args.quiet) if args.imitate else train(config, options)


def train(config: Any, options: Any) -> dict[str, Any]:
    """One run of every seed, and a report page of each."""
    from robomarl.sim.anyscenario import load_any_scenario
    from robomarl.train.runner import train_run

    scenario: Any = load_any_scenario(config.scenario)
    rows = train_run(config, scenario, options)
    for folder, row in zip(options.folders.values(), rows, strict=True):
        print_run(str(folder), row)
        write_report(folder)
    about = {"run": str(options.out), "scenario": config.scenario, "seed": options.seed}
    runs = [{"run": str(f), **row} for f, row in zip(options.folders.values(), rows, strict=True)]
    return {**about, **rows[0], "runs": runs}


def options_of(args: Args, config: Any, seed: int) -> Any:
    """How the run is carried out."""
    from robomarl.train.runner import RunOptions

    out, init = args.out or Path("runs") / config.scenario, (args.init,) if args.init else ()
    times = {"minutes": args.minutes, "steps": args.steps, "save_every_s": args.save_every_s}
    return RunOptions(out, seed, args.seeds, resume=args.resume, init=init, quiet=args.quiet, **times)


def staged_options(args: Args, plan: Any) -> Any:
    """How the stages are carried out; raises `UserError` for what is said of one run only."""
    if args.steps:
        raise UserError("--steps is of one run, and the recipe has stages with steps of their own; add --stage NAME.")
    options = options_of(args, plan.stages[0].config, plan.seed if args.seed is None else args.seed)
    if args.resume and options.seed != plan.seed:
        raise UserError(f"--seed {options.seed}: {options.out} is of seed {plan.seed}; leave --seed out.")
    return replace(options, seeds=plan.seeds) if args.resume else options


def check(args: Args) -> None:
    """Raises `UserError` where options are missing or contradict each other."""
    if not (args.scenario or args.recipe or (args.resume and args.out)):
        raise UserError("name a SCENARIO or a --recipe; `robomarl list` shows the scenarios.")
    if args.resume and args.init:
        raise UserError("--init starts a new run, --resume goes on with an old one; leave one of them out.")
    if args.resume and args.stage:
        raise UserError("--resume goes on with the stages that are in --out; leave --stage out.")


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


def choose_plan(args: Args) -> Any:
    """The stages that the options ask for; None where there are none."""
    from robomarl.train.stages.plan import is_staged
    from robomarl.train.stages.read import load_plan
    from robomarl.train.stages.train import read_staged

    out = args.out or Path("runs") / args.scenario
    if args.resume:
        return read_staged(out) if is_staged(out) else None
    name = recipe_name(args)
    return load_plan(name, args.scenario) if name else None


def recipe_name(args: Args) -> str:
    """The recipe that the options ask for: by default the scenario's own; "" where it has none."""
    from robomarl.train.config import recipe_names

    return args.recipe or (args.scenario if args.scenario in recipe_names() else "")


def choose_recipe(args: Args, plan: Any) -> tuple[Any, int]:
    """Configuration and seed of the one run that the options ask for; of a run that goes on, those in its folder."""
    from robomarl.train.checkpoint import load_recipe_of
    from robomarl.train.config import TrainConfig, load_recipe
    from robomarl.train.runner import longer

    out, name = args.out or Path("runs") / args.scenario, recipe_name(args)
    if args.resume:
        first = out if args.seeds == 1 else out / f"seed_{args.seed or 0}"
        config, _, about = load_recipe_of(first)
        return config, about["seed"] if args.seed is None else args.seed
    if plan is not None:
        config, seed = (plan.stage(args.stage) if args.stage else plan.stages[0]).config, plan.seed
    else:
        config, seed = load_recipe(name) if name else (TrainConfig(), 0)
        config = replace(config, scenario=args.scenario or config.scenario)
    if plan is None and args.stage:
        raise UserError(f"--stage {args.stage}: the recipe has no stages; leave it out.")
    return longer(config, args.steps), seed if args.seed is None else args.seed
