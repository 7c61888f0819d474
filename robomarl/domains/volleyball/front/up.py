"""`up` of drones that play volleyball: rallies, their report, one line."""

from functools import partial

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.types import Figures
from robomarl.front.cli.flights import reported
from robomarl.front.cli.up import Args, plan_of, relay


def rehearse(fleet: Fleet, args: Args) -> Figures | None:
    """Play one rally, or so many as `--flights` says; None: all is left to the operator.

    Raises:
        UserError: the options are those of another task, or the fleet has not the teams of its scenario.
    """
    from robomarl.ros.operator.fleet_plan import domain_of_fleet

    domain_of_fleet(fleet)
    for name in ("mission", "ground"):
        if getattr(args, name):
            raise UserError(
                f"--{name} is not for volleyball; fleet {fleet.name} plays {fleet.scenario} from the air, leave it out."
            )
    if args.sim is None or args.stay:
        return None
    from robomarl.domains.volleyball.front.page import write_rally_report
    from robomarl.domains.volleyball.ros.rehearsal import play_rallies

    result = play_rallies(fleet, plan_of(fleet, args), args.flights or 1, relay)
    about = {"fleet": fleet.name, "against": args.against or args.bundle} if result.is_match else {"fleet": fleet.name}
    return reported(result, args, partial(write_rally_report), "rally_report.html", about)
