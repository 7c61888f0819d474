"""Stand-offs: a ball that lies between players whose filters keep them apart, and who of them plays it.

Two robots that both keep their distance stop on either side of a ball, and neither reaches it. Here they take turns by
what each of them sees; nothing is agreed. The player that is nearest to the ball in its team plays it (`free_ball`), or
it draws back and leaves the opponent room to play. The defender goes first unless the attacker is clearly nearer. A
player that plays and gets no nearer gives way, an attacker sooner than a defender; a player that gave way comes again,
a defender sooner than an attacker. So two players never both wait, nor both insist, for long. Teammates that are not
nearest draw back. Opponents that move fast are left to the policy.
Array-generic; leading axes [...] are robots.
"""

from typing import NamedTuple, cast

import numpy as np

from robomarl.core.filter.params import SafetyParams
from robomarl.core.geometry import components, namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.features import SoccerSensed, known_ball
from robomarl.domains.soccer.core.free_ball import freeing

RING_M = 0.6
"""Robots nearer to the ball than this take turns."""
LIES_M_S, LAG_S, JUMP_M = 0.2, 0.2, 0.35
"""A ball lies if its speed, low-passed with this time constant, is below this; a ball that jumps was put back."""
FORGETS_S = 1.0
"""Time [s] without a sighting of the ball after which its last place counts for nothing."""
BEGINS_S, ALONE_S = 0.3, 1.6
"""Time [s] for which the ball has to lie: with another robot in the ring, and without one."""
FAST_M_S, NOTICED_S = 0.4, 0.16
"""Speed of an opponent, low-passed with this time constant, above which the policy deals with it."""
LEAD_M, MIDDLE_M = 0.2, 0.1
"""An attacker goes first if it is nearer to the ball by `LEAD_M` than the opponent; within `MIDDLE_M` of the middle
line this lead fades to 0, and the nearest goes first.
"""
JAM_M, STANDS_M_S = 0.35, 0.3
"""A player that plays is blocked if it stands, with an opponent, within this distance of the ball."""
ATTACKER_S, DEFENDER_S = 0.4, 2.0
"""Time [s] for which a player stays blocked before it gives way."""
ATTACKER_WAITS_S, DEFENDER_WAITS_S = 1.8, 1.0
"""Time [s] for which a player gives way."""
OWN_GOAL = -0.9
"""Share of half the field: nearer to the own goal no player gives way to an opponent."""
AWAY_M, BACK_M_S, GAIN_PER_S = 0.5, 0.8, 5.0
"""Distance [m] from the ball to which it draws back, largest speed on the way [m/s], and the gain of both."""
FAR_M, UNKNOWN_M_S = 9.0, 1.0
"""Distance [m] of nothing, and each component of a speed that is not known yet [m/s]."""


class StandOff(NamedTuple):
    """Memory of the rule."""

    ball_m: Array
    """[..., 3] place of the ball when it was last seen."""
    drift_m_s: Array
    """[..., 3] its velocity, low-passed."""
    still_s: Array
    """[...] time for which it has been lying."""
    unseen_s: Array
    """[...] time since it was seen."""
    opponent_m_s: Array
    """[...] speed of the opponent that is nearest to it, low-passed."""
    turn: Array
    """[...] 1: the player plays the ball; -1: it gives way; 0: its policy decides."""
    turn_s: Array
    """[...] time since the turn changed."""
    blocked_s: Array
    """[...] time for which the player has been blocked."""


class AboutBall(NamedTuple):
    """The robots about the ball."""

    distance_m: Array
    """[...] of the player from the ball."""
    opponent_m: Array
    """[...] of the nearest opponent from it; `FAR_M` without one."""
    opponent_m_s: Array
    """[...] speed of that opponent."""
    nearest: Array
    """[...] bool: no teammate is nearer."""
    mate: Array
    """[...] bool: a teammate is in the ring."""


def no_stand_off(zero: Array) -> StandOff:
    """Memory before the first decision, for zeros [...]."""
    three = namespace(zero).stack([zero, zero, zero], -1)
    return StandOff(three, three + UNKNOWN_M_S, zero, zero + FAR_M, zero + FAST_M_S, zero, zero, zero)


def take_turns(
    before: StandOff | tuple[()], view: LocalView, nominal: Array, params: SafetyParams
) -> tuple[StandOff, Array]:
    """Return the memory, and the command of each player: its policy's, or that of a player whose turn it is or is not.
    A command that is not finite stays, for the filter to fall back on.

    Args:
        before: memory; empty before the first decision.
        view: in the team's field frame, with all opponents that are known.
        nominal: [..., 4] acceleration x and y [m/s^2], yaw rate [rad/s], kick speed [m/s].
        params: of the filter: its period, the boards, the robots' size.
    """
    xp = namespace(nominal)
    before = before or no_stand_off(xp.zeros(nominal.shape[:-1]))
    memory = _watched(before, view, params.period_s)
    scene = _scene(memory.ball_m, view)
    memory = _turned(memory, scene, view, params.period_s)
    memory = memory._replace(turn=xp.where(xp.isfinite(nominal).all(-1), memory.turn, 0.0))
    turn = memory.turn[..., None]
    if xp is np and not turn.any():  # nobody's turn, as in most decisions: the commands below take 0.1 ms
        return memory, np.asarray(nominal, np.float64)
    command = xp.where(turn < 0, _back(view, memory.ball_m, nominal), nominal)
    return memory, xp.where(turn > 0, freeing(view, memory.ball_m, params), command)


def _watched(before: StandOff, view: LocalView, period_s: float) -> StandOff:
    """Return the memory after a look at the ball: its place, its low-passed velocity, and for how long it has lain."""
    mask, place, velocity = known_ball(cast(SoccerSensed, view.sensed))
    xp = namespace(place)
    seen = mask & xp.isfinite(place + velocity).all(-1)
    row = seen[..., None]
    jumped = seen & (_size(xp.where(row, place, before.ball_m) - before.ball_m) > JUMP_M)
    follows = xp.where(jumped, 1.0, 0.3)[..., None]
    ball = before.ball_m + xp.where(row, follows * (place - before.ball_m), 0.0)
    drift = before.drift_m_s + xp.where(row, period_s / LAG_S * (velocity - before.drift_m_s), 0.0)
    unseen = xp.where(seen, 0.0, before.unseen_s + period_s)
    lies = (_size(drift) < LIES_M_S) & ~jumped & (unseen < FORGETS_S)
    still = xp.where(lies, before.still_s + period_s, 0.0)
    return before._replace(ball_m=ball, drift_m_s=drift, still_s=still, unseen_s=unseen)


def _scene(ball: Array, view: LocalView) -> AboutBall:
    """Return the distances from the ball [..., 3]."""
    xp, sensed = namespace(ball), cast(SoccerSensed, view.sensed)
    distance = _size(view.own.pos_m - ball)
    mates = _size(view.heard.pos_m - ball[..., None, :])
    sane = sensed.strangers_mask & xp.isfinite(sensed.strangers_pos_m + sensed.strangers_vel_m_s).all(-1)
    theirs = xp.where(sane, _size(sensed.strangers_pos_m - ball[..., None, :]), FAR_M)
    closest = theirs.min(-1, initial=FAR_M)
    is_it = sane & (theirs == closest[..., None])
    speed = xp.where(is_it, _size(sensed.strangers_vel_m_s), 0.0).max(-1, initial=0.0)
    nearest = ~(view.heard.mask & (mates < distance[..., None])).any(-1)
    return AboutBall(distance, closest, speed, nearest, (view.heard.mask & (mates < RING_M)).any(-1))


def _turned(memory: StandOff, scene: AboutBall, view: LocalView, period_s: float) -> StandOff:
    """Return the memory after the decision which player plays the ball and which one gives way."""
    xp, x, turn = namespace(memory.turn), memory.ball_m[..., 0], memory.turn
    speed = memory.opponent_m_s + period_s / NOTICED_S * (scene.opponent_m_s - memory.opponent_m_s)
    rival, attacks = scene.opponent_m < RING_M, x > 0
    jammed = (turn > 0) & (scene.distance_m < JAM_M) & (scene.opponent_m < JAM_M)
    jammed = jammed & (_size(view.own.vel_m_s) < STANDS_M_S)
    blocked = xp.where(jammed, memory.blocked_s + period_s, xp.maximum(memory.blocked_s - period_s, 0.0))
    keeps = x < OWN_GOAL * xp.abs(view.goal.pos_m[..., 0])
    gives = (blocked > xp.where(attacks, ATTACKER_S, DEFENDER_S)) & ~keeps
    comes = memory.turn_s + period_s > xp.where(attacks, ATTACKER_WAITS_S, DEFENDER_WAITS_S)
    first = scene.distance_m - scene.opponent_m < -LEAD_M * xp.clip(x / MIDDLE_M, -1.0, 1.0)
    begins = xp.where(first | keeps | ~rival, 1.0, -1.0)
    goes = xp.where(turn > 0, xp.where(gives, -1.0, 1.0), xp.where(comes | ~rival, 1.0, -1.0))
    goes = xp.where(scene.nearest, xp.where(turn == 0, begins, goes), -1.0)
    stands = (memory.still_s > BEGINS_S) & (rival | scene.mate) | (memory.still_s > ALONE_S)
    stands = stands & (scene.distance_m < RING_M) & ~(scene.nearest & rival & (speed > FAST_M_S))
    goes = xp.where(stands, goes, 0.0)
    same = goes == turn
    turn_s, blocked = xp.where(same, memory.turn_s + period_s, 0.0), xp.where(same, blocked, 0.0)
    return memory._replace(opponent_m_s=speed, turn=goes, turn_s=turn_s, blocked_s=blocked)


def _back(view: LocalView, ball: Array, nominal: Array) -> Array:
    """[..., 4] command of a player that goes away from the ball; its yaw rate stays, so that it sees the ball."""
    away, xp = view.own.pos_m - ball, namespace(nominal)
    distance = _size(away)[..., None]
    speed = xp.clip(GAIN_PER_S * (AWAY_M - distance), 0.0, BACK_M_S)
    x, y, _ = components(GAIN_PER_S * (speed * away / (distance + 1e-6) - view.own.vel_m_s))
    return xp.stack([x, y, nominal[..., 2], 0 * x], -1)


def _size(vector: Array) -> Array:
    return namespace(vector).sqrt((vector * vector).sum(-1))
