"""`GivenCheck`: whether a view and a memory have the shapes and types that a decision reads."""

from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from robomarl.core.filter.give_way import WayCarry
from robomarl.core.filter.memory import FilterCarry
from robomarl.core.spec import Memory
from robomarl.core.tree import Tree, leaves
from robomarl.core.types import Array
from robomarl.core.view import LocalView, leaf_shapes

NUMBERS, FLAGS = "fiub", "b"
"""Kinds of numpy's types that are read as numbers; as flags."""


class PilotCarry(NamedTuple):
    """All memory of one robot, or of many."""

    memory: Memory
    """Histories of the observation."""
    policy: tuple[Array, ...]
    """Memory of the network."""
    safety: FilterCarry
    """Memory of the filter: queued commands, committed plan."""
    way: WayCarry | tuple[()] = ()
    """Memory of the rules against deadlock; empty without rules."""


class GivenCheck:
    """Comparison with the inputs of the last decision; only inputs that differ are checked leaf by leaf."""

    def __init__(self) -> None:
        """Nothing has been seen."""
        self._fine: tuple[object, ...] | None = None
        names = leaf_shapes((), 0)
        self._of_view = attrgetter(*(f"{name}.{part}" for name in names for part in ("shape", "dtype")))

    def __call__(self, view: LocalView, carry: PilotCarry, init: Callable[[], PilotCarry]) -> None:
        """Check the inputs of a decision.

        Args:
            view: view of any robots.
            carry: the memory, a `PilotCarry`.
            init: makes a memory that fits the view.

        Raises:
            ValueError: names an array, its shape or type, and the one that it must have.
        """
        try:
            seen = (
                self._of_view(view),
                [(leaf.shape, leaf.dtype) for leaf in view.sensed],
                [_sizes(carry.memory), _sizes(carry.policy), _sizes(carry.way)],
            )
        except AttributeError:  # a plain number or a list
            seen = None
        if seen is None or seen != self._fine:
            _look_at_view(view)
            _look_at_carry(carry, init())
            self._fine = seen


def _sizes(tree: Tree) -> object:
    if isinstance(tree, tuple):
        return [_sizes(part) for part in tree]
    return len(tree) if isinstance(tree, list) else getattr(tree, "shape", ())


def _look_at_view(view: LocalView) -> None:
    lead = np.shape(view.own.pos_m)[:-1]
    mates = (np.shape(view.heard.mask) or (0,))[-1]
    for name, must in leaf_shapes(lead, mates).items():
        leaf = attrgetter(name)(view)
        _compare(f"view.{name}", leaf, must, "mask" in name)
    for name, leaf in leaves(view.sensed):
        shape = np.shape(leaf)
        if shape[: len(lead)] != lead:
            raise ValueError(f"view.sensed.{name} has the shape {shape}; it must begin with {lead}, as own.pos_m does.")
        _compare(f"view.sensed.{name}", leaf, shape, False)


def _look_at_carry(carry: PilotCarry, fresh: PilotCarry) -> None:
    """The filter looks at its own memory."""
    found, must = ({n: leaf for n, leaf in leaves(tree) if n.partition(".")[0] != "safety"} for tree in (carry, fresh))
    if odd := sorted(found.keys() ^ must.keys()):
        how = "too much" if odd[0] in found else "missing"
        raise ValueError(f"carry.{odd[0]} is {how}; `init` makes a memory that fits.")
    for name, leaf in must.items():
        _compare(f"carry.{name}", found[name], np.shape(leaf), False)


def _compare(name: str, leaf: Array, must: tuple[int, ...], flags: bool) -> None:
    try:
        array = np.asarray(leaf)
    except ValueError:
        raise ValueError(f"{name} is no array; it must be one of the shape {must}.") from None
    if array.shape != must:
        raise ValueError(f"{name} has the shape {array.shape}; it must be {must}.")
    if array.dtype.kind not in (FLAGS if flags else NUMBERS):
        raise ValueError(f"{name} has the type {array.dtype}; it must be of {'bool' if flags else 'real numbers'}.")
