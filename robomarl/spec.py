"""`Spec`: the named, unit-carrying layout of one observation or action vector, and the memory behind it.

`observe(memory, view) -> (memory, obs)` is the one observation function: in training, in verification, in the
ROS node. The memory holds the histories that the spec asks for; it is passed, never hidden.
"""

from dataclasses import dataclass, field

import numpy as np

import robomarl.soccer  # noqa: F401  (registers the game's features)
from robomarl.config import UserError
from robomarl.features import FEATURES, NeighbourRule
from robomarl.geometry import namespace
from robomarl.types import Array
from robomarl.view import LocalView

Memory = tuple[Array, ...]
"""One array [..., history - 1, size] for every field with a history, oldest first; see `ObservationSpec`."""


@dataclass(frozen=True)
class ObservationField:
    """One feature in the observation."""

    name: str
    """A name of `robomarl.features.FEATURES`."""
    history: int = 1
    """How many of the latest values the policy sees, the current one included, oldest first."""


@dataclass(frozen=True)
class ObservationSpec:
    """What a policy sees: fields in order, and which team-mates."""

    fields: tuple[ObservationField, ...]
    neighbours: NeighbourRule = field(default_factory=NeighbourRule)

    def __post_init__(self) -> None:
        """Check the names.

        Raises:
            UserError: a field that is not registered, or a history below 1.
        """
        for item in self.fields:
            if item.name not in FEATURES:
                known = ", ".join(sorted(FEATURES))
                raise UserError(f"Observation field {item.name!r} is not known; allowed: {known}.")
            if item.history < 1:
                raise UserError(f"Observation field {item.name!r}: history = {item.history} must be at least 1.")

    @property
    def size(self) -> int:
        """Length of the observation vector."""
        return sum(FEATURES[f.name].size(self.neighbours) * f.history for f in self.fields)

    @property
    def reads(self) -> frozenset[str]:
        """Fields of the view that the observation depends on, dotted."""
        return frozenset(path for f in self.fields for path in FEATURES[f.name].reads)

    def element_names(self) -> list[str]:
        """Name of every element of the vector; a trailing `@-n` marks the value n decisions ago."""
        names = []
        for item in self.fields:
            elements = FEATURES[item.name].element_names(item.name, self.neighbours)
            for past in range(item.history - 1, -1, -1):
                names += [f"{e}@-{past}" if past else e for e in elements]
        return names

    def entity_slices(self) -> tuple[tuple[int, int, int], ...]:
        """(start, count, width) of every block of the vector that is a set of neighbours, one row each."""
        slices, start = [], 0
        for item in self.fields:
            width = FEATURES[item.name].size(self.neighbours)
            if FEATURES[item.name].per_neighbour and item.history == 1:
                slices.append((start, self.neighbours.count, len(FEATURES[item.name].parts)))
            start += width * item.history
        return tuple(slices)

    def init(self, view: LocalView) -> Memory:
        """Memory before the first decision: as if the first view had been seen all along."""
        xp = namespace(view.own.pos_m)
        memory = []
        for item in self.fields:
            if item.history > 1:
                value = FEATURES[item.name].read(view, self.neighbours)
                memory.append(xp.stack([value] * (item.history - 1), -2))
        return tuple(memory)

    def observe(self, memory: Memory, view: LocalView) -> tuple[Memory, Array]:
        """The observation vector [..., size] (float32) of one view, and the memory for the next."""
        xp = namespace(view.own.pos_m)
        parts, kept, past = [], [], iter(memory)
        for item in self.fields:
            value = FEATURES[item.name].read(view, self.neighbours)
            if item.history > 1:
                window = xp.concatenate([next(past), value[..., None, :]], -2)
                kept.append(window[..., 1:, :])
                value = window.reshape(*value.shape[:-1], -1)
            parts.append(value)
        return tuple(kept), xp.concatenate(parts, -1).astype(np.float32)


@dataclass(frozen=True)
class ActionField:
    """One element of the action vector."""

    name: str
    unit: str
    frame: str
    low: float
    """Least value that the policy can ask for."""
    high: float
    """Largest value that the policy can ask for."""


@dataclass(frozen=True)
class ActionSpec:
    """What a policy commands: elements in order."""

    fields: tuple[ActionField, ...]

    @property
    def size(self) -> int:
        """Length of the action vector."""
        return len(self.fields)

    @property
    def low(self) -> np.ndarray:
        """[size] least values."""
        return np.array([f.low for f in self.fields], np.float32)

    @property
    def high(self) -> np.ndarray:
        """[size] largest values."""
        return np.array([f.high for f in self.fields], np.float32)
