"""Check a bundle as a robot does: hashes, contract, golden sequences; and time it on this machine."""

from dataclasses import asdict, dataclass
from typing import Annotated

import tyro

from robomarl.core.types import Figures


@dataclass(frozen=True)
class Args:
    """Options of `robomarl verify`."""

    bundle: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BUNDLE")]
    """Name of a bundle in policies/, or its folder."""


def run(args: Args) -> Figures:
    """Print and return the verdict; `ok` decides the exit status."""
    from robomarl.fleet.checks.isolated_check import verify_bundle
    from robomarl.fleet.waiting import waits

    with waits(f"the check of {args.bundle}"):
        verdict = verify_bundle(args.bundle)
    for problem in verdict.problems:
        print(f"problem: {problem}")
    if verdict.ok:
        print(f"{args.bundle}: sound, id {verdict.id}")
        print(f"  differs from training by {verdict.parity_max:.2g} at most")
        print(f"  policy: p50 {verdict.latency_p50_us:.0f} us, p99 {verdict.latency_p99_us:.0f} us")
        print(f"  view to command: p50 {verdict.step_p50_us:.0f} us, p99 {verdict.step_p99_us:.0f} us")
    return {**asdict(verdict), "problems": list(verdict.problems)}
