"""The ball: a parabola between hits, and the blow of a racket at its exact time. Array-generic.

The blow is one impulse along the normal of the racket's disc, which is smooth: with the masses m of
ball and vehicle, the vehicle's inertia I and the contact point r from its centre,

    k = 1/m_b + 1/m_d + n . (I^-1 (r x n)) x r,    J = -(1 + e) (v_b - v_p) . n / k,

where v_p is the velocity of the disc at the contact. It holds the momentum of both, and the
relative velocity along n changes its sign and shrinks to e times its size.
"""

from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, cross, dot, minus, plus, to_body, to_world, up_axis
from robomarl.domains.volleyball.lab.physics.drone import TINY, Drone, rotated
from robomarl.domains.volleyball.lab.scenario import VolleyScenario

DEEP_M = 0.05
"""Distance [m] by which a ball may be below the racket's side and still be hit: it passed the rim otherwise."""
SLOW_M_S = 1e-3
"""Least speed [m/s] of approach for which a time to the meeting is worked out."""
NEVER = 1e3
"""Time [s] of a blow that does not happen."""


class FlyingBall(NamedTuple):
    """The ball, world frame."""

    pos: Vec3
    """[m]"""
    vel: Vec3
    """[m/s]"""


class Blow(NamedTuple):
    """The blow of each robot's racket in a sub-step, [..., N] each."""

    at_s: Array
    """Time from the start of the sub-step; `NEVER` if the racket does not hit."""
    impulse_n_s: Array
    """Impulse on the ball along the racket's normal."""
    normal: Vec3
    """Normal of the racket then, world."""
    point: Vec3
    """Contact point from the vehicle's centre, world."""


def fallen(ball: FlyingBall, dt_s: Array) -> FlyingBall:
    """Return the ball after a free flight of this time."""
    (x, y, z), (vx, vy, vz) = ball
    drop = GRAVITY_M_S2 * dt_s
    return FlyingBall((x + dt_s * vx, y + dt_s * vy, z + dt_s * (vz - drop / 2)), (vx, vy, vz - drop))


def gap_of(scenario: VolleyScenario, pos: Vec3, normal: Vec3, ball: Vec3) -> tuple[Array, Array]:
    """Distance [m] of the ball's surface over the racket's plane, and the distance [m] of its middle from the racket's
    axis, squared."""
    racket, sphere = played(scenario)
    away = minus(ball, pos)
    along = dot(away, normal)
    return along - (racket + sphere), dot(away, away) - along * along


def played(scenario: VolleyScenario) -> tuple[float, float]:
    """Height of the racket over the vehicle's centre, and radius of the ball [m], of a scenario with a ball."""
    racket, ball = scenario.with_ball
    return racket.above_m, ball.radius_m


def blow(
    scenario: VolleyScenario, drones: tuple[Drone, Drone], balls: tuple[FlyingBall, FlyingBall], restitution: Array
) -> Blow:
    """Return the blow of each racket within a sub-step that nothing else disturbs.

    The ball's distance from a racket's plane is a parabola in time, through its values at both ends
    and with its rate at the start; its root is the time of the impact, exact to the third order of the
    sub-step.

    Args:
        scenario: masses, radii, racket, length of the sub-step.
        drones: robots at the start and the end, [..., N].
        balls: the ball at the start and the end, [..., 1].
        restitution: [..., 1].
    """
    (first, last), (ball, after), dt_s = drones, balls, scenario.physics_dt_s
    reach = scenario.with_ball[1].radius_m
    xp = namespace(first.pos[0], ball.pos[0])
    ups = up_axis(first.quat), up_axis(last.quat)
    start, rate = _closing(scenario, first, ups[0], ball)
    end, _ = gap_of(scenario, last.pos, ups[1], after.pos)
    curve = (end - start - rate * dt_s) / dt_s**2
    at_s = _root(start, rate, curve, dt_s)
    share = at_s / dt_s
    middle = _between(first, last, share, dt_s)
    normal, met = up_axis(middle.quat), fallen(ball, at_s)
    _, aside2 = gap_of(scenario, middle.pos, normal, met.pos)
    point = minus(minus(met.pos, middle.pos), tuple(reach * n for n in normal))
    speed, slow = _meeting(scenario, middle, normal, point, met)
    is_hit = (end < 0) & (start > -DEEP_M) & (speed < 0) & (aside2 < scenario.with_ball[0].radius_m ** 2)
    impulse = xp.where(is_hit, -(1 + restitution) * speed / slow, 0.0)
    return Blow(xp.where(is_hit, at_s, NEVER), impulse, normal, point)


def _closing(scenario: VolleyScenario, drone: Drone, up: Vec3, ball: FlyingBall) -> tuple[Array, Array]:
    """Gap [m] between ball and racket, and its rate [m/s]."""
    gap, _ = gap_of(scenario, drone.pos, up, ball.pos)
    turning = cross(to_world(drone.quat, drone.omega), up)
    rate = dot(minus(ball.vel, drone.vel), up) + dot(minus(ball.pos, drone.pos), turning)
    return gap, rate


def meeting_plane(scenario: VolleyScenario, drone: Drone, ball: FlyingBall, within_s: float) -> tuple[Array, Array]:
    """Return whether the ball's surface will go through the plane of each racket within a time [s], [..., N] bool, and
    how far from the racket's axis [m], by motion at constant velocities and body rates.

    Args:
        scenario: radii, racket.
        drone: robots, [..., N].
        ball: the ball, [...].
        within_s: the time.
    """
    one = FlyingBall(*(tuple(c[..., None] for c in part) for part in ball))
    up, xp = up_axis(drone.quat), namespace(ball.pos[0])
    gap, rate = _closing(scenario, drone, up, one)
    in_s = gap / xp.maximum(-rate, SLOW_M_S)
    meets = (gap > 0) & (rate < 0) & (in_s <= within_s)
    then = xp.where(meets, in_s, 0.0)
    turned = tuple(u + then * t for u, t in zip(up, cross(to_world(drone.quat, drone.omega), up), strict=True))
    there = tuple(p + then * v for p, v in zip(drone.pos, drone.vel, strict=True))
    _, aside2 = gap_of(scenario, there, turned, fallen(one, then).pos)
    return meets, xp.sqrt(xp.maximum(aside2, TINY))


def _root(gap: Array, rate: Array, curve: Array, dt_s: float) -> Array:
    """Time in [0, dt_s] at which gap + rate t + curve t^2 falls to 0; 0 where it is below already."""
    xp = namespace(gap)
    inside = xp.maximum(rate * rate - 4 * curve * gap, TINY)
    found = 2 * xp.maximum(gap, 0.0) / xp.maximum(-rate + xp.sqrt(inside), TINY)
    return xp.clip(found, 0.0, dt_s)


def _between(first: Drone, last: Drone, share: Array, dt_s: float) -> Drone:
    """Return the robots at a share [..., N] of a sub-step of constant force and torque."""
    after_s = share * dt_s
    vel = tuple(a + share * (b - a) for a, b in zip(first.vel, last.vel, strict=True))
    omega = tuple(a + share * (b - a) for a, b in zip(first.omega, last.omega, strict=True))
    pos = tuple(p + after_s / 2 * (v + w) for p, v, w in zip(first.pos, first.vel, vel, strict=True))
    turned = tuple((a + b) / 2 for a, b in zip(first.omega, omega, strict=True))
    return Drone(pos, rotated(first.quat, turned, after_s), vel, omega, first.throttle)


def _meeting(
    scenario: VolleyScenario, drone: Drone, normal: Vec3, point: Vec3, ball: FlyingBall
) -> tuple[Array, Array]:
    """Relative speed [m/s] along the normal, and k [1/kg] of the impulse."""
    surface = plus(drone.vel, cross(to_world(drone.quat, drone.omega), point))
    lever = to_body(drone.quat, cross(point, normal))
    body = scenario.vehicle_config.body
    turning = sum(a * a / j for a, j in zip(lever, body.inertia_kg_m2, strict=True))
    return dot(minus(ball.vel, surface), normal), 1 / scenario.with_ball[1].mass_kg + 1 / body.mass_kg + turning


def struck(scenario: VolleyScenario, drone: Drone, ball: FlyingBall, made: Blow) -> tuple[Drone, FlyingBall, Array]:
    """Return robots and ball at the end of the sub-step with the earliest blow, and [..., N] bool: whose racket hit.

    Free flight is linear in the velocities, so that a blow adds its changes of the velocities over the
    time that is left.

    Args:
        scenario: masses.
        drone: robots at the end without blows, [..., N].
        ball: the ball at the end without blows, [...].
        made: the blows.
    """
    xp, dt_s, body = namespace(made.at_s), scenario.physics_dt_s, scenario.vehicle_config.body
    is_first = (made.at_s < NEVER) & (made.at_s <= made.at_s.min(-1, keepdims=True))
    impulse, left_s = xp.where(is_first, made.impulse_n_s, 0.0), xp.maximum(dt_s - made.at_s, 0.0)
    push = tuple(impulse * n / scenario.with_ball[1].mass_kg for n in made.normal)
    vel = tuple(v + p.sum(-1) for v, p in zip(ball.vel, push, strict=True))
    pos = tuple(x + (left_s * p).sum(-1) for x, p in zip(ball.pos, push, strict=True))
    back = tuple(-impulse * n / body.mass_kg for n in made.normal)
    lever = to_body(drone.quat, cross(made.point, made.normal))
    spin = tuple(-impulse * a / j for a, j in zip(lever, body.inertia_kg_m2, strict=True))
    moved = Drone(
        tuple(x + left_s * b for x, b in zip(drone.pos, back, strict=True)),
        rotated(drone.quat, tuple(left_s / dt_s * s for s in spin), dt_s),
        plus(drone.vel, back),
        plus(drone.omega, spin),
        drone.throttle,
    )
    return moved, FlyingBall(pos, vel), is_first
