"""The safety campaign: teams with nominal commands that try to make them collide, under delay, noise and loss."""

from typing import TYPE_CHECKING

from robomarl.core.config import UsageError
from robomarl.core.types import Figures
from robomarl.front.cli.certified import proved
from robomarl.front.cli.prove_args import Args, setting_of, strangers_of
from robomarl.front.cli.prove_tube import tube_figures
from robomarl.front.cli.prove_worst import run_worst
from robomarl.front.cli.sharing import shared

if TYPE_CHECKING:
    from robomarl.lab.prove.campaign.prove import Trial


def run(args: Args) -> Figures:
    """Fly the campaign, and print the results; `passed` says that no robots touched."""
    if args.resume and not args.out:
        raise UsageError("--resume needs --out DIR, the folder of the campaign to go on with.")
    if args.tube and args.filter != "certificate":
        raise UsageError("--tube attacks the tube of the certificate; add --filter certificate.")
    if args.tube and args.worst:
        raise UsageError("--tube attacks the tube of a vehicle file, --worst the robots of a scenario; leave one out.")
    with shared(args.on, args.workers):
        return run_worst(args) if args.worst else _run_campaign(args)


def _run_campaign(args: Args) -> Figures:
    """Fly the campaign, print its figures, and write its page."""
    from tqdm import tqdm

    from robomarl.lab.prove.campaign.prove import run as fly

    if args.sim != "point":
        raise UsageError(f"--sim {args.sim} needs --worst.")
    trial = trial_of(args)
    theorem = _theorem(trial, args.tube) if trial.mode == "certificate" else {}
    total = sum(trial.batches) * trial.per_episode
    with tqdm(total=total, unit=" agent-steps", unit_scale=True, desc="prove", leave=False) as bar:
        found, records = fly(trial, args.processes, args.out, args.resume, bar.update)
    for name, value in found.items():
        print(f"  {name:<26}{value if isinstance(value, str) else f'{value:.6g}' if value is not None else '-':>16}")
    figures = {"scenario": args.target, "count": trial.campaign.count, "seed": args.seed, **theorem, **found}
    hit = found.get("hit_in_motion_episodes", 0)
    figures["passed"] = found["collisions"] == hit == 0 and not figures.get("tube_refuted", False)
    if found["collisions"]:
        print(f"  NOT PROVEN: {found['collisions']} collisions in {found['collision_episodes']} episodes")
    if hit:
        print(f"  NOT PROVEN: strangers reached robots in motion in {hit} episodes")
    if args.out:
        from robomarl.front.report.prove_report import write_prove_report

        file = args.out / "report.html"
        write_prove_report(figures, trial, records, file)
        print(f"  report: {file}")
    return figures


def _theorem(trial: "Trial", tube: bool) -> Figures:
    """Check the certificate's inequalities over the vehicle file, print them, and return them; with `tube`, also what
    an attack and a proof say of the tube.

    Raises:
        UserError: one does not hold.
    """
    from robomarl.core.certificate.figures import figures_of
    from robomarl.lab.prove.campaign.prove import params_of
    from robomarl.lab.prove.theorem import Given
    from robomarl.lab.prove.tube_attack import TubeSearch

    name, params, radius_m = trial.vehicle.name, params_of(trial), trial.vehicle.body.radius_m
    given = Given(params, radius_m, figures_of(params, radius_m))
    return proved(given, name) | (tube_figures(given, TubeSearch(seed=trial.seed)) if tube else {})


def trial_of(args: Args) -> "Trial":
    """Build the `Trial` (campaign, vehicle, period, filter mode) of the options; raises `UsageError` for wrong ones."""
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
    if args.filter == "certificate" and args.gains != "owner":
        raise UsageError("--gains belongs to --filter qp: the certificate has no gain that a policy could ask for.")
    mode = "qp" if args.filter == "full" else args.filter
    return Trial(campaign, vehicle, period_s, args.agent_steps, mode, args.seed, *strangers_of(args, count))
