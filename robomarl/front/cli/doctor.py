"""Check this machine: Python, extras, ROS 2, graphics, GPU, clock, disks; each with its fix.

The exit status is 1 if something is missing that `train`, `eval` or `up --sim` need.
"""

from dataclasses import dataclass
from typing import Annotated

import tyro

from robomarl.core.types import Figures


@dataclass(frozen=True)
class Args:
    """Options of `robomarl doctor`."""

    quick: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Leave out the message over the loopback interface, which takes up to 10 s where ROS is set up wrongly."""


def run(args: Args) -> Figures:
    """Print a row for each check; `passed` is False if something needed is missing."""
    from robomarl.front.doctor.examine import EXAMINATIONS, examine, line

    rows = []
    for row in examine(EXAMINATIONS, args.quick):
        print(line(row), flush=True)
        rows.append(row)
    missing = [row.name for row in rows if row.state == "missing"]
    notes = sum(row.state == "note" for row in rows)
    told = f"missing: {', '.join(missing)}" if missing else "nothing is missing to train, evaluate and run `up --sim`"
    print(f"{len(rows)} checks, {notes} notes; {told}.")
    return {"checks": [row._asdict() for row in rows], "missing": missing, "passed": not missing}
