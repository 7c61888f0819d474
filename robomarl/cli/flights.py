"""Flights of `robomarl up --sim mujoco`: a rehearsal in the simulator, one line for each."""

from typing import TYPE_CHECKING, Any

from robomarl.config import UserError

if TYPE_CHECKING:
    from robomarl.cli.up import Args


def rehearse(fleet: Any, args: "Args") -> dict[str, Any] | None:
    """Fly so often as is said; None: never.

    Raises:
        UserError: a mission, which only teams that carry have.
    """
    if args.mission:
        raise UserError(f"--mission {args.mission}: the team of fleet {fleet.name} carries nothing; leave it out.")
    return fly(fleet, args) if args.flights else None


def fly(fleet: Any, args: "Args") -> dict[str, Any]:
    """Flights in the simulator, one line for each."""
    from robomarl.cli.up import relay
    from robomarl.config import to_dict
    from robomarl.ros_nodes.operator import flights

    options = flights.FlyOptions(
        flights=args.flights,
        seed=args.seed,
        bundle=args.bundle,
        root=str(args.root),
        out=str(args.out),
        record=args.record,
        duration_s=args.duration,
        ground=args.ground,
        domain_id=args.domain_id,
    )
    result = flights.fly(fleet, options, relay, lambda figures: print(line_of(figures), flush=True))
    good = sum(flight.success for flight in result.flights)
    print(f"{good} of {len(result.flights)} flights succeeded; bring-up {result.bring_up_s:.1f} s.")
    figures = to_dict(result)
    for flight in figures["flights"]:
        del flight["ticks_us"]
    return {**figures, "success_rate": good / len(result.flights), "ok": good == len(result.flights)}


def line_of(figures: Any) -> str:
    """One flight as one line."""
    end = f"arrived after {figures.arrived_s:.2f} s" if figures.success else f"failed: {figures.reason}"
    slowest = max(figures.tick_p99_us.values())
    lost, expected = (sum(getattr(link, name) for link in figures.links) for name in ("lost", "expected"))
    return (
        f"flight {figures.seed}: {end}; closest {figures.min_distance_m:.3f} m; filter acted in "
        f"{100 * figures.filter_active_share:.1f} % of decisions; tick p99 {slowest / 1e3:.1f} ms; "
        f"{lost} of {expected} messages lost"
    )
