"""State of a volleyball world besides places and velocities, and its motion in one decision. Array-generic.

`...` is the batch, N the robots.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import components, join, namespace
from robomarl.core.types import Array
from robomarl.core.vectors import Vec4, up_axis
from robomarl.domains.volleyball.core.sensed import TURNS, VolleySensed
from robomarl.domains.volleyball.lab.commands import asked_thrusts
from robomarl.domains.volleyball.lab.physics.ball import FlyingBall, blow, fallen, struck
from robomarl.domains.volleyball.lab.physics.drone import Drone, flown
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.lab.sim.engines.compiler import settle
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.randomize import between

NOBODY = TURNS
"""Value of `Rally.turn` if no robot may hit."""
JUMP_M_S2, JUMP_M_S = 9.8, 0.5
"""Change of the ball's velocity that shows a hit: upwards faster than this acceleration for one decision, or sideways
by more than this."""
CYLINDER = 2.0
"""Height of the cylinder over a racket in which a hit counts, over the ball's radius."""
PATH = (0.0, 0.25, 0.5, 0.75)
"""Shares of a decision at which the ball's path is looked at, from both ends."""
NOISES = 6
"""Draws of each decision: the errors of the ball's position and velocity."""


class Rally(NamedTuple):
    """Record of the hits so far, as a referee keeps it."""

    touches: Array
    """[..., N] bool: the robot's racket has touched the ball in the last decision."""
    hit: Array
    """[..., N] bool: that was the start of a hit that counts."""
    wrong: Array
    """[...] bool: there has been a wrong hit."""
    since: Array
    """[...] decisions since the start of the last touch."""
    hits: Array
    """[...] hits that counted."""
    apex_m: Array
    """[...] largest height of the ball since the last hit that counted."""
    turn: Array
    """[...] number of the robot whose turn it is; see `NOBODY`."""
    score: Array
    """[...] the task's metric so far."""
    gained: Array
    """[...] by how much the metric changed in the last decision."""
    is_over: Array
    """[...] bool: the task's last event is past, and nothing counts any more."""
    marks: Array
    """[..., M] further numbers of the task."""


class VolleyOwn(NamedTuple):
    """State of a volleyball world besides that of `TeamWorld`."""

    throttle: Array
    """[..., N, 4]"""
    ball_pos_m: Array
    """[..., 3]"""
    ball_vel_m_s: Array
    """[..., 3]"""
    ball_error: Array
    """[..., 6] error of the ball's tracking now: position [m], then velocity [m/s]."""
    restitution: Array
    """[...] of this episode."""
    noise_scale: Array
    """[...] of this episode."""
    rally: Rally


def drones_of(world: TeamWorld) -> Drone:
    """The robots, [..., N]."""
    own: VolleyOwn = world.own
    parts = (world.pos_m, world.quat_wxyz, world.vel_m_s, world.omega_rad_s, own.throttle)
    pos, quat, vel, omega, throttle = (tuple(part[..., i] for i in range(part.shape[-1])) for part in parts)
    return Drone(pos, quat, vel, omega, throttle)


def ball_of(world: TeamWorld) -> FlyingBall:
    """The ball, [...]."""
    own: VolleyOwn = world.own
    return FlyingBall(components(own.ball_pos_m), components(own.ball_vel_m_s))


def with_bodies(world: TeamWorld, drone: Drone, ball: FlyingBall) -> TeamWorld:
    """Return the world with its moving parts from these."""
    dtype = world.pos_m.dtype
    pos, quat, vel, omega, throttle = (join(part).astype(dtype) for part in drone)
    own = world.own._replace(
        throttle=throttle, ball_pos_m=join(ball.pos).astype(dtype), ball_vel_m_s=join(ball.vel).astype(dtype)
    )
    return world._replace(pos_m=pos, quat_wxyz=quat, vel_m_s=vel, omega_rad_s=omega, own=own)


def scattered(scenario: VolleyScenario, restitution: Array, draws: Array) -> Array:
    """Restitution [...] of hits in one decision, by the first robot's uniform draws [..., N, D]."""
    scatter = scenario.racket.scatter if scenario.racket else 0.0
    xp = namespace(restitution)
    return xp.clip(restitution + scatter * (2 * draws[..., 0, NOISES] - 1), 0.0, 1.0)


Moving = tuple[Drone, FlyingBall, Array]
"""Robots, the ball, and [..., N] bool: whose racket has touched it."""


def moved(scenario: VolleyScenario, world: TeamWorld, command: Array, draws: Array) -> tuple[TeamWorld, Array]:
    """Return the world with its moving parts one decision later on the engine `fast`, and [..., N] bool: touched."""
    wanted, no = components(command), world.pos_m[..., 0] < -np.inf
    restitution = scattered(scenario, world.own.restitution, draws)

    def substep(number: Array, now: Moving) -> Moving:
        return one_substep(scenario, now, wanted, restitution)

    drone, ball, touched = repeated(scenario.substeps, substep, (drones_of(world), ball_of(world), no))
    return with_bodies(world, drone, ball), touched


def repeated(times: int, step: Callable[[Array, Moving], Moving], now: Moving) -> Moving:
    """Return the result of a function after so many calls; with JAX in a loop, which is compiled once."""
    if namespace(now[2]) is not np:
        import jax

        return jax.lax.fori_loop(0, times, step, now)
    for number in range(times):
        now = step(number, now)
    return now


def one_substep(scenario: VolleyScenario, now: Moving, wanted: Vec4, restitution: Array) -> Moving:
    """Robots and ball one sub-step on.

    Args:
        scenario: fixed numbers.
        now: the state before.
        wanted: components of the command of each robot, [..., N].
        restitution: [...].
    """
    (drone, ball, touched), vehicle, dt_s = now, scenario.vehicle_config, scenario.physics_dt_s
    later = settle(flown(vehicle, drone, settle(asked_thrusts(scenario, drone, wanted)), dt_s))
    if scenario.ball is None:
        return later, ball, touched
    after = fallen(ball, dt_s)
    balls = tuple(FlyingBall(*(tuple(c[..., None] for c in part) for part in one)) for one in (ball, after))
    made = settle(blow(scenario, (drone, later), (balls[0], balls[1]), restitution[..., None]))
    drone, ball, hit = struck(scenario, later, after, made)
    return drone, ball, touched | hit


def errors_of(scenario: VolleyScenario, scale: Array, draws: Array) -> Array:
    """Return errors [..., 6] of the ball's tracking, by the first robot's uniform draws [..., N, D]."""
    sensor, xp = scenario.ball_sensor, namespace(draws)
    off = 2 * draws[..., 0, :NOISES] - 1
    if sensor is None:
        return off * 0
    size = np.array([sensor.position_error_m] * 3 + [sensor.velocity_error_m_s] * 3, np.float32)
    return xp.asarray(off * size * scale[..., None], dtype=draws.dtype)


def drawn_parameters(scenario: VolleyScenario, draws: Array) -> tuple[Array, Array]:
    """Restitution and scale of the noise [...] of an episode, by two uniform draws [..., 2]."""
    chosen = scenario.randomize
    return between(chosen.restitution, draws[..., 0]), between(chosen.noise_scale, draws[..., 1])


def sensed(scenario: VolleyScenario, world: TeamWorld) -> VolleySensed:
    """Return the sensor data of all robots, [..., N, ...]; the ball's tracking is shared."""
    own: VolleyOwn = world.own
    xp, zero = namespace(world.pos_m), world.pos_m * 0
    noisy = xp.concatenate([own.ball_pos_m, own.ball_vel_m_s], -1) + own.ball_error
    place = world.pos_m if scenario.ball is None else zero + noisy[..., None, :3]
    turns = (own.rally.turn[..., None] == xp.asarray(np.arange(TURNS))).astype(zero.dtype)
    return VolleySensed(place, zero + noisy[..., None, 3:], own.throttle, zero[..., :TURNS] + turns[..., None, :])


def seen_hits(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> Array:
    """[..., N] bool: robots that hit the ball in this decision as a camera sees it.

    The ball's velocity has jumped, and the ball's middle is in the cylinder over the racket (VolleyBots,
    `volleyball_1v1.py`, 680493a). There contacts happen at the ends of decisions; here they happen at any
    time, so the ball is carried on from the start of the decision, and back from its end.
    """
    inside = before.pos_m[..., 0] < -np.inf
    for share in PATH:
        on_s = share * scenario.period_s
        inside = inside | over_racket(scenario, before, on_s) | over_racket(scenario, after, -on_s)
    return jumped(scenario, before, after)[..., None] & inside


def jumped(scenario: VolleyScenario, before: TeamWorld, after: TeamWorld) -> Array:
    """[...] bool: the ball's velocity has changed in this decision as only a hit changes it."""
    change = after.own.ball_vel_m_s - before.own.ball_vel_m_s
    aside = (change[..., :2] * change[..., :2]).sum(-1)
    return (change[..., 2] > JUMP_M_S2 * scenario.period_s) | (aside > JUMP_M_S**2)


def over_racket(scenario: VolleyScenario, world: TeamWorld, on_s: float) -> Array:
    """[..., N] bool: the ball's middle, carried on by its velocity for a time [s], is in the cylinder over the robot's
    racket."""
    racket, ball = scenario.with_ball
    up = join(up_axis(components(world.quat_wxyz)))
    own: VolleyOwn = world.own
    away = (own.ball_pos_m + on_s * own.ball_vel_m_s)[..., None, :] - world.pos_m - on_s * world.vel_m_s
    along = (away * up).sum(-1)
    aside = (away * away).sum(-1) - along * along
    return (along >= 0) & (along <= CYLINDER * ball.radius_m) & (aside <= racket.radius_m**2)
