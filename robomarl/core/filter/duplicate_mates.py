"""A team-mate that is heard twice. Where two are at one place, up to the errors, they are one: no two robots can be."""

from types import ModuleType

import numpy as np

from robomarl.core.filter.model.constants import Constants
from robomarl.core.types import Array
from robomarl.core.view import Heard


def count_mates(c: Constants, heard: Heard, use: Array, xp: ModuleType) -> Array:
    """Return the number of mates received, each counted once if that can matter.

    Args:
        c: constants of the vehicle.
        heard: [..., K].
        use: [..., K] bool: mates with usable numbers.
        xp: numpy or jax.numpy.
    """
    count = heard.mask.sum(-1)
    if c.min_mates < 2:
        return count
    here = xp.where(use[..., None], heard.pos_m + heard.vel_m_s * xp.abs(heard.age_s)[..., None], 0.0)
    square = ((here[..., :, None, :] - here[..., None, :, :]) ** 2).sum(-1)
    both = use[..., :, None] & use[..., None, :] & np.tri(use.shape[-1], k=-1, dtype=bool)
    return count - (both & (square <= (2 * c.mates.error_m) ** 2)).any(-1).sum(-1)
