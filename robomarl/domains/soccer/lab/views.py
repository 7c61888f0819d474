"""`player_views`: the knowledge that each robot of both teams may have, from the true state. Array-generic."""

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import Goal, Heard, LocalView, Own, Plan
from robomarl.domains.soccer.core.features import MatesSeen, Picture, SoccerSensed, sensed_of
from robomarl.domains.soccer.lab.camera import CameraPicture, in_sight
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.placement import sides
from robomarl.domains.soccer.lab.radio import to_mates
from robomarl.domains.soccer.lab.scenario import ROLES, SoccerScenario
from robomarl.lab.sim.message import braking_plan


def player_views(scenario: SoccerScenario, game: SoccerWorld) -> LocalView:
    """Return the views of all robots, every field with leading axes [..., M], each team's in its own
    field frame.

    Args:
        scenario: fixed numbers.
        game: the true state; without plans in messages, a teammate is assumed to brake from its
            received state.
    """
    xp, pose = namespace(game.ball.x), game.pose
    zero = pose.x * 0
    goal = xp.stack([zero + scenario.field.length_m / 2, zero, zero], -1)
    own = Own(flat(pose.x, pose.y), turned(pose.c, pose.s), flat(pose.vx, pose.vy), upright(pose.turn), zero)
    return LocalView(
        own=own,
        heard=_heard(scenario, game),
        sensed=_sensed(scenario, game),
        goal=Goal(goal, turned(zero + 1, zero)),
        role=roles(scenario) + zero.astype("int32"),
        time_s=zero + game.step[..., None] * scenario.period_s,
    )


def roles(scenario: SoccerScenario) -> Array:
    """[M] int32: index of each robot's role."""
    return np.array([ROLES.index(role) for role in (*scenario.roles, *scenario.opponent.roles)], np.int32)


def _heard(scenario: SoccerScenario, game: SoccerWorld) -> Heard:
    xp, message, age = namespace(game.ball.x), game.air.message, game.air.age_s
    mask = age <= scenario.radio.max_age_s
    pos, vel = (_shown(mask, flat(*pair)) for pair in ((message.x, message.y), (message.vx, message.vy)))
    plan = braking_plan(pos, vel, scenario.robot.safety.brake_m_s2)
    if said := message.plan:
        plan = Plan(*(_shown(mask, flat(*said[i : i + 2])) for i in (0, 2, 4)))
    return Heard(mask, pos, vel, xp.where(mask, age, 0.0), plan)


def _sensed(scenario: SoccerScenario, game: SoccerWorld) -> SoccerSensed:
    heard, latency_s = game.air, picture_age_s(scenario)
    fresh = (heard.age_s <= scenario.radio.max_age_s)[..., None]
    own, told = game.sights[-1], heard.message.sight
    told_age = heard.age_s[..., None] + np.asarray(latency_s)[..., None]
    pictures = _picture(own, own.seen, latency_s), _picture(told, told.seen & fresh, told_age)
    return sensed_of(*pictures, game.robots.charge_s, _mates(scenario, game))


def _mates(scenario: SoccerScenario, game: SoccerWorld) -> MatesSeen:
    """Return the teammates in the fields of view: these pictures are of now, and off by the errors of beliefs alone.

    The filter alone reads them, and only where it reckons with larger errors of the own place than geometric eyes have.
    """
    xp, robots, pose, said = namespace(game.ball.x), game.robots, game.pose, game.air.message
    flip, age_s, count = xp.asarray(sides(scenario))[..., None], game.air.age_s, scenario.count
    here = (robots.x, robots.y, robots.vx, robots.vy)
    dx, dy, dvx, dvy = (to_mates(count, part) - part[..., None] for part in here)
    seen = in_sight(scenario, robots, dx, dy)
    by = [to_mates(count, seen[..., count - 2 - k])[..., k] for k in range(count - 1)]
    by_mask = (xp.stack(by, -1) if by else seen) & (age_s <= scenario.radio.max_age_s)
    place = flat(pose.x[..., None] + flip * dx, pose.y[..., None] + flip * dy)
    motion = flat(*(flip * to_mates(count, part) for part in here[2:]))
    shown = Picture(seen, _shown(seen, place), _shown(seen, motion), 0 * age_s)
    there = flat(said.x - flip * (dx - dvx * age_s), said.y - flip * (dy - dvy * age_s))
    return MatesSeen(shown, by_mask, _shown(by_mask, there))


def _picture(sight: CameraPicture, mask: Array, age_s: Array | float) -> Picture:
    xp = namespace(sight.x)
    pos, vel = (_shown(mask, flat(*pair)) for pair in ((sight.x, sight.y), (sight.vx, sight.vy)))
    return Picture(mask, pos, vel, xp.where(mask, age_s, 0.0).astype(sight.x.dtype))


def picture_age_s(scenario: SoccerScenario) -> Array | float:
    """Age of a picture when it arrives: one number, or [M, 1] where a team sees all and has it at once."""
    knows, latency_s = scenario.all_seeing[:, None], scenario.eyes.latency_s
    return np.where(knows, 0.0, latency_s).astype(np.float32) if knows.any() else latency_s


def flat(x: Array, y: Array) -> Array:
    """[...] each to [..., 3]: a vector in the plane."""
    return namespace(x).stack([x, y, x * 0], -1)


def upright(z: Array) -> Array:
    """[...] to [..., 3]: a vector along z."""
    return namespace(z).stack([z * 0, z * 0, z], -1)


def turned(c: Array, s: Array) -> Array:
    """Return the attitude [..., 4] wxyz of a heading with this cosine and sine; its length is 1 for any
    length of theirs.

    The larger of w and z comes from the cosine and the smaller from the sine: in single precision the
    opposite choice loses four digits of the sine where a robot looks back at its own goal.
    """
    xp = namespace(c)
    size = xp.sqrt(c * c + s * s + 1e-12)
    cos, sin = c / size, s / size
    large = xp.sqrt((1 + xp.abs(cos)) / 2)
    small = xp.abs(sin) / (2 * large)
    w = xp.where(cos < 0, small, large)
    z = xp.where(sin < 0, -1, 1) * xp.where(cos < 0, large, small)
    return xp.stack([w, w * 0, w * 0, z], -1)


def _shown(mask: Array, value: Array) -> Array:
    return namespace(value).where(mask[..., None], value, 0.0)
