"""Contacts: ball and robots, robots and robots, boards and goals, the kicker. Array-generic.

Contacts have no friction in either engine; the model that throws robots back follows MuJoCo's. A
robot is a disc with its front cut off flat: the kicker's face.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.soccer.lab.physics.ball import Ball, Way
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots
from robomarl.domains.soccer.lab.scenario import SoccerScenario

ROBOT_RESTITUTION = math.exp(-2)
"""Share of its speed with which a robot leaves a board or another robot: a critically damped spring that can't pull."""
Body = TypeVar("Body", OmniRobots, Ball)
Held = tuple[Array, Array]
"""bool: a board across x, across y is where the ball can't get past."""


class Contacts(NamedTuple):
    """Events at each robot since the last decision."""

    impact_m_s: Array
    """Closing speed of its hardest impact with another robot; 0 for none."""
    own_m_s: Array
    """Its own part of that speed."""
    kicked: Array
    """bool: its kicker hit the ball."""


def gap_to_ball(scenario: SoccerScenario, robot: OmniRobots, ball: Ball) -> tuple[Array, Array, Array]:
    """Distance between robot and ball surface (negative inside) and the normal towards the ball, world frame."""
    xp, radius, face = namespace(robot.x), scenario.robot.body.radius_m, scenario.kicker.face_m
    half = math.sqrt(radius**2 - face**2)
    forward, left = in_body(robot, ball.x, ball.y)
    size = radius / xp.sqrt(forward * forward + left * left + 1e-12)
    round_side = xp.abs(left) * face >= half * forward
    nf = forward - xp.where(round_side, forward * size, face)
    nl = left - xp.where(round_side, left * size, xp.clip(left, -half, half))
    inside = xp.where(round_side, size > 1, forward < face)
    away = xp.sqrt(nf * nf + nl * nl + 1e-12) * xp.where(inside, -1.0, 1.0)
    nf, nl = nf / away, nl / away
    gap = away - scenario.ball.radius_m
    return gap, robot.c * nf - robot.s * nl, robot.s * nf + robot.c * nl


def in_body(robot: OmniRobots, x: Array, y: Array) -> tuple[Array, Array]:
    """World places [m] in the robot's frame: forward and left of the centre."""
    dx, dy = x - robot.x, y - robot.y
    return robot.c * dx + robot.s * dy, robot.c * dy - robot.s * dx


def meet_robot(scenario: SoccerScenario, robot: OmniRobots, ball: Ball, way: Way) -> tuple[Ball, Way]:
    """Return the ball's velocity and way after it has met one robot, before which it was at `ball`.

    The part of the way past the robot's surface is thrown back by the restitution. The surface is
    taken as flat where the ball gets to it; the robot, fifty times as heavy, does not feel the ball.
    """
    xp, dt_s, bounce = namespace(ball.x), scenario.physics_dt_s, scenario.ball.restitution
    sx, sy = robot.vx - robot.turn * (ball.y - robot.y), robot.vy + robot.turn * (ball.x - robot.x)
    wx, wy = way[0] - sx * dt_s, way[1] - sy * dt_s
    part = share_until_met(scenario, robot, ball, (wx, wy))
    there = ball._replace(x=ball.x + part * wx, y=ball.y + part * wy)
    gap, nx, ny = gap_to_ball(scenario, robot, there)
    approach = (1 - part) * (nx * wx + ny * wy)
    past = xp.maximum(-(gap + approach), 0.0)
    back = past + bounce * xp.minimum(past, xp.maximum(-approach, 0.0))
    closing = nx * (ball.vx - sx) + ny * (ball.vy - sy)
    blow = xp.where(past > 0, -(1 + bounce) * xp.minimum(closing, 0.0), 0.0)
    return ball._replace(vx=ball.vx + blow * nx, vy=ball.vy + blow * ny), (way[0] + back * nx, way[1] + back * ny)


def share_until_met(scenario: SoccerScenario, robot: OmniRobots, ball: Ball, way: Way) -> Array:
    """Share of a way past the robot [m] after which the ball is at its disc, or, where it misses, nearest to it.

    A fast ball gets two thirds of a robot's radius far in a sub-step: the surface that it would meet is not the one
    that it was nearest to before.
    """
    xp, reach = namespace(ball.x), scenario.robot.body.radius_m + scenario.ball.radius_m
    dx, dy = ball.x - robot.x, ball.y - robot.y
    scale = 1 / (way[0] * way[0] + way[1] * way[1] + 1e-9)
    nearest = -(dx * way[0] + dy * way[1]) * scale
    across = dx * way[1] - dy * way[0]
    before = xp.sqrt(xp.maximum(reach * reach - across * across * scale, 0.0) * scale)
    return xp.clip(nearest - before, 0.0, 1.0)


def meet_boards(scenario: SoccerScenario, ball: Ball, way: Way) -> tuple[Ball, Held]:
    """The ball moved and thrown back by the boards, and which; through the goal's mouth there is none."""
    xp, area, radius = namespace(ball.x), scenario.field, scenario.ball.radius_m
    end, side, post = area.length_m / 2 - radius, area.width_m / 2 - radius, area.goal_width_m / 2 - radius
    x, y = ball.x + way[0], ball.y + way[1]
    within = xp.abs(ball.x) > end
    mouth = within | (xp.abs(y) < post)
    ends, sides = xp.where(mouth, xp.inf, end), xp.where(within, post, side)
    held = xp.abs(x) > ends, xp.abs(y) > sides
    x, vx = mirror(x, ball.vx, ends, area.restitution)
    y, vy = mirror(y, ball.vy, sides, area.restitution)
    return ball._replace(x=x, y=y, vx=vx, vy=vy), held


def mirror(place: Array, speed: Array, limit: Array | float, restitution: Array | float) -> tuple[Array, Array]:
    """A coordinate and its speed thrown back into [-limit, limit]."""
    xp = namespace(place)
    sign = xp.where(place < 0, -1.0, 1.0)
    past = xp.maximum(xp.abs(place) - limit, 0.0)
    outwards = (past > 0) & (sign * speed > 0)
    past = xp.where(past > 0, past, 0.0)
    return place - sign * (1 + restitution) * past, xp.where(outwards, -restitution * speed, speed)


def meet_each_other(
    scenario: SoccerScenario, robots: Sequence[OmniRobots], so_far: Sequence[Contacts]
) -> tuple[list[OmniRobots], list[Contacts]]:
    """Return the robots that touch within this sub-step, as equal masses that bounce a little; robots
    that overlap part again.

    An impact begins where two robots are apart and their distance will be used up at their closing
    speed. A robot's own part of the impact is its own velocity towards its counterpart: 0 for one
    that stands.
    """
    robots, contacts, size = list(robots), list(so_far), 2 * scenario.robot.body.radius_m
    for i in range(len(robots)):
        for j in range(i):
            a, b = robots[i], robots[j]
            xp, dx, dy = namespace(a.x), a.x - b.x, a.y - b.y
            away = xp.sqrt(dx * dx + dy * dy + 1e-12)
            nx, ny = dx / away, dy / away
            own, other = -(nx * a.vx + ny * a.vy), nx * b.vx + ny * b.vy
            hit = xp.where(away - (own + other) * scenario.physics_dt_s < size, xp.maximum(own + other, 0.0), 0.0)
            contacts[i], contacts[j] = harder(contacts[i], hit, own), harder(contacts[j], hit, other)
            apart = xp.maximum(size - away, 0.0)
            push = (1 + ROBOT_RESTITUTION) * hit / 2
            robots[i], robots[j] = shift(a, nx, ny, push, apart / 2), shift(b, nx, ny, -push, -apart / 2)
    return robots, contacts


def shift(body: Body, nx: Array, ny: Array, push: Array, apart: Array) -> Body:
    """A robot or a ball that gets a velocity and a place further along a normal."""
    return body._replace(vx=body.vx + push * nx, vy=body.vy + push * ny, x=body.x + apart * nx, y=body.y + apart * ny)


def harder(so_far: Contacts, hit: Array, own: Array) -> Contacts:
    """The harder one of two impacts."""
    xp, more = namespace(hit), hit > so_far.impact_m_s
    return so_far._replace(
        impact_m_s=xp.where(more, hit, so_far.impact_m_s),
        own_m_s=xp.where(more, xp.maximum(own, 0.0), so_far.own_m_s),
    )


def stay_inside(scenario: SoccerScenario, robot: OmniRobots) -> OmniRobots:
    """Boards throw a robot back a little, also in front of the goals: it does not go in."""
    radius, area = scenario.robot.body.radius_m, scenario.field
    x, vx = mirror(robot.x, robot.vx, area.length_m / 2 - radius, ROBOT_RESTITUTION)
    y, vy = mirror(robot.y, robot.vy, area.width_m / 2 - radius, ROBOT_RESTITUTION)
    return robot._replace(x=x, y=y, vx=vx, vy=vy)


def press(scenario: SoccerScenario, robot: OmniRobots, ball: Ball, held: Held) -> OmniRobots:
    """Return the robot, thrown back where it has the ball between itself and boards that hold the ball.

    A ball gives way on axes that no board holds: along a normal with the part f across the held axes
    a blow meets the mass 1 / (1 / M + f^2 / m), so that the robot, of mass M, takes 1 / (1 + f^2 M /
    m) of the blow. Two boards hold a ball whole.
    """
    xp, bounce = namespace(ball.x), scenario.ball.restitution
    gap, nx, ny = gap_to_ball(scenario, robot, ball)
    free = xp.where(held[0], 0.0, nx * nx) + xp.where(held[1], 0.0, ny * ny)
    share = 1 / (1 + free * scenario.robot.body.mass_kg / scenario.ball.mass_kg)
    share = xp.where((held[0] | held[1]) & (gap < 0), share, 0.0)
    blow = share * (1 + bounce) * xp.maximum(nx * robot.vx + ny * robot.vy, 0.0)
    return shift(robot, nx, ny, -blow, share * gap)


def kick(scenario: SoccerScenario, robot: OmniRobots, ball: Ball, speed: Array) -> Array:
    """Return the speed [m/s] that a kicker adds to the ball along its robot's heading now; 0 where it
    does not fire.

    The kicker fires by itself as soon as it has charge, the ball is in front and a speed is asked
    for. It takes the ball to that speed relative to the robot. A fast ball that has come and bounced
    within the last sub-step was there.
    """
    xp, kicker = namespace(robot.x), scenario.kicker
    forward, left = in_body(robot, ball.x, ball.y)
    reach = forward - kicker.face_m - scenario.ball.radius_m
    relative = robot.c * (ball.vx - robot.vx) + robot.s * (ball.vy - robot.vy)
    gone = xp.maximum(relative, 0.0) * scenario.physics_dt_s
    near = (reach >= -kicker.reach_m) & (reach - gone <= kicker.reach_m) & (xp.abs(left) <= kicker.width_m / 2)
    fires = near & (robot.charge_s <= 0) & (speed >= kicker.min_speed_m_s)
    return xp.where(fires, speed - relative, 0.0)
