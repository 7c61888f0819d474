"""`WayCarry`: memory of the rules against deadlock from one decision to the next."""

from typing import NamedTuple

from robomarl.core.filter.deadlock_rules.passages import Passage
from robomarl.core.filter.deadlock_rules.roundabout import Roundabout
from robomarl.core.types import Array


class WayCarry(NamedTuple):
    """Memory of the rules, [...] each."""

    stuck_s: Array
    """Time for which a robot has stood still in front of the filter."""
    detour_s: Array
    """Rest of the detour; below 0 how long the last one is over, up to `CALM_S`."""
    tries: Array
    """Detours so far, while it is not calm."""
    active: Array
    """bool: the filter changed the last command."""
    roundabout: Roundabout
    """Disc that the robot keeps to its left."""
    passage: Passage | tuple[()] = ()
    """The narrow place on the way; empty where there are no obstacles."""
