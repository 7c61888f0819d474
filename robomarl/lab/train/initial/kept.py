"""`KeptPrograms`: compiled programs of the last run of a process, for a next run that differs in its seed alone."""

from collections.abc import Callable
from typing import NamedTuple

import jax

from robomarl.lab.train.state import TrainState, Update


class RunPrograms(NamedTuple):
    """Programs of a run that begins from nothing."""

    start: Callable[[jax.Array], TrainState]
    """State of all seeds, of their keys."""
    update: Callable[[], Update]
    """Waits for the compiler."""


class KeptPrograms:
    """Programs under all that is in them; those of one run at most, so that memory does not grow with runs."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._kept: dict[str, RunPrograms] = {}

    def get(self, key: str) -> RunPrograms | None:
        """Return the programs under this key; None: they are not kept."""
        return self._kept.get(key)

    def keep(self, key: str, programs: RunPrograms) -> RunPrograms:
        """Keep these programs in place of those before; returns them."""
        self._kept = {key: programs}
        return programs
