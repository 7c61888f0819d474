"""`--on` and `--workers` of `eval`, `prove` and `bench`: Ray's workers share the episodes."""

from collections.abc import Iterator
from contextlib import contextmanager

LOCAL = "local"
WORKER_BYTES = 800_000_000
"""Memory of a worker that flies 64 episodes [bytes]."""


@contextmanager
def shared(on: str, workers: int | None) -> Iterator[None]:
    """Share the evaluations and campaigns of the block among workers.

    Args:
        on: local, or ray://HOST:PORT; "": nothing is shared.
        workers: number of processes; None: one a core, as far as memory holds them.

    Raises:
        UserError: memory does not hold the workers, or there is no cluster to be trusted at the address.
    """
    if not on:
        yield
        return
    from robomarl.lab.cluster.connect import Cluster
    from robomarl.lab.cluster.crew import shared_by
    from robomarl.lab.cluster.tasks import joined

    with joined(Cluster(on, workers or 0), WORKER_BYTES) as team, shared_by(team):
        yield
