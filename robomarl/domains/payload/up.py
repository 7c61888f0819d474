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
    check_mission(fleet, args.mission)
    from robomarl.domains.payload.report.page import write_load_report
    from robomarl.domains.payload.ros_nodes.rehearsal import fly_mission

    result = fly_mission(fleet, plan_of(fleet, args), lost_robot(args.lose), relay)
    return reported(result, args, write_load_report, "load_report.html", {"fleet": fleet.name, "mission": args.mission})


def check_mission(fleet: Any, mission: str) -> None:
    """Check that a mission's set-points are inside the arena of the fleet's scenario.

    Raises:
        UserError: one is not; names it, the limit and both numbers.
    """
    import numpy as np

    from robomarl.domains.payload.ros_nodes.mission import load_mission
    from robomarl.goals.room import box_fault
    from robomarl.sim.filter_params import safety_params
    from robomarl.sim.scenario import load_scenario

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
