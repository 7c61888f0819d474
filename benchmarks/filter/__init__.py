"""`bench filter`: the safety filter's backends; `--case` picks latency, certificate, exactness,
faults, graph or finite."""

from collections.abc import Callable

from benchmarks import Row
from benchmarks.certificate import latency as certificate
from benchmarks.filter import exactness, faults, finite, graph_ok, latency

CASES: dict[str, Callable[[], list[Row]]] = {
    "latency": latency.rows,
    "certificate": certificate.rows,
    "exactness": exactness.rows,
    "faults": faults.rows,
    "graph": graph_ok.rows,
    "finite": finite.rows,
}


def rows(cases: tuple[str, ...] = tuple(CASES)) -> list[Row]:
    """The cases one after the other."""
    return [row for case in cases for row in CASES[case]()]
