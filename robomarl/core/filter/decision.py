"""The filter for any number of robots at once, array-generic: no branch on data, numpy and JAX alike."""

from collections.abc import Callable
from functools import reduce
from types import ModuleType
from typing import NamedTuple

from robomarl.core.filter.checks import Checked, check, split
from robomarl.core.filter.limits import HalfSpaces, Limits, at_likely_speed, limits_of
from robomarl.core.filter.memory import LARGE, FilterCarry, Reason, forget
from robomarl.core.filter.model import barriers, bias, hold, motion, stacked
from robomarl.core.filter.model.barriers import Bound
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.hold import Hold
from robomarl.core.filter.model.motion import Predicted, Vec3
from robomarl.core.filter.model.reckoning import reckoned
from robomarl.core.filter.qp import least
from robomarl.core.filter.qp.projection import Projection
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LocalView, Plan

Step = Callable[[Array], Array]
"""u [3, ...] -> u."""
RowStep = Callable[[Array, Array], Array]
"""(u [3, ...], row [4, ...]) -> u."""
Box = tuple[Array, Array]
"""Lowest and highest command [3, ...]."""


def _repeat(step: Step, u: Array, needed: Array) -> Array:
    if needed.any():
        for _ in range(least.ROUNDS):
            u = step(u)
    return u


class Library(NamedTuple):
    """Library of the arrays, and the QP solver for them."""

    xp: ModuleType
    solve: Callable[[Array, Array], Projection]
    """(rows [m, 4, ...], point [3, ...]); see `qp.project_rows`."""
    weigh: stacked.Weigh = stacked.weigh
    """How sums over the queue are made."""
    repeat: Callable[[Step, Array, Array], Array] = _repeat
    """(step, u [3, ...], needed [...]) -> u after `least.ROUNDS` steps; the result is meaningless where not needed."""
    each: Callable[[RowStep, Array, Array], Array] = lambda step, u, rows: reduce(step, rows, u)
    """(step, u [3, ...], rows [m, 4, ...]) -> u after a step (u, row) for each row in turn."""


def filter_batch(
    c: Constants,
    library: Library,
    carry: FilterCarry,
    view: LocalView,
    nominal: Array,
    gain_per_s: Array | None = None,
) -> tuple[FilterCarry, FilterResult]:
    """One decision of every robot; see `SafetyFilter`."""
    xp = library.xp
    checked = check(c, view, nominal, xp)
    known = (xp.abs(carry.commands) < LARGE).all((-2, -1)) & bias.is_sane(carry.bias, xp)
    carry = forget(c.bias_m_s2, carry, known, xp)
    checked = checked._replace(reason=xp.where(known, checked.reason, int(Reason.NON_FINITE)))
    learned = bias.learn(c, carry.bias, (xp.stack(checked.own.vel, -1), checked.age_s, checked.has_vel), xp)
    late = carry.commands.shape[-2] - c.num_acting
    acting = carry.commands[..., late:, :3]
    own = stacked.predict(c, checked.own, acting, learned, xp, library.weigh)
    if gain_per_s is not None:
        fault = xp.where(xp.abs(gain_per_s) < LARGE, checked.reason, int(Reason.NON_FINITE))
        checked = checked._replace(reason=fault)
    still = hold.Still(checked.has_own, checked.mates, checked.heard, checked.silent)
    before = xp.where(checked.has_own[..., None], carry.place_m, hold.NOWHERE_M)
    stay = hold.hold_of(c, split(before), own, still, xp)
    result = _decide(c, library, (own, checked), stay, nominal)
    if gain_per_s is not None:
        result = _gained(_decide(c, library, (_keeping(c, gain_per_s, own, xp), checked), stay, nominal), result, xp)
    return _remember(c, carry, (own, learned, stay), result, xp), result


def blind_batch(
    c: Constants, library: Library, carry: FilterCarry, view: LocalView, since_s: Array
) -> tuple[FilterCarry, FilterResult]:
    """A tick without an own estimate; see `SafetyFilter.blind`."""
    xp = library.xp
    nominal = xp.zeros((*xp.shape(since_s), 4))
    checked = check(c, view._replace(own=view.own._replace(age_s=since_s * 0.0)), nominal, xp)
    checked = checked._replace(
        reason=since_s.astype(int) * 0 + int(Reason.STALE), has_own=since_s >= 0, has_vel=since_s >= 0
    )
    own = reckoned(c, carry, since_s, xp)
    # Who flies blind does not know that it is slow, so it stays only where it stood before.
    still = hold.Still(~checked.has_vel, checked.mates, checked.heard, checked.silent)
    stay = hold.hold_of(c, split(carry.place_m), own, still, xp)
    result = _decide(c, library, (own, checked), stay, nominal, is_blind=True)
    after = _remember(c, carry, (own, carry.bias, stay), result, xp)
    return after._replace(bias=bias.unanchored(carry.bias)), result


def _decide(
    c: Constants,
    library: Library,
    known: tuple[Predicted, Checked],
    stay: Hold,
    nominal: Array,
    is_blind: bool = False,
) -> FilterResult:
    """Compute the command from the predicted state, the checked inputs and the place where the robot stays."""
    (own, checked), xp = known, library.xp
    at_fault = checked.reason != Reason.OK
    limits = limits_of(c, own, checked, xp)
    if is_blind:  # the speed of a slow vehicle may be wrong by its whole limit, and the row would ask for full power
        limits = at_likely_speed(limits, xp)
    normals, bounds = limits.rows
    zero = own.motion.pos[0] * 0.0
    arena, boxes = _boxes(c, own, stay, xp)
    clipped = xp.stack([*normals, barriers.clip(c, bounds, xp)], 1)
    rows = xp.concatenate([clipped, stacked.box(c, arena, zero, xp)])
    brake = _chosen(c, _fallback(c, own, checked, xp), xp)
    # The place is wished for, and no more: walls, obstacles and teammates that are received go before it.
    place = least.inside(xp.stack(brake), boxes[-1], xp)
    if is_blind:  # a command that jumps makes the next prediction uncertain, and so the next command jumps back
        last = xp.stack([a + place[0] * 0.0 for a in own.last])
        place = xp.where(stay.on, least.settled(place, last, c.settle_share, boxes[0], xp), place)
    wish = _pressed(xp.moveaxis(checked.nominal[..., :3], -1, 0), xp.stack(brake), limits.pressed, xp)
    found = library.solve(rows, xp.where(at_fault, place, wish))
    good = (reason := _verdict(found, checked, xp)) == Reason.OK
    held = good | (at_fault & found.solved & checked.has_own)
    # Without a place of its own a robot can only brake: limits are somewhere, and it does not know where.
    given = _least(c, limits, boxes, (brake, own.last), (library, ~held & checked.has_own))
    accel = _chosen(c, tuple(xp.where(held, found.u[i], given[i]) for i in range(3)), xp)
    yaw = xp.where(good, xp.clip(checked.nominal[..., 3], -c.yaw_rate_rad_s, c.yaw_rate_rad_s), 0.0)
    command = xp.stack([*accel, yaw], -1)
    slack, active = _slack(limits.rows, arena, accel, xp), ~(xp.abs(command - nominal) <= 1e-9).all(-1)
    return FilterResult(command, nominal, active, slack, good, reason, limits.gap_m)


def _boxes(c: Constants, own: Predicted, stay: Hold, xp: ModuleType) -> tuple[Bound | None, tuple[Box, Box, Box]]:
    """Return the faces of the arena, and the lowest and highest command [3, ...] within the arena, within the box about
    the robot's place, and within the sides of that box that teammates have brought in; each is in the one before."""
    faces = [stacked.faces(c, own, None, xp)]
    if c.mode == "qp":
        faces += [stacked.faces(c, own, hold.room_of(c, a, xp), xp) for a in (hold.widened(stay), stay)]
    sides = [stacked.box(c, each, own.motion.pos[0] * 0.0, xp)[:, 3] for each in faces]
    arena, *inner = ((-side[1::2], side[::2]) for side in sides)
    if not inner:
        return faces[0], (arena, arena, arena)
    # Sides that contradict each other leave teammates what is between them: their middle would push into a mate.
    box = least.narrowed(least.between(inner[0], xp), arena, xp)
    return faces[0], (arena, box, least.narrowed(inner[1], box, xp))


def _pressed(nominal: Array, brake: Array, share: Array, xp: ModuleType) -> Array:
    """Towards the brake, as a mate's row asks for more than braking: where it is not known well, its normal is not."""
    share = xp.minimum(share, 1.0)
    return (1 - share) * nominal + share * brake


def _remember(
    c: Constants, carry: FilterCarry, known: tuple[Predicted, bias.Bias, Hold], result: FilterResult, xp: ModuleType
) -> FilterCarry:
    """Return the memory after a decision, from the prediction, the learned bias, and the place where the robot
    stays."""
    (own, learned, stay), command = known, result.command
    after, stop = motion.committed(c, own, tuple(command[..., i] for i in range(3)), xp)
    sent = xp.concatenate([carry.commands, command[..., None, :]], -2)
    late = carry.commands.shape[-2] - c.num_acting
    kept = hold.remembered(c, split(carry.place_m), own, xp)
    return FilterCarry(
        commands=sent[..., 1:, :],
        plan=Plan(*(xp.stack(v, -1) for v in (*after, stop))),
        place_m=xp.stack([xp.where(result.solved, a, b) for a, b in zip(kept, stay.place, strict=True)], -1),
        bias=bias.expect(c, learned, sent[..., late : late + c.next_count, :3], xp),
        ok=xp.where(result.solved, carry.ok + 1, 0),
    )


def _keeping(c: Constants, gain_per_s: Array, own: Predicted, xp: ModuleType) -> Predicted:
    """Return the prediction with the gain that the policy asks for, at most the vehicle configuration's."""
    gain = xp.clip(xp.where(xp.abs(gain_per_s) < LARGE, gain_per_s, 0.0), 0.0, c.gain_per_s)
    return own._replace(keep=1 - (gain + own.motion.pos[0] * 0.0) * c.step_s)


def _gained(asked: FilterResult, owners: FilterResult, xp: ModuleType) -> FilterResult:
    """Return the decision with the policy's gain if a command satisfies its rows, else the one with the
    configured gain.

    For any gain, the command is then one that the filter with the configured gain lets through: no gain
    makes the rows infeasible.
    """
    good = asked.solved

    def pick(a: Array, b: Array) -> Array:
        if b.dtype == bool:  # runtimes of graphs have no choice between these
            return (good & a) | (~good & b)
        return xp.where(good.reshape(good.shape + (1,) * (b.ndim - good.ndim)), a, b)

    return FilterResult(*map(pick, asked, owners))


def _verdict(found: Projection, checked: Checked, xp: ModuleType) -> Array:
    """Return the fault of the inputs, else the outcome of the QP."""
    failed = xp.where(found.infeasible, int(Reason.INFEASIBLE), int(Reason.SOLVER))
    reason = xp.where(found.solved, int(Reason.OK), failed)
    return xp.where(checked.reason != Reason.OK, checked.reason, reason)


def _slack(rows: HalfSpaces, walls: Bound | None, u: Vec3, xp: ModuleType) -> Array:
    (x, y, z), bound = rows
    slack = xp.maximum((x * u[0] + y * u[1] + z * u[2] - bound.most).max(0, initial=-xp.inf), 0.0)
    return slack if walls is None else xp.maximum(slack, stacked.overstepped(walls, u, xp))


def _fallback(c: Constants, own: Predicted, checked: Checked, xp: ModuleType) -> Vec3:
    """Brake; without a velocity there is no direction to brake in."""
    x, y, z = motion.brake(c, own, xp)
    return (xp.where(checked.has_vel, x, 0.0), xp.where(checked.has_vel, y, 0.0), xp.where(checked.has_vel, z, 0.0))


def _least(
    c: Constants, limits: Limits, boxes: tuple[Box, Box, Box], known: tuple[Vec3, Vec3], how: tuple[Library, Array]
) -> Vec3:
    """Return the brake, and if no command satisfies all rows, the command that violates them least.

    It begins with the brake within the sides of its place that near teammates have brought in.
    Teammates move it inside the box about the place and no farther, because their pushes add up from
    robot to robot and a place's do not; the box gives way to the arena and to obstacles that never
    move.

    `boxes`: those of `_boxes`. `known`: the brake, and the last command, from which it settles in.
    """
    (brake, last), (library, needed), (normals, most), xp = known, how, limits.at_odds, how[0].xp
    arena, box, place = boxes
    rows = xp.stack([*normals, xp.clip(most, -c.loose_m_s2, c.loose_m_s2)], 1)

    def step(u: Array) -> Array:
        return least.toward_least(rows, u, box, xp)

    def kept(u: Array, row: Array) -> Array:
        return least.within(u, row, arena, xp)

    found = library.repeat(step, least.inside(xp.stack(brake), place, xp), needed)
    found = least.settled(found, xp.stack([a + found[0] * 0.0 for a in last]), c.settle_share, box, xp)

    if len(normals[0]):  # the first is the speed limit; without a filter there is none
        found = kept(found, rows[0])
    for _ in range(2 if c.solids else 0):  # all else gives way to what never moves
        found = library.each(kept, found, _solid_rows(c, limits, xp))
    x, y, z = (xp.where(needed, found[i], brake[i]) for i in range(3))
    return (x, y, z)


def _solid_rows(c: Constants, limits: Limits, xp: ModuleType) -> Array:
    """Return the last rows [m, 4, ...], those of obstacles, clipped at the braking command."""
    (normals, bound), count = limits.rows, sum(2 if solid.tail_kind else 1 for solid in c.solids)
    first = len(normals[0]) - count
    return xp.stack([*(n[first:] for n in normals), xp.maximum(bound.most, bound.floor)[first:]], 1)


def _chosen(c: Constants, accel: Vec3, xp: ModuleType) -> Vec3:
    x, y, z = (xp.clip(accel[i], c.low[i], c.high[i]) for i in range(3))
    return (x, y, z)
