"""Allowed content of a bundle's ONNX graphs, checked before anything is run: only the sealed content runs.

Everything that is not on a list here is rejected: operators, domains, kinds of numbers, and fields
of the file. So a graph has no functions of its own, which onnxruntime would inline unseen, reads no
other file, and, but for the filter's, does not loop. Numbers of the messages and their fields:
https://github.com/onnx/onnx, `onnx.proto`.
"""

import hashlib
from collections.abc import Iterator
from typing import Literal, NoReturn

import numpy as np

from robomarl.core.bundle.protobuf import fields
from robomarl.core.config import UserError

Value = int | memoryview
"""Value of a field of a message."""

OPERATORS = frozenset(
    # What our exporter writes ...
    "Abs Add And ArgMax ArgMin Cast Concat Cos Div Einsum Equal Erf Exp Expand Floor Gather Greater GreaterOrEqual "
    "Identity Less LessOrEqual Log MatMul Max Min Mul Neg Not Or Pow Reciprocal ReduceMax ReduceMin ReduceSum Reshape "
    "Shape Sigmoid Sign Sin Slice Split Sqrt Sub Tanh TopK Transpose Where "
    # ... and what other exporters and hands write of dense and recurrent networks.
    "Acos Asin Atan BatchNormalization Ceil Celu Clip Constant Cosh CumSum Elu Flatten GRU GatherElements Gelu Gemm "
    "HardSigmoid HardSwish Hardmax IsInf IsNaN LSTM LayerNormalization LeakyRelu LogSoftmax LpNormalization Mean Mish "
    "Mod PRelu RNN ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean ReduceProd ReduceSumSquare Relu Round "
    "Selu Sinh Softmax Softplus Softsign Squeeze Sum Tan ThresholdedRelu Unsqueeze Xor".split()
)
"""Allowed operators. Each takes time and memory in proportion to its inputs and outputs, and is deterministic."""
FILTER_OPERATORS = OPERATORS | {"Loop"}
"""The filter's graph, which no robot opens, projects until it is done."""
VISION_OPERATORS = OPERATORS | {"AveragePool", "Conv", "GlobalAveragePool", "MaxPool", "Pad", "Resize"}
"""The graph that reads pictures; a convolution takes time in proportion to its outputs and its weights."""
KINDS = {"policy": OPERATORS, "filter": FILTER_OPERATORS, "vision": VISION_OPERATORS}
Kind = Literal["policy", "filter", "vision"]
DOMAINS = ("", "ai.onnx")
MAX_FIELDS = 1_000_000
"""A policy's graph has thousands; to count more takes long."""
_MAX_DEPTH = 8
_KEPT = 1000
_sound: set[tuple[bytes, Kind]] = set()
"""Graphs, by their hash, that were looked at: flash reads a bundle before each step, a look takes 0.1 s."""
_NUMBERS = {1: np.dtype("<f4"), 3: None, 6: None, 7: None, 9: None, 10: np.dtype("<f2"), 11: np.dtype("<f8")}
"""Single, int8, int32, int64, bool, half, double, by ONNX's own number of the type."""
_MODEL, _GRAPH, _NODE = {1, 2, 3, 4, 5, 6, 14}, {2, 10, 11, 12, 13, 14, 16}, {1, 2, 3, 6, 9}
_ATTRIBUTE, _TENSOR = {1, 3, 4, 8, 13, 20}, {1, 5, 7, 11, 12, 14}
"""Fields of each message that may hold anything: names, sizes, remarks."""
_FUNCTIONS, _FLOATS, _RAW, _DOUBLES, _ELSEWHERE = 25, 4, 9, 10, (13, 14)
_INTEGERS, _HALF = 5, 10
_SPARSE = "has sparse weights, which no exporter of ours writes; export it anew."


def check_onnx(graph: bytes, where: str, kind: Kind = "policy") -> None:
    """Look at every operator and every constant of a graph.

    Args:
        graph: the content of an ONNX file.
        where: its name, for errors.
        kind: policy; filter may loop, and say `no` by a constant that is no number; vision may convolve.

    Raises:
        UserError: something that is not on the lists, a constant that is no number or infinite or that lies outside
            the file, or the file is no ONNX graph.
    """
    key = (hashlib.sha256(graph).digest(), kind)
    if key in _sound:
        return
    try:
        _Check(where, kind).model(memoryview(graph))
    except (IndexError, ValueError, TypeError, OverflowError):
        raise UserError(f"{where}: is no sound ONNX file; fetch the bundle again.") from None
    if len(_sound) < _KEPT:
        _sound.add(key)


def _content(value: Value) -> memoryview:
    """The bytes of a field; raises `TypeError` for a number."""
    if isinstance(value, int):
        raise TypeError("a number where bytes must be")
    return value


class _Check:
    """Single pass through an ONNX file. `check_onnx` lists the errors that its methods raise."""

    def __init__(self, where: str, kind: Kind) -> None:
        self._where = where
        self._operators = KINDS[kind]
        self._is_finite = kind != "filter"
        self._left = MAX_FIELDS

    def model(self, message: Value) -> None:
        for number, value in self._fields(message):
            if number == 7:
                self._graph(value, 0)
            elif number == 8:
                for _, domain in (field for field in self._fields(value) if field[0] == 1):
                    self._domain(domain)
            elif number == _FUNCTIONS:
                self._refuse("has functions of its own, which would run unseen; export it without.")
            else:
                self._plain(number, _MODEL)

    def _graph(self, message: Value, depth: int) -> None:
        if depth > _MAX_DEPTH:
            self._refuse("has graphs within graphs beyond measure; it is no policy.")
        for number, value in self._fields(message):
            if number == 1:
                self._node(value, depth)
            elif number == 5:
                self._tensor(value)
            elif number == 15:
                self._refuse(_SPARSE)
            else:
                self._plain(number, _GRAPH)

    def _node(self, message: Value, depth: int) -> None:
        attributes: list[Value] = []
        for number, value in self._fields(message):
            if number == 4 and (name := bytes(_content(value)).decode()) not in self._operators:
                self._refuse(f"uses the operator {name[:40]!r}, which is on no robot's list; export it without.")
            elif number == 5:
                attributes.append(value)
            elif number == 7:
                self._domain(value)
            elif number != 4:
                self._plain(number, _NODE)
        for attribute in attributes:
            self._attribute(attribute, depth)

    def _attribute(self, message: Value, depth: int) -> None:
        for number, value in self._fields(message):
            if number in (5, 10):
                self._tensor(value)
            elif number in (6, 11):
                self._graph(value, depth + 1)
            elif number in (2, 7):
                self._finite(np.frombuffer(_content(value), "<f4"), "an attribute")
            elif number in (22, 23):
                self._refuse(_SPARSE)
            else:
                self._plain(number, _ATTRIBUTE)

    def _tensor(self, message: Value) -> None:
        name, kind = "a constant", 0
        parts: dict[int, list[Value]] = {_RAW: [], _FLOATS: [], _DOUBLES: [], _INTEGERS: []}
        for number, value in self._fields(message):
            if number == 8:
                name = repr(bytes(_content(value))[:80].decode(errors="replace"))
            elif number == 2:
                kind = value
            elif number in parts:
                parts[number].append(value if number == _INTEGERS else _content(value))
            elif number in _ELSEWHERE and value:
                self._refuse("a constant lies in another file; a bundle's graph holds its own numbers, export anew.")
            else:
                self._plain(number, _TENSOR)
        if not isinstance(kind, int) or kind not in _NUMBERS:
            self._refuse(f"{name} has numbers of type {kind}; single precision is what a policy needs, export anew.")
        if parts[_INTEGERS] and kind == _HALF:
            self._refuse(f"{name} has numbers of half precision as integers; single precision is what a policy needs.")
        self._check_numbers(name, _NUMBERS[kind], parts)

    def _check_numbers(self, name: str, raw: np.dtype | None, parts: dict[int, list[Value]]) -> None:
        if raw is not None:
            for content, numbers in ((_RAW, raw), (_FLOATS, np.dtype("<f4")), (_DOUBLES, np.dtype("<f8"))):
                self._finite(np.frombuffer(b"".join(map(_content, parts[content])), numbers), name)

    def _finite(self, array: np.ndarray, name: str) -> None:
        """One infinite number may be a limit that is none; many are broken weights."""
        if self._is_finite and (np.isnan(array).any() or (array.size > 1 and np.isinf(array).any())):
            bad = float(array[~np.isfinite(array)][0])
            raise UserError(f"{self._where}: {name} has a weight that is {bad:g}; train anew, or fetch it again.")

    def _domain(self, value: Value) -> None:
        if (name := bytes(_content(value)).decode()) not in DOMAINS:
            self._refuse(f"uses operators of {name[:40]!r}; a bundle has ONNX's own only, export it anew.")

    def _plain(self, number: int, allowed: set[int]) -> None:
        if number not in allowed:
            self._refuse(f"has a part that no policy needs (field {number}); export it anew.")

    def _fields(self, message: Value) -> Iterator[tuple[int, Value]]:
        for field in fields(_content(message)):
            self._left -= 1
            if self._left < 0:
                self._refuse("has more parts than a policy has; it is none.")
            yield field

    def _refuse(self, why: str) -> NoReturn:
        raise UserError(f"{self._where}: {why}")
