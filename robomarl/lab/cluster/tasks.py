"""`joined`: independent tasks, computed by Ray's workers, with results in the order of the items.

with joined(Cluster("local", 2)) as workers:
    results = list(workers.map(function, items, "matches"))
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import ray
from ray.exceptions import OutOfMemoryError, RayError, RayTaskError
from tqdm import tqdm

from robomarl.core.config import UserError
from robomarl.lab.cluster.connect import WORKER_BYTES, Cluster, connected

T = TypeVar("T")
R = TypeVar("R")
DEATHS = 5
"""Times that the worker of a task may die before the command ends."""


@contextmanager
def joined(cluster: Cluster, worker_bytes: int = WORKER_BYTES) -> "Iterator[Workers]":
    """Connect to Ray, and yield its workers; they end with the block.

    Args:
        cluster: place and number of workers.
        worker_bytes: memory of one worker [bytes], which is compared with the free memory before anything starts.

    Raises:
        UserError: as `connected`.
    """
    with connected(cluster, worker_bytes) as count:
        yield Workers(count)


@dataclass(frozen=True)
class Workers:
    """Processes that compute tasks."""

    count: int
    """Tasks at a time."""

    def map(self, function: Callable[[T], R], items: Sequence[T], title: str, progress: bool = True) -> Iterator[R]:
        """Compute the function of each item; yields the results in the order of the items.

        A task whose worker died is computed again, so the function must depend on its item alone.

        Args:
            function: a function of a module, or a `partial` of one.
            items: one a task; they are copied to the worker.
            title: of the progress bar.
            progress: False: no bar.

        Raises:
            UserError: that of the function, or the workers of a task died again and again.
        """
        remote, work = ray.remote(_call).options(num_cpus=1, max_retries=DEATHS), ray.put(function)
        left, running, order = deque(items), [], deque()
        with tqdm(total=len(items), desc=title, unit="task", leave=False, disable=None if progress else True) as bar:
            for _ in range(len(items)):
                while not order or order[0] in running:
                    while left and len(running) < self.count:
                        running.append(remote.remote(work, left.popleft()))
                        order.append(running[-1])
                    ended, running = ray.wait(running)
                    bar.update(len(ended))
                yield _result(order.popleft())


def _call(function: Callable[[T], R], item: T) -> R:
    return function(item)


def _result(future: "ray.ObjectRef[R]") -> R:
    """Return the result of a task; a `UserError` of the worker is raised here."""
    try:
        return ray.get(future)
    except RayTaskError as error:
        raise error.cause from error
    except OutOfMemoryError:
        raise UserError("the machine's memory does not hold its workers; name fewer --workers.") from None
    except RayError as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(f"a worker died {DEATHS + 1} times ({reason}); run the command again.") from None
