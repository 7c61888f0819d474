"""`up` of a team that carries: one mission, its report, one line; or flights, as of any flying team."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robomarl.cli.up import Args


def rehearse(fleet: Any, args: "Args") -> dict[str, Any] | None:
    """Fly the mission, or so often as is said; None: neither."""
    if args.mission:
        return fly_mission(fleet, args)
    from robomarl.cli.flights import rehearse as fly

    return fly(fleet, args)


def fly_mission(fleet: Any, args: "Args") -> dict[str, Any]:
    """One mission with a load, its report and one line."""
    from robomarl.cli.up import relay
    from robomarl.config import to_dict
    from robomarl.domains.payload.report.page import write_load_report
    from robomarl.domains.payload.ros_nodes import rehearsal
    from robomarl.ros_nodes.operator.fleet_plan import commit

    options = rehearsal.MissionOptions(
        mission=args.mission,
        bundle=args.bundle,
        root=str(args.root),
        out=str(args.out),
        record=args.record,
        seed=args.seed,
        domain_id=args.domain_id,
        lose=lost_robot(args.lose),
    )
    result = rehearsal.fly_mission(fleet, options, relay)
    report = args.out / "load_report.html"
    about = {"fleet": fleet.name, "mission": args.mission, "bundle": args.bundle, "seed": args.seed}
    write_load_report(result, report, {**about, "commit": commit(), "simulator fell behind [s]": result.slipped_s})
    print(f"{mission_line(result)}; report: {report}")
    figures = to_dict(result)
    del figures["flight"]["ticks_us"]
    return {**figures, "report": str(report)}


def lost_robot(text: str) -> tuple[str, float] | None:
    """ROBOT@SECONDS."""
    from robomarl.config import UserError

    if not text:
        return None
    name, _, seconds = text.partition("@")
    try:
        return name, float(seconds)
    except ValueError:
        raise UserError(f"--lose {text} must be ROBOT@SECONDS, robot_1@40 for example.") from None


def mission_line(result: Any) -> str:
    """One mission as one line."""
    load = result.load
    points = ", ".join(f"{100 * p.position_error_m:.1f} cm" for p in load.set_points)
    lost = f"; {load.lost} lost after {load.lost_at_s:.1f} s" if load.lost else ""
    end = "load set down" if load.set_down else "load NOT set down"
    return f"{'ok' if result.ok else 'FAILED'}: {load.flown_s:.1f} s in the air, settled at {points}{lost}; {end}"
