"""Look after the robots of a fleet: status, rollback, verify, prune."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro


@dataclass(frozen=True)
class Args:
    """Options of `robomarl fleet`."""

    action: Annotated[Literal["status", "rollback", "verify", "prune"], tyro.conf.Positional]
    """status: what each robot has. rollback: all go back to the bundle before. verify: each robot checks what it
    has. prune: remove all but the current and the previous bundle."""
    fleet: Annotated[str, tyro.conf.Positional]
    """Name of a fleet in hardware_configs/fleets/, or a YAML file."""
    root: Path = Path()
    """Folder that the robots' relative folders are below; by default the working directory."""


def run(args: Args) -> dict[str, Any]:
    """Do it on every robot, and say what each has now."""
    from robomarl.fleet import flash
    from robomarl.fleet.transport import connect_all
    from robomarl.hardware_configs.fleet import load_fleet

    actions = {"status": flash.status, "rollback": flash.rollback, "verify": flash.verify, "prune": flash.prune}
    return report(actions[args.action](connect_all(load_fleet(args.fleet), args.root)))


def report(reports: Sequence[Any]) -> dict[str, Any]:
    """Print one line for each `robomarl.fleet.flash.Report`; the figures. A team with two bundles in it is not ok."""
    width = max(len(r.name) for r in reports)
    for r in reports:
        now, before = (i[:12] if i else "nothing" for i in (r.current, r.previous))
        line = f"{r.name:<{width}}  {'ok    ' if r.ok else 'FAILED'}  current {now}  previous {before}"
        print(f"{line}  {r.reason}".rstrip())
    mixed = len({r.current for r in reports}) > 1
    if mixed:
        print("The robots have different bundles: they must not fly as a team; flash one bundle to all.")
    return {"ok": all(r.ok for r in reports) and not mixed, "mixed": mixed, "robots": [asdict(r) for r in reports]}
