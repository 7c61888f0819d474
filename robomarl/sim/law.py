"""Controllers that nobody trained, of which a policy may learn or whose gains are searched."""

from typing import Any, Protocol, runtime_checkable

from robomarl.spec import ObservationSpec
from robomarl.types import Array


class Law(Protocol):
    """A decentralized controller that nobody trained."""

    observation: ObservationSpec
    """What it reads of the view."""

    def act(self, obs: Array) -> Array:
        """Observation [..., O] to command [..., A]."""
        ...


class FirstLaw(Law, Protocol):
    """A law for the first elements of an action; a policy learns the others."""

    count: int
    """How many."""


@runtime_checkable
class GainedLaw(Law, Protocol):
    """A law with gains that can be searched: NamedTuples of numbers, all of one type."""

    gains: Any
    search_from: Any
    """Where a search begins."""

    @property
    def search_step(self) -> Any:
        """What counts as a step of 1 in it; gains with 0 stay where they begin."""
        ...

    search_least: Any
    """Least values."""

    def with_gains(self, gains: Any) -> "GainedLaw":
        """The same law with others; arrays are fine that broadcast with what it works on."""
        ...
