"""`GiveWay.__call__` in C, for one robot where nothing stands in the way."""

import numpy as np

from robomarl.core.filter import kernel
from robomarl.core.filter.deadlock_rules import detours, meeting, roundabout
from robomarl.core.filter.deadlock_rules.memory import WayCarry
from robomarl.core.filter.deadlock_rules.roundabout import Roundabout
from robomarl.core.filter.params import SafetyParams
from robomarl.core.tree import new_tuple
from robomarl.core.types import Array
from robomarl.core.view import Goal, Heard, LocalView, Own

_FUNCTIONS = (np.tanh, np.arctan2, np.cos, np.sin)
PLAIN = (np.dtype(float), None, np.dtype(bool), "dtype", LocalView, Own, Heard, Goal, WayCarry, Roundabout, *_FUNCTIONS)
"""Python objects that `plain_ways.c` needs, after the address of the constants. The entry for single
precision is None, because Python would compute in that precision."""


class KernelWays:
    """The rules of one type of vehicle, in C.

    Args:
        params: of the filter that comes after; without obstacles.
    """

    def __init__(self, params: SafetyParams) -> None:
        """Copy the constants.

        Raises:
            UserError: the kernel can't be used here.
        """
        ffi, _, _, self._give_way, _ = kernel.load()
        self._struct = ffi.new("RmWays *")
        parts = ("meeting", "RmMeeting", meeting), ("around", "RmRoundabout", roundabout)
        for part, kind, module in (*parts, ("detours", "RmDetours", detours)):
            for name, _ in ffi.typeof(kind).fields:
                setattr(getattr(self._struct, part), name, getattr(module, name.upper()))
        for name, value in _numbers(params).items():
            setattr(self._struct, name, value)
        self._with = (int(ffi.cast("size_t", self._struct)), *PLAIN)

    def plain(self, carry: WayCarry, view: LocalView, nominal: np.ndarray) -> tuple[WayCarry, Array] | None:
        """One decision of one robot; None where an array is not as it lies in flight, or a number not finite."""
        size = nominal.size
        out = np.empty(size + 2)
        told = self._give_way(self._with, carry, view, np.asarray(nominal, float), out)
        if told is None:
            return None
        stuck_s, detour_s, tries, radius_m, known_s = told
        around = new_tuple(Roundabout, (out[size:], radius_m, known_s))
        return new_tuple(WayCarry, (stuck_s, detour_s, tries, carry.active, around, ())), out[:size]


def _numbers(params: SafetyParams) -> dict[str, object]:
    """Fields of `RmWays` by name."""
    arena = params.arena
    corners = {"low_m": arena.low_m, "high_m": arena.high_m} if arena else {}
    return {
        "speed_m_s": params.limits.speed_m_s,
        "accel_m_s2": params.limits.accel_max_m_s2[0],
        "period_s": params.period_s,
        "lanes_m": roundabout.lanes_m(params),
        "planar": params.planar,
        "has_arena": arena is not None,
        **corners,
    }
