"""The safety campaign: teams whose nominal commands try to make them collide, under delay, noise and loss."""

import dataclasses
import os
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro

from robomarl.core.config import Count, Fraction, Natural, Positive, Range, Seed, UsageError, UserError
from robomarl.front.cli.ends import OutFolder


@dataclass(frozen=True)
class Args:
    """Options of `robomarl prove`."""

    target: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENARIO|BUNDLE|VEHICLE")]
    """Scenario or bundle: its vehicle, its rate and its team. Or a vehicle."""
    agent_steps: Annotated[float, Range(1)] = 2e5
    """Decisions of single robots, at least."""
    filter: Literal["full", "qp", "textbook", "off"] = "full"
    """Safety filter; full is qp until there is a certificate."""
    task: Literal["adversarial", "swap"] = "adversarial"
    """Nominal commands that hunt the others, or that trade places."""
    adversaries: tuple[str, ...] = ()
    """Some of seek, intercept, bang_bang, rush, swap, random; by default all, drawn for each robot."""
    gains: Literal["owner", "hostile"] = "owner"
    """Gains of the filters: the owner's, or ones that a policy draws anew at each decision, which may be any."""
    count: Annotated[int, Range(2)] | None = None
    """Robots in a team; by default the scenario's, or 8."""
    rate_hz: Annotated[float, Range(1, 1000)] | None = None
    """Decisions per second; by default the scenario's, or 50."""
    delay_s: Annotated[float, Range(0, 1)] | None = None
    """Another delay than the vehicle's, for the filter and for the robots."""
    seconds: Positive = 10.0
    """Length of an episode."""
    loss: Fraction = 0.3
    """Share of the messages that do not arrive."""
    seed: Seed = 0
    """Of everything that is drawn."""
    out: OutFolder | None = None
    """Folder for what is flown, batch by batch, and without `--worst` for the report page."""
    resume: bool = False
    """Go on with the campaign in `--out`; where there is none yet, begin it."""
    worst: bool = False
    """Look for trouble: directed errors and a search, until the first contact; prints the robustness factor."""
    episodes: Count | None = None
    """With `--worst`: of two robots at the declared bounds, 20 000; with `--sim mujoco` of each variation, 24."""
    team_episodes: Natural = 500
    """With `--worst`: episodes of four to eight robots."""
    scales: tuple[Positive, ...] = ()
    """With `--worst`: scales of all declared bounds; by default 1, then up (or down) to the first contact."""
    sim: Literal["point", "mujoco"] = "point"
    """With `--worst`: point masses with directed errors, or malicious commands on MuJoCo (of a scenario or bundle)."""
    workers: Count = os.cpu_count() or 1
    """Processes. The figures don't depend on them."""


def run(args: Args) -> dict[str, Any]:
    """Fly the campaign, print what came of it; `passed` says that no robots touched."""
    from tqdm import tqdm

    from robomarl.lab.prove.campaign.prove import run as fly

    if args.resume and not args.out:
        raise UsageError("--resume needs --out DIR, the folder of the campaign to go on with.")
    if args.worst:
        from robomarl.front.cli.prove_worst import run_worst

        return run_worst(args)
    if args.sim != "point":
        raise UsageError(f"--sim {args.sim} needs --worst.")
    trial = trial_of(args)
    total = sum(trial.batches) * trial.per_episode
    with tqdm(total=total, unit=" agent-steps", unit_scale=True, desc="prove", leave=False) as bar:
        found, records = fly(trial, args.workers, args.out, args.resume, bar.update)
    for name, value in found.items():
        print(f"  {name:<26}{value if isinstance(value, str) else f'{value:.6g}' if value is not None else '-':>16}")
    figures = {"scenario": args.target, "count": trial.campaign.count, "seed": args.seed, **found}
    figures["passed"] = found["collisions"] == 0
    if not figures["passed"]:
        print(f"  NOT PROVEN: {found['collisions']} collisions in {found['collision_episodes']} episodes")
    if args.out:
        from robomarl.front.report.prove_report import write_prove_report

        file = args.out / "report.html"
        write_prove_report(figures, trial, records, file)
        print(f"  report: {file}")
    return figures


def trial_of(args: Args) -> Any:
    """What the options ask for."""
    from robomarl.lab.prove.campaign.adversary import KINDS
    from robomarl.lab.prove.campaign.conditions import Campaign
    from robomarl.lab.prove.campaign.prove import Trial

    for kind in args.adversaries:
        if kind not in KINDS:
            raise UsageError(f"--adversaries: {kind!r} is not known; allowed: {', '.join(KINDS)}.")
    vehicle, count, period_s = setting_of(args)
    campaign = Campaign(
        args.task, count, args.seconds, args.loss, kinds=args.adversaries or Campaign().kinds, gains=args.gains
    )
    if args.seconds < period_s:
        raise UsageError(f"--seconds {args.seconds:g} is no decision: the period is {period_s:g} s; name more.")
    mode = "qp" if args.filter == "full" else args.filter
    return Trial(campaign, vehicle, period_s, args.agent_steps, mode, args.seed)


def setting_of(args: Args) -> tuple[Any, int, float]:
    """The vehicle, robots in a team and the period [s] that the options ask for."""
    from robomarl.core.hardware.vehicle import load_any_vehicle
    from robomarl.core.paths import vehicles_dir

    if args.target.endswith((".yaml", ".yml")) or (vehicles_dir() / f"{args.target}.yaml").is_file():
        vehicle, count, period_s = load_any_vehicle(args.target), 8, 0.02
    else:
        scenario = scenario_of(args.target)
        vehicle, count, period_s = scenario.vehicle_config, scenario.count, scenario.period_s
    if args.delay_s is not None:
        vehicle = dataclasses.replace(vehicle, safety=dataclasses.replace(vehicle.safety, delay_s=args.delay_s))
    return vehicle, args.count or count, 1 / args.rate_hz if args.rate_hz else period_s


def scenario_of(target: str) -> Any:
    """The scenario of that name, or the one that the bundle of that name was trained for."""
    from robomarl.core.bundle.bundle import load_bundle
    from robomarl.lab.evaluate.sealed_scenario import opened_from_bundle
    from robomarl.lab.sim.scenario import load_scenario

    try:
        return load_scenario(target)
    except UserError as unknown:
        try:
            bundle = load_bundle(target)
        except UserError:
            raise unknown from None
        return opened_from_bundle(bundle)
