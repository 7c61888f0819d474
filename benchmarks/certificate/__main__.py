"""`python -m benchmarks.certificate --vehicle NAME`: drives a certified crowd together, and prints the figures."""

import sys

import tyro

from benchmarks.certificate.flight import Crowd, fly


def main() -> int:
    """Fly one crowd. Ends with 1 where bodies touch or references come too near."""
    crowd = tyro.cli(Crowd)
    found = fly(crowd)
    for name, value in found._asdict().items():
        print(f"{name:14} {value:.4g}")
    return int(found.contacts > 0 or found.references_m < found.kept_m - 1e-6)


if __name__ == "__main__":
    sys.exit(main())
