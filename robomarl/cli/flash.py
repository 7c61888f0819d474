"""Put a bundle on all robots of a fleet, or on none: every robot checks it before any switches."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro


@dataclass(frozen=True)
class Args:
    """Options of `robomarl flash`."""

    bundle: Annotated[str, tyro.conf.Positional]
    """Name of a bundle in policies/, or its folder."""
    fleet: Annotated[str, tyro.conf.Positional]
    """Name of a fleet in hardware_configs/fleets/, or a YAML file."""
    root: Path = Path()
    """Folder that the robots' relative folders are below; by default the working directory."""


def run(args: Args) -> dict[str, Any]:
    """Flash, and say what each robot has now."""
    from robomarl.cli.fleet import report
    from robomarl.fleet.flash import check_fit, flash
    from robomarl.fleet.transport import connect_all
    from robomarl.hardware_configs.fleet import load_fleet
    from robomarl.policies.bundle import load_bundle

    bundle, fleet = load_bundle(args.bundle), load_fleet(args.fleet)
    remarks = check_fit(bundle, fleet)
    for remark in remarks:
        print(f"note: {remark}")
    figures = report(flash(bundle, connect_all(fleet, args.root)))
    if not figures["ok"]:
        print("Nothing was switched.")
    return {"id": bundle.id, "remarks": remarks, **figures}
