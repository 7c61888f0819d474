"""`Tether`: how far apart the references of robots may be that carry one load. Array-generic.

A carrier at the end of its cable can follow its reference no further. So the references of a team
keep a largest distance, too. Both robots of a pair judge by one pair of anchors A and B (`rule`), and
each keeps within half of that distance of the place in the middle between A and B, at all times:

    |z - (A + B) / 2| <= L / 2.

Then |z - z'| <= L, whenever each of both changes its course. Lengths are in a metric in which
differences of height count more.
"""

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from robomarl.core.certificate.course import places
from robomarl.core.certificate.rule import Pair
from robomarl.core.types import Array


@dataclass(frozen=True)
class Tether:
    """Limits that a load sets to the references of its carriers."""

    apart_m: float
    """Largest distance of two references at one height."""
    height_m: float
    """Largest difference of height of two references."""
    accel_m_s2: float
    """Largest acceleration of a reference along each axis: the more carriers accelerate, the more the load swings."""
    speed_m_s: float
    """Largest speed of a reference."""
    stop_s: float
    """Longest time that a reference may need to stop."""

    @property
    def stretch(self) -> np.ndarray:
        """[3] factors of the metric in which two references are at most `apart_m` apart."""
        return np.array([1.0, 1.0, self.apart_m / self.height_m])

    def left_m(self, path: Array, pair: Pair, compared: tuple[Array, float], xp: ModuleType) -> Array:
        """[..., C, K] least slack to half of the largest distance, over all times [m]; at least 0: the path is good.

        Between two times the distance to the middle is below its own chord, but for what courses bend.

        Args:
            path: [..., C, M, 3] places of the reference on C ways to go, world.
            pair: anchors [..., K].
            compared: the times [..., M], and how far courses may be from their chords [m].
            xp: numpy or jax.numpy.
        """
        times, bend_m = compared[0][..., None, :], compared[1] * self.stretch.max()
        middle = (places(pair.mine, times, xp) + places(pair.theirs, times, xp)) / 2
        off = (path[..., :, None, :, :] - middle[..., None, :, :, :]) * xp.asarray(self.stretch, path.dtype)
        return self.apart_m / 2 - bend_m - xp.sqrt((off * off).sum(-1)).max(-1)
