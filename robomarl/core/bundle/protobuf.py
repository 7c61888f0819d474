"""Protocol-buffer messages, read field by field: a robot has onnxruntime, but neither `onnx` nor `protobuf`.

A message is pairs of a key, which is a field's number and kind, and a value
(https://protobuf.dev/programming-guides/encoding).
"""

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Kinds of values. The two kinds not listed mark groups, which are no longer written."""
_VARINT_BITS = 70


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """(number, value) of every field; the value of a varint is an int.

    Raises:
        ValueError, IndexError: not a message.
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        size, at = (8, at) if kind == FIXED64 else (4, at) if kind == FIXED32 else _varint(message, at)
        if kind not in (FIXED64, FIXED32, BYTES) or at + size > len(message):
            raise ValueError("not a message")
        yield key >> 3, message[at : at + size]
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
        if shift >= _VARINT_BITS:
            raise ValueError("not a number")
