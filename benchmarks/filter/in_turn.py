"""`python -m benchmarks.filter.in_turn CHECKOUT`: one decision by the filter of another checkout and by this one's.

Both run in one go, block after block, each in a process of its own on the same core, so that what else the machine does
meets both. The kernel of each must be built (`python setup.py build_ext --inplace`).
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks import percentiles
from benchmarks.filter.latency import BLOCK, VIEWS, WARM_UP, Problems, timed

HERE = Path(__file__).parents[2]


def main() -> None:
    """Print p50 and p99 of both, and what is this one's over the other's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--blocks", type=int, default=60)
    parser.add_argument("--core", type=int, default=0)
    options = parser.parse_args()
    sides = {"other": _start(options.checkout.absolute(), options.core), "this": _start(HERE, options.core)}
    samples: dict[str, list[list[float]]] = {name: [] for name in sides}
    for _ in range(options.blocks):
        for name, process in sides.items():
            samples[name] += _block(process)
    rows = {}
    for name, taken in samples.items():
        for k, clock in enumerate(("wall", "processor")):
            for row in percentiles([pair[k] for pair in taken], name):
                rows[name, clock, row.metric] = row.value
                print(f"{name:6} {clock:10} {row.metric} {row.value:8.2f} {row.unit}")
    for clock, metric in (("wall", "p50"), ("wall", "p99"), ("processor", "p50"), ("processor", "p99")):
        print(f"this over other, {clock} {metric}: {rows['this', clock, metric] / rows['other', clock, metric]:.2f}")
    for process in sides.values():
        process.communicate()


def serve(core: int) -> None:
    """A block of decisions for every line that comes in."""
    os.sched_setaffinity(0, {core})
    decide = Problems().ours("c")
    for _ in sys.stdin:
        print(json.dumps([timed(decide, i % VIEWS) for i in range(BLOCK + WARM_UP)][WARM_UP:]), flush=True)


def _start(checkout: Path, core: int) -> subprocess.Popen[str]:
    """The filter of that checkout, whose robomarl is imported first, with the problems of this one."""
    code = f"import robomarl, sys; sys.path.insert(0, {str(HERE)!r}); "
    code += f"from benchmarks.filter.in_turn import serve; serve({core})"
    pipe, environment = subprocess.PIPE, {**os.environ, "PYTHONPATH": str(checkout)}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stdin=pipe, stdout=pipe, text=True, cwd="/")


def _block(process: subprocess.Popen[str]) -> list[list[float]]:
    assert process.stdin and process.stdout
    process.stdin.write("\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


if __name__ == "__main__":
    main()
