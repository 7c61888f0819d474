"""Controllers that nobody trained, of which a policy may learn or whose gains are searched."""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.core.types import Array


class Law(Protocol):
    """A decentralized controller that nobody trained."""

    observation: ObservationSpec
    """What it reads of the view."""

    def act(self, obs: Array) -> Array:
        """Observation [..., O] to command [..., A]."""
        ...


class FlownLaw:
    """A law with the interface of a trained policy: `robomarl eval baseline` flies it."""

    def __init__(self, scenario: Any, law: Law, action: ActionSpec, name: str = "baseline") -> None:
        """Take them.

        Args:
            scenario: where it flies.
            law: what decides.
            action: what it commands.
            name: of the policy, in tables.
        """
        self.name, self.scenario_name, self.vehicle_name = name, scenario.name, scenario.vehicle_config.name
        self.action, self.observation, self._law = action, law.observation, law

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """No memory."""
        return ()

    def __call__(self, carry: tuple, obs: Array) -> tuple[tuple, Array]:
        """(memory, observations [..., O]) -> (memory, commands [..., A])."""
        return carry, self._law.act(obs).astype(np.float32)


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
