"""`Defender`: the board on the far side that returns balls in `volley_spike_hard`. Array-generic.

Published (VolleyBots, `cooperative/multi_attack_volleyball_hard.py` and `racket.py`, 680493a): a disc
that is moved, not flown. Once the ball is hit over, falls and goes away from the team, the disc plans
to meet it at 1.1 m, on a straight line and with a tilt that would return it with a restitution of
0.77, both with a limited speed. It never stops on the way, and it plans once.

Here whatever the disc touches is returned. Published, a touched ball counts as returned when it then
flies back, and a return that falls to the ground as it leaves the court counts for the team.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks.base import off_court
from robomarl.domains.volleyball.lab.world import NOBODY, PATH
from robomarl.lab.sim.model import TeamWorld

HOME_M = (-4.0, 0.0, 0.5)
"""Middle of the disc [m] before it plans."""
RADIUS_M, HALF_M = 0.5, 0.15
"""Radius of the disc [m] and half of its thickness."""
SPEED_M_S, TURN_RAD_S = 8.0, 4.0
"""Largest speed, and largest rate of roll and of pitch."""
MEET_M, LEAST_M = 1.1, 1.2
"""Height [m] at which the ball is to be met, and the least height of the ball at which the disc plans."""
AWAY_M_S = 2.0
"""Least speed of the ball along -x at which the disc plans."""
BACK_M, BACK_S = (3.0, 1.0, 1.3), 1.5
"""Place [m] to which the disc wants to return the ball, and the time of that flight."""
RESTITUTION = 0.77
"""Restitution that the disc assumes."""
CLOSE_M = 1.0
"""Distance [m] between disc and ball from which on `Defender.closeness` is 0."""
MARKS = 7
"""Numbers of a `Defender`, as `Rally.marks` keeps them."""


class Defender(NamedTuple):
    """Plan of the disc, and its outcome so far."""

    velocity: Array
    """[..., 3] velocity of the disc [m/s]."""
    rates: Array
    """[..., 2] rates of its roll and pitch [rad/s]."""
    since_s: Array
    """[...] time since it planned; 0: it has not."""
    closeness: Array
    """[...] `CLOSE_M` less the least distance [m] of the disc to the ball so far, at least 0."""

    @property
    def has_planned(self) -> Array:
        """[...] bool."""
        return self.since_s > 0

    @property
    def has_returned(self) -> Array:
        """[...] bool: the disc has touched the ball."""
        return self.closeness >= CLOSE_M


class DefenderPlan(NamedTuple):
    """Motion of the disc towards the ball, by the ball's present flight."""

    velocity: Array
    """[..., 3] velocity of the disc [m/s]."""
    rates: Array
    """[..., 2] rates of its roll and pitch [rad/s]."""
    is_due: Array
    """[...] bool: this is a ball that it plans for."""
    short_m: Array
    """[...] distance [m] by which the disc's middle would come too short; below 0: it is there in time."""


def defender_of(marks: Array) -> Defender:
    """Return the defender that is kept in `Rally.marks` [..., 7]."""
    return Defender(marks[..., :3], marks[..., 3:5], marks[..., 5], marks[..., 6])


def as_marks(defender: Defender) -> Array:
    """Return the numbers [..., 7] of a defender."""
    rest = defender.since_s[..., None], defender.closeness[..., None]
    return namespace(defender.velocity).concatenate([defender.velocity, defender.rates, *rest], -1)


def acted(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> Defender:
    """Return the defender after a decision."""
    xp, last = namespace(after.pos_m), defender_of(before.own.rally.marks)
    found = plan(scenario, before)
    plans = found.is_due & ~last.has_planned
    velocity = xp.where(plans[..., None], found.velocity, last.velocity)
    rates = xp.where(plans[..., None], found.rates, last.rates)
    moves = plans | last.has_planned
    since_s = xp.where(moves, last.since_s + scenario.period_s, 0.0)
    now = Defender(velocity, rates, since_s, last.closeness)
    near = [CLOSE_M - gap_m(scenario, now, before, share * scenario.period_s) for share in (*PATH, 1.0)]
    closeness = xp.where(moves, xp.maximum(last.closeness, xp.stack(near, -1).max(-1)), 0.0)
    return now._replace(closeness=closeness)


def plan(scenario: VolleyScenario, world: TeamWorld) -> DefenderPlan:
    """Return the disc's plan for the ball as it flies now."""
    xp, ball, fast = namespace(world.pos_m), world.own.ball_pos_m, world.own.ball_vel_m_s
    drop = xp.maximum(fast[..., 2] ** 2 + 2 * GRAVITY_M_S2 * (ball[..., 2] - MEET_M), 1e-6)
    left_s = xp.maximum((fast[..., 2] + xp.sqrt(drop)) / GRAVITY_M_S2, 1e-3)
    arrives = fast - left_s[..., None] * xp.asarray(np.array([0.0, 0.0, GRAVITY_M_S2], np.float32))
    meets = xp.concatenate([ball[..., :2] + left_s[..., None] * fast[..., :2], ball[..., 2:] * 0 + MEET_M], -1)
    way = meets - xp.asarray(np.array(HOME_M, np.float32))
    far = xp.maximum(norm(way), 1e-6)
    velocity = way * (xp.minimum(far / left_s, SPEED_M_S) / far)[..., None]
    angles = tilt(arrives, returning(meets))
    rates = xp.sign(angles) * xp.minimum(xp.abs(angles) / left_s[..., None], TURN_RAD_S)
    falls = (fast[..., 0] < -AWAY_M_S) & (fast[..., 2] < 0) & (ball[..., 2] >= LEAST_M)
    inside = (meets[..., 0] <= 0) & ~off_court(scenario, meets)
    is_due = falls & inside & (world.own.rally.turn == NOBODY)
    return DefenderPlan(velocity, rates, is_due, far - SPEED_M_S * left_s)


def returning(meets: Array) -> Array:
    """Velocity [..., 3] that takes a ball from the place of the contact [..., 3] back over the net."""
    xp = namespace(meets)
    way = xp.asarray(np.array(BACK_M, np.float32)) - meets
    return way / BACK_S + xp.asarray(np.array([0.0, 0.0, GRAVITY_M_S2 * BACK_S / 2], np.float32))


def tilt(arrives: Array, leaves: Array) -> Array:
    """Roll and pitch [rad], [..., 2], of a disc that turns one velocity [..., 3] of the ball into another."""
    xp, change = namespace(arrives), leaves - arrives
    normal = change / xp.maximum(norm(change), 1e-6)[..., None]
    return xp.stack([-xp.arcsin(xp.clip(normal[..., 1], -1, 1)), xp.arctan2(normal[..., 0], normal[..., 2])], -1)


def gap_m(scenario: VolleyScenario, defender: Defender, before: TeamWorld, on_s: float) -> Array:
    """[...] distance [m] of the disc to the ball, a time [s] after the start of a decision; below 0: they touch.

    The published disc is put to its next place at the start of a decision, so it is one decision ahead.
    """
    xp, ball = namespace(before.pos_m), scenario.with_ball[1]
    pull = xp.asarray(np.array([0.0, 0.0, -GRAVITY_M_S2 * on_s**2 / 2], np.float32))
    place = before.own.ball_pos_m + on_s * before.own.ball_vel_m_s + pull
    gone_s = (defender.since_s + on_s)[..., None]
    away = place - xp.asarray(np.array(HOME_M, np.float32)) - gone_s * defender.velocity
    roll, pitch = gone_s[..., 0] * defender.rates[..., 0], gone_s[..., 0] * defender.rates[..., 1]
    normal = xp.stack([xp.sin(pitch) * xp.cos(roll), -xp.sin(roll), xp.cos(pitch) * xp.cos(roll)], -1)
    along = (away * normal).sum(-1)
    aside = xp.sqrt(xp.maximum((away * away).sum(-1) - along * along, 1e-9))
    return xp.maximum(xp.abs(along) - HALF_M - ball.radius_m, aside - RADIUS_M - ball.radius_m)
