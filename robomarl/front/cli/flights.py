"""Rehearsals of `robomarl up --sim mujoco`: flights, one line for each, and the report of a mission or a match."""

from collections.abc import Callable
from typing import Any

from robomarl.core.config import UserError, to_dict
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.types import Figures
from robomarl.front.cli.up import Args, plan_of, relay


def rehearse(fleet: Fleet, args: Args) -> Figures | None:
    """Fly so often as is said; None: never.

    Raises:
        UserError: a mission, which only teams that carry have.
    """
    if args.mission:
        raise UserError(f"--mission {args.mission}: the team of fleet {fleet.name} carries nothing; leave it out.")
    return fly(fleet, args) if args.flights else None


def fly(fleet: Fleet, args: Args) -> Figures:
    """Flights in the simulator, one line for each."""
    from robomarl.ros.operator import flights

    result = flights.fly(
        fleet, plan_of(fleet, args), args.flights, args.duration, relay, lambda flight: print(flight.line, flush=True)
    )
    good = sum(flight.success for flight in result.flights)
    print(f"{good} of {len(result.flights)} flights succeeded; bring-up {result.bring_up_s:.1f} s.")
    told = [to_dict(flight) for flight in result.flights]
    for flight in told:
        del flight["ticks_us"]
    return {
        **to_dict(result),
        "flights": told,
        "success_rate": good / len(result.flights),
        "ok": good == len(result.flights),
    }


def reported(result: Any, args: Args, write: Callable[..., None], page: str, about: dict[str, str]) -> Figures:
    """Write the page of a mission or a match, print one line, and return the figures.

    Args:
        result: `RehearsalResult` with a `line`.
        args: options with the folder of the page.
        write: (result, file, further facts).
        page: the file's name.
        about: facts besides bundle, seed and commit.
    """
    from robomarl.ros.operator.fleet_plan import commit

    report, fell = args.out / page, {"simulator fell behind [s]": result.slipped_s}
    write(result, report, {**about, "bundle": args.bundle, "seed": args.seed, "commit": commit(), **fell})
    print(f"{result.line}; report: {report}")
    flight = to_dict(result.flight)
    del flight["ticks_us"]
    return {**to_dict(result), "flight": flight, "report": str(report)}
