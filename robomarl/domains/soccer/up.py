"""`up` of a game: one match, its report, one line."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robomarl.cli.up import Args


def rehearse(fleet: Any, args: "Args") -> dict[str, Any] | None:
    """Play a match, where it is not left to the operator."""
    return play_match(fleet, args) if plays(fleet, args) else None


def plays(fleet: Any, args: "Args") -> bool:
    """Whether a match is to be played now, and not left to an operator.

    Raises:
        UserError: the options are those of another task, or the fleet has not the teams of its scenario.
    """
    from robomarl.config import UserError
    from robomarl.ros_nodes.operator.fleet_plan import domain_of_fleet

    domain_of_fleet(fleet)
    for name in ("flights", "mission", "ground"):
        if getattr(args, name):
            raise UserError(f"--{name} is not for a game; fleet {fleet.name} plays {fleet.scenario}, leave it out.")
    return args.sim is not None and not args.stay


def play_match(fleet: Any, args: "Args") -> dict[str, Any]:
    """Play a match to its end."""
    from robomarl.cli.up import relay
    from robomarl.config import to_dict
    from robomarl.domains.soccer.report.page import write_match_report
    from robomarl.domains.soccer.ros_nodes import rehearsal
    from robomarl.ros_nodes.operator.fleet_plan import commit

    options = rehearsal.MatchOptions(
        bundle=args.bundle,
        against=args.against,
        root=str(args.root),
        out=str(args.out),
        record=args.record,
        seed=args.seed,
        domain_id=args.domain_id,
        match_s=args.duration,
    )
    result = rehearsal.play_match(fleet, options, relay)
    report = args.out / "match_report.html"
    about = {"fleet": fleet.name, "bundle": args.bundle, "against": args.against or args.bundle, "seed": args.seed}
    write_match_report(result, report, {**about, "commit": commit(), "simulator fell behind [s]": result.slipped_s})
    print(f"{match_line(result)}; report: {report}")
    figures = to_dict(result)
    del figures["flight"]["ticks_us"]
    return {**figures, "report": str(report)}


def match_line(result: Any) -> str:
    """One match as one line."""
    match, flight = result.match, result.flight
    lost, expected = (sum(getattr(link, name) for link in flight.links) for name in ("lost", "expected"))
    slowest = min(match.rate_hz.values(), default=0.0)
    return (
        f"{'ok' if result.ok else 'FAILED'}: {match.goals[0]} : {match.goals[1]} after {match.played_s:.1f} s; kicks "
        f"{match.kicks[0]} and {match.kicks[1]}, impacts {match.impacts[0]} and {match.impacts[1]}; {slowest:.1f} "
        f"decisions/s at least; {lost} of {expected} messages lost"
    )
