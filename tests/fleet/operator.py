"""An operator as a process of its own, which a test may kill: flashes two bundles in turn, for ever or once.

Arguments: fleet file, bundle A, bundle B, `once` or `forever`.
"""

import sys
from pathlib import Path

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.hardware.fleet import load_fleet
from robomarl.fleet import flash
from robomarl.fleet.robot import connect_all


def main() -> int:
    fleet = load_fleet(sys.argv[1])
    bundles = [load_bundle(name) for name in sys.argv[2:4]]
    while True:
        for bundle in bundles:
            reports = flash.flash(bundle, connect_all(fleet, Path()))
            print(" ".join("ok" if r.ok else r.reason for r in reports), flush=True)
            if sys.argv[4] == "once":
                return 0 if all(r.ok for r in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
