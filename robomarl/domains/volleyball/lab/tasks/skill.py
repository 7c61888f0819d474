"""`volley_strike` and `volley_post`: the parts of a rally, each flown by one drone alone.

After HCSP (Zhang et al., 2025), whose skills are serve, receive, set, attack, pass, go-to and hover. Scenario files
make the skills: a strike begins with the ball as the skill before it in the rally leaves it (`[incoming]`), and has to
send it through a place with one hit (`[aim]`). A post is reached from anywhere near it, or kept.
"""

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks.base import (
    BALL,
    LOW_M,
    STATE,
    VolleyTask,
    beside_ball_m,
    counted,
    in_net,
    once,
    scored,
    to_all,
    with_rally,
)
from robomarl.domains.volleyball.lab.tasks.pair import GAP, LOW_BALL_M
from robomarl.domains.volleyball.lab.world import NOBODY
from robomarl.lab.sim.model import TeamWorld

NET_RADII = 3.0
"""Half of the net's thickness over the ball's radius, as in matches."""
NEAR_M = 3.0
"""Distance [m] of the ball from its target from which on `near` pays nothing."""
POST_M, SLOW_M_S = 0.1, 0.2
"""Distance [m] from its post, and speed [m/s], below which a drone is there."""
HELD = 50
"""Decisions in a row for which it has to be there."""
AWAY_M = 6.0
"""Distance [m] from its post above which a drone has failed."""


def aim_of(scenario: VolleyScenario) -> tuple[np.ndarray, float]:
    """Return the place [3] [m] of the target, and the largest distance [m] from it."""
    assert scenario.aim, "checked: a task with a target has [aim]"
    return np.array(scenario.aim.place_m, np.float32), scenario.aim.within_m


def missed_m(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> tuple[Array, Array]:
    """Return [...] bool: the ball falls through the target's height in this decision, and its distance [m] then."""
    xp, (place, _) = namespace(after.pos_m), aim_of(scenario)
    old, ball = before.own.ball_pos_m, after.own.ball_pos_m
    falls = (old[..., 2] > place[2]) & (ball[..., 2] <= place[2]) & (before.own.rally.turn == NOBODY)
    share = xp.clip((old[..., 2] - place[2]) / xp.maximum(old[..., 2] - ball[..., 2], 1e-6), 0.0, 1.0)
    there = old[..., :2] + share[..., None] * (ball[..., :2] - old[..., :2])
    return falls & ~before.own.rally.is_over, norm(there - xp.asarray(place[:2]))


def judge_strike(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> TeamWorld:
    """Allow one hit, and see whether the ball then falls through the target."""
    xp, last = namespace(after.pos_m), before.own.rally
    rally = counted(scenario, before, after, touched, GAP, by_turn=True)
    turn = xp.where(rally.hit.any(-1), NOBODY, last.turn).astype(last.turn.dtype)
    falls, distance = missed_m(scenario, before, after)
    gained = falls & (distance < aim_of(scenario)[1]) & ~rally.wrong
    return with_rally(after, scored(rally._replace(turn=turn, is_over=last.is_over | falls), gained))


def strike_terms(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the hit, the ball's distance from its target, and the drone's from the ball before the hit."""
    xp, rally, (falls, distance) = namespace(after.pos_m), after.own.rally, missed_m(scenario, before, after)
    each = {
        "hit": rally.hit.any(-1),
        "near": falls * xp.maximum(NEAR_M - distance, 0.0),
        "fault": strike_failed(scenario, after),
    }
    shaped = {name: to_all(after, once(scenario, value)) for name, value in each.items()}
    before_hit = to_all(after, 1.0 * (before.own.rally.turn != NOBODY))
    return {**shaped, "under": before_hit / (1 + beside_ball_m(after))}


def strike_failed(scenario: VolleyScenario, world: TeamWorld) -> Array:
    """[...] bool: the target was missed, a wrong hit, the ball in the net or down, or the drone low or at the net."""
    rally, ball = world.own.rally, world.own.ball_pos_m
    radius_m = scenario.ball.radius_m if scenario.ball else 0.0
    down = (ball[..., 2] < LOW_BALL_M) | in_net(scenario, ball, NET_RADII * radius_m)
    fallen = ((world.pos_m[..., 2] < LOW_M) | (world.pos_m[..., 0] < 0)).any(-1)
    return (rally.is_over & (rally.score < 1)) | (~rally.is_over & (down | rally.wrong)) | fallen


def judge_post(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> TeamWorld:
    """Count decisions in a row at the post; it is held from the last of them on."""
    xp, rally = namespace(after.pos_m), before.own.rally
    there = is_there(after)
    row = xp.where(there, rally.marks[..., 0] + 1, 0.0).astype(after.pos_m.dtype)
    gained = (row >= HELD) & ~rally.is_over
    rally = scored(rally._replace(marks=row[..., None]), gained)
    return with_rally(after, rally._replace(is_over=rally.is_over | gained))


def is_there(world: TeamWorld) -> Array:
    """[...] bool: the drone is at its post, and slow."""
    near = norm(world.goal_m[..., 0, :] - world.pos_m[..., 0, :]) < POST_M
    return near & (norm(world.vel_m_s[..., 0, :]) < SLOW_M_S)


def post_terms(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the time at the post, and the fault."""
    fault = once(scenario, post_failed(scenario, after))
    return {"there": to_all(after, 1.0 * is_there(after)), "fault": to_all(after, fault)}


def post_failed(scenario: VolleyScenario, world: TeamWorld) -> Array:
    """[...] bool: the drone is low or far from its post."""
    away_m = norm(world.goal_m[..., 0, :] - world.pos_m[..., 0, :])
    return (world.pos_m[..., 0, 2] < LOW_M) | (away_m > AWAY_M)


STRIKE = VolleyTask(
    features=(*STATE, *BALL, "turn"),
    judge=judge_strike,
    terms=strike_terms,
    weights={"hit": 5.0, "near": 5.0, "under": 0.05, "fault": -10.0},
    failed=strike_failed,
    metric="ball_on_target",
    least=1.0,
    has_aim=True,
    is_alone=True,
)
POST = VolleyTask(
    features=(*STATE, "goal_error"),
    judge=judge_post,
    terms=post_terms,
    weights={"there": 1.0, "fault": -10.0},
    failed=post_failed,
    metric="post_held",
    least=1.0,
    has_ball=False,
    is_alone=True,
)
