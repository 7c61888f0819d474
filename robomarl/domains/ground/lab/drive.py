"""Motion of robots on the floor in one decision, closed form. Array-generic.

A differential drive is commanded by the acceleration of its look-ahead point
(`robomarl.core.filter.model.look_ahead`). Its wheels take the speeds for this acceleration, all
slower by one factor if one would be too fast, and keep them until the next decision: on an arc of
a circle, which is integrated exactly. An omnidirectional robot's centre takes the commanded
velocity, and the robot turns at the commanded rate.
"""

from robomarl.core.filter.model.look_ahead import heading, wheel_accel
from robomarl.core.geometry import components, namespace
from robomarl.core.hardware.vehicle import DifferentialDrive, OmniRobot
from robomarl.core.types import Array
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.lab.sim.model import TeamWorld

TINY = 1e-9


def driven(scenario: GroundScenario, world: TeamWorld, command: Array, most_m_s: Array) -> TeamWorld:
    """Return the robots one decision later.

    Args:
        scenario: vehicle and rates.
        world: the state before.
        command: [..., N, 4] acceleration, world frame [m/s^2], and yaw rate [rad/s].
        most_m_s: [..., N] largest speed of each robot's commanded point; a robot that is faster slows
            down no faster than it can brake.
    """
    vehicle, period_s = scenario.vehicle_config, scenario.period_s
    if isinstance(vehicle, DifferentialDrive):
        return _on_arc(period_s, world, *wheel_twist(vehicle, period_s, world, command, most_m_s))
    velocity, turn = plane_twist(vehicle, period_s, world, command, most_m_s)
    xp, flat, half = namespace(turn), turn * 0, period_s * turn / 2
    vel = xp.concatenate([velocity, flat[..., None]], -1)
    return world._replace(
        pos_m=world.pos_m + period_s * vel,
        vel_m_s=vel,
        quat_wxyz=_turned(world.quat_wxyz, xp.cos(half), xp.sin(half)),
        omega_rad_s=xp.stack([flat, flat, turn], -1),
    )


def wheel_twist(
    vehicle: DifferentialDrive, period_s: float, world: TeamWorld, command: Array, most_m_s: Array
) -> tuple[Array, Array]:
    """Speed [m/s] and yaw rate [rad/s] of differential drives until the next decision, [..., N] each; see `driven`."""
    xp, drive, ahead = namespace(world.pos_m), vehicle.drive, vehicle.drive.look_ahead_m
    toward = heading(components(world.quat_wxyz), xp)
    speed = world.vel_m_s[..., 0] * toward[0] + world.vel_m_s[..., 1] * toward[1]
    turn = world.omega_rad_s[..., 2]
    made = wheel_accel((command[..., 0], command[..., 1], turn * 0), toward, speed, turn, ahead)
    forward, turned = speed + period_s * made.forward_m_s2, turn + period_s * made.turn_rad_s2
    braked = _size(speed, ahead * turn) - vehicle.safety.brake_m_s2 * period_s
    share = _share(_size(forward, ahead * turned), xp.maximum(braked, most_m_s))
    forward, turned = forward * share, turned * share
    share = _share(xp.abs(forward) + xp.abs(turned) * drive.track_m / 2, drive.wheel_speed_m_s)
    return forward * share, turned * share


def plane_twist(
    vehicle: OmniRobot, period_s: float, world: TeamWorld, command: Array, most_m_s: Array
) -> tuple[Array, Array]:
    """Velocity [..., N, 2] in the world and yaw rate [..., N] of omnidirectional robots; see `driven`."""
    xp = namespace(world.pos_m)
    before = world.vel_m_s[..., :2]
    velocity = before + period_s * command[..., :2]
    braked = _size(before[..., 0], before[..., 1]) - vehicle.safety.brake_m_s2 * period_s
    share = _share(_size(velocity[..., 0], velocity[..., 1]), xp.maximum(braked, most_m_s))
    rate = vehicle.limits.yaw_rate_rad_s
    return velocity * share[..., None], xp.clip(command[..., 3], -rate, rate)


def _on_arc(period_s: float, world: TeamWorld, forward: Array, turn: Array) -> TeamWorld:
    xp, flat, half = namespace(world.pos_m), forward * 0, turn * period_s / 2
    cos, sin, straight = xp.cos(half), xp.sin(half), xp.abs(half) < 1e-4
    chord = forward * period_s * xp.where(straight, 1.0, sin / xp.where(straight, 1.0, half))
    x, y = heading(components(world.quat_wxyz), xp)
    x, y = x * cos - y * sin, x * sin + y * cos  # in the middle of the arc, along its chord
    along = world.pos_m + xp.stack([chord * x, chord * y, flat], -1)
    x, y = x * cos - y * sin, x * sin + y * cos
    return world._replace(
        pos_m=along,
        vel_m_s=xp.stack([forward * x, forward * y, flat], -1),
        quat_wxyz=_turned(world.quat_wxyz, cos, sin),
        omega_rad_s=xp.stack([flat, flat, turn], -1),
    )


def _turned(quat_wxyz: Array, cos: Array, sin: Array) -> Array:
    """An upright attitude [..., 4] turned about z, by cosine and sine of half of the angle; arcs and their inverses,
    which it does without, took a quarter of a step."""
    xp, w, z = namespace(cos), quat_wxyz[..., 0], quat_wxyz[..., 3]
    w, z, flat = w * cos - z * sin, w * sin + z * cos, cos * 0
    scale = 1 / xp.sqrt(w * w + z * z)  # or rounding adds up
    return xp.stack([w * scale, flat, flat, z * scale], -1)


def _share(wanted: Array, most: Array) -> Array:
    """Return the factor, 1 at most, that reduces a size to its limit."""
    xp = namespace(wanted)
    return xp.minimum(1.0, most / xp.maximum(wanted, TINY))


def _size(x: Array, y: Array) -> Array:
    return namespace(x).sqrt(x * x + y * y + TINY)
