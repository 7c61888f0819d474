"""`Spec`: the named, unit-carrying layout of one observation or action vector, and the memory behind it.

`observe(memory, view) -> (memory, obs)` is the one observation function: in training, in verification, in the
ROS node. The memory holds the histories that the spec asks for; it is passed, never hidden.
"""

import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from robomarl.core.config import UserError, suggest
from robomarl.core.domain.registry import find_features
from robomarl.core.features import FEATURES, Feature, NeighbourRule, as_array, numbers, of_one
from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView

GAIN = "gain"
"""The element of an action that is the class-K gain of the safety filter [1/s]; it comes last."""
NOT_COMMANDED = 1e-10
"""Half the range of an element that a vehicle is not commanded by, such as the height for a vehicle that drives. A
contract wants a range, and this one is below the difference that counts as changed by the filter."""
Memory = tuple[Array, ...]
"""One array [..., history - 1, size] for every field with a history, oldest first, and one [..., 1, size] for every
mean. For one robot in numpy, with views without leading axes, each is a list of floats instead."""


@dataclass(frozen=True)
class ObservationField:
    """One feature in the observation."""

    name: str
    """A name of `robomarl.core.features.FEATURES`."""
    history: int = 1
    """How many of the latest values the policy sees, the current one included, oldest first."""
    keep: float = 0.0
    """If not 0, the policy sees a mean over time and not the value: of the mean before, this share is kept at each
    decision, and the rest is the value now. With exp(-period / T) it remembers for about T."""
    gone: bool = False
    """True if, with `keep`, the policy sees how far the value has gone from that mean: for a value that
    moves steadily about its rate times T, wherever it is."""


def rows_kept(item: ObservationField) -> int:
    """Return the number of values of a field that the memory holds: the previous values, or the mean."""
    return 1 if item.keep else item.history - 1


@dataclass(frozen=True)
class ObservationSpec:
    """Observation of a policy: fields in order, and the choice of teammates."""

    fields: tuple[ObservationField, ...]
    neighbours: NeighbourRule = field(default_factory=NeighbourRule)

    def __post_init__(self) -> None:
        """Check the names.

        Raises:
            UserError: a field that is not registered, or a history below 1.
        """
        why = find_features(item.name for item in self.fields)
        for item in self.fields:
            if item.name not in FEATURES:
                told = f"Observation field {item.name!r} is not known; {suggest(item.name, sorted(FEATURES))}"
                raise UserError(f"{told} {why}".rstrip())
            if item.history < 1:
                raise UserError(f"Observation field {item.name!r}: history = {item.history} must be at least 1.")
            if not 0 <= item.keep < 1:
                raise UserError(f"Observation field {item.name!r}: keep = {item.keep:g} must be from 0 to below 1.")
            if item.keep and item.history > 1:
                raise UserError(f"Observation field {item.name!r} has keep and history; leave one of them out.")
            if item.gone and not item.keep:
                raise UserError(f"Observation field {item.name!r} has gone without keep; say over what time, by keep.")

    @property
    def size(self) -> int:
        """Length of the observation vector."""
        return sum(FEATURES[f.name].size(self.neighbours) * f.history for f in self.fields)

    @property
    def memory_shapes(self) -> list[tuple[str, tuple[int, int]]]:
        """Field and (rows, size) of each array of the memory of one robot, in order."""
        sizes = [(f.name, (rows_kept(f), FEATURES[f.name].size(self.neighbours))) for f in self.fields]
        return [(name, shape) for name, shape in sizes if shape[0]]

    @property
    def reads(self) -> frozenset[str]:
        """Fields of the view that the observation depends on, dotted."""
        return frozenset(path for f in self.fields for path in FEATURES[f.name].reads)

    def element_names(self) -> list[str]:
        """Name of every element of the vector.

        A trailing `@-n` marks the value n decisions ago, `@mean` a mean, `@gone` how far from one; the second of a
        feature is `@gone2`.
        """
        names, times = list[str](), Counter[tuple[str, bool]]()
        for item in self.fields:
            elements = FEATURES[item.name].element_names(item.name, self.neighbours)
            times[item.name, item.gone] += bool(item.keep)
            which = times[item.name, item.gone]
            mark = ("@gone" if item.gone else "@mean") + (str(which) if which > 1 else "")
            for past in range(item.history - 1, -1, -1):
                names += [f"{e}@-{past}" if past else e + mark if item.keep else e for e in elements]
        return names

    def init(self, view: LocalView) -> Memory:
        """Memory before the first decision: as if the first view had been seen all along."""
        xp, alone = namespace(view.own.pos_m), of_one(view)
        memory: list[Array] = []
        for item, value in self._values(view):
            if past := rows_kept(item):
                memory.append(numbers(value) * past if alone else xp.stack([as_array(value)] * past, -2))
        return tuple(memory)

    def observe(self, memory: Memory, view: LocalView) -> tuple[Memory, Array]:
        """The observation vector [..., size] (float32) of one view, and the memory for the next."""
        if of_one(view):
            return self._observe_one(memory, view)
        xp = namespace(view.own.pos_m)
        parts: list[Array] = []
        kept: list[Array] = []
        past = iter(memory)
        for item, found in self._values(view):
            value = as_array(found)
            if item.history > 1:
                window = xp.concatenate([next(past), value[..., None, :]], -2)
                kept.append(window[..., 1:, :])
                value = window.reshape(*value.shape[:-1], -1)
            elif item.keep:
                mean = item.keep * next(past)[..., 0, :] + (1 - item.keep) * value
                kept.append(mean[..., None, :])
                value = value - mean if item.gone else mean
            parts.append(value)
        return tuple(kept), xp.concatenate(parts, -1).astype(np.float32)

    def _observe_one(self, memory: Memory, view: LocalView) -> tuple[Memory, np.ndarray]:
        """`observe` for one robot: one list of numbers instead of some small arrays for each field."""
        row: list[float] = []
        kept: list[list[float]] = []
        past = iter(memory)
        for item, found in self._values(view):
            value = numbers(found)
            if item.history > 1:
                width, value = len(value), next(past) + value
                kept.append(value[width:])
            elif item.keep:
                mean = [item.keep * mean + (1 - item.keep) * now for mean, now in zip(next(past), value, strict=True)]
                kept.append(mean)
                value = [now - m for now, m in zip(value, mean, strict=True)] if item.gone else mean
            row += value
        # A third of the time that `np.array` takes for a list.
        return tuple(kept), np.frombuffer(struct.pack(f"{len(row)}d", *row)).astype(np.float32)

    def _values(self, view: LocalView) -> Iterator[tuple[ObservationField, Array]]:
        """Yield every field with its value; inputs that features share are computed once."""
        given: dict[Callable[[LocalView], object] | None, object] = {None: view}
        for item in self.fields:
            found = FEATURES[item.name]
            if found.of and found.of not in given:
                given[found.of] = found.of(view)
            yield item, found.read(given[found.of], self.neighbours)


def describe(spec: ObservationSpec) -> list[tuple[str, str, str, Feature]]:
    """Name, unit, frame and feature of every element of the observation vector."""
    rows: list[tuple[str, str, Feature]] = []
    for item in spec.fields:
        feature = FEATURES[item.name]
        units = part_units(feature) * (spec.neighbours.count if feature.per_neighbour else 1) * item.history
        rows += [(unit, feature.frame, feature) for unit in units]
    return [(name, *row) for name, row in zip(spec.element_names(), rows, strict=True)]


def part_units(feature: Feature) -> list[str]:
    """Unit of each part: one for all, or one for each group (`dx, dy, dz` is a group, `age` is another)."""
    units = feature.unit.split(", ")
    if len(units) == 1:
        return units * len(feature.parts)
    groups = list(dict.fromkeys(re.sub("[xyz]$", "", part) for part in feature.parts))
    if len(units) != len(groups):
        raise ValueError(
            f"{feature.read.__name__}: unit = {feature.unit!r} names {len(units)} for {', '.join(groups)}."
        )
    by_group = dict(zip(groups, units, strict=True))
    return [by_group[re.sub("[xyz]$", "", part)] for part in feature.parts]


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
    """Command of a policy: elements in order."""

    fields: tuple[ActionField, ...]

    @property
    def size(self) -> int:
        """Length of the action vector."""
        return len(self.fields)

    @property
    def sent(self) -> tuple[ActionField, ...]:
        """Elements that are sent to the vehicle: all but the gain, which is for the robot's own filter."""
        return tuple(f for f in self.fields if f.name != GAIN)

    @property
    def low(self) -> np.ndarray:
        """[size] least values."""
        return np.array([f.low for f in self.fields], np.float32)

    @property
    def high(self) -> np.ndarray:
        """[size] largest values."""
        return np.array([f.high for f in self.fields], np.float32)

    def to_unit(self, action: Array) -> Array:
        """Convert an action [..., A] in physical units to [-1, 1], as environments of other libraries take it.

        -1 is an element's least value, 1 its largest; values beyond are cut off. NaN stays NaN.
        """
        xp = namespace(action)
        values = np.asarray(action) if xp is np else action
        return xp.clip((values - (self.high + self.low) / 2) * (2 / (self.high - self.low)), -1.0, 1.0)

    def from_unit(self, action: Array) -> Array:
        """Convert an action [..., A] in [-1, 1] to physical units."""
        return (self.high + self.low) / 2 + action * (self.high - self.low) / 2


def has_gain(action: ActionSpec) -> bool:
    """Return True if the policy sets the gain of its filter."""
    return any(f.name == GAIN for f in action.fields)
