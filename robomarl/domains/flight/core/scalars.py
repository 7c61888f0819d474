"""Function library for one vehicle on a companion computer: Python's own floats.

numpy takes half a microsecond for a function of one number; a controller that is called 300 times a
second makes some hundred such calls. Code can run on arrays and on floats if it asks `library` for
its functions.
"""

import math
from types import ModuleType, SimpleNamespace

from robomarl.core.geometry import namespace
from robomarl.core.types import Array


def _sign(x: float) -> float:
    return float(x > 0) - float(x < 0)


def _clip(x: float, low: float, high: float) -> float:
    return low if x < low else high if x > high else x


def _where(condition: bool, yes: float, no: float) -> float:
    return yes if condition else no


PLAIN = SimpleNamespace(
    **{name: getattr(math, name) for name in ("sqrt", "sin", "cos")},
    **{"arctan2": math.atan2, "maximum": max, "minimum": min, "sign": _sign, "clip": _clip, "where": _where},
)
"""Functions of numpy that controllers and features use, for floats."""


def library(*arrays: Array) -> ModuleType | SimpleNamespace:
    """`PLAIN` where all arguments are Python floats, else `geometry.namespace`."""
    for array in arrays:
        if type(array) is not float:
            return namespace(*arrays)
    return PLAIN
