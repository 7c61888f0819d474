"""`python -m benchmarks.certificate --vehicle NAME`: drives certified crowds together, and prints the figures."""

import sys

import tyro

from benchmarks.certificate.campaign import run
from benchmarks.certificate.flight import Crowd

ROUNDING = 1e-5


def main() -> int:
    """Fly one cell; kind `random` draws place, size up to `count`, period, delay, clocks and losses of each part. Ends
    with 1 where bodies touch or references come too near."""
    found = run(tyro.cli(Crowd))
    figures = found.outcome._asdict() | found._asdict()
    for name, value in figures.items():
        if name != "outcome":
            print(f"{name:14} {value:.7g}")
    return int(found.outcome.contacts > 0 or found.near_share < 1 - ROUNDING)


if __name__ == "__main__":
    sys.exit(main())
