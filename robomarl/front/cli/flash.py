"""Put a bundle on all robots of a fleet, or on none: every robot checks it before any switches."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from robomarl.core.types import Figures


@dataclass(frozen=True)
class Args:
    """Options of `robomarl flash`."""

    bundle: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BUNDLE")]
    """Name of a bundle in policies/, its folder, or its ZIP file."""
    fleet: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FLEET")]
    """Name of a fleet in hardware_configs/fleets/, or a YAML file."""
    root: Path = Path()
    """Folder that relative folders of robots on this machine are below; by default the working directory."""
    dry_run: bool = False
    """Connect, look at everything that can be looked at, and change nothing."""
    allow_rollback: bool = False
    """Allow robots that take signed bundles only to take one with a smaller counter than their largest so far."""
    canary: str = ""
    """Robot to switch and health-check before anything is sent to the rest of the fleet."""
    absent_ok: bool = False
    """Leave out robots that can't be connected to; they catch up later (`robomarl fleet catch-up`)."""


def run(args: Args) -> Figures:
    """Flash, and print the bundle that each robot has now."""
    from robomarl.core.bundle.bundle import load_bundle
    from robomarl.core.domain.registry import onboard_of
    from robomarl.core.hardware.field import scenario_content
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.fleet.evidence.record import FleetRecord
    from robomarl.fleet.flash import STEPS, FlashOptions, check_fit, flash
    from robomarl.fleet.robot import connect_all
    from robomarl.front.cli.certified import prove_fleet, rates_beside
    from robomarl.front.cli.fleet import report
    from robomarl.front.cli.progress import robot_lines

    bundle, fleet = load_bundle(args.bundle), load_fleet(args.fleet)
    onboard_of(scenario_content(fleet.scenario)).check_order(fleet)
    remarks = [*check_fit(bundle, fleet), *rates_beside(fleet, bundle, args.root)]
    for remark in remarks:
        print(f"note: {remark}")
    if proved := prove_fleet(fleet, bundle):
        print(f"certificate: {proved} inequalities proved over {', '.join(fleet.vehicles)}.")
    flown = fleet.flown_as(bundle.contract.vehicle.name)
    with robot_lines([robot.name for robot in flown], STEPS) as watch:
        every, late_s = connect_all(fleet, args.root), fleet.max_clock_error_s
        robots = {robot.name: every[robot.name] for robot in flown}
        options = FlashOptions(args.dry_run, late_s, args.allow_rollback, args.canary, args.absent_ok)
        reports = flash(bundle, robots, watch, options)
    record = FleetRecord(fleet, args.root)
    switched = not args.dry_run and all(r.ok or r.absent for r in reports) and any(r.ok for r in reports)
    if switched and not fleet.is_unlike:  # one bundle is on record, and unlike robots have several
        record.remember(bundle.id, bundle)
    figures = report(reports, record.deployed(), fleet)
    if args.dry_run:
        figures["ok"] = all(r.ok for r in reports)
        print("Dry run: nothing was sent or switched.")
    elif not figures["ok"]:
        kept = all(r.current != bundle.id for r in reports)
        print("Nothing was switched." if kept else "Look at the robots with `robomarl fleet status` before you fly.")
    return {"id": bundle.id, "remarks": remarks, "proved": proved, "dry_run": args.dry_run, **figures}
