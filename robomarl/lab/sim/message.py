"""Messages between robots: state and plan of one decision, delayed, lost and aged together.
Array-generic.

Shapes: `...` is the batch of environments, N the robots, K = N - 1 their teammates.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.core.view import Plan


class Message(NamedTuple):
    """Message of every robot at one decision, [..., N, 3] each."""

    pos_m: Array
    """Its estimate then, world."""
    vel_m_s: Array
    """Its estimate then, world."""
    plan: Plan | tuple[()] = ()
    """Plan of the robot's filter at that decision; empty in a world without plans."""


class Air(NamedTuple):
    """Last message received from every teammate. Row [i, k] is robot i's k-th teammate, (i + 1 + k) mod N."""

    pos_m: Array
    """[..., N, K, 3] world, at the message's stamp."""
    vel_m_s: Array
    """[..., N, K, 3] world, at the message's stamp."""
    age_s: Array
    """[..., N, K] time since that stamp."""
    plan: Plan | tuple[()] = ()
    """[..., N, K, 3] each, from that message."""
    mates: Array | tuple[()] = ()
    """[..., N, K] int: index of the teammate of each row, the robot itself in rows without one; empty where rows are
    of all teammates, as above."""


def mates_of(count: int) -> np.ndarray:
    """[N, N-1] int: index of robot i's k-th team-mate, (i + 1 + k) mod N."""
    return (np.arange(count)[:, None] + 1 + np.arange(count - 1)[None]) % count


def braking_plan(pos_m: Array, vel_m_s: Array, brake_m_s2: float) -> Plan:
    """The plan of a vehicle that brakes at once: it stops v |v| / (2 a) further on.

    It begins with the state itself, and filters take such a plan for none.
    """
    return Plan(pos_m, vel_m_s, pos_m + vel_m_s * norm(vel_m_s)[..., None] / (2 * brake_m_s2))


def with_plan(sent: tuple[Message, ...], plan: Plan | None) -> tuple[Message, ...]:
    """Return the messages in transit, newest first, with the filters' latest plans in the newest message.

    Its estimate is the one from which the decision was made. Without any latency no message is in
    transit: then a message is received before its sender has decided, and has no plan.

    Args:
        sent: the messages.
        plan: [..., N, 3] each; None: no robot runs a filter, and the messages stay unchanged.
    """
    if plan is None or not sent or not isinstance(sent[0].plan, Plan):
        return sent
    parts = zip(plan, sent[0].plan, strict=True)
    xp = namespace(sent[0].pos_m, plan.pos_m)
    fresh = Plan(*(xp.asarray(new, dtype=old.dtype) for new, old in parts))
    return sent[0]._replace(plan=fresh), *sent[1:]


def deliver(air: Air, message: Message, heard: Array, times_s: tuple[float, float]) -> Air:
    """Return the known messages after some new ones have arrived.

    Args:
        air: messages known before.
        message: message of every robot.
        heard: [..., N, K] bool: the message of this teammate arrives here.
        times_s: age of a message that arrives, and time since the last delivery.
    """
    mates, (latency_s, period_s) = mates_of(message.pos_m.shape[-2]), times_s
    xp = namespace(heard, air.age_s)

    def newer(new: Array, old: Array) -> Array:
        return xp.where(heard[..., None], new[..., mates, :], old)

    plan: Plan | tuple[()] = ()
    if isinstance(message.plan, Plan) and isinstance(air.plan, Plan):
        plan = Plan(*map(newer, message.plan, air.plan))
    return Air(
        newer(message.pos_m, air.pos_m),
        newer(message.vel_m_s, air.vel_m_s),
        xp.where(heard, latency_s, air.age_s + period_s).astype(air.age_s.dtype),
        plan,
    )
