"""`RightOfWay`: the robot that hits next goes its way, and its mates keep away from it, before the filter.

The filter shares the avoidance between two mates, so it would turn a strike aside for a mate that stands near. These
rules change the commands of the mates alone, at a larger distance than the filter's, so the filter of the hitter has
seldom something to do. They promise nothing: what is promised is the filter's, which comes after. Array-generic.
"""

from typing import cast

import numpy as np

from robomarl.core.filter.deadlock_rules.memory import WayCarry
from robomarl.core.filter.deadlock_rules.roundabout import no_roundabout
from robomarl.core.filter.params import SafetyParams
from robomarl.core.geometry import namespace
from robomarl.core.types import GRAVITY_M_S2, Array, FilterResult
from robomarl.core.view import LocalView
from robomarl.domains.volleyball.core.match.sensed import MatchSensed
from robomarl.domains.volleyball.core.sensed import VolleySensed

WIDER_M = 0.5
"""Distance [m] to the hitter beyond the filter's separation at which a mate begins to give way ..."""
AWAY_PER_S2, SLOWER_PER_S = 6.0, 5.0
"""... with this acceleration over the missing distance, and over the closing speed ..."""
MOST_M_S2 = 8.0
"""... and at most this acceleration."""
LEVEL_M = 2.5
"""Height [m] at which the ball's place says who hits next."""


class RightOfWay:
    """Rules of one type of vehicle; without state of its own."""

    def __init__(self, params: SafetyParams) -> None:
        """Keep the separation of the filter that comes after."""
        self._apart_m = params.safety.separation_m + WIDER_M

    def init(self, zero: Array) -> WayCarry:
        """The memory before the first decision, which stays as it is; `zero` has its leading axes [...]."""
        return WayCarry(zero, zero, zero, zero > 0, no_roundabout(zero))

    def __call__(self, carry: WayCarry, view: LocalView, nominal: Array) -> tuple[WayCarry, Array]:
        """Return the memory, and the command [..., A] with the acceleration of a robot that gives way."""
        xp = namespace(nominal, view.own.pos_m)
        first = hits_next(view)[..., 1:] & view.heard.mask
        away = view.own.pos_m[..., None, :] - view.heard.pos_m
        distance = xp.sqrt((away * away).sum(-1) + 1e-9)
        along = away / distance[..., None]
        opening = ((view.own.vel_m_s[..., None, :] - view.heard.vel_m_s) * along).sum(-1)
        least = AWAY_PER_S2 * (self._apart_m - distance) - SLOWER_PER_S * opening
        wanted = (nominal[..., None, :3] * along).sum(-1)
        more = xp.where(first, xp.clip(xp.minimum(least, MOST_M_S2) - wanted, 0.0, None), 0.0)
        moved = nominal[..., :3] + (more[..., None] * along).sum(-2)
        return carry, xp.concatenate([moved, nominal[..., 3:]], -1)

    def after(self, carry: WayCarry, result: FilterResult) -> WayCarry:
        """The memory once the filter has decided."""
        return carry


def hits_next(view: LocalView) -> Array:
    """[..., N] bool: the robot that hits next; first the robot itself, then its mates in the order of the view."""
    if len(view.sensed) == len(MatchSensed._fields):
        return _nearest(view, cast(MatchSensed, view.sensed))
    return _in_turn(view, cast(VolleySensed, view.sensed))


def _in_turn(view: LocalView, sensed: VolleySensed) -> Array:
    """The robot whose turn it is."""
    xp, robots = namespace(view.own.pos_m), 1 + view.heard.mask.shape[-1]
    numbers = (view.role[..., None] + xp.asarray(np.arange(robots))) % robots
    turns = xp.asarray(np.arange(sensed.turn.shape[-1]))
    return ((numbers[..., None] == turns) & (sensed.turn[..., None, :] > 0.5)).any(-1)


def _nearest(view: LocalView, sensed: MatchSensed) -> Array:
    """The robot that may hit and is nearest to where the ball will come down; while it comes over the net, any."""
    xp, robots = namespace(view.own.pos_m), sensed.has_hit.shape[-1]
    numbers = (view.role[..., None] + xp.asarray(np.arange(robots))) % robots
    may = ((numbers[..., None] == xp.asarray(np.arange(robots))) & (sensed.has_hit[..., None, :] < 0.5)).any(-1)
    comes = (sensed.turn[..., 0] < 0.5) & (sensed.ball_vel_m_s[..., 0] > 0)
    may = may | comes[..., None]
    places = xp.concatenate([view.own.pos_m[..., None, :], view.heard.pos_m], -2)[..., :2]
    speed, above = sensed.ball_vel_m_s[..., 2], xp.maximum(sensed.ball_pos_m[..., 2] - LEVEL_M, 0.0)
    fall_s = (speed + xp.sqrt(xp.maximum(speed * speed + 2 * GRAVITY_M_S2 * above, 0.0))) / GRAVITY_M_S2
    down = sensed.ball_pos_m[..., :2] + xp.maximum(fall_s, 0.0)[..., None] * sensed.ball_vel_m_s[..., :2]
    away = ((places - down[..., None, :]) ** 2).sum(-1)
    away = xp.where(may, away, np.inf)
    return may & (away == away.min(-1, keepdims=True))
