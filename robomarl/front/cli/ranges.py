"""Check of the `Range` of an option, which tyro does not know, on the words of the command line."""

import math
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from robomarl.core.config import Range, UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def check_ranges(args: "DataclassInstance") -> None:
    """Hold every option of a command to the ranges that its annotation names.

    Args:
        args: a dataclass `Args`; `Range` may stand anywhere in an annotation, as in `tuple[Positive, ...] | None`.

    Raises:
        UserError: a number is out of its range; names the option and the range.
    """
    hints = get_type_hints(type(args), include_extras=True)
    said = (field.name for field in fields(args) if getattr(args, field.name) != field.default)
    for name, hint in ((name, hints[name]) for name in said):
        for limit in _ranges(hint):
            for value in _numbers(getattr(args, name)):
                if not limit.holds(value) or math.isinf(value):
                    must = f"{limit} and finite" if math.isinf(value) and limit.high == math.inf else limit
                    raise UsageError(f"--{name.replace('_', '-')} {value:g} is out of range; it must be {must}.")


def _ranges(hint: object) -> Iterator[Range]:
    parts = get_args(hint)
    if get_origin(hint) is Annotated:
        yield from (part for part in parts[1:] if isinstance(part, Range))
        parts = parts[:1]
    for part in parts:
        yield from _ranges(part)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, tuple):
        for part in value:
            yield from _numbers(part)
    elif value is not None:
        yield value
