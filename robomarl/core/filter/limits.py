"""Every half-space that a robot has to keep, of everybody that it knows of."""

from collections.abc import Iterator
from functools import reduce
from types import ModuleType
from typing import NamedTuple

from robomarl.core.filter.checks import Checked
from robomarl.core.filter.model import barriers
from robomarl.core.filter.model.barriers import Bound, Row
from robomarl.core.filter.model.body_kinds import Kind, Shape
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.likely import likely
from robomarl.core.filter.model.motion import Motion, Predicted, Vec3
from robomarl.core.filter.model.pairs import Body, pair, pair_textbook
from robomarl.core.types import Array

HalfSpaces = tuple[Vec3, Bound]
"""Components [m, ...] of the unit normals, and bounds [m, ...] on the command."""


class Limits(NamedTuple):
    """All half-spaces but the input box and the arena, not clipped yet."""

    rows: HalfSpaces
    at_odds: tuple[Vec3, Array]
    """Half-spaces that count instead if no command satisfies all rows: the mates and the own speed as they
    most likely are, all other rows unchanged."""
    gap_m: Array
    """The smallest distance to a limit."""
    pressed: Array
    """Amount by which a mate's row asks for more than braking, in multiples of the brake."""


def limits_of(c: Constants, own: Predicted, checked: Checked, xp: ModuleType) -> Limits:
    """Return the half-spaces that this robot has to keep, for every body that it knows of."""
    pressed = own.motion.pos[0] * 0.0
    gap = pressed + xp.inf
    if c.mode == "off":
        none = xp.zeros((0, *gap.shape), gap.dtype)
        return Limits(((none, none, none), Bound(none, none)), ((none, none, none), none), gap, pressed)
    along = _broadcast(own)
    limit = barriers.speed_limit(c, own, xp)
    instead = barriers.likely_speed_limit(c, own, limit.normal, xp)
    found = [tuple(x[..., None] for x in (*limit.normal, *limit.bound, *limit.normal, instead))]
    for kind, body, tail, there in _bodies(c, checked):
        row = _row(c, kind, along, body, xp, tail)
        most, floor = row.bound
        spread = kind.yields and c.mode == "qp"
        normal, instead = likely(c, kind, along, body, xp, tail) if spread else (row.normal, most)
        # A row of nobody is none, whatever was put in its place.
        if there is not None:
            most, instead = xp.where(there, most, xp.inf), xp.where(there, instead, xp.inf)
        found.append((*row.normal, most, floor, *normal, instead))
        if spread:
            more = (floor - most) / c.brake_m_s2
            # One after the other: the gradient of `max` looks for its result, which a compiler may have rounded anew.
            pressed = reduce(xp.maximum, [more[..., k] for k in range(more.shape[-1])], pressed)
        inside = row.gap_m if there is None else xp.where(there, row.gap_m, xp.inf)
        gap = xp.minimum(gap, inside.min(-1, initial=xp.inf))
    stacked_up = (xp.moveaxis(xp.concatenate(parts, -1), -1, 0) for parts in zip(*found, strict=True))
    x, y, z, most, floor, *normal, instead = stacked_up
    return Limits(((x, y, z), Bound(most, floor)), (tuple(normal), instead), gap, pressed)


def at_likely_speed(limits: Limits, xp: ModuleType) -> Limits:
    """Return the limits with the row of the speed limit for the speed as it most likely is."""
    normals, bound = limits.rows
    most = xp.concatenate([limits.at_odds[1][:1], bound.most[1:]])
    return limits._replace(rows=(normals, bound._replace(most=most)))


def _broadcast(own: Predicted) -> Predicted:
    """Return the prediction with one more axis, along the bodies."""

    def wide(v: Vec3) -> Vec3:
        return tuple(x[..., None] for x in v)

    return Predicted(
        Motion(*map(wide, own.motion)),
        wide(own.unsure_m),
        wide(own.unsure_m_s),
        wide(own.bias),
        wide(own.doubt),
        wide(own.last),
        None if own.keep is None else own.keep[..., None],
    )


def _bodies(c: Constants, checked: Checked) -> Iterator[tuple[Kind, Body, Vec3 | None, Array | None]]:
    """Everything to keep clear of: its kind, its state, our tail where that is meant, and which entries count."""
    yield c.mates, checked.mates, None, checked.heard
    if c.tail_mates:
        yield c.tail_mates, checked.mates._replace(shape=Shape(line=c.tail_m)), c.tail_m, checked.heard
    if c.strangers and checked.strangers:
        yield c.strangers, checked.strangers, None, checked.seen
        if c.tail_strangers:
            yield c.tail_strangers, checked.strangers, c.tail_m, checked.seen
    for solid in c.solids:
        place = tuple((checked.own.pos[0] * 0.0 + x)[..., None] for x in solid.place_m)
        body = Body(Motion(place, tuple(x * 0.0 for x in place)), place[0] * 0.0, place[0] * 0.0, solid.shape)
        yield solid.kind, body, None, None
        if solid.tail_kind:
            yield solid.tail_kind, body, c.tail_m, None


def _row(c: Constants, kind: Kind, own: Predicted, body: Body, xp: ModuleType, tail: Vec3 | None) -> Row:
    if c.mode == "textbook":
        return pair_textbook(c, kind, own.motion, body, xp, tail)
    return pair(c, kind, own, body, xp, tail)
