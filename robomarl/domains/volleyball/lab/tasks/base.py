"""`VolleyTask`: rules, observation and rewards of one task of volleyball. Array-generic; `...` is the batch."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robomarl.core.geometry import join, namespace, norm
from robomarl.core.types import Array
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.world import (
    Rally,
    VolleyOwn,
    drawn_parameters,
    errors_of,
    seen_hits,
)
from robomarl.lab.sim.model import TeamWorld, placed

LONG_AGO = 1000
"""Decisions since a touch that has not been."""
STATE = ("drone_position", "attitude", "velocity", "spin_in_world", "body_front", "body_up", "throttles")
"""The published state of a drone, 23 numbers."""
BALL = ("anchor_offset", "ball_offset", "ball_velocity")
NUM_DRAWS = 14
"""Uniform random numbers of each robot: six of the ball's errors, three of the place, three of the attitude, two of
the episode."""
FINER = 1024.0
"""Parts of the range of a draw; the place within one of them is a draw of its own."""
LOW_M = 0.4
"""Height [m] below which a drone counts as crashed."""


@dataclass(frozen=True)
class VolleyTask:
    """One task."""

    features: tuple[str, ...]
    """Names of the features that a policy observes."""
    judge: Callable[[VolleyScenario, TeamWorld, TeamWorld, Array], TeamWorld]
    """(scenario, before, after, [..., N] bool touched) -> the world after with its `rally` and its goals."""
    terms: Callable[[VolleyScenario, TeamWorld, TeamWorld], dict[str, Array]]
    """(scenario, before, after) -> the published rewards, [..., N] per second."""
    weights: dict[str, float]
    """Weights of all those terms, as published."""
    failed: Callable[[VolleyScenario, TeamWorld], Array]
    """[...] bool: the episode ends by a fault."""
    metric: str
    """Name of the published metric."""
    least: float
    """Value of the metric from which an episode without faults counts as a success."""
    first_turn: int = 0
    marks: int = 1
    """M of `Rally.marks`."""
    has_ball: bool = True
    least_waypoints: int = 0
    """Least number of places in `waypoints_m`."""
    has_aim: bool = False
    """The scenario has a section `[aim]`."""
    has_posts: bool = False
    """`start.posts_within_m` may bound the posts at which robots wait."""
    is_alone: bool = False
    """The task is flown by one robot."""


def begin(scenario: VolleyScenario, task: VolleyTask, draws: Array) -> TeamWorld:
    """Return the start: robots near their anchors, tilted; the ball at rest above the first one, or on its way."""
    xp, start = namespace(draws), scenario.start
    anchor = draws[..., :3] * 0 + xp.asarray(np.array(start.anchors_m, np.float32))
    place = anchor + (2 * draws[..., 6:9] - 1) * xp.asarray(np.array(start.spread_m, np.float32))
    restitution, noise = drawn_parameters(scenario, draws[..., 0, 12:14])
    ball, fast = first_ball(scenario, place, draws)
    throttle = xp.concatenate([anchor, anchor[..., :1]], -1) * 0 + hover_throttle(scenario)
    own = VolleyOwn(
        throttle.astype(draws.dtype),
        ball,
        fast,
        errors_of(scenario, noise, draws),
        restitution,
        noise,
        nothing_yet(task, place, ball),
    )
    turned = tilted(draws[..., 9:12], start.tilt_rad).astype(draws.dtype)
    world = placed(place, anchor, own)._replace(quat_wxyz=turned)
    if not start.speed_m_s:
        return world
    return world._replace(vel_m_s=((2 * finer(draws[..., :3]) - 1) * start.speed_m_s).astype(draws.dtype))


def first_ball(scenario: VolleyScenario, place: Array, draws: Array) -> tuple[Array, Array]:
    """Place [m] and velocity [m/s] of the ball at the start, [..., 3] each, of robots at places [..., N, 3]."""
    xp, coming = namespace(draws), scenario.incoming
    if coming is None:
        ball = place[..., 0, :] + xp.asarray(np.array([0, 0, scenario.start.ball_above_m], np.float32))
        return ball, ball * 0
    middle = np.array([*coming.place_m, *coming.velocity_m_s], np.float32)
    spread = np.array([*coming.place_spread_m, *coming.velocity_spread_m_s], np.float32)
    both = xp.asarray(middle) + (2 * finer(draws[..., 0, 6:12]) - 1) * xp.asarray(spread)
    return both[..., :3].astype(draws.dtype), both[..., 3:].astype(draws.dtype)


def finer(draws: Array) -> Array:
    """Uniform numbers [...] in [0, 1) from the later digits of others, of which they are independent."""
    return (draws * FINER) % 1.0


def hover_throttle(scenario: VolleyScenario) -> float:
    """Rotor speed of a vehicle that hovers, over the largest."""
    vehicle = scenario.vehicle_config
    return (9.81 / vehicle.max_lift_m_s2) ** 0.5


def nothing_yet(task: VolleyTask, place: Array, ball: Array) -> Rally:
    """Return the record before anything has happened."""
    zero, no = ball[..., 0] * 0, place[..., 0] < -np.inf
    marks = namespace(ball).stack([zero] * task.marks, -1)
    turn, since = (zero.astype("int32") + value for value in (task.first_turn, LONG_AGO))
    never = zero < -1
    return Rally(no, no, never, since, zero, ball[..., 2], turn, zero, zero, never, marks)


def tilted(draws: Array, tilt_rad: float) -> Array:
    """Attitudes [..., 4]: roll and pitch uniform up to `tilt_rad`, the heading anywhere; draws [..., 3]."""
    xp = namespace(draws)
    roll, pitch = ((2 * draws[..., i] - 1) * (tilt_rad / 2) for i in (0, 1))
    yaw = draws[..., 2] * np.float32(np.pi)
    (cr, sr), (cp, sp), (cy, sy) = ((xp.cos(a), xp.sin(a)) for a in (roll, pitch, yaw))
    return join(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
    )


def touched_now(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> tuple[Array, Array]:
    """Return the touches as the scenario's referee detects them, and those that start now, [..., N] bool each.

    A touch in two decisions in a row is one touch: contacts of the engine `mujoco` last for
    milliseconds, and may lie on both sides of a decision.
    """
    if scenario.referee == "racket":
        touched = seen_hits(scenario, before, after)
    return touched, touched & ~before.own.rally.touches.any(-1)[..., None]


def counted(
    scenario: VolleyScenario, before: TeamWorld, after: TeamWorld, touched: Array, gap: int, by_turn: bool
) -> Rally:
    """Return the record with the touches of this decision.

    Args:
        scenario: which referee.
        before: the world before the decision.
        after: the world after it, with the record of before.
        touched: [..., N] bool: the engine's contacts.
        gap: a touch within so many decisions of the last one is a wrong hit.
        by_turn: the robot must have its turn.
    """
    xp, last = namespace(after.pos_m), before.own.rally
    touches, starts = touched_now(scenario, before, after, touched)
    counts = starts & (last.since > gap)[..., None]
    if by_turn:
        robots = xp.asarray(np.arange(scenario.count))
        counts = counts & (robots == last.turn[..., None])
    hit = counts.any(-1)
    height = after.own.ball_pos_m[..., 2]
    return last._replace(
        touches=touches,
        hit=counts,
        wrong=last.wrong | (starts & ~counts).any(-1),
        since=xp.where(starts.any(-1), 0, last.since + 1),
        hits=last.hits + hit,
        apex_m=xp.where(hit, height, xp.maximum(last.apex_m, height)),
        gained=last.gained * 0,
    )


def scored(rally: Rally, gained: Array) -> Rally:
    """Return the record with a change [...] of the metric in this decision."""
    change = gained.astype(rally.score.dtype)
    return rally._replace(score=rally.score + change, gained=change)


def with_rally(after: TeamWorld, rally: Rally) -> TeamWorld:
    """The world with this record."""
    return after._replace(own=after.own._replace(rally=rally))


def to_all(world: TeamWorld, value: Array) -> Array:
    """A number of the team [...] as one of every robot [..., N]."""
    return value[..., None] + world.pos_m[..., 0] * 0


def once(scenario: VolleyScenario, value: Array) -> Array:
    """Return the value per second, over one decision, of a reward that is given in that decision."""
    return value / scenario.period_s


def beside_ball_m(world: TeamWorld) -> Array:
    """[..., N] horizontal distance of each robot to the ball."""
    return norm((world.own.ball_pos_m[..., None, :] - world.pos_m)[..., :2])


def in_net(scenario: VolleyScenario, place_m: Array, margin_m: float) -> Array:
    """[...] bool: places [..., 3] within a margin of the net's plane, below its edge and within its width."""
    court, xp = scenario.court, namespace(place_m)
    low = (place_m[..., 2] < court.net_m) & (xp.abs(place_m[..., 1]) < court.width_m / 2)
    return low & (xp.abs(place_m[..., 0]) < margin_m)


def off_court(scenario: VolleyScenario, place_m: Array) -> Array:
    """[...] bool: places [..., 3] beyond the court's lines."""
    xp, court = namespace(place_m), scenario.court
    return (xp.abs(place_m[..., 0]) > court.length_m / 2) | (xp.abs(place_m[..., 1]) > court.width_m / 2)
