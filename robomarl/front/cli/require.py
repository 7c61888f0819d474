"""`robomarl eval --require FIGURE>=VALUE`: figures that an evaluation has to reach, so that a script can gate on it."""

import math
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from robomarl.core.config import UsageError, suggest
from robomarl.core.types import Figures

OPERATORS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}


class Requirement(NamedTuple):
    """One `--require`."""

    figure: str
    """Name in the JSON; of a figure inside another one with dots, as in `held_out.windy.success_rate`."""
    operator: str
    value: float

    def __str__(self) -> str:
        return f"{self.figure} {self.operator} {self.value:g}"

    def holds(self, found: float | None) -> bool:
        """Return True if the found figure meets it; a figure that is null or NaN never does."""
        return found is not None and bool(OPERATORS[self.operator](found, self.value))


def requirements(words: Sequence[str]) -> list[Requirement]:
    """The requirements of the command line.

    Args:
        words: `FIGURE OPERATOR VALUE` each, with or without spaces.

    Raises:
        UsageError: not of that form, or the value is no number.
    """
    return [_read(word) for word in words]


def _read(word: str) -> Requirement:
    form = f"--require {word}: write FIGURE, one of {' '.join(OPERATORS)}, and a number, as in 'success_rate>=0.95'."
    if (match := re.fullmatch(r"\s*([^\s<>=]+)\s*(>=|<=|==|>|<)\s*([^\s<>=]+)\s*", word)) is None:
        raise UsageError(form)
    try:
        value = float(match[3])
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise UsageError(form)
    return Requirement(match[1], match[2], value)


def judged(figures: Figures, required: Sequence[Requirement]) -> Figures:
    """Return the figures with `requirements`, a row for each and each policy, and `passed`, True if all are met.

    Args:
        figures: figures of `robomarl eval`, of one policy or with a row for each in `policies`.
        required: requirements for every policy.

    Raises:
        UsageError: a figure is not among them; it has the figures, so that they are written all the
            same.
    """
    if not required:
        return figures
    rows = [_judge(row, one, figures) for row in figures.get("policies", [figures]) for one in required]
    for row in rows:
        print(f"{'met   ' if row['met'] else 'NOT MET'} {row['policy']}: {row['required']}, found {row['found']}")
    return {**figures, "requirements": rows, "passed": all(row["met"] for row in rows)}


def _judge(row: Figures, required: Requirement, figures: Figures) -> Figures:
    numbers = dict(_numbers(row))
    if required.figure not in numbers:
        error = UsageError(f"--require {required}: there is no such figure; {suggest(required.figure, numbers)}")
        error.figures = figures
        raise error
    found = numbers[required.figure]
    return {"policy": row.get("policy"), "required": str(required), "found": found, "met": required.holds(found)}


def _numbers(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float | None]]:
    """Names and values of all figures that can be compared with a number; null is a figure without a value."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{prefix}{name}.")
        elif isinstance(value, (list, tuple)):
            yield from _numbers({str(i): part for i, part in enumerate(value)}, f"{prefix}{name}.")
        elif value is None or not isinstance(value, str):
            yield f"{prefix}{name}", None if value is None else float(value)
