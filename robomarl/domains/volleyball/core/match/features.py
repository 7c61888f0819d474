"""Features of drones in a volleyball match: the observations of VolleyBots that its other tasks do not have.

Features with a number in their name are for teams of that size, because features have a fixed number of elements.
"""

from typing import cast

import numpy as np

from robomarl.core.features import NeighbourRule, feature
from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.volleyball.core.match.sensed import MatchSensed

SIZES = (1, 3, 6)
"""Robots of a team for which there are features."""
_COURT = ("role", "own.pos_m", "heard.mask", "heard.pos_m", "sensed.opponents_m")


def _sensed(view: LocalView) -> MatchSensed:
    return cast(MatchSensed, view.sensed)  # views that come from a file have a tuple of the same fields


def _players(sides: tuple[str, ...], count: int) -> tuple[str, ...]:
    return tuple(f"{side}{number}.{axis}" for side in sides for number in range(count) for axis in ("dx", "dy", "dz"))


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(f"robot{number}" for number in range(count))


def _is_number(view: LocalView, count: int) -> Array:
    """[..., N] 1 for the robot's own number."""
    xp = namespace(view.own.pos_m)
    return (view.role[..., None] == xp.asarray(np.arange(count))).astype(view.own.pos_m.dtype)


def _all_players(view: LocalView, count: int) -> Array:
    """[..., 6 N] vectors to all robots of both teams by their numbers; 0 for itself and for mates not received."""
    xp, own = namespace(view.own.pos_m), view.own.pos_m[..., None, :]
    away = xp.where(view.heard.mask[..., None], view.heard.pos_m - own, 0.0)
    mate = (view.role[..., None] + 1 + xp.asarray(np.arange(count - 1))) % count
    row = (mate[..., None, :] == xp.asarray(np.arange(count))[:, None]).astype(own.dtype)
    both = xp.concatenate([row @ away, _sensed(view).opponents_m - own], -2)
    return both.reshape(*both.shape[:-2], 6 * count)


@feature(("dx", "dy", "dz"), "m", "court", ("own.pos_m", "sensed.opponents_m"))
def opponent_offset(view: LocalView, rule: NeighbourRule) -> Array:
    """Vector from the drone to its one opponent."""
    return _sensed(view).opponents_m[..., 0, :] - view.own.pos_m


@feature(_players(("ours", "theirs"), 3), "m", "court", _COURT)
def players_3(view: LocalView, rule: NeighbourRule) -> Array:
    """Vectors from the drone to all robots of two teams of 3."""
    return _all_players(view, 3)


@feature(_players(("ours", "theirs"), 6), "m", "court", _COURT)
def players_6(view: LocalView, rule: NeighbourRule) -> Array:
    """Vectors from the drone to all robots of two teams of 6."""
    return _all_players(view, 6)


@feature(_numbers(3), "-", "-", ("role",))
def number_3(view: LocalView, rule: NeighbourRule) -> Array:
    """1 for the drone's own number in a team of 3, else 0."""
    return _is_number(view, 3)


@feature(_numbers(6), "-", "-", ("role",))
def number_6(view: LocalView, rule: NeighbourRule) -> Array:
    """1 for the drone's own number in a team of 6, else 0."""
    return _is_number(view, 6)


@feature(("no", "yes"), "-", "-", ("role", "sensed.has_hit"))
def may_not_hit(view: LocalView, rule: NeighbourRule) -> Array:
    """(0, 1) if the drone may not hit the ball now, else (1, 0)."""
    flags = _sensed(view).has_hit
    own = (flags * _is_number(view, flags.shape[-1])).sum(-1, keepdims=True)
    return namespace(flags).concatenate([1 - own, own], -1)


@feature(_numbers(1), "-", "-", ("sensed.has_hit",))
def team_hits_1(view: LocalView, rule: NeighbourRule) -> Array:
    """1 if the one robot of the team may not hit the ball now, else 0."""
    return _sensed(view).has_hit


@feature(_numbers(3), "-", "-", ("sensed.has_hit",))
def team_hits_3(view: LocalView, rule: NeighbourRule) -> Array:
    """1 for robots of a team of 3 that may not hit the ball now, else 0."""
    return _sensed(view).has_hit


@feature(_numbers(6), "-", "-", ("sensed.has_hit",))
def team_hits_6(view: LocalView, rule: NeighbourRule) -> Array:
    """1 for robots of a team of 6 that may not hit the ball now, else 0."""
    return _sensed(view).has_hit
