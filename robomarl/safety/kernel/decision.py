"""`decision.filter_batch` in C, mode `qp`."""

import math
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from robomarl.safety import kernel
from robomarl.safety.memory import FilterCarry, Reason
from robomarl.safety.model.bias import Bias
from robomarl.safety.model.constants import Constants
from robomarl.safety.model.strangers import strangers_in
from robomarl.types import Array, FilterResult
from robomarl.view import LocalView, Plan

_REASONS = tuple(Reason)
_MEMORY, _PLACE, _HEAD = 18, 34, 37
"""Where the memory (first the bias), the place and the queue begin in what comes out."""
_MEMORY_IN = 19
"""Where the memory begins in what goes in; up to the end of the queue it lies there as it comes out."""
_KEPT = slice(7, 15)
"""The memory among the arrays that go in."""


class Sizes(NamedTuple):
    """How many there are of what one robot reads: `RmSizes`."""

    queue: int
    mates: int
    strangers: int
    has_gain: bool


class KernelFilter:
    """The filter of one type of vehicle, in C.

    Args:
        constants: of the filter.
    """

    def __init__(self, constants: Constants) -> None:
        """Copy the constants.

        Raises:
            UserError: the kernel can't be used here.
            ValueError: another mode than `qp`.
        """
        if constants.mode != "qp":
            raise ValueError(f"the C kernel has no filter mode {constants.mode!r}; use backend numpy.")
        self._constants = constants
        self._ffi, self._lib = kernel.load()
        self._kept: list[Any] = []
        self._struct = self._ffi.new("RmConstants *")
        self._fill(self._struct, "RmConstants", constants)
        self._buffers: dict[Sizes, Buffers] = {}
        self._made: tuple[FilterCarry | None, np.ndarray] = (None, np.empty(0))
        self._lock = Lock()

    def one(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """One decision of one robot; see `SafetyFilter`."""
        strangers = strangers_in(self._constants, view)
        seen = 0 if strangers is None else len(strangers.mask)
        sizes = Sizes(len(carry.commands), len(view.heard.mask), seen, gain_per_s is not None)
        # C runs without Python's lock, and two threads may share a filter.
        with self._lock:
            buffers = self._buffers.get(sizes) or self._buffers.setdefault(sizes, Buffers(self, sizes, 1))
            buffers.fill(read(carry, view, strangers, nominal, gain_per_s), self._lies_in(carry))
            out = np.empty(buffers.out_size)
            buffers.decide(out)
        slack, gap, active, reason, misfit = out[4:9].tolist()
        good, misfits = not reason, carry.bias.misfits
        result = FilterResult(out[:4], nominal, active != 0, slack, good, _REASONS[int(reason)], gap)
        after = _after(out, misfits + 1 if misfit else misfits, carry.ok + 1 if good else carry.ok * 0)
        self._made = after, out
        return after, result

    def _lies_in(self, carry: FilterCarry) -> np.ndarray | None:
        """What came out of C with this memory, in one piece; in flight it is the memory of the last decision."""
        made, out = self._made
        return out[_MEMORY:] if carry is made else None

    def batch(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """One decision of many robots with any leading axes."""
        lead = nominal.shape[:-1]
        strangers = strangers_in(self._constants, view)
        seen = 0 if strangers is None else strangers.mask.shape[-1]
        sizes = Sizes(carry.commands.shape[-2], view.heard.mask.shape[-1], seen, gain_per_s is not None)
        buffers = Buffers(self, sizes, math.prod(lead))
        for slot, value in zip(buffers.slots, read(carry, view, strangers, nominal, gain_per_s), strict=True):
            slot[...] = np.reshape(value, slot.shape) if np.size(value) == slot.size else value
        out = np.empty((math.prod(lead), buffers.out_size))
        buffers.decide(out)
        out = out.reshape(*lead, -1)
        reason = out[..., 7].astype(int)
        good = reason == Reason.OK
        result = FilterResult(out[..., :4], nominal, out[..., 6] != 0, out[..., 4], good, reason, out[..., 5])
        return _after(out, carry.bias.misfits + (out[..., 8] != 0), np.where(good, carry.ok + 1, 0)), result

    def _fill(self, target: Any, kind: str, source: Any) -> None:
        """Set a struct's fields from the attributes of the same names."""
        counts: dict[str, str] = {"num_solids": "solids", "num_stretches": "queue_speed_s"}
        for name, field in self._ffi.typeof(kind).fields:
            value = _value(source, counts[name] if name in counts else name)
            if name in counts:
                value = len(value)
            elif name.startswith("queue_"):
                value = self._keep(self._ffi.new("double[]", value))
            elif name == "solids":
                value = self._solids(value)
            if value is not None and field.type.kind == "struct":
                self._fill(getattr(target, name), field.type.cname, value)
            elif value is not None:
                setattr(target, name, value)

    def _solids(self, solids: tuple) -> Any:
        array = self._keep(self._ffi.new("RmSolid[]", max(len(solids), 1)))
        for i, solid in enumerate(solids):
            self._fill(array[i], "RmSolid", solid)
        return array

    def _keep(self, pointer: Any) -> Any:
        """Memory that C has a pointer to lives as long as the filter."""
        self._kept.append(pointer)
        return pointer


class Buffers:
    """Memory for the inputs of a number of robots, in the order of `rm_decide`."""

    def __init__(self, owner: KernelFilter, sizes: Sizes, count: int) -> None:
        """Make it."""
        ffi, lib = owner._ffi, owner._lib
        self._owner, self._count = owner, count
        self._sizes = ffi.new("RmSizes *", sizes)
        self._given = np.zeros((count, lib.rm_in_size(self._sizes)))
        self.out_size = lib.rm_out_size(self._sizes)
        self._scratch = np.zeros(lib.rm_room_size(owner._struct, self._sizes))
        self._from, self._room = (ffi.from_buffer("double[]", a) for a in (self._given, self._scratch))
        self._one, self._many, self._from_buffer = lib.rm_decide, lib.rm_decide_many, ffi.from_buffer
        queue, mates, others = sizes.queue, sizes.mates, sizes.strangers
        shapes = [(3,), (3,), (), (4,), (3,), (4,), (), *[(3,)] * 5, (), (3,), (queue, 4)]
        shapes += [(mates,), (mates, 3), (mates, 3), (mates,), *[(mates, 3)] * 3]
        shapes += [(others,), (others, 3), (others, 3), (others,)] if others else []
        self.slots = self._cut(shapes)
        """Views of the memory; those of one robot without a leading axis."""
        self._fresh = (*self.slots[: _KEPT.start], *self.slots[_KEPT.stop :])
        self._memory = self._given[0, _MEMORY_IN : _MEMORY_IN + self.out_size - _MEMORY]

    def _cut(self, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
        ends = np.cumsum([math.prod(shape) for shape in shapes])
        parts = [self._given[:, end - math.prod(s) : end] for s, end in zip(shapes, ends, strict=True)]
        if self._count == 1:
            return [part[0].reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        return [_view(part, (self._count, *shape)) for part, shape in zip(parts, shapes, strict=True)]

    def fill(self, values: tuple[Any, ...], memory: np.ndarray | None) -> None:
        """Copy what one robot reads; the memory at once where it lies in one piece."""
        slots = self.slots
        if memory is not None:
            self._memory[...] = memory
            slots, values = self._fresh, (*values[: _KEPT.start], *values[_KEPT.stop :])
        for slot, value in zip(slots, values, strict=True):
            slot[...] = value

    def decide(self, out: np.ndarray) -> None:
        """Filter what is in the memory."""
        owner, to = self._owner, self._from_buffer("double[]", out)
        if self._count == 1:
            self._one(owner._struct, self._sizes, self._from, to, self._room)
        else:
            self._many(self._count, owner._struct, self._sizes, self._from, to, self._room)


def read(
    carry: FilterCarry, view: LocalView, strangers: Any, nominal: Array, gain_per_s: Array | None
) -> tuple[Any, ...]:
    """What the filter reads, in the order of `rm_decide`; nothing of strangers where there is room for none."""
    own, heard, plan = view.own, view.heard, view.heard.plan
    others = strangers if strangers is not None and strangers.mask.shape[-1] else ()
    return (
        *(own.pos_m, own.vel_m_s, own.age_s, own.quat_wxyz, own.omega_rad_s),
        *(nominal, 0.0 if gain_per_s is None else gain_per_s, *carry.bias[:6], carry.place_m, carry.commands),
        *(heard.mask, heard.pos_m, heard.vel_m_s, heard.age_s, *plan),
        *others,
    )


def _after(out: np.ndarray, misfits: Array, ok: Array) -> FilterCarry:
    """The memory in what came out, without a copy. Slice by slice: every decision pays for this."""
    bias = out[..., 18:21], out[..., 21:24], out[..., 24:27], out[..., 27:30], out[..., 30:33], out[..., 33]
    return FilterCarry(
        commands=out[..., _HEAD:].reshape(*out.shape[:-1], -1, 4),
        plan=Plan(out[..., 9:12], out[..., 12:15], out[..., 15:18]),
        place_m=out[..., _PLACE:_HEAD],
        bias=Bias(*bias, misfits),
        ok=ok,
    )


def _view(part: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Columns of a matrix as an array of this shape, without a copy."""
    steps = [math.prod(shape[i + 1 :]) * part.itemsize for i in range(1, len(shape))]
    return np.lib.stride_tricks.as_strided(part, shape, (part.strides[0], *steps))


def _value(source: Any, name: str) -> Any:
    if name.startswith("has_"):
        return getattr(source, name.removeprefix("has_")) is not None
    if name.startswith("queue_"):
        return getattr(source.queue, name.removeprefix("queue_"))
    return getattr(source, name)
