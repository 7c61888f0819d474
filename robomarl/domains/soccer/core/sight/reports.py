"""Teammates' reports of opponents, in the order of the robot's own tracks: each robot numbers them by itself."""

import math
from itertools import permutations

import numpy as np

from robomarl.domains.soccer.core.features import Picture
from robomarl.domains.soccer.core.sight.spread import Place

FAR_M = 1.0
"""A report farther than this from all own tracks may be of any of them."""
Seen = list[Place | None]
"""Places of things now [m]; None for one that was not seen."""


def in_own_order(own: Picture, told: Picture) -> Picture:
    """Return teammates' pictures [K, 1 + S] with their opponents in the order of the robot's own picture [1 + S].

    Of all orders, the one with the least sum of distances is taken; each distance counts at most `FAR_M`.
    """
    here = places_now(opponents_of(own))
    orders = [_nearest(here, places_now(opponents_of(Picture(*report)))) for report in zip(*told, strict=True)]
    if all(order == tuple(range(len(here))) for order in orders):
        return told
    rows, columns = np.arange(len(orders))[:, None], np.array([[0, *(1 + j for j in order)] for order in orders])
    return Picture(*(np.asarray(part)[rows, columns] for part in told))


def _nearest(here: Seen, there: Seen) -> tuple[int, ...]:
    """Return which of `there` is each of `here`: the order with the least sum of distances."""
    far = [[_apart(ours, theirs) for theirs in there] for ours in here]
    return min(permutations(range(len(here))), key=lambda order: sum(far[i][j] for i, j in enumerate(order)))


def _apart(ours: Place | None, theirs: Place | None) -> float:
    """Return the distance of two places, at most `FAR_M`; half of that where one of them is not known."""
    if ours is None or theirs is None:
        return FAR_M / 2
    return min(math.dist(ours, theirs), FAR_M)


def opponents_of(picture: Picture) -> Picture:
    """Return the opponents of one robot's picture [1 + S]."""
    return Picture(*(part[1:] for part in picture))


def places_now(picture: Picture) -> Seen:
    """Return where the things of one robot's picture [T] are now."""
    mask, pos, vel, age = (part.tolist() for part in picture)
    return [
        (x + vx * age_s, y + vy * age_s) if seen else None
        for seen, (x, y, _), (vx, vy, _), age_s in zip(mask, pos, vel, age, strict=True)
    ]
