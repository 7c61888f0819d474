"""The numbers inside an ONNX graph, looked at before anything is run: a robot has onnxruntime, but not `onnx`.

An ONNX file is a protocol-buffer message (https://protobuf.dev/programming-guides/encoding): pairs of a key, which is
a field's number and kind, and a value. Only the fields that lead to tensors are followed.
"""

import math
from collections.abc import Iterator

import numpy as np

from robomarl.config import UserError

_MODEL_GRAPH, _GRAPH_NODE, _GRAPH_TENSOR, _NODE_ATTRIBUTE = 7, 1, 5, 5
_ATTRIBUTE_TENSORS, _ATTRIBUTE_GRAPHS, _GRAPH_SPARSE = (5, 10), (6, 11), 15
_TYPE, _FLOATS, _NAME, _RAW, _DOUBLES, _EXTERNAL, _LOCATION = 2, 4, 8, 9, 10, 13, 14
_DTYPES = {1: np.dtype("<f4"), 10: np.dtype("<f2"), 11: np.dtype("<f8")}
_MAX_DEPTH = 8
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def check_weights(graph: bytes, where: str, is_finite: bool = True) -> None:
    """Look at every constant of a graph.

    Args:
        graph: the content of an ONNX file.
        where: its name, for errors.
        is_finite: its constants must be numbers; a filter's graph may say `no` by one that is none.

    Raises:
        UserError: one is no number or infinite, lies outside the file, or the file is no ONNX graph.
    """
    try:
        for number, _, value in _fields(memoryview(graph)):
            if number == _MODEL_GRAPH:
                _check_graph(value, where, 0, is_finite)
    except (IndexError, ValueError, TypeError):
        raise UserError(f"{where}: is no sound ONNX file; fetch the bundle again.") from None


def _check_graph(graph: memoryview, where: str, depth: int, is_finite: bool) -> None:
    if depth > _MAX_DEPTH:
        raise UserError(f"{where}: has graphs within graphs beyond measure; it is no policy.")
    for number, _, value in _fields(graph):
        if number == _GRAPH_TENSOR:
            _check_tensor(value, where, is_finite)
        elif number == _GRAPH_SPARSE:
            raise UserError(f"{where}: has sparse weights, which no exporter of ours writes; export it anew.")
        elif number == _GRAPH_NODE:
            for part, _, attribute in _fields(value):
                if part == _NODE_ATTRIBUTE:
                    _check_attribute(attribute, where, depth, is_finite)


def _check_attribute(attribute: memoryview, where: str, depth: int, is_finite: bool) -> None:
    for number, kind, value in _fields(attribute):
        if kind == _BYTES and number in _ATTRIBUTE_TENSORS:
            _check_tensor(value, where, is_finite)
        elif kind == _BYTES and number in _ATTRIBUTE_GRAPHS:
            _check_graph(value, where, depth + 1, is_finite)


def _check_tensor(tensor: memoryview, where: str, is_finite: bool) -> None:
    name, dtype, parts = "a constant", 0, {_RAW: b"", _FLOATS: b"", _DOUBLES: b""}
    for number, kind, value in _fields(tensor):
        if number == _NAME:
            name = bytes(value).decode(errors="replace")
        elif number == _TYPE:
            dtype = value
        elif number == _EXTERNAL or (number == _LOCATION and value):
            raise UserError(
                f"{where}: {name} lies in another file; a bundle's graph holds its own numbers, export anew."
            )
        elif number in parts and kind != _VARINT:
            parts[number] += bytes(value)
    if is_finite and dtype in _DTYPES:
        for content, numbers in ((_RAW, _DTYPES[dtype]), (_FLOATS, np.dtype("<f4")), (_DOUBLES, np.dtype("<f8"))):
            _check_numbers(np.frombuffer(parts[content], numbers), f"{where}: {name}")


def _check_numbers(array: np.ndarray, what: str) -> None:
    """One infinite number may be a limit that is none; many are broken weights."""
    if np.isnan(array).any() or (array.size > 1 and np.isinf(array).any()):
        bad = array[~np.isfinite(array)][0]
        raise UserError(f"{what} has a weight that is {float(bad):g}; train anew, or fetch it again.")


def _fields(message: memoryview) -> Iterator[tuple[int, int, memoryview]]:
    """(number, kind, value) of every field; the value of a varint is an int."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield key >> 3, kind, value  # type: ignore[misc]
            continue
        size, at = (8, at) if kind == _FIXED64 else (4, at) if kind == _FIXED32 else _varint(message, at)
        if kind not in (_FIXED64, _FIXED32, _BYTES) or at + size > len(message):
            raise ValueError("not a message")
        yield key >> 3, kind, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > math.ceil(64 / 7) * 7:
            raise ValueError("not a number")
