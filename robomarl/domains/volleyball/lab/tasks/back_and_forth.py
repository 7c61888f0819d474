"""`volley_back_and_forth`: one drone flies between two places, as often as it can.

Published (VolleyBots, `single/back_and_forth.py`, 680493a): places 6.36 m apart; a place is reached
when the drone has been within 0.6 m for 5 decisions in a row; reward 2.5 for each decision within,
and 0.01 / (1 + d^2) times the decisions that are missing to 50; metric: places reached in 16 s.
"""

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks.base import LOW_M, STATE, VolleyTask, once, scored, to_all, with_rally
from robomarl.lab.sim.model import TeamWorld

REACH_M, DWELL = 0.6, 5
"""Distance [m] to a place, and decisions in a row within it, after which the place is reached."""
HIGH_M, FAR_M = 5.0, 7.5
"""Height [m] and distance to the place [m] above which the drone has failed."""
WHOLE = 50
"""Decisions within after which the published reward for being near would be 0."""


def away_m(world: TeamWorld) -> Array:
    """[...] distance of the drone to its place."""
    return norm(world.goal_m[..., 0, :] - world.pos_m[..., 0, :])


def judge(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> TeamWorld:
    """Count decisions within the place's sphere; name the next place when this one is reached."""
    xp, rally = namespace(after.pos_m), before.own.rally
    within, inside = rally.marks[..., 0], away_m(after) < REACH_M
    within = xp.where(inside, within + 1, 0.0).astype(after.pos_m.dtype)
    reached = within >= DWELL
    rally = scored(rally._replace(marks=within[..., None]), reached)
    places = xp.asarray(np.array(scenario.waypoints_m, np.float32))
    which = rally.score.astype("int32") % len(scenario.waypoints_m)
    goal = (which[..., None] == xp.asarray(np.arange(len(places)))).astype(places.dtype) @ places
    return with_rally(after, rally)._replace(goal_m=goal[..., None, :].astype(after.pos_m.dtype))


def terms(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> dict[str, Array]:
    """Return the published rewards."""
    within = after.own.rally.marks[..., 0]
    near = 0.01 * (WHOLE - within) / (1 + away_m(after) ** 2)
    both = {"within": within, "near": near}
    return {name: to_all(after, once(scenario, value)) for name, value in both.items()}


def failed(scenario: VolleyScenario, world: TeamWorld) -> Array:
    """[...] bool: too low, too high or too far from the place."""
    height = world.pos_m[..., 0, 2]
    return (height < LOW_M) | (height > HIGH_M) | (away_m(world) > FAR_M)


BACK_AND_FORTH = VolleyTask(
    features=(*STATE, "goal_error"),
    judge=judge,
    terms=terms,
    weights={"within": 2.5, "near": 1.0},
    failed=failed,
    metric="target_reached_nums",
    least=10.0,
    has_ball=False,
    least_waypoints=2,
)
