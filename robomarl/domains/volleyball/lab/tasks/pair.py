"""`volley_bump_pass`: two drones pass the ball to and fro, across y = 0 above 4 m.

Published (VolleyBots, `cooperative/multi_juggle_volleyball.py`, 680493a): the drones hit in turn; a
touch out of turn, or within 3 decisions of the last, is a wrong hit; metric: crossings of |y| <= 0.1
above 4 m, one for each pass.
"""

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
    off_court,
    once,
    scored,
    to_all,
    with_rally,
)
from robomarl.lab.sim.model import TeamWorld

GAP = 3
"""Decisions after the start of a touch within which another touch is a wrong hit."""
LOW_BALL_M, HIGH_BALL_M = 0.2, 16.0
"""Heights [m] of the ball between which it is in play."""
ROBOT_NET_M = 0.2
"""Distance [m] to the net below which a drone has failed."""
CROSSING_M, HIGH_M = 0.1, 4.0
"""Half of the width [m] of the strip about y = 0, and the height [m] above which a crossing counts."""
FREE_M = 0.5
"""Distance [m] to the anchor that costs nothing."""
PAIR = (*BALL[:1], "mate_offset", *BALL[1:], "turn", "number")
"""What the two drones of a task observe besides their state: 16 numbers."""


def judge(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> TeamWorld:
    """Hand the turn over at each hit, and count one high crossing for each of them."""
    xp, last = namespace(after.pos_m), before.own.rally
    rally = counted(scenario, before, after, touched, GAP, by_turn=True)
    hit, is_open = rally.hit.any(-1), last.marks[..., 0] > 0
    ball, old = after.own.ball_pos_m, before.own.ball_pos_m
    near = (xp.abs(ball[..., 1]) <= CROSSING_M) | (ball[..., 1] * old[..., 1] < 0)
    gained = is_open & near & (ball[..., 2] > HIGH_M)
    marks = xp.where(hit, 1.0, xp.where(gained, 0.0, last.marks[..., 0])).astype(after.pos_m.dtype)
    turn = xp.where(hit, 1 - last.turn, last.turn)
    return with_rally(after, scored(rally._replace(turn=turn, marks=marks[..., None]), gained))


def terms(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the published rewards, shared by both drones."""
    xp, rally = namespace(after.pos_m), after.own.rally
    strays = xp.maximum(norm(after.pos_m - after.goal_m) - FREE_M, 0.0).mean(-1)
    each = {
        "hit": rally.hit.any(-1),
        "crossing": rally.gained,
        "strays": strays,
        "under": under_ball(after),
        "toward": toward_mate(before, after),
        "fault": failed(scenario, after),
    }
    return {name: to_all(after, once(scenario, value)) for name, value in each.items()}


def under_ball(world: TeamWorld) -> Array:
    """[...] mean of 1 / (1 + d), d [m] the horizontal distance to the ball: + for the robot that has the turn, - for
    the other."""
    xp, robots = namespace(world.pos_m), numbers(world)
    sign = xp.where(robots == world.own.rally.turn[..., None], 1.0, -1.0)
    return (sign / (1 + beside_ball_m(world))).mean(-1)


def numbers(world: TeamWorld) -> Array:
    """[..., N] number of each robot."""
    xp = namespace(world.pos_m)
    return xp.cumsum((world.pos_m[..., 0] * 0 + 1).astype("int32"), -1) - 1


def toward_mate(before: TeamWorld, after: TeamWorld) -> Array:
    """[...] cosine of the angle between the ball's velocity and the way to the mate, in the plane, at a hit; else 0."""
    xp, rally = namespace(after.pos_m), after.own.rally
    way = (after.pos_m - after.own.ball_pos_m[..., None, :])[..., ::-1, :2]  # of each robot's mate, as there are two
    fast = after.own.ball_vel_m_s[..., None, :2]
    size = xp.sqrt((way * way).sum(-1) * (fast * fast).sum(-1) + 1e-9)
    return (rally.hit * ((way * fast).sum(-1) / size)).sum(-1)


def failed(scenario: VolleyScenario, world: TeamWorld) -> Array:
    """[...] bool: a wrong hit, the ball out of play, or a drone low or at the net."""
    ball, xp = world.own.ball_pos_m, namespace(world.pos_m)
    out = (ball[..., 2] < LOW_BALL_M) | (ball[..., 2] > HIGH_BALL_M) | off_court(scenario, ball)
    out = out | in_net(scenario, ball, scenario.ball.radius_m if scenario.ball else 0.0)
    at_net = (xp.abs(world.pos_m[..., 0]) < ROBOT_NET_M) & (world.pos_m[..., 2] < scenario.court.net_m)
    return world.own.rally.wrong | out | ((world.pos_m[..., 2] < LOW_M) | at_net).any(-1)


BUMP_PASS = VolleyTask(
    features=(*STATE, *PAIR),
    judge=judge,
    terms=terms,
    weights={"hit": 1.0, "crossing": 1.0, "strays": -0.05, "under": 0.05, "toward": 1.0, "fault": -10.0},
    failed=failed,
    metric="num_success_cross",
    least=13.0,
    has_posts=True,
)
