"""`GiveWay`: agreed rules against deadlock. They change the nominal command, before the filter. Array-generic.

Reactive filters have stable standstills, most of all between robots that want to swap places (Grover, Liu,
Sycara, arXiv 1911.09146). The rules are agreed, not negotiated: who is going to come near a mate on the way to its
goal keeps to the right of it, and above or below, wherever it is already; a crowd flies around its middle
(`roundabout`); at a narrow place the one that is second waits (`passages`); who stands still in front of the filter all
the same, far from the goal, tries further to its right for a while, then back, then to its left. Safety is untouched,
as the filter comes after.
"""

import math
from typing import NamedTuple

from robomarl.geometry import namespace, norm
from robomarl.safety.params import SafetyParams
from robomarl.safety.ways import passages, roundabout
from robomarl.safety.ways.passages import Lookout, Passage
from robomarl.safety.ways.roundabout import Roundabout
from robomarl.types import Array, FilterResult
from robomarl.view import LocalView

AHEAD_S = 4.0
"""Approaches farther in the future than this do not count yet."""
WIDTH_M = 1.2
"""A mate that will pass farther away than this is not in the way."""
FULL_AT = 1 / 6
"""From this share of the largest nearness on, in time and in width together, the side step is at full speed."""
EAGER = 0.5
"""Share of the way from the own velocity to one straight to the goal at which approaches are looked at."""
BESIDE_M = 0.3
"""A mate farther beyond the goal than this is not in the way."""
FRONT = 0.3
"""Cosine of the angle to the goal's direction from which on a mate counts as in front."""
SIDE_GAIN_PER_S = 3.0
"""Acceleration per side speed that is missing."""
LIFT_M, LIFT_M_S = 0.6, 1.0
"""So far above or below each other robots that meet want to be, and how fast they get there at most."""
LIFT_GAIN_PER_S = 4.0
"""Acceleration per vertical speed that is missing."""
LIFT_NOISE_M = 0.04
"""Differences in height below this say little about who is above."""
WALL_M = 0.4
"""They stay away from floor and ceiling by this."""
SLOW_M_S = 0.15
FAR_M = 0.3
PATIENCE_S = 1.0
DETOUR_S = 1.5
CALM_S = 8.0
"""Who has not been stuck for so long after a detour begins with the first one again."""
ANGLES_RAD = tuple(math.radians(degrees) for degrees in (-75, -150, 75, 150))
"""Of one detour after the other: to the right, back, to the left, back."""


class WayCarry(NamedTuple):
    """Memory of the rules, [...] each."""

    stuck_s: Array
    """Time for which a robot has stood still in front of the filter."""
    detour_s: Array
    """Rest of the detour; below 0 how long the last one is over, up to `CALM_S`."""
    tries: Array
    """Detours so far, while it is not calm."""
    active: Array
    """bool: the filter changed the last command."""
    roundabout: Roundabout
    """What the robot keeps to its left."""
    passage: Passage | tuple[()] = ()
    """The narrow place on the way; empty where there are no obstacles."""


class GiveWay:
    """The rules of one type of vehicle; without state of its own.

    Args:
        params: of the filter that comes after.
    """

    def __init__(self, params: SafetyParams) -> None:
        """Keep the parameters."""
        self.params = params

    def init(self, zero: Array) -> WayCarry:
        """The memory before the first decision; `zero` has its leading axes [...]."""
        passage = passages.no_passage(zero) if self.params.obstacles else ()
        return WayCarry(zero, zero, zero, zero > 0, roundabout.no_roundabout(zero), passage)

    def __call__(self, carry: WayCarry, view: LocalView, nominal: Array) -> tuple[WayCarry, Array]:
        """One decision of every robot.

        Args:
            carry: what `after` the last decision was known, or `init`.
            view: what the robots know; places and velocities are read.
            nominal: [..., A] command whose first three components are accelerations, world frame [m/s^2].

        Returns:
            The memory, and the command for the filter [..., A].
        """
        carry, asked = self._in_traffic(carry, view, nominal)
        if not isinstance(carry.passage, Passage):
            return turn_right(carry, view, asked, self.params.period_s)
        return self._at_passages(carry, view, (nominal, asked))

    def after(self, carry: WayCarry, result: FilterResult) -> WayCarry:
        """The memory once the filter has decided."""
        return carry._replace(active=result.active)

    def _in_traffic(self, carry: WayCarry, view: LocalView, nominal: Array) -> tuple[WayCarry, Array]:
        """Around a crowd, or to the right of who is in the way; who leaves a roundabout goes straight."""
        xp, params = namespace(nominal, view.own.pos_m), self.params
        found = meet(view, params.limits.speed_m_s)
        right = keep_right(params, view, nominal, found)
        if found.near.shape[-1] + 1 < roundabout.CROWD:
            return carry, right
        disc, blocks = roundabout.update(params, carry.roundabout, view, found.near)
        led = xp.concatenate([roundabout.steer(params, disc, view), nominal[..., 2:]], -1)
        asked = xp.where((disc.known_s > 0)[..., None], nominal, right)
        return carry._replace(roundabout=disc), xp.where(blocks[..., None], led, asked)

    def _at_passages(self, carry: WayCarry, view: LocalView, commands: tuple[Array, Array]) -> tuple[WayCarry, Array]:
        """As `__call__`, where there are obstacles; `commands` are the nominal and the one that keeps to the right."""
        assert isinstance(carry.passage, Passage), "there is one where there are obstacles"
        xp, (nominal, asked) = namespace(view.own.pos_m, commands[0]), commands
        lookout = passages.look(self.params, carry.passage, view)
        here = passages.placed(lookout.passage, view.own.pos_m[..., :2])
        near = (lookout.passage.known_s > 0) & (here.along_m > -passages.REACH_M)
        asked = xp.where((near | ~lookout.right_is_free)[..., None], nominal, asked)
        turned, free = turn_right(carry, view, asked, self.params.period_s)
        parts = (xp.where(near, a, b) for a, b in zip(carry[:4], turned[:4], strict=True))
        carry = WayCarry(*parts, roundabout=turned.roundabout, passage=turned.passage)
        wait, lookout = self._wait(lookout, view, near)
        steers, accel = passages.steer(self.params, lookout, view, wait)
        led = xp.concatenate([accel, nominal[..., 2:]], -1)
        asked = xp.where(near[..., None], xp.where(steers[..., None], led, asked), free)
        return carry._replace(passage=lookout.passage), asked

    def _wait(self, lookout: Lookout, view: LocalView, near: Array) -> tuple[Array, Lookout]:
        """Who waits, and how long everybody has."""
        xp, passage = namespace(near), lookout.passage
        second = near & passages.must_wait(passage, view)
        bold = passage.waited_s >= passages.PATIENCE_S
        waits = xp.where(second | bold, passage.waited_s + self.params.period_s, 0.0)
        waits = xp.where(waits > passages.PATIENCE_S + passages.BOLD_S, 0.0, waits)
        return second & ~bold, lookout._replace(passage=passage._replace(waited_s=waits))


class Meeting(NamedTuple):
    """How mates are in the way."""

    near: Array
    """[..., K] how much each of them is, 0 to 1: the sooner and the nearer, the more."""
    below_m: Array
    """[..., K] how far it is below us."""
    right: Array
    """[..., 2] unit vector to the right of the way to the goal."""


def keep_right(params: SafetyParams, view: LocalView, nominal: Array, found: Meeting) -> Array:
    """Add an acceleration to the right of the way to the goal, and away in height, where a mate is in the way.

    Args:
        params: of the filter.
        view: what the robot knows; own position and velocity, the mates' and the goal's position are read.
        nominal: [..., A] command whose first three components are accelerations, world frame [m/s^2].
        found: who is in the way.

    Returns:
        The command [..., A].
    """
    xp = namespace(nominal, view.own.pos_m)
    share = xp.clip(found.near / FULL_AT, 0.0, 1.0)
    most, vel = share.max(-1, initial=0.0), view.own.vel_m_s
    missing = params.limits.speed_m_s * most - xp.maximum((vel[..., :2] * found.right).sum(-1), 0.0)
    push = SIDE_GAIN_PER_S * xp.where(most > 0, xp.maximum(missing, 0.0), 0.0)[..., None] * found.right
    lift = nominal[..., 2:3] * 0 if params.planar else _lift(params, view, found.below_m, share)[..., None]
    return xp.concatenate([nominal[..., :3] + xp.concatenate([push, lift], -1), nominal[..., 3:]], -1)


def meet(view: LocalView, speed_m_s: float) -> Meeting:
    """How much every mate is in the way: by the closest approach at constant velocities."""
    own, heard = view.own, view.heard
    xp = namespace(own.pos_m)
    way = view.goal.pos_m - own.pos_m
    length, far = norm(way[..., :2]) + 1e-6, norm(way)[..., None] + 1e-6
    forward = way[..., :2] / length[..., None]
    offset = heard.pos_m + heard.vel_m_s * heard.age_s[..., None] - own.pos_m[..., None, :]
    direct = way / far * xp.minimum(speed_m_s * 2 / 3, 1.5 * far)
    closing = (own.vel_m_s + EAGER * (direct - own.vel_m_s))[..., None, :] - heard.vel_m_s
    when = (offset * closing).sum(-1) / ((closing * closing).sum(-1) + 1e-3)
    distance, miss = norm(offset), norm(offset - closing * xp.clip(when, 0.0, AHEAD_S)[..., None])
    in_front = (offset[..., :2] * forward[..., None, :]).sum(-1) > FRONT * distance
    counts = heard.mask & (when > 0) & in_front & (distance < length[..., None] + BESIDE_M)
    near = xp.clip(1 - miss / WIDTH_M, 0.0, 1.0) * xp.clip(1 - when / AHEAD_S, 0.0, 1.0)
    return Meeting(xp.where(counts, near, 0.0), -offset[..., 2], passages.right_of(forward))


def _lift(params: SafetyParams, view: LocalView, below_m: Array, share: Array) -> Array:
    """[...] vertical acceleration that takes robots that meet apart: up from who is below, down from who is above."""
    xp, (z, climb) = namespace(below_m), (part[..., 2] for part in (view.own.pos_m, view.own.vel_m_s))
    short = xp.clip(1 - xp.abs(below_m) / LIFT_M, 0.0, 1.0) * share
    wanted = LIFT_M_S * xp.clip((xp.tanh(below_m / LIFT_NOISE_M) * short).sum(-1), -1.0, 1.0)
    if params.arena:
        low, high = params.arena.low_m[2] + WALL_M, params.arena.high_m[2] - WALL_M
        wanted = xp.clip(wanted, xp.minimum(low - z, 0.0), xp.maximum(high - z, 0.0))
    return xp.where(wanted == 0, 0.0, LIFT_GAIN_PER_S * (wanted - climb))


def turn_right(carry: WayCarry, view: LocalView, nominal: Array, period_s: float) -> tuple[WayCarry, Array]:
    """Turn the nominal acceleration of robots that are stuck.

    Args:
        carry: memory; zeros at the start.
        view: what the robot knows; own position and velocity and the goal's position are read.
        nominal: [..., A] command whose first two components are accelerations, world frame [m/s^2].
        period_s: time between two decisions.

    Returns:
        The memory, and the command [..., A], turned where a detour is under way: first clockwise seen from above, and
        each time that it is stuck again another way.
    """
    xp = namespace(nominal, view.own.pos_m)
    slow = norm(view.own.vel_m_s) < SLOW_M_S
    far = norm(view.goal.pos_m - view.own.pos_m) > FAR_M
    stuck = xp.where(slow & far & carry.active & (carry.detour_s <= 0), carry.stuck_s + period_s, 0.0)
    begin = stuck > PATIENCE_S
    detour = xp.where(begin, DETOUR_S, xp.maximum(carry.detour_s - period_s, -CALM_S))
    tries = xp.where(begin, carry.tries + 1, xp.where(detour > -CALM_S, carry.tries, 0.0))
    turn = xp.asarray(ANGLES_RAD, dtype=nominal.dtype)[((tries - 1) % len(ANGLES_RAD)).astype("int32")]
    angle = xp.where(detour > 0, turn, 0.0)
    cos, sin = xp.cos(angle), xp.sin(angle)
    x, y = nominal[..., 0], nominal[..., 1]
    turned = xp.stack([cos * x - sin * y, sin * x + cos * y], -1)
    after = carry._replace(stuck_s=xp.where(begin, 0.0, stuck), detour_s=detour, tries=tries)
    return after, xp.concatenate([turned, nominal[..., 2:]], -1)
