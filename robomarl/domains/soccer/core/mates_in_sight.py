"""`placed_by_sight`: places of teammates from camera pictures, which replace the less exact places in their messages.

A message puts its sender where the sender believes to be, and the receiver compares that with its own belief, so rows
count the errors of both places: 0.6 m for two robots that know their places to within 0.3 m. A picture that one has of
the other says how far apart they are, whatever they believe. Such a teammate is put where the picture shows it, and
farther off by as much as its row counts too much: a place that is moved by e is at most e farther from anywhere, so
rows that ask for D + e of it ask for D, or more, of where the teammate is. Rows keep the errors as doubts about the
direction, which a wrong heading turns.

Array-generic; leading axes [...] are robots.
"""

import math
from typing import NamedTuple, cast

import numpy as np

from robomarl.core.filter.memory import LARGE
from robomarl.core.filter.model.motion import TINY
from robomarl.core.filter.params import SafetyParams
from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.features import SoccerSensed
from robomarl.domains.soccer.core.opponent_memory import CHANGES_M
from robomarl.domains.soccer.core.sight.own_pose import MAX_HEADING_RAD, SEEING_RAD

NOW_S = 0.12
"""Age of the oldest picture that counts, three of the camera's periods; of one that a message tells, at its stamp."""
NEAR_M = 0.4
"""Distance for which `Strangers.position_error_m` states the error of a picture; beyond it that grows with the
distance."""
TURN_RAD = 2 * MAX_HEADING_RAD
"""Largest difference between the heading errors of two robots that move."""
SHOWN_TURN_RAD = MAX_HEADING_RAD + SEEING_RAD
"""Largest difference between the heading errors of two robots, one of which tells that it sees the other one."""
PUT_M = 0.5
"""Threshold for a push: a change of the distance between two robots since a picture that their velocities do not
explain. A teammate beyond it is forgotten."""


class MateMemory(NamedTuple):
    """Memory of a robot about teammates that it has seen, or that have seen it, [..., K] each."""

    held: Array
    """bool: the teammate was seen, and is not yet back at its message's place."""
    way_m: Array
    """[..., 3] from the robot to the teammate."""
    shift_m: Array
    """[..., 3] from where messages put the teammate to where it is."""
    vel_m_s: Array
    """[..., 3] velocity of the teammate in its newest message."""
    age_s: Array
    """Age of that message."""
    put_m: Array
    """[..., 3] by how much the shift changed since a picture, of itself."""
    spare_m: Array
    """How much the teammate's row counts too much."""


class _Sighting(NamedTuple):
    """Sightings of teammates, of now or remembered, [..., K] each."""

    use: Array
    """bool: the sighting may be believed, because it is as near to the message's place as the errors allow."""
    shift_m: Array
    """[..., 3] from where messages put the teammate to where it is."""
    spare_m: Array
    """How much its row counts too much."""
    distance_m: Array
    """Distance of the robot from the teammate now."""


def no_mates(zero: Array) -> MateMemory:
    """Return the memory before the first picture, for zeros [..., K]."""
    three = namespace(zero).stack([zero] * 3, -1)
    return MateMemory(zero > 0, three, three, three, zero, three, zero)


def placed_by_sight(
    params: SafetyParams, before: MateMemory | tuple[()], view: LocalView
) -> tuple[LocalView, MateMemory | tuple[()]]:
    """Return the filter's view, with teammates at the places that pictures show, and the memory of them.

    If both robots see each other, the nearer place counts. Velocity, plan and age stay as the message has them. A
    picture that contradicts the message by more than the errors of both places is not believed. A teammate that went
    out of sight goes on by the velocities of both robots, and returns to its message's place as that gets unsure:
    messages alone do not tell two robots that are nearer than their errors on which side of each other they are.

    Args:
        params: of the filter.
        before: memory of the last decision; empty before the first picture.
        view: its `sensed` has pictures of teammates; golden views of earlier bundles have none.
    """
    limits, counted_m = params.strangers, 2 * params.safety.position_error_m
    if limits is None or not hasattr(view.sensed, "mates_mask") or counted_m <= limits.position_error_m + CHANGES_M:
        return view, before
    heard, sensed, xp = view.heard, cast(SoccerSensed, view.sensed), namespace(view.own.pos_m)
    if not before:
        if xp is np and not (np.any(sensed.mates_mask) or np.any(sensed.seen_by_mask)):
            return view, ()
        before = no_mates(xp.zeros(heard.age_s.shape))
    numbers, sane = _numbers(view)
    now = _seen_now(params, numbers, counted_m)
    seen, known, put = now.use & sane, now, xp.zeros(heard.pos_m.shape)
    if xp is not np or not seen.all():  # else memory says nothing, which a decision on board need not work out
        old, put = _remembered(params, before, numbers, counted_m)
        known, put = _chosen(seen, now, old), xp.where(seen[..., None], 0.0, put)
    shift, held = known.shift_m, heard.mask & sane & known.use
    away = _away(numbers, shift)
    moved = shift + (known.spare_m / (_length(away) + TINY))[..., None] * away
    moved = xp.where(held[..., None], moved, 0.0)
    plan = heard.plan._replace(pos_m=heard.plan.pos_m + moved, stop_m=heard.plan.stop_m + moved)
    view = view._replace(heard=heard._replace(pos_m=heard.pos_m + moved, plan=plan))
    return view, MateMemory(held, away, shift, numbers.heard.vel_m_s, numbers.heard.age_s, put, known.spare_m)


def _numbers(view: LocalView) -> tuple[LocalView, Array]:
    """Return the view with zeros in place of numbers that are not finite, and True [..., K] for teammates without any.

    A fault of that kind stops the robot by itself, and is not remembered.
    """
    sensed, heard, own = cast(SoccerSensed, view.sensed), view.heard, view.own
    xp = namespace(own.pos_m)

    def sound(part: Array) -> Array:
        return xp.where(xp.abs(part) < LARGE, part, 0.0)

    rows = (heard.pos_m, heard.vel_m_s, sensed.mates_pos_m, sensed.seen_by_pos_m)
    parts = [*rows, heard.age_s[..., None], sensed.mates_age_s[..., None]]
    sane = (xp.abs(xp.concatenate(parts, -1)) < LARGE).all(-1)
    sane = sane & (xp.abs(xp.concatenate([own.pos_m, own.vel_m_s], -1)) < LARGE).all(-1)[..., None]
    if xp is np and sane.all():
        return view, sane
    own = own._replace(pos_m=sound(own.pos_m), vel_m_s=sound(own.vel_m_s))
    heard = heard._replace(pos_m=sound(heard.pos_m), vel_m_s=sound(heard.vel_m_s), age_s=sound(heard.age_s))
    names = ("mates_pos_m", "mates_age_s", "seen_by_pos_m")
    sensed = sensed._replace(**{name: sound(getattr(sensed, name)) for name in names})
    return view._replace(own=own, heard=heard, sensed=sensed), sane


def _remembered(params: SafetyParams, before: MateMemory, view: LocalView, counted_m: float) -> tuple[_Sighting, Array]:
    """Return the sightings of earlier pictures, propagated to now by the velocities, and `MateMemory.put_m`.

    The velocities of both robots carry the place of a teammate on. Such a place gets unsure by the errors of both
    velocities, by all that the teammate may do between the stamps of two messages, and by the angle by which wrong
    headings turn one velocity against the other. That takes the spare room first; then the place goes to the message's.
    A robot that was put elsewhere by hand was not led there, so its teammates are forgotten, as are those whose
    messages are too old.
    """
    xp, own, heard = namespace(before.spare_m), view.own, view.heard
    motion = params.period_s * (heard.vel_m_s - own.vel_m_s[..., None, :])
    way = before.way_m + motion + heard.age_s[..., None] * (heard.vel_m_s - before.vel_m_s)
    fast = xp.maximum(_length(own.vel_m_s)[..., None], _length(heard.vel_m_s))
    error_m_s, fresh_s = params.safety.velocity_error_m_s, before.age_s + params.period_s - heard.age_s
    less_m = _slip(params, error_m_s, params.period_s) + _slip(params, error_m_s, xp.maximum(fresh_s, params.period_s))
    less_m = less_m + TURN_RAD * params.period_s * fast
    spare = xp.maximum(before.spare_m - less_m, 0.0)
    shift = way - _away(view, 0 * way)
    far = _length(shift)
    keep = xp.maximum(1 - (less_m - (before.spare_m - spare)) / (far + TINY), 0.0)
    put = before.put_m + shift - before.shift_m
    may_be = (far <= 2 * counted_m - spare + TURN_RAD / 2 * _length(way)) & (_length(put) < PUT_M)
    may_be = may_be & (heard.age_s <= params.safety.max_age_s)
    return _Sighting(before.held & may_be & (keep > 0), keep[..., None] * shift, spare, _length(way)), put


def _seen_now(params: SafetyParams, view: LocalView, counted_m: float) -> _Sighting:
    """Return the sightings by both cameras; where both show a teammate, the one that puts it nearer."""
    sensed, xp = cast(SoccerSensed, view.sensed), namespace(view.heard.age_s)
    if xp is np and not sensed.seen_by_mask.any():  # a decision on board need not work out what nobody sees
        return _by_own_camera(params, view, counted_m)
    if xp is np and not sensed.mates_mask.any():
        return _by_mates_camera(params, view, counted_m)
    mine, theirs = _by_own_camera(params, view, counted_m), _by_mates_camera(params, view, counted_m)
    nearer = mine.distance_m + mine.spare_m < theirs.distance_m + theirs.spare_m
    return _chosen(theirs.use & ~(mine.use & nearer), theirs, mine)


def _chosen(first: Array, one: _Sighting, other: _Sighting) -> _Sighting:
    """Return the sightings of `one` where `first` is True, and of `other` elsewhere."""
    xp = namespace(one.spare_m)
    use = (first & one.use) | (~first & other.use)
    shift = xp.where(first[..., None], one.shift_m, other.shift_m)
    spare, distance = (xp.where(first, *pair) for pair in zip(one[2:], other[2:], strict=True))
    return _Sighting(use, shift, spare, distance)


def _by_own_camera(params: SafetyParams, view: LocalView, counted_m: float) -> _Sighting:
    """Return sightings by the robot's own camera: the messages' places are carried to the picture's time."""
    sensed, heard = cast(SoccerSensed, view.sensed), view.heard
    later_s = heard.age_s - sensed.mates_age_s
    shift = sensed.mates_pos_m - heard.pos_m - heard.vel_m_s * later_s[..., None]
    xp, turned_s = namespace(later_s), namespace(later_s).maximum(heard.age_s, sensed.mates_age_s)
    slip = _slip(params, params.safety.velocity_error_m_s, xp.abs(later_s)) + _turned_m(params, heard.vel_m_s, turned_s)
    shown = sensed.mates_mask & (sensed.mates_age_s <= NOW_S)
    return _sighting(params, view, (shown, shift, slip), counted_m)


def _by_mates_camera(params: SafetyParams, view: LocalView, counted_m: float) -> _Sighting:
    """Return sightings by the teammates' cameras.

    A teammate places both robots by one belief, so its own place is off by as much as that of this robot.
    """
    sensed, heard, own, limits = cast(SoccerSensed, view.sensed), view.heard, view.own, params.strangers
    assert limits is not None, "checked by `placed_by_sight`"
    shift = (own.pos_m[..., None, :] - own.vel_m_s[..., None, :] * heard.age_s[..., None]) - sensed.seen_by_pos_m
    slip = _slip(params, params.safety.velocity_error_m_s, heard.age_s)
    slip = slip + _slip(params, limits.velocity_error_m_s, NOW_S)
    slip = slip + _turned_m(params, own.vel_m_s[..., None, :], heard.age_s)
    return _sighting(params, view, (sensed.seen_by_mask, shift, slip), counted_m)


def _turned_m(params: SafetyParams, vel_m_s: Array, since_s: Array) -> Array:
    """Return the position error [m] at the end of the delay that a velocity causes in the time since a picture, because
    a wrong heading rotates the velocity against the picture.
    """
    return SHOWN_TURN_RAD * _length(vel_m_s) * (since_s + params.safety.delay_s + params.period_s)


def _slip(params: SafetyParams, error_m_s: float, time_s: Array) -> Array:
    """Return how far a place is off that was carried over this time by a velocity with this error [m]."""
    s, box = params.safety, params.limits
    most = math.hypot(*box.accel_max_m_s2) + s.accel_error_m_s2 + s.accel_bias_m_s2
    return error_m_s * time_s + most * time_s * time_s / 2


def _sighting(params: SafetyParams, view: LocalView, seen: tuple[Array, Array, Array], counted_m: float) -> _Sighting:
    """Return sightings with their spare room: the position errors of both robots minus the error of the picture.

    Args:
        params: parameters of the filter.
        view: view of the filter.
        seen: [..., K] bool, True where a camera shows the teammate; shift [..., K, 3] from the message's place to the
            picture's [m]; error of that shift [m], because velocities carry both places to one time.
        counted_m: sum of the position errors of both robots.
    """
    limits, heard, (shown, shift, slip) = params.strangers, view.heard, seen
    assert limits is not None, "checked by `placed_by_sight`"
    distance = _length(_away(view, shift))
    off = CHANGES_M + slip + limits.position_error_m * namespace(distance).maximum(distance / NEAR_M, 1.0)
    may_be = _length(shift) <= counted_m + off + TURN_RAD / 2 * distance
    return _Sighting(heard.mask & shown & may_be & (off < counted_m), shift, counted_m - off, distance)


def _away(view: LocalView, shift: Array) -> Array:
    """Return the way [..., K, 3] from the robot to where its teammates are now, if messages are off by this shift."""
    heard = view.heard
    return heard.pos_m + heard.vel_m_s * heard.age_s[..., None] + shift - view.own.pos_m[..., None, :]


def _length(vector: Array) -> Array:
    return namespace(vector).sqrt((vector * vector).sum(-1))
