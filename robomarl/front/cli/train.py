"""Train the policies of a scenario's team.

The run folder holds the recipe, the scenario, metrics as CSV and TensorBoard, and checkpoints.
"""

import math
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from robomarl.core.config import MAX_SEED, Count, Natural, NonNegative, Positive, Seed, UsageError, UserError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder, check_folder
from robomarl.front.cli.stages import print_run, train_in_stages, write_report
from robomarl.front.cli.train_names import named_run, team_scenario

if TYPE_CHECKING:
    from robomarl.lab.sim.scenario import Scenario
    from robomarl.lab.train.config import TrainConfig
    from robomarl.lab.train.run.options import RunOptions
    from robomarl.lab.train.stages.plan import StagedTraining


@dataclass(frozen=True)
class Args:
    """Options of `robomarl train`."""

    scenario: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[SCENARIO]")] = ""
    """Scenario to train, by name or path; with --resume the run folder. Not needed with --recipe, or with --out and
    --resume."""
    count: Count | None = None
    """Robots in the team, instead of as many as the name says: `swap_4 --count 7` is swap_7, with swap_4's recipe."""
    out: OutFolder | None = None
    """Run folder; runs/SCENARIO by default."""
    recipe: str = ""
    """Recipe by name (policies/recipes) or path; by default the scenario's own, if there is one."""
    stage: str = ""
    """Train this stage of the recipe only, as one run; by default all, each in a folder of its own below --out."""
    seed: Seed | None = None
    """Seed; by default the recipe's."""
    seeds: Count = 1
    """Train this many seeds side by side, from --seed on; each has a folder of its own below --out."""
    devices: Count = 1
    """Divide the environments over this many devices of this machine. Metrics equal those of one device but for
    rounding, and --resume may name another number."""
    minutes: Positive = math.inf
    """Stop after this wall-clock time."""
    steps: Count | None = None
    """Agent-steps in all, instead of the recipe's; with --resume the run goes on to here."""
    resume: bool = False
    """Go on from the checkpoint in --out, with the recipe and scenario that are there."""
    init: str = ""
    """Start from the weights of this bundle or run folder (fine-tune)."""
    data: Path | None = None
    """File of `robomarl dataset` to learn from, for recipes with algorithm bc, td3_bc or iql."""
    profile: bool = False
    """Do not train: print where the time of one update goes."""
    imitate: bool = False
    """Do not train: fit the policy to the task's own law, for `--init` to start from."""
    log: tuple[Literal["wandb", "mlflow"], ...] = ()
    """Show the metrics on these boards, too, beside CSV and TensorBoard: Weights & Biases (extra `wandb`, settings in
    WANDB_...), MLflow (extra `mlflow`, settings in MLFLOW_...). Name them again with --resume."""
    quiet: bool = False
    """No progress bar."""
    save_every_s: NonNegative = 20.0
    """Time between two checkpoints [s]; a kill loses at most this much training."""
    evaluations: Natural = 8
    """Number of evaluations on mujoco, spread over the run. The policy of the best one is exported; 0: the
    newest policy.
    """


def run(args: Args) -> Figures:
    """Train, and say where the run is."""
    args = replace(args, out=named_run(args.scenario, args.out) if args.resume else args.out)
    check(args)
    plan = choose_plan(args)
    check_parts(args, plan)
    if plan is not None and not (args.stage or args.profile or args.imitate):
        return train_in_stages(plan, staged_options(args, plan))
    config, scenario, seed = choose(args, plan)
    if args.profile:
        return print_profile(config)
    options = options_of(args, config, seed)
    if args.data or config.algorithm in ("bc", "td3_bc", "iql"):
        return offline(config, scenario, args.data, options)
    if config.algorithm in ("search", "gradient"):
        return search(config, scenario, options, args)
    return imitate(config, options.out, seed, args.quiet) if args.imitate else train(config, scenario, options)


def search(config: "TrainConfig", scenario: "Scenario", options: "RunOptions", args: Args) -> Figures:
    """Search the gains of the task's law, or train its network; a run folder that `eval` and `export` take.

    Raises:
        UserError: the options or the recipe ask for what such a run has not.
    """
    from robomarl.lab.sim.engines.compiler import keep_compiled
    from robomarl.lab.train.policy_search.gradient import gradient_run
    from robomarl.lab.train.policy_search.search import SearchOptions, search_run

    check_search(config, args, options.out)
    keep_compiled(shares=config.algorithm == "search")
    told = SearchOptions(options.out, options.seed, args.quiet, options.minutes, recipe=recipe_name(args))
    if config.algorithm == "gradient":
        found = gradient_run(config, scenario, told)
        print(f"{options.out}: mean reward {found['score']:.3g} after {found['steps']:,} agent-steps.")
        return found
    found = search_run(config, scenario, told)
    print(f"{options.out}: {', '.join(f'{name} {value:.3g}' for name, value in found['gains'].items())}")
    return found


def check_search(config: "TrainConfig", args: Args, out: Path) -> None:
    """Raises `UserError` for options and keys that runs of algorithm search and gradient don't read, and for a run
    folder `out` that exists.
    """
    what, usual = f"algorithm = {config.algorithm!r}", Args()
    if args.resume:
        raise UsageError(
            f"--resume: runs of {what} last minutes and keep no checkpoint; train anew with another --out, or from the "
            "numbers that were found, as search.start of the recipe."
        )
    for name in ("init", "seeds", "imitate", "log", "save_every_s", "evaluations"):
        if getattr(args, name) != getattr(usual, name):
            raise UsageError(f"--{name.replace('_', '-')}: a run of {what} does not read it; leave it out.")
    if out.is_dir() and any(out.iterdir()):
        raise UserError(f"--out {out}: the run folder exists, and runs of {what} are not resumed; name another --out.")
    if config.curriculum:
        raise UserError(
            f"{recipe_name(args) or config.scenario}: a run of {what} has no curriculum; leave [[curriculum]] out."
        )


def offline(config: "TrainConfig", scenario: "Scenario", file: Path | None, options: "RunOptions") -> Figures:
    """Learn from a data set; a run folder as of training.

    Raises:
        UserError: there is no file, the recipe learns by simulation, or the run is to start from another.
    """
    from robomarl.lab.train.config import OFFLINE
    from robomarl.lab.train.offline.fit import learn_offline

    if config.algorithm not in OFFLINE:
        by = f"--data: algorithm = {config.algorithm!r} learns by simulation"
        raise UsageError(f"{by}; make it {', '.join(OFFLINE)}.")
    if file is None:
        raise UsageError(f"algorithm = {config.algorithm!r} learns from a data set; name it with --data FILE.")
    if options.init or options.resume or options.seeds > 1:
        raise UsageError("--data: a fit to data is one run that begins anew; leave --init, --resume and --seeds out.")
    found = learn_offline(config, scenario, file, options.out, options.seed, options.quiet)
    print(f"{options.out}: {config.algorithm} from {found['transitions']:,} transitions in {found['seconds']:.0f} s.")
    return found


def train(config: "TrainConfig", scenario: "Scenario", options: "RunOptions") -> Figures:
    """One run of every seed, and a report page of each."""
    from robomarl.lab.train.run.runner import train_run

    rows = train_run(config, scenario, options)
    for folder, row in zip(options.folders.values(), rows, strict=True):
        print_run(str(folder), row)
        write_report(folder)
    about = {"run": str(options.out), "scenario": config.scenario, "seed": options.seed}
    runs = [{"run": str(f), **row} for f, row in zip(options.folders.values(), rows, strict=True)]
    return {**about, **rows[0], "runs": runs}


def options_of(args: Args, config: "TrainConfig", seed: int) -> "RunOptions":
    """How the run is carried out."""
    from robomarl.fleet.waiting import waits
    from robomarl.lab.train.run.options import RunOptions

    if seed + args.seeds - 1 > MAX_SEED:
        raise UsageError(f"--seeds {args.seeds}: from seed {seed} on they go beyond {MAX_SEED}; begin with less.")
    out, init = args.out or Path("runs") / Path(config.scenario).stem, (args.init,) if args.init else ()
    check_folder("--out", out)
    more = {name: getattr(args, name) for name in ("minutes", "steps", "save_every_s", "evaluations", "log", "devices")}
    told = nullcontext if args.quiet else waits
    return RunOptions(out, seed, args.seeds, resume=args.resume, init=init, quiet=args.quiet, waits=told, **more)


def staged_options(args: Args, plan: "StagedTraining") -> "RunOptions":
    """Return how the stages are carried out; raises `UserError` for options of one run only."""
    if args.steps:
        raise UsageError("--steps is of one run, and the recipe has stages with steps of their own; add --stage NAME.")
    options = options_of(args, plan.stages[0].config, plan.seed if args.seed is None else args.seed)
    if args.resume and options.seed != plan.seed:
        raise UsageError(f"--seed {options.seed}: {options.out} is of seed {plan.seed}; leave --seed out.")
    return replace(options, seeds=plan.seeds) if args.resume else options


def check(args: Args) -> None:
    """Raises `UserError` where options are missing or contradict each other."""
    if not (args.scenario or args.recipe or args.resume):
        raise UsageError("name a SCENARIO or a --recipe; `robomarl list` shows the scenarios.")
    if args.resume and args.init:
        raise UsageError("--init starts a new run, --resume goes on with an old one; leave one of them out.")
    if args.count and (args.resume or not args.scenario):
        raise UsageError(f"--count {args.count} needs a SCENARIO whose name ends with a number, to begin a run with.")
    if args.resume and args.stage:
        raise UsageError("--resume goes on with the stages that are in --out; leave --stage out.")


def check_parts(args: Args, plan: "StagedTraining | None") -> None:
    """Raises `UserError` where the training can't be divided over --devices; before anything is made."""
    if args.devices == 1:
        return
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.devices.across import Devices
    from robomarl.lab.train.devices.divide import check_devices

    if args.profile or args.imitate or args.data:
        raise UsageError(f"--devices {args.devices}: only training in simulation is divided; leave it out.")
    chosen = [choose(args, plan)[0]] if plan is None or args.stage else [stage.config for stage in plan.stages]
    for config in chosen:
        check_devices(config, load_scenario(config.scenario), Devices(args.devices))


def imitate(config: "TrainConfig", out: Path, seed: int, quiet: bool) -> Figures:
    """Fit a policy to the task's law; a run folder as of training."""
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.imitation import imitate_run

    found = imitate_run(config, load_scenario(config.scenario), out, seed, quiet)
    print(f"{out}: imitates the law of {config.scenario}; train on with --init {out}.")
    return found


def print_profile(config: "TrainConfig") -> Figures:
    """Print and return how long each part of one update takes."""
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.algorithm import training_env
    from robomarl.lab.train.run.profile import profile, table

    env = training_env(config, load_scenario(config.scenario))
    parts = profile(config, env)
    print(table(parts, config, env))
    return {f"{name}_s": value for name, value in parts.items()}


def choose_plan(args: Args) -> "StagedTraining | None":
    """The stages that the options ask for; None where there are none."""
    from robomarl.lab.train.stages.plan import is_staged
    from robomarl.lab.train.stages.read import load_plan
    from robomarl.lab.train.stages.train import read_staged

    if args.resume:
        assert args.out is not None
        return read_staged(args.out) if is_staged(args.out) else None
    name = recipe_name(args)
    return load_plan(name, scenario_name(args)) if name else None


def recipe_name(args: Args) -> str:
    """The recipe that the options ask for: by default the scenario's own; "" where it has none."""
    from robomarl.lab.train.config import recipe_names

    return args.recipe or (args.scenario if args.scenario in recipe_names() else "")


def scenario_name(args: Args) -> str:
    """The scenario that the options name, with the number of robots that they ask for; "" where they name none."""
    return team_scenario(args.scenario, args.count) if args.scenario else ""


def choose(args: Args, plan: "StagedTraining | None" = None) -> "tuple[TrainConfig, Scenario, int]":
    """Configuration, scenario and seed of one run; of a run that goes on, those in its folder."""
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.config import TrainConfig, load_recipe
    from robomarl.lab.train.run.run_folder import load_recipe_of
    from robomarl.lab.train.run.runner import longer

    if args.resume and args.out:
        first = args.out if args.seeds == 1 else args.out / f"seed_{args.seed or 0}"
        config, scenario, about = load_recipe_of(first)
        return longer(config, args.steps), scenario, about["seed"] if args.seed is None else args.seed
    if plan is None and args.stage:
        raise UsageError(f"--stage {args.stage}: the recipe has no stages; leave it out.")
    if plan is not None:
        config, seed = (plan.stage(args.stage) if args.stage else plan.stages[0]).config, plan.seed
    else:
        name = recipe_name(args)
        config, seed = load_recipe(name) if name else (TrainConfig(), 0)
        config = replace(config, scenario=scenario_name(args) or config.scenario)
    return longer(config, args.steps), load_scenario(config.scenario), seed if args.seed is None else args.seed
