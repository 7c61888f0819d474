"""The C program under construction: the order of computation, and the place of each value in memory.

A value is an array of C and the place of each of its elements in that array. A slice, a
transposition or a broadcast is a different set of places in an unchanged array, and costs nothing.
"""

import re
from dataclasses import dataclass

import numpy as np

_BUFFER = re.compile(r"@(\d+)\[")
"""How lines name a place in a buffer before it is known where in the workspace the buffer lies."""
_TABLES = ((2**8, "unsigned char"), (2**16, "unsigned short"), (2**32, "unsigned long"))


@dataclass(frozen=True)
class Value:
    """A tensor of the graph."""

    base: str
    """The C array that it lies in: a weight, an input, or `@N`, which is buffer N of the workspace."""
    index: np.ndarray
    """Place of each element in that array; the shape is the tensor's."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's, for one robot: the batch is 1."""
        return self.index.shape

    @property
    def is_memory(self) -> bool:
        """Return True if the value is read from the memory, which the last lines write."""
        return self.base.startswith("memory->")


class Program:
    """Lines of C and the arrays that they work on."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.constants: dict[str, np.ndarray] = {}
        """float32 arrays by name."""
        self.tables: dict[str, np.ndarray] = {}
        """Tables of places by name, for places that no short expression describes."""
        self._sizes: list[int] = []
        self._lines: list[str] = []
        self._known: dict[tuple, str] = {}

    def constant(self, array: np.ndarray) -> Value:
        """A value that is known now."""
        flat = np.ascontiguousarray(array, np.float32)
        name = self._once(self.constants, "weights", flat.reshape(-1))
        return Value(name, np.arange(flat.size).reshape(flat.shape))

    def buffer(self, shape: tuple[int, ...]) -> Value:
        """Reserve room for a tensor in the workspace, during its use."""
        size = int(np.prod(shape))
        self._sizes.append(size)
        return Value(f"@{len(self._sizes) - 1}", np.arange(size).reshape(shape))

    def line(self, text: str) -> None:
        """Add a statement."""
        self._lines.append(text)

    def loop(self, count: int, text: str) -> None:
        """Add a statement that is done for i = 0 ... count - 1."""
        self.line(f"for (int i = 0; i < {count}; ++i) {{ {text} }}" if count > 1 else _first(text))

    def at(self, value: Value) -> str:
        """C of the element that comes i-th in the tensor's order."""
        return f"{value.base}[{self._place(value.index.reshape(-1))}]"

    def contiguous(self, value: Value) -> tuple[str, int]:
        """Return array and first place of a value with consecutive elements; any other value is copied first."""
        flat = value.index.reshape(-1)
        if not np.array_equal(flat, flat[0] + np.arange(flat.size)):
            value = self.copy(value)
            flat = value.index.reshape(-1)
        return value.base, int(flat[0])

    def copy(self, value: Value) -> Value:
        """Copy the numbers of a value to a buffer of their own."""
        out = self.buffer(value.shape)
        self.loop(value.index.size, f"{self.at(out)} = {self.at(value)};")
        return out

    def placed(self) -> tuple[list[str], int]:
        """Return the lines with every buffer in its place, and the size of the workspace in floats; buffers share
        memory.
        """
        starts, size = self._places()
        lines = [_BUFFER.sub(lambda m: f"work[{starts[int(m[1])]} + ", line) for line in self._lines]
        return [re.sub(r"(?<=[\[ ])0 \+ ", "", line) for line in lines], size

    def _places(self) -> tuple[dict[int, int], int]:
        """Return the start of each buffer, in the first gap between buffers needed at that time, and the size of
        all.
        """
        used: dict[int, tuple[int, int]] = {}
        for t, line in enumerate(self._lines):
            for number in map(int, _BUFFER.findall(line)):
                used[number] = (used.get(number, (t, t))[0], t)
        starts: dict[int, int] = {}
        for number, (first, last) in sorted(used.items(), key=lambda item: -self._sizes[item[0]]):
            others = [n for n in starts if used[n][0] <= last and first <= used[n][1]]
            at = 0
            for low, high in sorted((starts[n], starts[n] + self._sizes[n]) for n in others):
                if at + self._sizes[number] <= low:
                    break
                at = max(at, high)
            starts[number] = at
        return starts, max((starts[n] + self._sizes[n] for n in starts), default=1)

    def _place(self, flat: np.ndarray) -> str:
        """C of flat[i]: a sum of products where there is one, else a table."""
        n = flat.size
        for period in (p for p in range(1, n + 1) if n % p == 0):
            grid = flat.reshape(-1, period)
            outer = int(grid[1, 0] - grid[0, 0]) if len(grid) > 1 else 0
            inner = int(grid[0, 1] - grid[0, 0]) if period > 1 else 0
            steps = outer * np.arange(len(grid))[:, None] + inner * np.arange(period)
            if np.array_equal(grid, flat[0] + steps):
                return _sum(int(flat[0]), (outer, "i" if period == 1 else f"(i / {period})"), (inner, _rest(n, period)))
        return f"{self._once(self.tables, 'places', flat)}[i]"

    def _once(self, arrays: dict[str, np.ndarray], name: str, array: np.ndarray) -> str:
        key = (name, array.tobytes())
        if key not in self._known:
            self._known[key] = f"{name}_{len(arrays)}"
            arrays[self._known[key]] = array
        return self._known[key]


def table_type(array: np.ndarray) -> str:
    """The smallest type of C99 that holds all of the places."""
    return next(name for limit, name in _TABLES if array.max(initial=0) < limit)


def _first(text: str) -> str:
    """A statement for i = 0 only."""
    return re.sub(r"\bi\b", "0", text)


def _rest(count: int, period: int) -> str:
    return "i" if period == count else f"(i % {period})"


def _sum(start: int, *products: tuple[int, str]) -> str:
    terms = [name if step == 1 else f"{step} * {name}" for step, name in products if step]
    return " + ".join([*([str(start)] if start or not terms else []), *terms])
