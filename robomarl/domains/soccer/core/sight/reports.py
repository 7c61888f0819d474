"""Teammates' reports of opponents, in the order of the robot's own tracks: each robot numbers them by itself."""

from itertools import permutations

import numpy as np

from robomarl.domains.soccer.core.features import Picture

FAR_M = 1.0
"""A report farther than this from all own tracks may be of any of them."""


def in_own_order(own: Picture, told: Picture) -> Picture:
    """Return teammates' pictures [K, 1 + S] with their opponents in the order of the robot's own picture [1 + S].

    Of all orders, the one with the least sum of distances is taken; each distance counts at most `FAR_M`.
    """
    mask, pos, vel, age = (np.array(part) for part in told)
    here = own.pos_m[1:] + own.vel_m_s[1:] * own.age_s[1:, None]
    for k in range(len(mask)):
        there = pos[k, 1:] + vel[k, 1:] * age[k, 1:, None]
        far = np.minimum(np.linalg.norm(here[:, None] - there[None], axis=-1), FAR_M)
        far = np.where(own.mask[1:, None] & mask[k, None, 1:], far, FAR_M * 0.5)
        best = min(
            permutations(range(len(here))),
            key=lambda order, far=far: float(sum(far[i, order[i]] for i in range(len(order)))),
        )
        rows = [0, *(1 + j for j in best)]
        mask[k], pos[k], vel[k], age[k] = mask[k, rows], pos[k, rows], vel[k, rows], age[k, rows]
    return Picture(mask, pos, vel, age)
