"""`decision.filter_batch` in C, mode `qp`."""

import math
from collections.abc import Sequence
from operator import itemgetter
from threading import Lock
from typing import NamedTuple

import numpy as np

from robomarl.core.filter import kernel
from robomarl.core.filter.kernel.layout import copied
from robomarl.core.filter.kernel.library import CPointer
from robomarl.core.filter.memory import FilterCarry, Reason
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.strangers import Strangers, strangers_in
from robomarl.core.tree import new_tuple
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import Heard, LocalView, Own, Plan

_REASONS = tuple(Reason)
_NONE = np.int32(0)
_STILL, _NO_GAIN, _NOBODY = np.zeros(7), np.zeros(()), np.zeros(0, bool)
"""Placeholders for attitude and body rates, for a gain, and for strangers, if none are read."""
_PLACE, _HEAD = 34, 37
"""Offsets of the place and of the queue in the output."""
_CUTS = [slice(at, at + 3) for at in range(9, 33, 3)] + [slice(_PLACE, _HEAD), _PLACE - 1]
"""Slices of the memory in the output: plan, bias, place, and the time since the bias's anchor."""
_cut = itemgetter(*_CUTS, slice(0, 4), slice(_HEAD, None))
"""Those, the command and the queue."""
PLAIN = (*map(np.dtype, (float, np.float32, bool)), "dtype", LocalView, Own, Heard, Plan, FilterCarry, Bias)
"""Python objects that `plain.c` needs, after the address of the constants and before the fields of strangers."""


class Room(NamedTuple):
    """How the numbers of a robot lie in memory, by how many mates and strangers there is room for."""

    sizes: CPointer
    """`RmSizes`."""
    num_in: int
    num_out: int
    scratch: CPointer
    """Scratch memory of a decision."""


class KernelFilter:
    """The filter of one type of vehicle, in C.

    Args:
        constants: of the filter.
        queue_length: of its memory.
    """

    def __init__(self, constants: Constants, queue_length: int) -> None:
        """Copy the constants.

        Raises:
            UserError: the kernel can't be used here.
            ValueError: another mode than `qp`.
        """
        if constants.mode != "qp":
            raise ValueError(f"the C kernel has no filter mode {constants.mode!r}; use backend numpy.")
        self._constants = constants
        self._ffi, self._lib, self._decide_plain, *_ = kernel.load()
        self._struct, self._kept = copied(self._ffi, constants)
        fields = (f"strangers_{name}" for name in Strangers._fields)
        self._with = (int(self._ffi.cast("size_t", self._struct)), *PLAIN, *fields)
        self._num_out = _HEAD + 4 * queue_length
        self._turns = constants.look_ahead_m > 0
        self._rooms: dict[tuple[int, int, int, bool], Room] = {}
        self._lock = Lock()

    def plain(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult] | None:
        """One decision of one robot, from arrays as they lie in flight, shapes checked: in one call of C.

        None where an array has another shape, type or layout: it may be wrong, or fine for `one`.
        """
        out = np.empty(self._num_out)
        told = self._decide_plain(self._with, carry, view, nominal, gain_per_s, out)
        return told and _answer(carry, nominal, out, told)

    def one(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """One decision of one robot; see `SafetyFilter`."""
        out = self._decided(carry, view, nominal, gain_per_s)[0]
        slack, gap, active, reason, misfit = out[4:9].tolist()
        return _answer(carry, nominal, out, (slack, gap, active != 0, int(reason), misfit != 0))

    def batch(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """One decision of many robots with any leading axes."""
        out = self._decided(carry, view, nominal, gain_per_s)
        queue = out[:, _HEAD:].reshape(carry.commands.shape)
        out = out.reshape(*nominal.shape[:-1], out.shape[-1])
        reason = out[..., 7].astype(int)
        good = reason == Reason.OK
        result = FilterResult(out[..., :4], nominal, out[..., 6] != 0, out[..., 4], good, reason, out[..., 5])
        counts = carry.bias.misfits + (out[..., 8] != 0), np.where(good, carry.ok + 1, 0)
        return _after([out[..., part] for part in _CUTS], queue, *counts), result

    def _decided(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None
    ) -> np.ndarray:
        """Return the output of C, [count, num_out], for `count` robots."""
        parts, count = self._read(carry, view, nominal, gain_per_s), math.prod(nominal.shape[:-1])
        others = (mask.shape[-1] for mask in parts[-2:])
        room = self._room_for((np.shape(carry.commands)[-2], *others, gain_per_s is not None))
        given, out = _rows(parts, room, count), np.empty((count, room.num_out))
        pointers = self._ffi.from_buffer("double[]", given), self._ffi.from_buffer("double[]", out)
        with self._lock:  # C runs without Python's, and two threads may share a filter
            self._lib.rm_decide_many(count, self._struct, room.sizes, *pointers, room.scratch)
        return out

    def _read(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None
    ) -> tuple[Array, ...]:
        """Return the inputs of the filter, in the order of `rm_decide`. The masks of mates and strangers are the
        last two."""
        own, heard = view.own, view.heard
        strangers = strangers_in(self._constants, view) if view.sensed or self._constants.strangers else None
        seen, *others = (_NOBODY,) if strangers is None else strangers
        return (
            *(own.pos_m, own.vel_m_s, own.age_s),
            *((own.quat_wxyz, own.omega_rad_s) if self._turns else (_STILL,)),
            nominal,
            _NO_GAIN if gain_per_s is None else gain_per_s,
            *(*carry.bias[:6], carry.place_m, carry.commands),
            *(heard.pos_m, heard.vel_m_s, heard.age_s, *heard.plan),
            *others,
            *(np.asarray(heard.mask), np.asarray(seen)),
        )

    def _room_for(self, sizes: tuple[int, int, int, bool]) -> Room:
        if sizes not in self._rooms:
            told, lib = self._ffi.new("RmSizes *", sizes), self._lib
            scratch = self._ffi.new("double[]", lib.rm_room_size(self._struct, told))
            self._rooms[sizes] = Room(told, lib.rm_in_size(told), lib.rm_out_size(told), scratch)
        return self._rooms[sizes]


def _rows(parts: tuple[Array, ...], room: Room, count: int) -> np.ndarray:
    """Return the inputs of many robots, [count, num_in]."""
    given, at = np.zeros((count, room.num_in)), 0
    for part in parts[:-2]:
        if part is _STILL or part is _NO_GAIN:
            at += part.size
        else:
            flat = np.reshape(part, (count, np.size(part) // max(count, 1)))
            given[:, at : at + flat.shape[1]] = flat
            at += flat.shape[1]
    told = np.concatenate([np.reshape(mask, (count, mask.shape[-1])) for mask in parts[-2:]], 1) != 0
    given.view(bool)[:, 8 * at : 8 * at + told.shape[1]] = told
    return given


def _answer(
    carry: FilterCarry, nominal: np.ndarray, out: np.ndarray, told: tuple[float, float, bool, int, bool]
) -> tuple[FilterCarry, FilterResult]:
    """Return the memory and the result of one decision, without a copy; `told`: slack, gap, active, reason, misfit."""
    slack, gap, active, reason, misfit = told
    *parts, command, queue = _cut(out)
    good, misfits = not reason, carry.bias.misfits
    result = new_tuple(FilterResult, (command, nominal, active, slack, good, _REASONS[reason], gap))
    counts = misfits + 1 if misfit else misfits, np.int32(int(carry.ok) + 1) if good else _NONE
    return _after(parts, queue.reshape(-1, 4), *counts), result


def _after(parts: Sequence[Array], queue: Array, misfits: Array, ok: Array) -> FilterCarry:
    """Return the memory in the output, without a copy; `parts` are in the order of `_CUTS`."""
    pos, vel, stop, estimate, doubt, anchor, made, unsure, place, since = parts
    bias = new_tuple(Bias, (estimate, doubt, anchor, made, unsure, since, misfits))
    return new_tuple(FilterCarry, (queue, new_tuple(Plan, (pos, vel, stop)), place, bias, ok))
