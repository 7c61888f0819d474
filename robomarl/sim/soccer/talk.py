"""What team-mates tell each other over the radio: where they are, and where they see the ball. Array-generic."""

from typing import NamedTuple

from robomarl.geometry import namespace
from robomarl.sim.soccer.eyes import Pose, Sight
from robomarl.sim.soccer.scenario import SoccerScenario
from robomarl.types import Array


class Message(NamedTuple):
    """What each robot sends, in its team's field frame, [..., M] each."""

    x: Array
    y: Array
    vx: Array
    vy: Array
    saw: Array
    """bool: the sender saw the ball in its latest picture."""
    ball_x: Array
    ball_y: Array
    ball_vx: Array
    ball_vy: Array


class Air(NamedTuple):
    """What every robot last heard: row [i, k] is robot i's k-th team-mate, (i + 1 + k) mod N within the team."""

    message: Message
    """[..., M, K] each."""
    age_s: Array
    """[..., M, K] time since the message's stamp."""


def report(pose: Pose, sight: Sight) -> Message:
    """The message of every robot."""
    ball = (part[..., 0] for part in sight)
    return Message(pose.x, pose.y, pose.vx, pose.vy, *ball)


def hear(scenario: SoccerScenario, air: Air, message: Message, lost: Array) -> Air:
    """The radio one decision later: each robot hears each mate's message unless it is lost or too far away.

    Args:
        scenario: fixed numbers.
        air: what was heard before.
        message: what is delivered now.
        lost: [..., M, K] bool.
    """
    xp, radio = namespace(message.x), scenario.radio
    sent = Message(*(to_mates(scenario.count, part) for part in message))
    dx, dy = sent.x - message.x[..., None], sent.y - message.y[..., None]
    heard = (dx * dx + dy * dy <= radio.range_m**2) & ~lost
    kept = Message(*(xp.where(heard, new, old) for new, old in zip(sent, air.message, strict=True)))
    return Air(kept, xp.where(heard, radio.latency_s, air.age_s + scenario.period_s).astype(air.age_s.dtype))


def to_mates(count: int, part: Array) -> Array:
    """[..., M] -> [..., M, K]: every robot's value, as its team-mates get it."""
    xp, lead = namespace(part), part.shape[:-1]
    teams = part.reshape(*lead, 2, count)
    rows = [xp.roll(teams, -k, -1).reshape(part.shape) for k in range(1, count)]
    return xp.stack(rows, -1) if rows else part[..., None][..., :0]


def silence(scenario: SoccerScenario, zero: Array) -> tuple[Sight, Message, Air]:
    """Pictures, messages and radio before anybody has seen or said anything; `zero` is [..., M]."""
    xp = namespace(zero)
    things, mates = zero[..., None] + xp.zeros(1 + scenario.count), zero[..., None] + xp.zeros(scenario.count - 1)
    things, mates = things.astype(zero.dtype), mates.astype(zero.dtype)
    names = Message._fields
    blank = {name: zero > 0 if name == "saw" else zero for name in names}
    unheard = {name: mates > 0 if name == "saw" else mates for name in names}
    long_ago = (mates + 1e3).astype(zero.dtype)
    return Sight(things > 0, things, things, things, things), Message(**blank), Air(Message(**unheard), long_ago)
