"""`bench filter`: the safety filter's backends; `--case` picks latency, certificate, exactness,
faults, graph or finite."""

from collections.abc import Callable
from importlib import import_module

from benchmarks import Row
from benchmarks.filter import exactness, faults, finite, graph_ok, latency


def _certificate() -> list[Row]:
    """Figures of the certificate, whose crowds are flown by modules of this package: so it is imported here."""
    return import_module("benchmarks.certificate.latency").rows()


CASES: dict[str, Callable[[], list[Row]]] = {
    "latency": latency.rows,
    "certificate": _certificate,
    "exactness": exactness.rows,
    "faults": faults.rows,
    "graph": graph_ok.rows,
    "finite": finite.rows,
}


def rows(cases: tuple[str, ...] = tuple(CASES)) -> list[Row]:
    """The cases one after the other."""
    return [row for case in cases for row in CASES[case]()]
