"""`volley_spike_easy`: the setter hits the ball to the spiker, who hits it over the net into a circle.

Published (VolleyBots, `cooperative/multi_attack_volleyball_easy.py`, 680493a): turns 0, 1, then
nobody's; metric: share of episodes in which the ball lands within 1 m of the target. A spike that
goes down earns more, and a lob into the circle counts as well.
"""

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks.base import (
    LOW_M,
    STATE,
    VolleyTask,
    counted,
    in_net,
    off_court,
    once,
    scored,
    to_all,
    with_rally,
)
from robomarl.domains.volleyball.lab.tasks.pair import GAP, HIGH_BALL_M, LOW_BALL_M, PAIR, toward_mate, under_ball
from robomarl.domains.volleyball.lab.world import NOBODY
from robomarl.lab.sim.model import TeamWorld

TARGET_M, CIRCLE_M = (-4.5, 0.0), 1.0
"""Middle [m] of the circle in which the ball is to land, and its radius [m]."""
SPIKER = 1
"""Number of the robot that hits the ball over the net."""
SLOW_M_S, NEAR_M = 5.0, 10.0
"""Vertical speed [m/s] of a spike from which it earns no more, and distance [m] to the target likewise."""


def target_m(world: TeamWorld) -> Array:
    """[...] horizontal distance of the ball to the target."""
    xp = namespace(world.pos_m)
    return norm(world.own.ball_pos_m[..., :2] - xp.asarray(np.array(TARGET_M, np.float32)))


def judge(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> TeamWorld:
    """Hand the turn on at each hit, and see where the ball lands."""
    xp, last = namespace(after.pos_m), before.own.rally
    rally = counted(scenario, before, after, touched, GAP, by_turn=True)
    turn = xp.where(rally.hit.any(-1), xp.minimum(last.turn + 1, NOBODY), last.turn)
    lands = (after.own.ball_pos_m[..., 2] < LOW_BALL_M) & ~last.is_over
    gained = lands & (turn == NOBODY) & (target_m(after) < CIRCLE_M) & ~rally.wrong
    return with_rally(after, scored(rally._replace(turn=turn, is_over=last.is_over | gained), gained))


def terms(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the published rewards, shared by both drones."""
    xp, rally, last = namespace(after.pos_m), after.own.rally, before.own.rally
    spike, rise = rally.hit[..., SPIKER], after.own.ball_vel_m_s[..., 2]
    flies = (last.turn == NOBODY) & ~last.is_over
    crosses = flies & (before.own.ball_pos_m[..., 0] > 0) & (after.own.ball_pos_m[..., 0] <= 0)
    lands = flies & (after.own.ball_pos_m[..., 2] < LOW_BALL_M)
    each = {
        "hit": rally.hit.any(-1),
        "downward": spike & (rise < 0),
        "crossing": crosses,
        "target": rally.gained,
        "under": xp.where(last.is_over, 0.0, under_ball(after)),
        "toward": xp.where(spike, toward_target(after), toward_mate(before, after)),
        "slow": spike * xp.maximum(SLOW_M_S - rise, 0.0),
        "near": lands * xp.maximum(NEAR_M - target_m(after), 0.0),
        "fault": failed(scenario, after),
    }
    return {name: to_all(after, once(scenario, value)) for name, value in each.items()}


def toward_target(world: TeamWorld) -> Array:
    """[...] cosine of the angle between the ball's velocity and the way to the target, in the plane."""
    xp, fast = namespace(world.pos_m), world.own.ball_vel_m_s[..., :2]
    way = xp.asarray(np.array(TARGET_M, np.float32)) - world.own.ball_pos_m[..., :2]
    return (way * fast).sum(-1) / xp.sqrt((way * way).sum(-1) * (fast * fast).sum(-1) + 1e-9)


def failed(scenario: VolleyScenario, world: TeamWorld) -> Array:
    """[...] bool: a wrong hit, the ball out of play or beside the circle, or a drone low or beyond the net."""
    ball, rally = world.own.ball_pos_m, world.own.rally
    radius_m = scenario.ball.radius_m if scenario.ball else 0.0
    out = (ball[..., 2] < LOW_BALL_M) | (ball[..., 2] > HIGH_BALL_M) | off_court(scenario, ball)
    lost = out | in_net(scenario, ball, radius_m) | rally.wrong
    fallen = (world.pos_m[..., 2] < LOW_M) | (world.pos_m[..., 0] < 0)
    return ~rally.is_over & (lost | fallen.any(-1))


SPIKE_EASY = VolleyTask(
    features=(*STATE, *PAIR),
    judge=judge,
    terms=terms,
    weights={
        **{"hit": 5.0, "downward": 5.0, "crossing": 5.0, "target": 5.0, "under": 0.05},
        **{"toward": 1.0, "slow": 0.2, "near": 0.2, "fault": -10.0},
    },
    failed=failed,
    metric="in_target",
    least=1.0,
)
