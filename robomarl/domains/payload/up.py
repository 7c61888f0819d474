"""`up` of a team that carries: one mission, its report, one line; or flights, as of any flying team."""

from typing import Any

from robomarl.cli.flights import rehearse as fly
from robomarl.cli.flights import reported
from robomarl.cli.up import Args, plan_of, relay
from robomarl.config import UserError


def rehearse(fleet: Any, args: Args) -> dict[str, Any] | None:
    """Fly the mission, or so often as is said; None: neither."""
    if not args.mission:
        return fly(fleet, args)
    from robomarl.domains.payload.report.page import write_load_report
    from robomarl.domains.payload.ros_nodes.rehearsal import fly_mission

    result = fly_mission(fleet, plan_of(fleet, args), lost_robot(args.lose), relay)
    return reported(result, args, write_load_report, "load_report.html", {"fleet": fleet.name, "mission": args.mission})


def lost_robot(text: str) -> tuple[str, float] | None:
    """ROBOT@SECONDS."""
    if not text:
        return None
    name, _, seconds = text.partition("@")
    try:
        return name, float(seconds)
    except ValueError:
        raise UserError(f"--lose {text} must be ROBOT@SECONDS, robot_1@40 for example.") from None
