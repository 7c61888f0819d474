"""Conditions that must hold before anything is sent to a robot."""

from dataclasses import dataclass

from robomarl import __version__
from robomarl.fleet.serve import Facts

OLDEST = {"python": (3, 11), "onnxruntime": (1, 18)}
"""Oldest versions that run our exports."""
COPIES, SPARE_BYTES = 3, 16 * 2**20
"""Free space that a robot needs: this number of copies of the bundle, and this number of bytes."""


@dataclass(frozen=True)
class Need:
    """Requirements of a bundle and a fleet on a robot."""

    vehicle: str
    """Type that the bundle is for."""
    size: int
    """Bytes of the bundle."""
    max_clock_error_s: float = 1.0
    """See `Fleet.max_clock_error_s`."""


def problems(facts: Facts, need: Need) -> list[str]:
    """Compare a robot's answer (`OperatorSession.hello`) with the requirements; return one sentence for each
    problem.
    """
    found = list(filter(None, [str(facts.get("damage", ""))]))  # older ones do not say
    if facts["robomarl"] != __version__:
        found.append(f"has robomarl {facts['robomarl']}, this machine {__version__}; run `robomarl fleet setup`.")
    for name, oldest in OLDEST.items():
        if _version(facts[name]) < oldest:
            wanted = ".".join(map(str, oldest))
            found.append(f"has {name} {facts[name] or '(none)'}, {wanted} is needed; run `robomarl fleet setup`.")
    if facts["clock_error_s"] > need.max_clock_error_s:
        found.append(f"its clock is off by {facts['clock_error_s']:.1f} s; set it, or let chrony or ntp do it.")
    wanted = COPIES * need.size + SPARE_BYTES if need.size else 0
    if facts["free_bytes"] < wanted:
        free = f"{facts['free_bytes'] / 2**20:.1f} MiB free"
        found.append(f"disk: {free}, {wanted / 2**20:.1f} are needed; run `robomarl fleet prune`, or make room.")
    if facts["vehicle"] and facts["vehicle"] != need.vehicle:
        found.append(f"is a {facts['vehicle']}, the bundle is for {need.vehicle}; name another bundle.")
    if facts["holder"]:
        found.append(f"{facts['holder']} has it now; wait until that is done, or deactivate the policy.")
    return found


def _version(text: str) -> tuple[int, ...]:
    digits = [part for part in text.split(".")[:2] if part.isdigit()]
    return tuple(map(int, digits))
