"""Untrained controllers, for imitation by a policy or for a search of their gains."""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from robomarl.core.bundle.pilot import Observer
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.core.types import Array
from robomarl.lab.sim.scenario import Scenario

Gains = Any
"""Gains of a law: its own NamedTuple of numbers, or of arrays with one entry for each that is tried."""


class Law(Protocol):
    """A decentralized controller that is not trained."""

    @property
    def observation(self) -> Observer:
        """Observation that the controller reads from the view."""
        ...

    def act(self, obs: Array, /) -> Array:
        """Observation [..., O] to command [..., A]."""
        ...


class FlownLaw:
    """A law with the interface of a trained policy: `robomarl eval baseline` flies it."""

    def __init__(self, scenario: Scenario, law: Law, action: ActionSpec, name: str = "baseline") -> None:
        """Store the arguments.

        Args:
            scenario: scenario of the flights.
            law: the controller.
            action: its commands.
            name: name of the policy, in tables.
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
    """A law for the first elements of an action; a policy learns the remaining ones."""

    @property
    def observation(self) -> ObservationSpec:
        """Observation that the controller reads from the view."""
        ...

    count: int
    """How many."""


@runtime_checkable
class GainedLaw(Law, Protocol):
    """A law with gains that can be searched: NamedTuples of numbers, all of one type."""

    @property
    def observation(self) -> ObservationSpec:
        """Observation that the controller reads from the view."""
        ...

    gains: Gains
    search_from: Gains
    """Gains at the start of a search."""

    @property
    def search_step(self) -> Gains:
        """Return the size of a step of 1 in the search; gains with 0 keep their start value."""
        ...

    search_least: Gains
    """Least values."""

    def with_gains(self, gains: Gains) -> "GainedLaw":
        """Return this law with other gains; arrays that broadcast with its inputs are allowed."""
        ...
