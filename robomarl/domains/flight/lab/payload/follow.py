"""Effects of a decision on the load beyond its motion: noise, crossings, winding, arrival. Array-generic."""

from robomarl.core.geometry import components, join, namespace, norm, quat_multiply, rotation_angle
from robomarl.core.types import Array
from robomarl.core.vectors import multiply
from robomarl.domains.flight.lab.payload.cables import azimuth, crossed, segments, turned
from robomarl.domains.flight.lab.payload.state import Load, attitude, origin, spread
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld

LOAD_STEP_DRAWS = 6
"""Uniform draws per robot and decision for the noise on the load's pose."""


def follow_load(scenario: FlightScenario, before: FlightWorld, after: FlightWorld, draws: Array) -> FlightWorld:
    """The part of `FlightWorld` that a load adds; see `robomarl.domains.flight.lab.step.Part`."""
    load, old = after.carried, before.carried
    pos, quat = measure_load(scenario, load, after.hidden.noise_scale, draws[..., -LOAD_STEP_DRAWS:])
    direction = azimuth(after.body, load.rigid)
    load = load._replace(
        measured_pos_m=pos,
        measured_quat=quat,
        crossed=crossed(segments(before.body, old.rigid, old.cargo), segments(after.body, load.rigid, load.cargo)),
        azimuth_rad=direction,
        winding_rad=load.winding_rad + turned(load.azimuth_rad, direction),
    )
    after = after._replace(goal_m=move_goal(scenario, after.goal_m, after.step))
    return after._replace(load=load, arrived_s=load_arrival(scenario, after, before.arrived_s))


def move_goal(scenario: FlightScenario, goal_m: Array, step: Array) -> Array:
    """[..., N, 3] the goal one period later on its path, if it has one."""
    path = scenario.goal_path
    if path is None:
        return goal_m
    time_s = step * scenario.period_s + path.ahead_s
    moved = path.offset_m(time_s) - path.offset_m(time_s - scenario.period_s)
    return (goal_m + moved[..., None, :]).astype(goal_m.dtype)


def measure_load(scenario: FlightScenario, load: Load, scale: Array, draws: Array) -> tuple[Array, Array]:
    """Return each robot's measurement of the load's pose: the truth and a bounded uniform error, [..., N, 6] draws."""
    xp = namespace(draws)
    error = (2 * draws - 1) * scale[..., None]
    pos = origin(load.rigid, load.cargo.com_m)[..., None, :]
    half = scenario.sensing.load_attitude_noise_rad / 2 * error[..., 3:]
    small = (xp.sqrt(1 - (half * half).sum(-1)), *components(half))
    # By components: the gradient of a product of joined quaternions XLA works out anew for each of their elements.
    return pos + scenario.sensing.load_position_noise_m * error[..., :3], join(multiply(spread(load.rigid.quat), small))


def pose_errors(world: FlightWorld) -> tuple[Array, Array]:
    """[...] distance [m] and angle [rad] between the load and its goal, true values."""
    load = world.carried
    place = origin(load.rigid, load.cargo.com_m)
    return norm(place - world.goal_m[..., 0, :]), rotation_angle(load.goal_quat[..., 0, :], attitude(load.rigid))


def path_error(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[...] distance [m] between the load and where it shall be on its path now; the goal runs ahead of that."""
    load, path = world.carried, scenario.goal_path
    assert path is not None, "only for goals that move"
    time_s = world.step * scenario.period_s
    ahead = path.offset_m(time_s + path.ahead_s) - path.offset_m(time_s)
    return norm(origin(load.rigid, load.cargo.com_m) - world.goal_m[..., 0, :] + ahead)


def load_arrival(scenario: FlightScenario, world: FlightWorld, so_far: Array) -> Array:
    """Return the time [..., N] for which the load has been at its goal, one more period counted in; equal for all
    robots.
    """
    xp = namespace(world.goal_m)
    distance, angle = pose_errors(world)
    there = (distance < scenario.success.position_m) & (angle < scenario.success.attitude_rad)
    return xp.where(there[..., None], so_far + scenario.period_s, 0.0).astype(so_far.dtype)


def goal_attitude(roll: Array, pitch: Array, yaw: Array) -> Array:
    """[..., 4] attitude of a heading, then a pitch, then a roll (intrinsic z, y, x)."""
    xp = namespace(roll)
    zero = roll * 0
    parts = [
        join([xp.cos(yaw / 2), zero, zero, xp.sin(yaw / 2)]),
        join([xp.cos(pitch / 2), zero, xp.sin(pitch / 2), zero]),
        join([xp.cos(roll / 2), xp.sin(roll / 2), zero, zero]),
    ]
    return quat_multiply(quat_multiply(parts[0], parts[1]), parts[2])
