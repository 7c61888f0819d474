"""Inputs that the filter reads of a view, for any number of robots at once: tested, and replaced if not usable."""

import math
from types import ModuleType
from typing import NamedTuple

from robomarl.core.filter.duplicate_mates import count_mates
from robomarl.core.filter.memory import LARGE, Reason
from robomarl.core.filter.model import look_ahead, pairs
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import Motion, Vec3
from robomarl.core.filter.model.pairs import Body
from robomarl.core.filter.model.strangers import strangers_in
from robomarl.core.types import Array
from robomarl.core.view import LocalView

FAR_M = 1e3
"""Offset [m] on each axis from the robot to a mate that was not received: its constraint cannot bind there."""


class Checked(NamedTuple):
    """Inputs after the checks; values that are not usable have been replaced by harmless numbers."""

    own: Motion
    mates: Body
    """Components [..., K]."""
    heard: Array
    """[..., K] bool."""
    silent: Array
    """[..., K] bool: heard of, but too long ago."""
    strangers: Body | None
    """Components [..., S]."""
    seen: Array | None
    """[..., S] bool."""
    nominal: Array
    """[..., 4]"""
    has_own: Array
    """[...] bool: the own state can be used."""
    has_vel: Array
    """[...] bool: the own velocity is finite."""
    age_s: Array
    """[...] of the own estimate."""
    reason: Array
    """[...] fault of the inputs, `Reason.OK` if there is none."""


def check(c: Constants, view: LocalView, nominal: Array, xp: ModuleType) -> Checked:
    """Test everything that the filter reads, and nothing else."""
    own, heard = view.own, view.heard
    has_vel, has_nominal = _sane(own.vel_m_s, xp), _sane(nominal, xp)
    mate_ok = _sane(heard.pos_m, xp) & _sane(heard.vel_m_s, xp) & (xp.abs(heard.age_s) < LARGE)
    own_ok = _sane(own.pos_m, xp) & has_vel & (xp.abs(own.age_s) < LARGE)
    use = heard.mask & mate_ok
    pos = xp.where(_sane(own.pos_m, xp)[..., None], own.pos_m, 0.0)
    state = Motion(split(pos), split(xp.where(has_vel[..., None], own.vel_m_s, 0.0)))
    if c.planar:
        own_ok, state = _in_plane(c, view, own_ok, state, xp)
        nominal = nominal * xp.asarray((1.0, 1.0, 0.0, 1.0), nominal.dtype)
    finite = own_ok & has_nominal & (mate_ok | ~heard.mask).all(-1)
    # A stamp from the future is as doubtful as one from the past.
    age = xp.where(use, xp.abs(heard.age_s), 0.0)
    own_age = xp.where(own_ok, xp.abs(own.age_s), 0.0)
    old = age > c.mates.max_age_s
    stale = old.any(-1) | (own_age > c.max_own_age_s)
    lead = (c.horizon_s - own_age)[..., None]
    strangers, seen, (others_ok, others_stale) = _strangers(c, view, (pos, lead), xp)
    reason = xp.where(stale | others_stale, int(Reason.STALE), int(Reason.OK))
    reason = xp.where(count_mates(c, heard, use, xp) < c.min_mates, int(Reason.MISSING), reason)
    return Checked(
        own=state,
        mates=_mates(c, view, (use, pos), xp.maximum(age + lead, 0.0), xp),
        heard=use & ~old,  # of one that fell silent nothing is known that would make a row
        silent=use & old,
        strangers=strangers,
        seen=seen,
        nominal=xp.where(has_nominal[..., None], nominal, 0.0),
        has_own=own_ok,
        has_vel=has_vel,
        age_s=own_age,
        reason=xp.where(finite & others_ok, reason, int(Reason.NON_FINITE)),
    )


def _in_plane(c: Constants, view: LocalView, ok: Array, state: Motion, xp: ModuleType) -> tuple[Array, Motion]:
    """The state without its vertical motion; of a differential drive, that of its look-ahead point."""
    vx, vy, vz = state.vel
    state = state._replace(vel=(vx, vy, vz * 0.0))
    if not c.look_ahead_m:
        return ok, state
    turned = _sane(view.own.quat_wxyz, xp) & _sane(view.own.omega_rad_s, xp)
    use = (ok & turned)[..., None]
    quat, omega = (xp.where(use, a, 0.0) for a in (view.own.quat_wxyz, view.own.omega_rad_s))
    parts = tuple(quat[..., i] for i in range(4))
    point = look_ahead.point_of(state, parts, omega[..., 2], c.look_ahead_m, xp)
    pick = [
        tuple(xp.where(use[..., 0], a, b) for a, b in zip(*pair, strict=True))
        for pair in zip(point, state, strict=True)
    ]
    return ok & turned, Motion(*pick)


def _mates(c: Constants, view: LocalView, known: tuple[Array, Array], since_s: Array, xp: ModuleType) -> Body:
    """Return the usable mates, and all other mates far away. `known`: mask of the usable mates, and the own
    position."""
    shown, far = known[0][..., None], (known[1] + FAR_M)[..., None, :]
    heard = view.heard
    state = Motion(split(xp.where(shown, heard.pos_m, far)), split(xp.where(shown, heard.vel_m_s, 0.0)))
    if c.mode != "qp":
        return Body(state, since_s * 0.0, since_s * 0.0)
    pos, vel, stop = (xp.where(shown, part, far) for part in heard.plan)
    plan = Motion(split(pos), split(xp.where(shown, vel, 0.0))), split(stop)
    return pairs.mate_of(c, state, plan, since_s, xp)


def _strangers(
    c: Constants, view: LocalView, own: tuple[Array, Array], xp: ModuleType
) -> tuple[Body | None, Array | None, tuple[Array, Array]]:
    """Return the observed strangers, the mask of their rows, whether all are usable, and whether any is too old.

    `own`: the own position, and the time to add to an age to reach the decision's effect.
    """
    found, no = strangers_in(c, view), own[1][..., 0] > math.inf
    if found is None or c.strangers is None:
        return None, None, (~no, no)
    ok = _sane(found.pos_m, xp) & _sane(found.vel_m_s, xp) & (xp.abs(found.age_s) < LARGE)
    seen = found.mask & ok
    age = xp.where(seen, xp.abs(found.age_s), 0.0)
    shown, far = seen[..., None], (own[0] + FAR_M)[..., None, :]
    state = Motion(split(xp.where(shown, found.pos_m, far)), split(xp.where(shown, found.vel_m_s, 0.0)))
    wait = xp.maximum(age + own[1], 0.0) if c.mode == "qp" else age * 0.0
    old = age > c.strangers.max_age_s
    return Body(state, wait, wait), seen & ~old, ((ok | ~found.mask).all(-1), old.any(-1))


def split(vector: Array) -> Vec3:
    """[..., 3 or more] to its first three components."""
    return (vector[..., 0], vector[..., 1], vector[..., 2])


def _sane(vector: Array, xp: ModuleType) -> Array:
    return (xp.abs(vector) < LARGE).all(-1)
