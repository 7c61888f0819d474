"""Pictures of the robots' cameras, and the robots' estimates of their own pose. Array-generic.

A thing is seen when it is in the field of view and in range, no robot stands in between, and the
picture does not miss it. Its place comes from the true bearing and range with their errors, put
into the field by the robot's own estimate of its pose. Pictures hold the things that were seen
and zeros for all else: nothing leaks. Robots of a team that `sees = "all"` get the truth instead.

Shapes: [..., M] robots, [..., M, T] things that each robot may see: the ball first, then the
opponents.
"""

import math
from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.soccer.lab.physics.ball import Ball
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots
from robomarl.domains.soccer.lab.placement import sides
from robomarl.domains.soccer.lab.scenario import SoccerScenario

EYE_DRAWS = 5
"""Uniform draws per thing: bearing, range, velocity x and y, dropout."""
POSE_DRAWS = 5
"""Uniform draws per robot: place, velocity, heading."""


class Pose(NamedTuple):
    """A robot's estimate of its own motion, in its team's field frame, [..., M] each."""

    x: Array
    y: Array
    vx: Array
    vy: Array
    c: Array
    """Cosine of the heading."""
    s: Array
    turn: Array
    """[rad/s]"""


class CameraPicture(NamedTuple):
    """One picture, in the team's field frame, [..., M, T] each; zeros where nothing was seen."""

    seen: Array
    """bool"""
    x: Array
    y: Array
    vx: Array
    vy: Array


def look(
    scenario: SoccerScenario, robots: OmniRobots, ball: Ball, scale: Array, draws: Array
) -> tuple[Pose, CameraPicture]:
    """One picture of every robot: through its eyes, or true and whole where its team sees all.

    Args: as `through_eyes`.
    """
    knows = scenario.all_seeing
    if not knows.any():
        return through_eyes(scenario, robots, ball, scale, draws)
    xp, known = namespace(draws), (true_pose(scenario, robots), true_sight(scenario, robots, ball))
    if knows.all():
        return known
    parts = zip(known, through_eyes(scenario, robots, ball, scale, draws), (knows, knows[:, None]), strict=True)
    pose, sight = ([xp.where(who, a, b) for a, b in zip(*pair, strict=True)] for *pair, who in parts)
    return Pose(*pose), CameraPicture(*sight)


def true_pose(scenario: SoccerScenario, robots: OmniRobots) -> Pose:
    """Return the pose of every robot, without an error."""
    side = namespace(robots.x).asarray(sides(scenario))
    parts = (robots.x, robots.y, robots.vx, robots.vy, robots.c, robots.s)
    return Pose(*[side * part for part in parts], turn=robots.turn)


def true_sight(scenario: SoccerScenario, robots: OmniRobots, ball: Ball) -> CameraPicture:
    """The picture that has everything in it, without an error."""
    xp = namespace(robots.x)
    flip = xp.asarray(sides(scenario))[..., None]
    x, *rest = all_things(scenario, robots, ball)
    return CameraPicture(xp.ones_like(x, dtype=bool), *(flip * part for part in (x, *rest)))


def through_eyes(
    scenario: SoccerScenario, robots: OmniRobots, ball: Ball, scale: Array, draws: Array
) -> tuple[Pose, CameraPicture]:
    """Return one picture of every robot, with errors, without the things that it does not see.

    Args:
        scenario: fixed numbers.
        robots: [..., M].
        ball: [...].
        scale: [..., M] factor on all errors.
        draws: [..., M, POSE_DRAWS + EYE_DRAWS * T] uniform in [0, 1).
    """
    xp, pose, eyes = namespace(draws), scenario.pose, scenario.eyes
    error = (2 * draws[..., :POSE_DRAWS] - 1) * scale[..., None]
    side = xp.asarray(sides(scenario))
    sine = pose.heading_noise_rad * error[..., 4]
    here = Pose(
        x=side * robots.x + pose.position_noise_m * error[..., 0],
        y=side * robots.y + pose.position_noise_m * error[..., 1],
        vx=side * robots.vx + pose.velocity_noise_m_s * error[..., 2],
        vy=side * robots.vy + pose.velocity_noise_m_s * error[..., 3],
        c=side * (robots.c - robots.s * sine),
        s=side * (robots.s + robots.c * sine),
        turn=robots.turn,
    )
    things = draws.shape[-1] // EYE_DRAWS - 1
    each = draws[..., POSE_DRAWS:].reshape(*draws.shape[:-1], things, EYE_DRAWS)
    noise = (2 * each - 1) * scale[..., None, None]
    x, y, vx, vy = all_things(scenario, robots, ball)
    dx, dy = x - robots.x[..., None], y - robots.y[..., None]
    seen = in_sight(scenario, robots, dx, dy) & (each[..., 4] >= eyes.dropout)
    turn = sine[..., None] + eyes.bearing_noise_rad * noise[..., 0]
    reach = 1 + eyes.range_noise * noise[..., 1]
    rx, ry = (dx - dy * turn) * reach, (dy + dx * turn) * reach
    flip = side[..., None]
    parts = (
        here.x[..., None] + flip * rx,
        here.y[..., None] + flip * ry,
        flip * vx + eyes.velocity_noise_m_s * noise[..., 2],
        flip * vy + eyes.velocity_noise_m_s * noise[..., 3],
    )
    return here, CameraPicture(seen, *(xp.where(seen, part, 0.0) for part in parts))


def all_things(scenario: SoccerScenario, robots: OmniRobots, ball: Ball) -> tuple[Array, ...]:
    """True place and velocity of everything that each robot may see, [..., M, T] each, world frame."""
    pairs = ((ball.x, robots.x), (ball.y, robots.y), (ball.vx, robots.vx), (ball.vy, robots.vy))
    return tuple(_ball_and_others(scenario.count, *pair) for pair in pairs)


def _ball_and_others(count: int, ball: Array, robots: Array) -> Array:
    xp, lead = namespace(robots), robots.shape[:-1]
    ours, theirs = robots[..., None, :count], robots[..., None, count:]
    rows = [xp.broadcast_to(other, (*lead, count, count)) for other in (theirs, ours)]
    first = xp.broadcast_to(ball[..., None, None], (*lead, 2 * count, 1))
    return xp.concatenate([first, xp.concatenate(rows, -2)], -1)


def in_sight(scenario: SoccerScenario, robots: OmniRobots, dx: Array, dy: Array) -> Array:
    """Return True [..., M, T] for things in the field of view, in range, and with no robot's body in between."""
    xp, eyes = namespace(dx), scenario.eyes
    square = dx * dx + dy * dy + 1e-12
    ahead = robots.c[..., None] * dx + robots.s[..., None] * dy
    in_view = ahead >= math.cos(eyes.fov_rad / 2) * xp.sqrt(square)
    free = in_view & (square <= eyes.range_m**2)
    for i in range(scenario.players):
        bx, by = (part[..., i, None, None] - part[..., None] for part in (robots.x, robots.y))
        along = dx * bx + dy * by
        nearer = (along > 0) & (along < 0.9999 * square)
        across = (bx * bx + by * by) * square - along * along
        free = free & ~(nearer & (across < scenario.robot.body.radius_m**2 * square))
    return free
