"""The benchmarks behind docs/benchmarks.md: `robomarl bench [NAME]`. Ratios are measured within one run.

Machines are shared and noisy: every figure is the median of several repeats, and what is compared is measured
in turn, not one after the other.
"""

import importlib
import time
from collections.abc import Callable
from typing import NamedTuple

from robomarl.core.config import UserError

BENCHMARKS = {
    "ros": "policy nodes over DDS: sensor to command, dropped ticks, memory; beside bare rclpy nodes",
    "devices": "twenty updates of swap_4 on four forced devices of the CPU beside one; two minutes",
    "filter": "the safety filter's backends: latency beside other filters, exactness, faults; half an hour",
    "flash": "a bundle to six robots over ssh on this machine; verify; checks at a node's start",
    "hostile": "10,000 bundles whose structure was changed at random: refused, or bounded; an hour",
    "kills": "what is between a command and the motors dies in flight, of simulated vehicles; a quarter of an hour",
    "liveness": "time of crowds to their goals as flown, over straight through each other; five minutes",
    "pairs": "pairs of robots driven at each other by another hand than prove: contacts, least distance; three minutes",
    "radio": "the packet rates of one radio at which four simulated Crazyflies fly; ten minutes",
    "scale": "a sweep on two workers beside its trials one by one; processes killed at random; an hour",
    "sim": "agent-steps/s of the engines, beside bare MuJoCo",
    "start": "time to the help text and to a policy node that is ready",
    "teams": "cost and memory of a robot in teams of 8 to 1,024 on `fast`, neighbours found by cells; three minutes",
    "tick": "one decision on the robot: view to command, beside bare onnxruntime and bare daqp",
    "train": "time to 95 % success, throughput beside Brax's PPO, profile, seeds, kills, start; half an hour",
}
"""Benchmarks by name."""
MODULES = {
    "ros": "nodes.ros",
    "devices": "training.devices",
    "filter": "filter",
    "flash": "fleet.flash",
    "kills": "nodes.kill_paths",
    "liveness": "flight.liveness",
    "pairs": "filter.pairs",
    "radio": "nodes.radio_rate",
    "scale": "training.scale",
    "sim": "training.sim",
    "start": "nodes.start",
    "teams": "training.teams",
    "tick": "nodes.tick",
    "train": "training.train",
}
"""Where each is: a module below this package, with a function `rows`."""


class Row(NamedTuple):
    """One figure."""

    case: str
    metric: str
    value: float
    unit: str


class Size(NamedTuple):
    """Size of the benchmark `scale`; the published figures are of these."""

    trials: int = 16
    seconds: float = 30.0
    """Training of a trial [s]."""
    kills: int = 30


def run(name: str, cases: tuple[str, ...] = (), size: Size | None = None) -> list[Row]:
    """Measure one benchmark, or some cases of one that has a table `CASES`.

    Args:
        name: of the benchmark.
        cases: names of the cases; all by default.
        size: of the benchmark `scale`; the others have none.

    Raises:
        UserError: it has no such case.
    """
    module = importlib.import_module(f"benchmarks.{MODULES[name]}")
    known = getattr(module, "CASES", {})
    for case in cases:
        if case not in known:
            raise UserError(f"benchmark {name} has no case {case!r}; it has: {', '.join(known) or 'none'}.")
    if name == "scale":
        return module.rows(cases or tuple(known), size)
    return module.rows(cases) if cases else module.rows()


def seconds(call: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def percentiles(samples_s: list[float], case: str) -> list[Row]:
    """p50 and p99 of timings, in microseconds."""
    ordered = sorted(samples_s)
    picks = {"p50": ordered[len(ordered) // 2], "p99": ordered[int(len(ordered) * 0.99)]}
    return [Row(case, metric, value * 1e6, "us") for metric, value in picks.items()]
