"""`up` of a game: one match, its report, one line."""

from dataclasses import replace
from functools import partial

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.types import Figures
from robomarl.front.cli.flights import reported
from robomarl.front.cli.up import Args, plan_of, relay


def rehearse(fleet: Fleet, args: Args) -> Figures | None:
    """Play a match; None: it is left to the operator.

    Raises:
        UserError: the options are those of another task, or the fleet has not the teams of its scenario.
    """
    from robomarl.ros.operator.fleet_plan import domain_of_fleet

    domain_of_fleet(fleet)
    for name in ("flights", "mission", "ground"):
        if getattr(args, name):
            raise UserError(f"--{name} is not for a game; fleet {fleet.name} plays {fleet.scenario}, leave it out.")
    if args.sim is None or args.stay:
        return None
    from robomarl.domains.soccer.front.page import write_match_report
    from robomarl.domains.soccer.ros.rehearsal import play_match

    plan = replace(plan_of(fleet, args), match_s=args.duration)
    result = play_match(fleet, plan, relay)
    about = {"fleet": fleet.name, "against": args.against or args.bundle}
    return reported(result, args, partial(write_match_report, recording=plan.record), "match_report.html", about)
