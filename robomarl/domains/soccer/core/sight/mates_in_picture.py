"""`named`: teammates that a picture shows. Pictures tell the colours of robots; messages tell where teammates are."""

import math

import numpy as np

from robomarl.core.types import Array
from robomarl.domains.soccer.core.features import Picture
from robomarl.domains.soccer.core.sight.reports import Seen, places_now

MEANT_M = 2.0
"""Distance [m] within which a message may mean a robot that is up to 4 m away: errors of both places, of the picture,
and of the heading."""
BOTH_M = 0.15
"""Distance [m] below which two robots of both colours are one robot of unsure colour: the bodies of two robots touch at
0.18 m."""


def named(robots: Picture, opponents: Picture, heard: Picture) -> Picture:
    """Return the teammates [K] that a picture shows.

    A robot is a teammate if its message puts it within `MEANT_M`, no other teammate's does, and no other robot of the
    own colour is there. The safety filter asks for more; see `mates_in_sight`.

    Args:
        robots: [R] robots of the own colour.
        opponents: [S] robots of the other colour.
        heard: [K] teammates where their messages put them.
    """
    theirs = [place for place in places_now(opponents) if place]
    here: Seen = [
        None if place and min((math.dist(place, other) for other in theirs), default=math.inf) < BOTH_M else place
        for place in places_now(robots)
    ]
    said = places_now(heard)
    near = [[bool(a and b) and math.dist(a, b) < MEANT_M for b in here] for a in said]  # type: ignore[arg-type]
    rows = [_only(row) for row in near]
    alone = [i >= 0 and sum(row[i] for row in near) == 1 for i in rows]
    return Picture(*(_picked(part, rows, alone) for part in robots))


def _only(may_be: list[bool]) -> int:
    """Return the index of the only True; -1 if there is none, or more than one."""
    return may_be.index(True) if sum(may_be) == 1 else -1


def _picked(part: Array, rows: list[int], use: list[bool]) -> np.ndarray:
    """Return the rows of a part of a picture; zeros where there is none to use."""
    if not len(part):
        return np.zeros((len(rows), *part.shape[1:]), part.dtype)
    mask = np.array(use, bool)
    return np.where(mask.reshape(-1, *(1,) * (part.ndim - 1)), part[np.array(rows, int)], np.zeros((), part.dtype))
