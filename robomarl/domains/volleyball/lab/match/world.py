"""World of a match: its start, the referee's record, and what each side sees of it. Array-generic.

`...` is the batch, M = 2 N the robots of both teams, the first team's first. The world frame is the first team's court
frame; the second team's is turned by half a turn about the vertical through the middle of the net.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.core.view import LocalView, Plan
from robomarl.domains.volleyball.core.match.sensed import MatchSensed
from robomarl.domains.volleyball.lab.match.rules import FAULTS, SIDES, MatchCourt, Situation, faults, points
from robomarl.domains.volleyball.lab.match.scenario import MatchScenario
from robomarl.domains.volleyball.lab.tasks.base import (
    LONG_AGO,
    hover_throttle,
    tilted,
    touched_now,
    with_rally,
)
from robomarl.domains.volleyball.lab.world import Rally, VolleyOwn, drawn_parameters, errors_of, jumped
from robomarl.lab.sim.message import Message
from robomarl.lab.sim.model import TeamWorld, placed
from robomarl.lab.sim.model.world import views_of
from robomarl.lab.trees import Tree

GAP = 3
"""Decisions after the start of a hit within which no other one begins."""
BODY_M = 0.5
"""Distance [m] of a drone to the ball below which a hit outside of the racket's cylinder is one with its body."""
TURNED = np.array([-1.0, -1.0, 1.0], np.float32)
"""Half a turn of a vector about the vertical."""
SERVE_DRAW = 12
"""Draw of the second robot that decides which side serves."""


class Possession(NamedTuple):
    """Record of a match besides that of `Rally`, as `Rally.marks` keeps it; `Rally.turn` is the ball's side."""

    may_not: Array
    """[..., 2, N] 1 for robots that may not hit."""
    last_side: Array
    """[...] side of the last hit that counted, at first the server's."""
    found: Array
    """[..., 2, F] 1 for the faults that ended the rally, in the order of `rules.FAULTS`."""


def possession_of(marks: Array) -> Possession:
    """Return the record that is kept in `Rally.marks` [..., 2 N + 1 + 2 F]."""
    size, lead = SIDES * len(FAULTS), marks.shape[:-1]
    robots = marks.shape[-1] - size - 1
    may_not = marks[..., :robots].reshape(*lead, SIDES, robots // SIDES)
    found = marks[..., robots + 1 :].reshape(*lead, SIDES, len(FAULTS))
    return Possession(may_not, marks[..., robots], found)


def as_marks(record: Possession) -> Array:
    """Return the numbers [..., 2 N + 1 + 2 F] of a record."""
    lead, dtype = record.last_side.shape, record.may_not.dtype
    flat = (part.reshape(*lead, -1).astype(dtype) for part in (record.may_not, record.last_side, record.found))
    return namespace(record.may_not).concatenate(list(flat), -1)


def court_of(scenario: MatchScenario) -> MatchCourt:
    """The court as the rules need it; with one robot on a side the ball is out at once."""
    court, ball = scenario.court, scenario.with_ball[1]
    return MatchCourt(court.length_m, court.width_m, court.net_m, ball.radius_m, scenario.count == 1)


def anchors_of(scenario: MatchScenario) -> np.ndarray:
    """[M, 3] anchors of all robots, world."""
    first = np.array(scenario.start.anchors_m, np.float32)
    return np.concatenate([first, first * TURNED])


def begin(scenario: MatchScenario, draws: Array) -> TeamWorld:
    """Return the start by draws [..., M, D]: robots near their anchors, the ball at rest above one side's server."""
    xp, start = namespace(draws), scenario.start
    anchor = draws[..., :3] * 0 + xp.asarray(anchors_of(scenario))
    place = anchor + (2 * draws[..., 6:9] - 1) * xp.asarray(np.array(start.spread_m, np.float32))
    restitution, noise = drawn_parameters(scenario, draws[..., 0, 12:14])
    side = (draws[..., 1, SERVE_DRAW] >= 0.5).astype("int32")
    serves = side[..., None] * scenario.count + scenario.server == xp.asarray(np.arange(scenario.robots))
    up = xp.asarray(np.array([0, 0, start.ball_above_m], np.float32))
    ball = (serves[..., None].astype(place.dtype) * place).sum(-2) + up
    throttle = xp.concatenate([anchor, anchor[..., :1]], -1) * 0 + hover_throttle(scenario)
    own = VolleyOwn(
        throttle.astype(draws.dtype), ball, ball * 0, errors_of(scenario, noise, draws), restitution, noise,
        _no_hits(ball, serves, side),
    )  # fmt: skip
    turned = tilted(draws[..., 9:12], start.tilt_rad).astype(draws.dtype)
    return placed(place, anchor, own)._replace(quat_wxyz=turned)


def _no_hits(ball: Array, serves: Array, side: Array) -> Rally:
    """Return the record before the serve; `serves` [..., M] bool."""
    xp, zero, no = namespace(ball), ball[..., 0] * 0, serves & ~serves
    robots = serves.shape[-1]
    may_not = (~serves).astype(ball.dtype).reshape(*side.shape, SIDES, robots // SIDES)
    found = xp.zeros((*side.shape, SIDES, len(FAULTS)), ball.dtype)
    marks = as_marks(Possession(may_not, side.astype(ball.dtype), found))
    since, never = zero.astype("int32") + LONG_AGO, zero < -1
    return Rally(no, no, never, since, zero, ball[..., 2], side, zero + 0.5, zero, never, marks)


def judge(scenario: MatchScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> TeamWorld:
    """Return the world with the record of this decision; after the end of the rally nothing changes.

    Args:
        scenario: court and referee.
        before: the world before the decision.
        after: the world after it.
        touched: [..., M] bool: the engine's contacts.
    """
    xp, last, record = namespace(after.pos_m), before.own.rally, possession_of(before.own.rally.marks)
    seen = _situation(scenario, before, after, touched)
    counts = seen.racket & ~seen.may_not
    hit = counts.any(-1).any(-1)
    last_side = xp.where(hit, counts[..., 1, :].any(-1), record.last_side).astype(record.last_side.dtype)
    found = faults(court_of(scenario), seen._replace(last_side=last_side))
    may_not = _allowed(seen, after.own.ball_pos_m, last.turn)
    kept = Possession(may_not, last_side, found)
    rally = last._replace(
        touches=touched_now(scenario, before, after, touched)[0],
        hit=counts.reshape(*hit.shape, -1),
        wrong=found.any((-1, -2)),
        since=xp.where(seen.racket.any((-1, -2)) | seen.body.any((-1, -2)), 0, last.since + 1),
        hits=last.hits + hit,
        turn=(after.own.ball_pos_m[..., 0] <= 0).astype(last.turn.dtype),
        is_over=found.any((-1, -2)),
        marks=as_marks(kept).astype(last.marks.dtype),
    )
    score = points(found).astype(last.score.dtype)
    rally = rally._replace(score=score, gained=score - last.score)
    ended = last._replace(hit=last.hit & False, touches=rally.touches, gained=last.gained * 0)
    return with_rally(after, _chosen(last.is_over, ended, rally))


def _situation(scenario: MatchScenario, before: TeamWorld, after: TeamWorld, touched: Array) -> Situation:
    """Return the referee's sightings; `last_side` is the ball's side before the decision."""
    last, record = before.own.rally, possession_of(before.own.rally.marks)
    shape = (*last.since.shape, SIDES, scenario.count)
    touches, starts = touched_now(scenario, before, after, touched)
    may_start = (last.since > GAP)[..., None]
    near = (_away_m(before) < BODY_M) | (_away_m(after) < BODY_M)
    body = jumped(scenario, before, after)[..., None] & near & ~touches & may_start
    return Situation(
        (starts & may_start).reshape(shape), body.reshape(shape), record.may_not > 0.5, record.last_side,
        after.own.ball_pos_m, after.pos_m.reshape(*shape, 3),
    )  # fmt: skip


def _allowed(seen: Situation, ball_m: Array, turn: Array) -> Array:
    """[..., 2, N] bool: robots that may not hit from now on; when the ball crosses the net, all on its side may."""
    xp = namespace(ball_m)
    side = (ball_m[..., 0] <= 0).astype(turn.dtype)
    absent = (side[..., None] != xp.asarray(np.arange(SIDES)))[..., None]
    return xp.where((side != turn)[..., None, None], absent, seen.may_not | seen.racket)


def _chosen(first: Array, one: Rally, other: Rally) -> Rally:
    """Return the parts of one record where `first` [...] is true, else those of the other."""
    xp = namespace(one.score)
    parts = zip(one, other, strict=True)
    return Rally(*(xp.where(first.reshape(*first.shape, *(1,) * (a.ndim - first.ndim)), a, b) for a, b in parts))


def _away_m(world: TeamWorld) -> Array:
    """[..., M] distance of each drone to the ball."""
    return norm(world.own.ball_pos_m[..., None, :] - world.pos_m)


def turned(vector: Array) -> Array:
    """Vectors [..., 3] after half a turn about the vertical."""
    return vector * namespace(vector).asarray(TURNED, dtype=vector.dtype)


def of_side(scenario: MatchScenario, world: TeamWorld, side: int) -> TeamWorld:
    """Return the robots of one side alone, [..., N], in their own court frame; the ball and the record stay."""
    rows = slice(0, scenario.count) if side == 0 else slice(scenario.count, None)
    change = (lambda vector: vector) if side == 0 else turned

    def own(vector: Array) -> Array:
        return change(vector[..., rows, :])

    quat, said = world.quat_wxyz[..., rows, :], world.said
    assert isinstance(said.plan, Plan), "a team's message has a plan"
    plan = Plan(*map(own, said.plan))
    return world._replace(
        pos_m=own(world.pos_m),
        vel_m_s=own(world.vel_m_s),
        quat_wxyz=quat if side == 0 else half_turn(quat),
        omega_rad_s=world.omega_rad_s[..., rows, :],
        goal_m=own(world.goal_m),
        said=Message(own(said.pos_m), own(said.vel_m_s), plan),
        closest_m=world.closest_m[..., rows],
    )


def half_turn(quat: Array) -> Array:
    """Attitudes [..., 4] in a frame that is turned by half a turn about the vertical."""
    w, x, y, z = (quat[..., i : i + 1] for i in range(4))
    return namespace(quat).concatenate([-z, -y, x, w], -1)


def sensed(scenario: MatchScenario, world: TeamWorld, side: int) -> MatchSensed:
    """Return the sensor data of one side's robots, [..., N, ...]; the ball's tracking is shared by all."""
    xp, own, count = namespace(world.pos_m), world.own, scenario.count
    mine, theirs = of_side(scenario, world, side), of_side(scenario, world, 1 - side)
    zero = mine.pos_m * 0
    ball = xp.concatenate([own.ball_pos_m, own.ball_vel_m_s], -1) + own.ball_error
    place, fast = (part if side == 0 else turned(part) for part in (ball[..., :3], ball[..., 3:]))
    here = (own.rally.turn == side).astype(zero.dtype)
    turn = xp.stack([here, 1 - here], -1)
    flags = possession_of(own.rally.marks).may_not[..., side, :]
    throttle = own.throttle[..., :count, :] if side == 0 else own.throttle[..., count:, :]
    opponents = turned(theirs.pos_m)[..., None, :, :] + zero[..., None, :]
    row = zero[..., :1]
    place, fast = zero + place[..., None, :], zero + fast[..., None, :]
    return MatchSensed(place, fast, throttle, row + turn[..., None, :], row + flags[..., None, :], opponents)


def side_views(scenario: MatchScenario, world: TeamWorld, side: int) -> LocalView:
    """Return the views of one side's robots, [..., N, ...]."""
    views = views_of(of_side(scenario, world, side), sensed(scenario, world, side), scenario.period_s)
    return views._replace(role=views.role + np.arange(scenario.count, dtype=np.int32))


def both_views(scenario: MatchScenario, world: TeamWorld) -> LocalView:
    """Return the views of all robots, [..., M, ...]."""
    return _joined(side_views(scenario, world, 0), side_views(scenario, world, 1), world.step.ndim)


def _joined(first: Tree, second: Tree, axis: int) -> Tree:
    if isinstance(first, tuple):
        return type(first)(*(_joined(a, b, axis) for a, b in zip(first, second, strict=True)))
    return namespace(first).concatenate([first, second], axis)
