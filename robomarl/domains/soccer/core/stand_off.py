"""Stand-offs: the ball lies between a player and an opponent or a mate, and no filter lets its robot come nearer.

One of the two yields: it draws back until the other has room to play the ball. Of two opponents the one that attacks
yields first, of two mates the one that is farther from the ball. An opponent that moves is not yielded to.
Array-generic; leading axes [...] are robots.
"""

from typing import NamedTuple, cast

from robomarl.core.geometry import components, namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.features import SoccerSensed, known_ball

NEAR_M = 0.45
"""Robots nearer to the ball than this stand against each other."""
STILL_M_S, THEIRS_M_S = 0.3, 0.4
"""Speed of the player and of the ball, and of an opponent as it is seen, below which they stand [m/s]."""
PLAYED_M_S = 0.6
"""A ball that is faster was played."""
ATTACKER_S, DEFENDER_S, MATE_S = 0.8, 1.6, 0.6
"""Time [s] after which a player yields to an opponent in the opponents' half, to one in the own half, and to a mate."""
OWN_GOAL = -0.6
"""Share of half the field: nearer to the own goal no player yields to an opponent."""
YIELDS_S = 1.2
"""Time [s] for which a player stays away."""
AWAY_M, BACK_M_S, GAIN_PER_S = 0.6, 0.8, 5.0
"""Distance [m] from the ball to which it goes, largest speed on the way [m/s], and the gain of both."""


class StandOff(NamedTuple):
    """Memory of the rule."""

    waits_s: Array
    """[...] time for which the player has stood."""
    yields_s: Array
    """[...] time for which it still stays away; 0: it plays."""


class KnownBall(NamedTuple):
    """The ball as the player sees it, else as a mate tells it."""

    mask: Array
    """[...] bool: it is known."""
    pos_m: Array
    """[..., 3] team's field frame."""
    speed2: Array
    """[...] square of its speed [m^2/s^2]."""


def no_stand_off(zero: Array) -> StandOff:
    """Memory before the first decision, for zeros [...]."""
    return StandOff(zero, zero)


def yielding(before: StandOff | tuple[()], view: LocalView, nominal: Array, period_s: float) -> tuple[StandOff, Array]:
    """Return the memory, and the command of each player: its policy's, or that of a player that yields.

    Args:
        before: memory; empty before the first decision.
        view: in the team's field frame, with all opponents that are known.
        nominal: [..., 4] acceleration x and y [m/s^2], yaw rate [rad/s], kick speed [m/s].
        period_s: time [s] since the last decision.
    """
    xp, ball = namespace(nominal), _ball(cast(SoccerSensed, view.sensed))
    stands, limit = _stands(view, ball)
    before = before or no_stand_off(xp.zeros(nominal.shape[:-1]))
    waits = xp.where(stands, before.waits_s + period_s, xp.maximum(before.waits_s - 2 * period_s, 0.0))
    begins = waits > limit
    left = xp.where(begins, YIELDS_S, xp.maximum(before.yields_s - period_s, 0.0))
    left = xp.where(ball.mask & (ball.speed2 < PLAYED_M_S**2), left, 0.0)
    command = xp.where((left > 0)[..., None], _back(view, ball, nominal), nominal)
    return StandOff(xp.where(begins, 0.0, waits), left), command


def _stands(view: LocalView, ball: KnownBall) -> tuple[Array, Array]:
    """[...] bool: the player stands against somebody; and after which time [s] it yields."""
    xp, sensed = namespace(ball.pos_m), cast(SoccerSensed, view.sensed)
    distance = _size(view.own.pos_m - ball.pos_m)
    theirs = _size(sensed.strangers_pos_m - ball.pos_m[..., None, :])
    slow = _size(sensed.strangers_vel_m_s) < THEIRS_M_S
    blocked = (sensed.strangers_mask & slow & (theirs < NEAR_M)).any(-1)
    mates = _size(view.heard.pos_m - ball.pos_m[..., None, :])
    crowded = (view.heard.mask & (mates < distance[..., None])).any(-1)
    still = (_size(view.own.vel_m_s) < STILL_M_S) & (ball.speed2 < STILL_M_S**2)
    share = ball.pos_m[..., 0] / xp.abs(view.goal.pos_m[..., 0])
    limit = xp.where(share > 0, ATTACKER_S, xp.where(share > OWN_GOAL, DEFENDER_S, xp.inf))
    near = ball.mask & (distance < NEAR_M)
    return near & still & (blocked | crowded), xp.where(crowded, MATE_S, limit)


def _back(view: LocalView, ball: KnownBall, nominal: Array) -> Array:
    """[..., 4] command of a player that goes away from the ball; its yaw rate stays, so that it sees the ball."""
    away, xp = view.own.pos_m - ball.pos_m, namespace(nominal)
    distance = _size(away)[..., None]
    speed = xp.clip(GAIN_PER_S * (AWAY_M - distance), 0.0, BACK_M_S)
    x, y, _ = components(GAIN_PER_S * (speed * away / (distance + 1e-6) - view.own.vel_m_s))
    return xp.stack([x, y, nominal[..., 2], 0 * x], -1)


def _ball(sensed: SoccerSensed) -> KnownBall:
    mask, place, velocity = known_ball(sensed)
    return KnownBall(mask, place, (velocity * velocity).sum(-1))


def _size(vector: Array) -> Array:
    return namespace(vector).sqrt((vector * vector).sum(-1))
