"""`PilotCarry`: the memory of a pilot."""

from typing import NamedTuple

from robomarl.core.filter.give_way import WayCarry
from robomarl.core.filter.memory import FilterCarry
from robomarl.core.spec import Memory
from robomarl.core.types import Array


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
