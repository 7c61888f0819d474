"""The library for one vehicle on a companion computer: Python's own floats.

numpy takes half a microsecond for a function of one number; a controller that is called 300 times a second makes
some hundred of them. The same code runs on arrays and on floats: who writes it asks `library` for its functions.
"""

import math
from types import SimpleNamespace
from typing import Any

from robomarl.geometry import namespace
from robomarl.types import Array


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0))


def _clip(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


PLAIN = SimpleNamespace(sqrt=math.sqrt, maximum=max, minimum=min, sign=_sign, clip=_clip)
"""What the controllers use of numpy, for floats."""


def library(*arrays: Array) -> Any:
    """`PLAIN` where all arguments are Python floats, else `geometry.namespace`."""
    return PLAIN if all(type(a) is float for a in arrays) else namespace(*arrays)
