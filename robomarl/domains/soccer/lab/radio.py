"""Radio messages between teammates: their motion, and their pictures. Array-generic."""

from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import Plan
from robomarl.domains.soccer.lab.camera import CameraPicture, Pose
from robomarl.domains.soccer.lab.scenario import SoccerScenario


class SoccerMessage(NamedTuple):
    """Message of each robot, in its team's field frame: its motion, [..., M] each, and its latest picture."""

    x: Array
    y: Array
    vx: Array
    vy: Array
    sight: CameraPicture
    """[..., M, T] each, T as in `eyes`."""
    plan: tuple[Array, ...] = ()
    """Plan that its filter committed to at that decision: x, y, their rates, x and y at rest, [..., M] each; the
    motion itself where it has no filter, and empty in a game without plans.
    """


class SoccerAir(NamedTuple):
    """Last messages that every robot received: row [i, k] is robot i's k-th teammate, (i + 1 + k) mod N within the
    team.
    """

    message: SoccerMessage
    """[..., M, K] and [..., M, K, T]."""
    age_s: Array
    """[..., M, K] time since the message's stamp."""


def report(pose: Pose, sight: CameraPicture, plans: bool) -> SoccerMessage:
    """Return the message of every robot, before its filter has decided; `plans`: with room for the filter's plan."""
    motion = (pose.x, pose.y, pose.vx, pose.vy)
    return SoccerMessage(*motion, sight, (*motion, *motion[:2]) if plans else ())


def with_plan(sent: tuple[SoccerMessage, ...], plan: Plan | None) -> tuple[SoccerMessage, ...]:
    """Return the messages on their way, newest first, with the plans that filters have just made in the
    newest; see `sim.message`.

    Args:
        sent: the messages.
        plan: [..., M, 3] each, in the teams' own field frames; None: no robot runs a filter.
    """
    if plan is None or not sent or not sent[0].plan:
        return sent
    parts = [part[..., i] for part in plan for i in range(2)]
    xp = namespace(sent[0].x, *parts)
    fresh = tuple(xp.asarray(new, dtype=old.dtype) for new, old in zip(parts, sent[0].plan, strict=True))
    return sent[0]._replace(plan=fresh), *sent[1:]


def with_plans(message: SoccerMessage) -> SoccerMessage:
    """The message with room for a plan; there is none so far."""
    return message if message.plan else message._replace(plan=(*message[:4], *message[:2]))


def hear(scenario: SoccerScenario, air: SoccerAir, message: SoccerMessage, lost: Array) -> SoccerAir:
    """Return the radio one decision later: each robot receives each teammate's message unless it is lost
    or too far away.

    Args:
        scenario: fixed numbers.
        air: messages received before.
        message: messages delivered now.
        lost: [..., M, K] bool.
    """
    xp, radio = namespace(message.x), scenario.radio
    sight, sight_before = message.sight, air.message.sight
    motion, motion_before = (*message[:4], *message.plan), (*air.message[:4], *air.message.plan)
    x, y, *rest = (to_mates(scenario.count, part) for part in motion)
    dx, dy = x - message.x[..., None], y - message.y[..., None]
    heard = (dx * dx + dy * dy <= radio.range_m**2) & ~lost
    moved = [xp.where(heard, *pair) for pair in zip((x, y, *rest), motion_before, strict=True)]
    pictures = zip((things_to_mates(scenario.count, part) for part in sight), sight_before, strict=True)
    told = CameraPicture(*(xp.where(heard[..., None], *pair) for pair in pictures))
    kept = SoccerMessage(moved[0], moved[1], moved[2], moved[3], told, tuple(moved[4:]))
    return SoccerAir(kept, xp.where(heard, radio.latency_s, air.age_s + scenario.period_s).astype(air.age_s.dtype))


def to_mates(count: int, part: Array) -> Array:
    """[..., M] -> [..., M, K]: every robot's value, as its team-mates get it."""
    xp, lead = namespace(part), part.shape[:-1]
    teams = part.reshape(*lead, 2, count)
    rows = [xp.roll(teams, -k, -1).reshape(part.shape) for k in range(1, count)]
    return xp.stack(rows, -1) if rows else part[..., None][..., :0]


def things_to_mates(count: int, part: Array) -> Array:
    """Return every robot's row of things as its teammates get it: [..., M, T] -> [..., M, K, T]."""
    xp = namespace(part)
    return xp.moveaxis(to_mates(count, xp.moveaxis(part, -1, 0)), 0, -1)


def silence(scenario: SoccerScenario, zero: Array) -> tuple[CameraPicture, SoccerMessage, SoccerAir]:
    """Pictures, messages and radio before anybody has seen or said anything; `zero` is [..., M]."""
    xp, count = namespace(zero), scenario.count
    things, mates = (zero[..., None] + xp.zeros(n, zero.dtype) for n in (1 + count, count - 1))
    both = mates[..., None] + xp.zeros(1 + count, zero.dtype)
    sight = CameraPicture(things > 0, things, things, things, things)
    unheard = SoccerMessage(mates, mates, mates, mates, CameraPicture(both > 0, both, both, both, both))
    long_ago = (mates + 1e3).astype(zero.dtype)
    return sight, SoccerMessage(zero, zero, zero, zero, sight), SoccerAir(unheard, long_ago)
