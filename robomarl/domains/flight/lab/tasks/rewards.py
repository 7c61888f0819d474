"""Small reward shapes that tasks share, array-generic."""

from robomarl.core.geometry import namespace
from robomarl.core.types import Array


def tolerance(value: Array, within: float, margin: float) -> Array:
    """1 where |value| is at most `within`, falling to 0.1 at `within + margin` along a Gaussian.

    The shape of dm_control's `rewards.tolerance` (Tassa et al., 2018).
    """
    xp = namespace(value)
    beyond = xp.maximum(xp.abs(value) - within, 0.0) / margin
    return xp.exp(-2.302585 * beyond * beyond)
