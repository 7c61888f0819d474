"""Installation of a bundle on all robots of a fleet, or on none: all stage and check it, then all
switch.

Every function takes the robots by name, works on all robots at once and returns one `Report` for
each. If a robot fails before the switch, no robot has switched; if one fails to switch, all
switched robots go back.
"""

from dataclasses import dataclass, replace

from robomarl.core.bundle.bundle import Bundle
from robomarl.core.config import UserError, to_dict
from robomarl.core.hardware.fleet import Fleet
from robomarl.fleet.change import STEPS, Change, TeamChange, Watch
from robomarl.fleet.checks.camera_fit import camera_fault
from robomarl.fleet.preflight import Need
from robomarl.fleet.report import Report, Robots, each

__all__ = ["STEPS", "FlashOptions", "check_fit", "differing", "flash", "rollback", "short"]


def check_fit(bundle: Bundle, fleet: Fleet) -> list[str]:
    """Compare a bundle with a fleet; returns remarks that do not stop it, one sentence each.

    Raises:
        UserError: it is for another vehicle, camera or team size.
    """
    contract = bundle.contract
    vehicle = fleet.vehicles.get(contract.vehicle.name)
    if vehicle is None:
        raise UserError(
            f"Bundle {contract.name} is for vehicle {contract.vehicle.name}, the robots of fleet {fleet.name} are "
            f"{' and '.join(fleet.vehicles)}; nothing was switched, name another bundle."
        )
    least, most = contract.team_size
    if not least <= fleet.team_size <= most:
        allowed = f"{least}" if least == most else f"{least} to {most}"
        raise UserError(
            f"Bundle {contract.name} is for teams of {allowed}, fleet {fleet.name} has {fleet.team_size} robots; "
            "nothing was switched, name another bundle."
        )
    if fault := camera_fault(contract, vehicle):
        raise UserError(f"{fault}; nothing was switched, name a bundle for this camera.")
    changed = differing(contract.vehicle.content, to_dict(vehicle))
    file = next(map(fleet.vehicle_of, fleet.flown_as(vehicle.name)), vehicle.name)
    return [f"{file}: {key} is {ours!r} here and was {theirs!r} in training." for key, theirs, ours in changed]


def differing(theirs: object, ours: object, key: str = "") -> list[tuple[str, object, object]]:
    """(dotted key, theirs, ours) of every number that two parsed vehicle files don't share, without their sources and
    what only real vehicles have: bounds of estimators (`safety` has those of the one that flies) and autopilots.
    A camera is left out: `camera_fault` compares it for bundles that read its pictures."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        beside = {"sources", "version", "estimator", "estimators", "inner_loop", "camera"}
        keys = sorted((theirs.keys() | ours.keys()) - beside)
        return [d for k in keys for d in differing(theirs.get(k), ours.get(k), f"{key}.{k}" if key else k)]
    return [] if theirs == ours else [(key, theirs, ours)]


@dataclass(frozen=True)
class FlashOptions:
    """How a team is changed."""

    dry_run: bool = False
    """Look at all that can be looked at, and change nothing."""
    max_clock_error_s: float = 1.0
    """See `Fleet`."""
    allow_rollback: bool = False
    """See `TeamChange`."""
    canary: str = ""
    """See `TeamChange`."""
    absent_ok: bool = False
    """See `TeamChange`."""


def flash(
    bundle: Bundle,
    robots: Robots,
    watch: Watch = lambda name, step: None,
    options: FlashOptions = FlashOptions(),  # noqa: B008
) -> list[Report]:
    """Put the bundle on every robot and make it current on all robots, or on none.

    Args:
        bundle: the bundle to be current.
        robots: robots by name.
        watch: called with every step.
        options: settings of the change.

    Raises:
        UserError: no robot is called as the canary.
    """
    if options.canary and options.canary not in robots:
        raise UserError(f"--canary {options.canary}: the fleet has no such robot; it has {', '.join(robots)}.")
    contract = bundle.contract
    size = sum(map(len, bundle.files.values()))
    need = Need(contract.vehicle.name, size, options.max_clock_error_s)
    plan = TeamChange("flash", bundle.id, need, bundle, 1 / contract.rate_hz, options.dry_run, options.allow_rollback)
    return Change(replace(plan, canary=options.canary, absent_ok=options.absent_ok), robots, watch).run()


def rollback(
    robots: Robots, watch: Watch = lambda name, step: None, dry_run: bool = False, allow_rollback: bool = False
) -> list[Report]:
    """Go back to the previous bundle on every robot, or on none; twice is where one was.

    Raises:
        UserError: the robots would then fly different bundles.
    """
    reports = each(robots, lambda robot: {})
    if any(not report.ok for report in reports):
        return [replace(r, ok=False, reason=r.reason or "not switched, another robot is away.") for r in reports]
    goals = {report.name: report.previous for report in reports}
    if len(set(goals.values())) > 1:
        names = ", ".join(f"{name} to {short(goal)}" for name, goal in goals.items())
        raise UserError(f"Rollback would mix bundles ({names}); nothing was switched, flash one bundle to all.")
    if reports[0].previous is None:
        return [replace(report, ok=False, reason="has no previous bundle; flash one.") for report in reports]
    plan = TeamChange("rollback", reports[0].previous, Need("", 0, float("inf")), None, 0.0, dry_run, allow_rollback)
    return Change(plan, robots, watch).run()


def short(bundle_id: str | None) -> str:
    """An id as people read it."""
    return bundle_id[:12] if bundle_id else "nothing"
