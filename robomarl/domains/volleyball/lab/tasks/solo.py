"""`volley_hit` and `volley_bump`: one drone hits the ball as far as it can, or keeps it up.

Published (VolleyBots, `single/single_hit_volleyball.py` and `single_juggle_volleyball.py`, 680493a).
A touch within 25 decisions of the last one is a wrong hit, which ends the episode. Hit: metric: how
far in -x from the anchor the ball is when it falls through 2 m, after exactly one hit. Bump:
metric: hits after the first with an apex above 3.5 m since the last.
"""

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.domains.volleyball.core.ballistics import time_to_fall
from robomarl.domains.volleyball.lab.physics.ball import meeting_plane
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks.base import (
    BALL,
    LOW_M,
    STATE,
    VolleyTask,
    beside_ball_m,
    counted,
    off_court,
    once,
    scored,
    to_all,
    with_rally,
)
from robomarl.domains.volleyball.lab.world import ball_of, drones_of
from robomarl.lab.sim.model import TeamWorld

GAP = 25
"""Decisions after the start of a touch within which another touch is a wrong hit."""
ON_GROUND_M = 0.15
"""Height [m] of the ball's middle below which it lies on the ground."""
FALLS_THROUGH_M = 2.0
"""Height [m] at which the distance of a hit is measured, on the way down."""
BUMP_APEX_M = 3.5
"""Height [m] that the ball must reach between two hits that count."""
RIM_M = 0.165
"""Distance [m] of a contact from the racket's axis beyond which the term `rim` grows."""
NET_M = 0.01
"""Distance [m] to the net's plane below which the drone has failed."""


def judge_hit(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> TeamWorld:
    """Measure the distance until the ball has fallen through the height after its one hit."""
    xp, last = namespace(after.pos_m), before.own.rally
    rally = counted(scenario, before, after, touched, GAP, by_turn=False)
    ball, ball_before = after.own.ball_pos_m, before.own.ball_pos_m
    falls = (ball[..., 2] <= FALLS_THROUGH_M) & (after.own.ball_vel_m_s[..., 2] < 0)
    share = (ball_before[..., 2] - FALLS_THROUGH_M) / xp.maximum(ball_before[..., 2] - ball[..., 2], 1e-6)
    exact = ball_before[..., 0] + xp.clip(share, 0.0, 1.0) * (ball[..., 0] - ball_before[..., 0])
    far = after.goal_m[..., 0, 0] - xp.where(falls, exact, ball[..., 0])
    rally = scored(rally, xp.where(last.is_over, 0.0, far - last.score))
    return with_rally(after, rally._replace(is_over=last.is_over | (falls & (rally.hits == 1) & ~rally.wrong)))


def hit_terms(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the published rewards."""
    rally = after.own.rally
    ends = (rally.is_over & ~before.own.rally.is_over) | (hit_failed(scenario, after) & ~before.own.rally.is_over)
    strays = norm(after.pos_m[..., 0, :] - after.goal_m[..., 0, :]) > 1.0
    each = {
        "hit": once(scenario, rally.hit.any(-1)),
        "distance": once(scenario, ends * rally.score),
        "strays": once(scenario, strays * ~rally.is_over),
        "fault": once(scenario, hit_failed(scenario, after)),
        "reach": once(scenario, rally.hit.any(-1) * reach_m(after)),
        "rim": once(scenario, rim_m2(scenario, before)),
    }
    return {name: to_all(after, value) for name, value in each.items()}


def reach_m(world: TeamWorld) -> Array:
    """[...] distance of a hit [m], foreseen by the ball's flight from now on: unlike the metric it has a gradient at
    the hit itself."""
    ball, fast = world.own.ball_pos_m, world.own.ball_vel_m_s
    left_s = time_to_fall(ball[..., 2], fast[..., 2], FALLS_THROUGH_M)
    return world.goal_m[..., 0, 0] - ball[..., 0] - left_s * fast[..., 0]


def rim_m2(scenario: VolleyScenario, world: TeamWorld) -> Array:
    """[...] squared distance [m^2] beyond `RIM_M` at which the falling ball will go through the plane of the racket
    within the coming decision, from the racket's axis; 0 if it does not.

    A miss is a jump of the reward that no gradient sees; this price has one on both sides of the rim.
    """
    xp, (drone, ball) = namespace(world.pos_m), (drones_of(world), ball_of(world))
    meets, aside = meeting_plane(scenario, drone, ball, scenario.period_s)
    falling = ball.vel[2][..., None] < 0
    return (xp.maximum(aside - RIM_M, 0.0) ** 2 * (meets & falling)).sum(-1)


def hit_failed(scenario: VolleyScenario, world: TeamWorld) -> Array:
    """[...] bool: the drone is low or at the net, a wrong hit, or the ball is on the ground or too high."""
    rally, ball = world.own.rally, world.own.ball_pos_m
    out = (ball[..., 2] < ON_GROUND_M) | (ball[..., 2] > 16.0)
    return ~rally.is_over & (rally.wrong | out | crashed(world))


def crashed(world: TeamWorld) -> Array:
    """[...] bool: the drone is low or at the net's plane."""
    xp, place = namespace(world.pos_m), world.pos_m[..., 0, :]
    return (place[..., 2] < LOW_M) | (xp.abs(place[..., 0]) < NET_M)


def judge_bump(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> TeamWorld:
    """Count hits with a high apex since the last one."""
    rally = counted(scenario, before, after, touched, GAP, by_turn=False)
    last = before.own.rally
    gained = rally.hit.any(-1) & (last.hits >= 1) & (last.apex_m > BUMP_APEX_M)
    apexes = (last.marks[..., 0] + rally.hit.any(-1) * (last.hits >= 1) * last.apex_m).astype(after.pos_m.dtype)
    return with_rally(after, scored(rally._replace(marks=apexes[..., None]), gained))


def bump_terms(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the published rewards; the reward for height asks for the mean of all apexes so far."""
    xp, rally = namespace(after.pos_m), after.own.rally
    hit, drone, ball = rally.hit.any(-1), after.pos_m[..., 0, :], after.own.ball_pos_m
    mean = rally.marks[..., 0] / xp.maximum(rally.hits - 1, 1.0)
    above = xp.clip(ball[..., 2] - xp.maximum(drone[..., 2], 1.0), 0.0, 2.0)
    each = {
        "hit": hit,
        "high": hit & (mean > BUMP_APEX_M),
        "under": 1 / (1 + beside_ball_m(after)[..., 0]),
        "above": above,
        "fault": bump_failed(scenario, after),
    }
    return {name: to_all(after, once(scenario, value)) for name, value in each.items()}


def bump_failed(scenario: VolleyScenario, world: TeamWorld) -> Array:
    """[...] bool: as in `volley_hit`, and the drone is high, or the ball is high or off the court."""
    ball = world.own.ball_pos_m
    out = (ball[..., 2] < ON_GROUND_M) | (ball[..., 2] > 4.5) | off_court(scenario, ball)
    return world.own.rally.wrong | out | crashed(world) | (world.pos_m[..., 0, 2] > 2.5)


HIT = VolleyTask(
    features=(*STATE, *BALL),
    judge=judge_hit,
    terms=hit_terms,
    weights={"hit": 1.0, "distance": 2.0, "strays": -0.05, "fault": -10.0, "reach": 0.0, "rim": 0.0},
    failed=hit_failed,
    metric="ball_done_x_dist_to_anchor",
    least=5.0,
)
BUMP = VolleyTask(
    features=(*STATE, *BALL),
    judge=judge_bump,
    terms=bump_terms,
    weights={"hit": 2.0, "high": 8.0, "under": 1.0, "above": 0.5, "fault": -10.0},
    failed=bump_failed,
    metric="num_height_hits",
    least=10.0,
)
