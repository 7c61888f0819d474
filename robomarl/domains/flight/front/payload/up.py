"""`up` of a team that carries: one mission, its report, one line; or flights, as of any flying team."""

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.types import Figures
from robomarl.front.cli.flights import rehearse as fly
from robomarl.front.cli.flights import reported
from robomarl.front.cli.up import Args, plan_of, relay


def rehearse(fleet: Fleet, args: Args) -> Figures | None:
    """Fly the mission, or so often as is said; None: neither."""
    if not args.mission:
        return fly(fleet, args)
    check_mission(fleet, args.mission)
    from robomarl.domains.flight.front.payload.page import write_load_report
    from robomarl.domains.flight.ros.payload.rehearsal import fly_mission

    result = fly_mission(fleet, plan_of(fleet, args), lost_robot(args.lose), relay)
    return reported(result, args, write_load_report, "load_report.html", {"fleet": fleet.name, "mission": args.mission})


def check_mission(fleet: Fleet, mission: str) -> None:
    """Check that a mission's set-points are inside the arena of the fleet's scenario.

    Raises:
        UserError: one is not; names it, the limit and both numbers.
    """
    import numpy as np

    from robomarl.core.goals.room import box_fault
    from robomarl.domains.flight.ros.payload.mission import load_mission
    from robomarl.lab.sim.filter_params import safety_params
    from robomarl.lab.sim.scenario import load_scenario

    params = safety_params(load_scenario(fleet.scenario))
    for point in load_mission(mission).set_points:
        if fault := box_fault(params, np.array(point.pos_m)):
            raise UserError(f"mission {mission}: the set-point at {point.at_s:g} s, {fault}; move it.")


def lost_robot(text: str) -> tuple[str, float] | None:
    """ROBOT@SECONDS."""
    if not text:
        return None
    name, _, seconds = text.partition("@")
    try:
        return name, float(seconds)
    except ValueError:
        raise UserError(f"--lose {text} must be ROBOT@SECONDS, robot_1@40 for example.") from None
