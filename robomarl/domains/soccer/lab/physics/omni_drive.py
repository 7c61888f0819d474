"""The omnidirectional robot: how its wheels follow a command. Array-generic, on components of any one shape.

All engines use `drive`; only `fast` uses `roll_on`, which MuJoCo does there.
"""

import math
from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.soccer.lab.scenario import SoccerScenario

Accel = tuple[Array, Array, Array]
"""Acceleration along world x and y [m/s^2], and angular acceleration [rad/s^2]."""


class OmniRobots(NamedTuple):
    """All robots on the field, ours first."""

    x: Array
    """[m] world."""
    y: Array
    c: Array
    """Cosine of the heading."""
    s: Array
    """Sine of the heading."""
    vx: Array
    """[m/s] world."""
    vy: Array
    turn: Array
    """[rad/s] yaw rate."""
    charge_s: Array
    """Time until the kicker is charged; 0 when it is."""


def drive(scenario: SoccerScenario, robots: OmniRobots, command: tuple[Array, ...], scale: Array) -> Accel:
    """Return the acceleration that the wheels make of a command (acceleration x, y, yaw rate) in one
    sub-step.

    The speed limit comes first, then the limit of every wheel's rim: where one would slip, the whole
    motion is scaled down, so that the robot keeps its direction.
    """
    xp = namespace(robots.x)
    limits, dt_s, traction = scenario.robot.limits, scenario.physics_dt_s, scenario.traction
    vx, vy = robots.vx + command[0] * scale * dt_s, robots.vy + command[1] * scale * dt_s
    slower = limits.speed_m_s / xp.sqrt(xp.maximum(vx * vx + vy * vy, limits.speed_m_s**2))
    ax, ay = (vx * slower - robots.vx) / dt_s, (vy * slower - robots.vy) / dt_s
    gain = -math.expm1(-traction.yaw_rate_per_s * dt_s) / dt_s
    alpha = (command[2] - robots.turn) * gain
    fastest = rim(scenario, robots, (ax, ay, alpha))
    share = traction.rim_accel_m_s2 / xp.maximum(fastest, traction.rim_accel_m_s2)
    return ax * share, ay * share, alpha * share


def rim(scenario: SoccerScenario, robots: OmniRobots, motion: Accel) -> Array:
    """Largest size of any wheel rim's part of a motion of the robot: of its velocity or of its acceleration.

    A wheel at angle p drives along (-sin p, cos p) in the body frame and sees the turn at its lever.
    """
    xp, wheels = namespace(robots.x), scenario.robot.wheels
    forward = robots.c * motion[0] + robots.s * motion[1]
    left = robots.c * motion[1] - robots.s * motion[0]
    across = motion[2] * wheels.lever_m
    parts = [xp.abs(left * math.cos(p) - forward * math.sin(p) + across) for p in wheels.angles_rad]
    largest = parts[0]
    for part in parts[1:]:
        largest = xp.maximum(largest, part)
    return largest


def roll_on(robots: OmniRobots, accel: Accel, dt_s: float) -> OmniRobots:
    """One sub-step at constant acceleration, exact in the plane."""
    xp = namespace(robots.x)
    ax, ay, alpha = accel
    angle = dt_s * (robots.turn + dt_s / 2 * alpha)
    square = angle * angle
    sin, cos = angle * (1 - square * (1 / 6 - square / 120)), 1 - square * (0.5 - square / 24)
    c, s = robots.c * cos - robots.s * sin, robots.s * cos + robots.c * sin
    even = 1.5 - 0.5 * (c * c + s * s)  # one Newton step to length 1
    return OmniRobots(
        x=robots.x + dt_s * (robots.vx + dt_s / 2 * ax),
        y=robots.y + dt_s * (robots.vy + dt_s / 2 * ay),
        c=c * even,
        s=s * even,
        vx=robots.vx + dt_s * ax,
        vy=robots.vy + dt_s * ay,
        turn=robots.turn + dt_s * alpha,
        charge_s=xp.maximum(robots.charge_s - dt_s, 0.0),
    )
