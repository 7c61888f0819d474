"""`volley_spike_hard`: set and spike against a defender that returns what it reaches.

Published (VolleyBots, `cooperative/multi_attack_volleyball_hard.py`, 680493a): as `volley_spike_easy`,
but the circle does not count any more. Metric: share of episodes in which the spiked ball falls to
the ground on the far side after the defender planned to meet it and did not.
"""

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.volleyball.core.ballistics import time_to_fall
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks import spike
from robomarl.domains.volleyball.lab.tasks.base import (
    STATE,
    VolleyTask,
    counted,
    off_court,
    once,
    scored,
    to_all,
    with_rally,
)
from robomarl.domains.volleyball.lab.tasks.defender import (
    AWAY_M_S,
    MARKS,
    SPEED_M_S,
    acted,
    as_marks,
    defender_of,
    plan,
)
from robomarl.domains.volleyball.lab.tasks.pair import GAP, LOW_BALL_M, PAIR
from robomarl.domains.volleyball.lab.world import NOBODY
from robomarl.lab.sim.model import TeamWorld

CLEAR_M = 0.3
"""Clearance [m] of the ball over the net from which on it earns no more."""
SHORT_M, EARLY_M = 1.5, 1.5
"""Distance [m] by which a defender comes too short that earns most, and by which it would be too early that earns
nothing."""
ROOM_M = 0.5
"""Distance [m] from the net that a drone should have when the ball crosses, to turn back in time."""
ASIDE_SHARE = 0.02
"""Distance to the lines that an aimed ball keeps, as a share of its distance to the middle of the court."""


def judge(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> TeamWorld:
    """Hand the turn on at each hit, move the defender, and see whether the ball lands."""
    xp, last = namespace(after.pos_m), before.own.rally
    rally = counted(scenario, before, after, touched, GAP, by_turn=True)
    turn = xp.where(rally.hit.any(-1), xp.minimum(last.turn + 1, NOBODY), last.turn)
    defender = acted(scenario, before, after)
    ball = after.own.ball_pos_m
    lands = (ball[..., 2] < LOW_BALL_M) & (ball[..., 0] < 0) & ~off_court(scenario, ball) & ~last.is_over
    gained = lands & (turn == NOBODY) & defender.has_planned & ~defender.has_returned & ~rally.wrong
    marks = as_marks(defender).astype(after.pos_m.dtype)
    return with_rally(after, scored(rally._replace(turn=turn, is_over=last.is_over | gained, marks=marks), gained))


def terms(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the published rewards, and two for the shape of a spike.

    `clearance`: how far the ball's middle is above the net as it crosses [m]. `margin`: for a ball that
    the defender will plan for and that will land, the distance [m] by which the defender comes too
    short, plus `EARLY_M`, less where a drone is nearer to the net than `ROOM_M`.
    """
    xp, last, plans = namespace(after.pos_m), before.own.rally, plan(scenario, before)
    ball, old = after.own.ball_pos_m, before.own.ball_pos_m
    flies = (last.turn == NOBODY) & ~last.is_over
    crosses = flies & (old[..., 0] > 0) & (ball[..., 0] <= 0)
    over = xp.clip(xp.minimum(old[..., 2], ball[..., 2]) - scenario.court.net_m, 0.0, CLEAR_M)
    short_m = plans.short_m - SPEED_M_S * defender_of(last.marks).since_s
    leaves = after.own.ball_vel_m_s[..., 0] < -AWAY_M_S
    good = crosses & (over > 0) & leaves & lands_inside(scenario, after)
    room = xp.clip(after.pos_m[..., 0].min(-1) / ROOM_M, 0.0, 1.0)
    each = {
        "margin": good * room * xp.clip(EARLY_M + short_m, 0.0, EARLY_M + SHORT_M),
        "clearance": crosses * over,
        "fault": failed(scenario, after),
    }
    shaped = {name: to_all(after, once(scenario, value)) for name, value in each.items()}
    return {**spike.terms(scenario, before, after), **shaped}


def lands_inside(scenario: VolleyScenario, world: TeamWorld) -> Array:
    """[...] bool: the ball will fall to the ground within the court's lines, less a share of `ASIDE_SHARE`."""
    ball, fast = world.own.ball_pos_m, world.own.ball_vel_m_s
    fall_s = time_to_fall(ball[..., 2], fast[..., 2], 0 * ball[..., 2] + LOW_BALL_M)
    place = ball[..., :2] + fall_s[..., None] * fast[..., :2]
    return ~off_court(scenario, place * (1 + ASIDE_SHARE))


def failed(scenario: VolleyScenario, world: TeamWorld) -> Array:
    """[...] bool: as for the easy task, or the defender has touched the ball."""
    rally = world.own.rally
    return spike.failed(scenario, world) | (~rally.is_over & defender_of(rally.marks).has_returned)


SPIKE_HARD = VolleyTask(
    features=(*STATE, *PAIR),
    judge=judge,
    terms=terms,
    weights={**spike.SPIKE_EASY.weights, "margin": 0.0, "clearance": 0.0},
    failed=failed,
    metric="in_target",
    least=1.0,
    marks=MARKS,
)
