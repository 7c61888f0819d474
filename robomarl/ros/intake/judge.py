"""Validation of incoming messages: every reader calls `checked` before anything else reads the
message.

A message is rejected as a whole if it holds a number that is not finite or absurdly large, a time
before the epoch, or a quaternion that is no rotation. Its sender then ages as if nothing had come.
Denormals are numbers like any other.
"""

import math
from array import array
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from robomarl.ros.intake.sound import ROTATION_TOLERANCE, MessageError, fault, sound
from robomarl.ros.io.messages import Message
from robomarl.ros.timing.stamp import SECOND_NS, Stamp, time_of
from robomarl.ros.topics import Topic

QUATERNION, TIME, DURATION = "geometry_msgs/Quaternion", "builtin_interfaces/Time", "builtin_interfaces/Duration"
T = TypeVar("T")


def checked(message: T, topic: Topic) -> T:
    """The message itself, if all in it that `topic.judged` names is sound.

    Raises:
        MessageError: it is not; names the field.
    """
    parts = ((name, _part(message, name)) for name in topic.judged) if topic.judged is not None else [("", message)]
    for name, part in parts:
        if found := next(_faults(part), None):
            raise MessageError(".".join(filter(None, (name, found[0]))).replace(".[", "[") + f" {found[1]}")
    return message


def stamp_of(header: Message) -> Stamp:
    """The stamp of a header [s].

    Raises:
        MessageError: it is no time, or before the epoch.
    """
    try:
        found = time_of(header.stamp)
    except ValueError as error:
        raise MessageError(str(error)) from None
    if found < 0:
        raise MessageError(f"the stamp is before the epoch: {found:g} s")
    return found


def reader_of(topic: Topic, convert: Callable[[Message], T] | None) -> Callable[[Message], T]:
    """Return the reader that a `Mailbox` applies to its messages: it validates, then converts.

    Args:
        topic: topic of the messages.
        convert: from the message to the value that is read; one with `takes_bytes` validates the
            messages itself, as `checked` does. None: the bytes stay unchanged, for nodes that only
            relay or record them.
    """
    if convert is None:
        return lambda data: data
    if getattr(convert, "takes_bytes", False):
        return convert
    return lambda message: convert(checked(message, topic))


def _part(message: Message, name: str) -> Message:
    for step in name.split("."):
        message = getattr(message, step)
    return message


def _faults(part: Message) -> Iterator[tuple[str, str]]:
    """Yield (field, fault) for every fault in a part of a message; the field is "" for the part itself."""
    if isinstance(part, float):
        if not sound((part,)):
            yield "", fault(part)
    elif isinstance(part, array | np.ndarray):
        yield from _faults_of_numbers(part)
    elif isinstance(part, list | tuple):
        for at, item in enumerate(part):
            yield from ((f"[{at}].{name}".rstrip("."), text) for name, text in _faults(item))
    elif hasattr(part, "get_fields_and_field_types"):
        yield from _faults_of_fields(part)


def _faults_of_fields(part: Message) -> Iterator[tuple[str, str]]:
    for name in part.get_fields_and_field_types():
        for inner, text in _faults(getattr(part, name)):
            yield f"{name}.{inner}".rstrip(".").replace(".[", "["), text
    kind = _kind_of(part)
    if kind in (TIME, DURATION) and part.nanosec >= SECOND_NS:
        yield "", f"has {part.nanosec} nanoseconds beside its {part.sec} s"
    if kind == TIME and part.sec < 0:
        yield "", f"is before the epoch: {part.sec} s"
    if kind == QUATERNION and not abs((length := math.hypot(part.w, part.x, part.y, part.z)) - 1) <= ROTATION_TOLERANCE:
        yield "", f"is no rotation: it has length {length:.4g}, not 1"


def _faults_of_numbers(numbers: array | np.ndarray) -> Iterator[tuple[str, str]]:
    floats = numbers.dtype.kind == "f" if isinstance(numbers, np.ndarray) else numbers.typecode in "fd"
    if floats and not sound(values := numbers.tolist()):
        yield from ((f"[{at}]", fault(value)) for at, value in enumerate(values) if not sound((value,)))


def _kind_of(part: Message) -> str:
    """Package and name of the message type."""
    kind = type(part)
    return f"{kind.__module__.partition('.')[0]}/{kind.__name__}"
