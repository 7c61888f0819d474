"""The structs of C that hold `Constants`: their declarations, and copies of Python's objects in them.

Both follow the fields of the Python classes. `python -m robomarl.core.filter.kernel.layout` writes `constants.h`, which
is in the repository because a build has only setuptools and cffi; a test compares it.
"""

import types
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, Union, get_args, get_origin, get_type_hints

from robomarl.core.filter.kernel.build import CONSTANTS
from robomarl.core.filter.kernel.library import CPointer, Ffi
from robomarl.core.filter.model.body_kinds import Kind, Shape, Solid
from robomarl.core.filter.model.constants import Constants, Queue
from robomarl.core.hardware.sections import Vector3
from robomarl.core.types import Array

STRUCTS = (Shape, Kind, Solid, Constants)
"""Classes that have a struct, named `Rm` and the class; a struct comes after those in it."""
NUMBERS: dict[object, str] = {
    float: "double {}",
    int: "int {}",
    bool: "int {}",
    Vector3: "double {}[3]",
    Sequence[Array]: "double {}[3]",
    tuple[Vector3, Vector3]: "double {}[2][3]",
}
"""Declarations of fields by their types."""
HEAD = """/* Written by `python -m robomarl.core.filter.kernel.layout` from the Python classes; do not edit.
 * Fields have the names of Python's. has_X is 0 where X is None, num_X is how many X there are, queue_X is a field of
 * the queue. */
#ifndef ROBOMARL_CONSTANTS_H
#define ROBOMARL_CONSTANTS_H
"""


def header() -> str:
    """The content of `constants.h`."""
    structs = (f"/* {cls.__module__}.{cls.__name__} */\n{_struct(cls)}" for cls in STRUCTS)
    return "\n".join([HEAD, *structs, "#endif"]) + "\n"


def copied(ffi: Ffi, constants: Constants) -> tuple[CPointer, list[CPointer]]:
    """A copy of the constants as `RmConstants *`, and memory that it points to, which has to live as long."""
    struct, kept = ffi.new("RmConstants *"), list[CPointer]()
    _fill(ffi, struct, constants, kept)
    return struct, kept


def _struct(cls: type) -> str:
    fields = (line for name, hint in _hints(cls).items() for line in _declared(name, hint))
    return "typedef struct {\n" + "".join(f"    {line};\n" for line in fields) + f"}} Rm{cls.__name__};\n"


@cache
def _hints(cls: type) -> dict[str, object]:
    """Types of the fields, without what C has no use for: the mode, which is `qp` there."""
    return {name: hint for name, hint in get_type_hints(cls).items() if get_origin(hint) is not Literal}


def _declared(name: str, hint: object) -> Iterator[str]:
    """Declarations of one field; raises `TypeError` if C has no type for it."""
    inner, item = _present(hint), (get_args(hint) or (None,))[0]
    if inner is not hint:
        yield f"int has_{name}"
        yield from _declared(name, inner)
    elif hint in NUMBERS:
        yield NUMBERS[hint].format(name)
    elif isinstance(hint, type) and hint in STRUCTS:
        yield f"Rm{hint.__name__} {name}"
    elif hint is Queue:
        yield f"int num_{name}"
        yield from (f"const double *{name}_{part}" for part in Queue._fields)
    elif isinstance(item, type) and item in STRUCTS:
        yield f"int num_{name}"
        yield f"const Rm{item.__name__} *{name}"
    else:
        raise TypeError(f"{name}: no type of C is known for {hint}")


def _present(hint: object) -> object:
    """The type of a field that may be None, where it is not."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    (inner,) = (each for each in get_args(hint) if each is not types.NoneType)
    return inner


def _fill(ffi: Ffi, struct: object, source: tuple[object, ...], kept: list[CPointer]) -> None:
    """Set the fields of a struct to those of a NamedTuple; memory that it points to is appended to `kept`."""
    for name, hint in _hints(type(source)).items():
        value, inner = getattr(source, name), _present(hint)
        if inner is not hint:
            setattr(struct, f"has_{name}", value is not None)
        if value is None:
            continue
        if inner in NUMBERS:
            setattr(struct, name, value)
        elif isinstance(value, STRUCTS):
            _fill(ffi, getattr(struct, name), value, kept)
        elif isinstance(value, Queue):
            _fill_queue(ffi, struct, name, value, kept)
        else:
            array = ffi.new(f"Rm{get_args(inner)[0].__name__}[]", max(len(value), 1))
            kept.append(array)
            setattr(struct, f"num_{name}", len(value))
            setattr(struct, name, array)
            for i, part in enumerate(value):
                _fill(ffi, array[i], part, kept)


def _fill_queue(ffi: Ffi, struct: object, name: str, queue: Queue, kept: list[CPointer]) -> None:
    setattr(struct, f"num_{name}", len(queue.oldest))
    for part, numbers in zip(queue._fields, queue, strict=True):
        kept.append(ffi.new("double[]", numbers))
        setattr(struct, f"{name}_{part}", kept[-1])


if __name__ == "__main__":
    (Path(__file__).parent / CONSTANTS).write_text(header())
