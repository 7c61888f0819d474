"""`Crew`: processes that share evaluations and campaigns; without one, this process computes them alone."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Crew(Protocol):
    """Interface of `robomarl.lab.cluster.tasks.Workers`, which needs Ray."""

    def map(self, function: Callable[[T], R], items: Sequence[T], title: str, progress: bool = True) -> Iterator[R]:
        """Compute the function of each item; yields the results in the order of the items."""
        ...


_CREW: ContextVar[Crew | None] = ContextVar("crew", default=None)


def crew() -> Crew | None:
    """Return the processes that share the work here; None: there are none."""
    return _CREW.get()


def each(function: Callable[[T], R], items: Sequence[T], title: str) -> Iterator[R]:
    """Compute the function of each item, here or by the crew; yields the results in the order of the items."""
    workers = crew()
    return workers.map(function, items, title, False) if workers else map(function, items)


@contextmanager
def shared_by(workers: Crew) -> Iterator[None]:
    """Share all evaluations and campaigns of the block among the workers."""
    before = _CREW.set(workers)
    try:
        yield
    finally:
        _CREW.reset(before)
