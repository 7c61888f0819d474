"""The swap task: every robot flies to its own goal, through its teammates, without touching any.

Also the task of `goto_N`: only the goals differ, and they are the scenario's.
"""

import math

from robomarl.core.geometry import namespace, norm
from robomarl.core.spec import ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.core.vectors import up_axis
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.base import Task, Terms
from robomarl.domains.flight.lab.tasks.roundabout import RoundaboutLaw
from robomarl.domains.flight.lab.tasks.unseen import unseen
from robomarl.domains.flight.lab.world import FlightWorld, positions, velocities
from robomarl.lab.sim.message import mates_of
from robomarl.lab.sim.model.obstacles import obstacle_gap

KEEP_OUT = 2.5
"""Width of the keep-out ellipsoid of the reward, in safety distances."""

PRECISE_M = 0.05
"""Distance over which the reward for being exactly at the goal falls to a third."""

WEIGHTS = {
    "progress": 3.0,
    "near": 0.6,
    "arrived": 1.0,
    "settle": -0.3,
    "close": -10.0,
    "smooth": -0.01,
    "precise": 0.0,
    "yaw": -0.02,
    "contact": -20.0,
    "outside": -20.0,
}


def observation(scenario: FlightScenario) -> ObservationSpec:
    """Own state relative to the goal, the nearest team-mates, and a mean of the error where the scenario says so."""
    names = ("goal_error", "velocity", "body_up", "heading_error", "neighbours")
    fields = [ObservationField(name) for name in names]
    if scenario.remembered_s:
        fields.append(ObservationField("near_error", keep=math.exp(-scenario.period_s / scenario.remembered_s)))
    return ObservationSpec(tuple(fields), scenario.radio.rule)


def action(scenario: FlightScenario) -> ActionSpec:
    """World-frame acceleration and yaw rate, within the vehicle's limits and the scenario's."""
    limits = scenario.vehicle_config.limits
    most = scenario.action_m_s2 or (math.inf,) * 3
    accel = [
        ActionField(f"acceleration.{axis}", "m/s^2", "world", max(low, -m), min(high, m))
        for axis, low, high, m in zip("xyz", limits.accel_min_m_s2, limits.accel_max_m_s2, most, strict=True)
    ]
    yaw_rate = ActionField("yaw_rate", "rad/s", "world", -limits.yaw_rate_rad_s, limits.yaw_rate_rad_s)
    return ActionSpec((*accel, yaw_rate))


def tolerance(value: Array, within: float, margin: float) -> Array:
    """1 where |value| is at most `within`, falling to 0.1 at `within + margin` along a Gaussian.

    The shape of dm_control's `rewards.tolerance` (Tassa et al., 2018).
    """
    xp = namespace(value)
    beyond = xp.maximum(xp.abs(value) - within, 0.0) / margin
    return xp.exp(-2.302585 * beyond * beyond)


def reward_terms(scenario: FlightScenario, before: FlightWorld, after: FlightWorld, command: Array) -> Terms:
    """Named terms, [..., N] each, before their weights; rates are per second, so that weights are too."""
    now = norm(positions(after.body) - after.goal_m)
    speed = norm(velocities(after.body))
    near = tolerance(now, scenario.success.position_m, margin=0.5)
    jerk = (after.queue[0] - before.queue[0])[..., :3]
    return {
        "progress": (potential(scenario, after) - potential(scenario, before)) / scenario.period_s,
        "near": near,
        "arrived": (after.arrived_s > 0).astype(now.dtype),
        "settle": near * speed,
        "close": intrusion(scenario, after),
        "smooth": (jerk * jerk).sum(-1),
        "precise": namespace(now).exp(now * (-1 / PRECISE_M)),
        "yaw": after.queue[0][..., 3] ** 2,
        "contact": touching(scenario, after).astype(now.dtype) / scenario.period_s,
        "outside": outside(scenario, after).astype(now.dtype) / scenario.period_s,
    }


def potential(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[..., N] how well the robot is under way [m], 0 at rest at the goal; its change is the progress term.

    Distance to the goal, and half a second's worth of the error of the velocity: towards the goal, slower near
    it. As the change of a potential it does not change which policy is best (Ng, Harada and Russell, 1999), but
    an acceleration pays at once instead of seconds later.
    """
    xp = namespace(world.goal_m)
    error = world.goal_m - positions(world.body)
    distance = norm(error)
    cruise = 0.8 * scenario.vehicle_config.limits.speed_m_s
    wanted = error * xp.minimum(cruise / (distance + 1e-6), 1.5)[..., None]
    return -distance - 0.5 * norm(velocities(world.body) - wanted)


def intrusion(scenario: FlightScenario, world: FlightWorld) -> Array:
    """Return [..., N] how deep teammates are inside the keep-out ellipsoid, summed over them: each 0
    outside, 1 at the centre.

    The ellipsoid is `KEEP_OUT` times the safety distance wide, and taller by the downwash ratio. It
    is much larger than the range of contact: contacts are too rare to learn from, near misses are
    not.
    """
    xp = namespace(world.goal_m)
    safety = scenario.vehicle_config.safety
    pos = positions(world.body) / xp.asarray((1.0, 1.0, safety.downwash_ratio), dtype=world.goal_m.dtype)
    mates = mates_of(scenario.count) if world.near is None else world.near
    gap = norm(pos[..., mates, :] - pos[..., :, None, :])
    if world.near is not None:
        gap = xp.where(world.near == xp.arange(scenario.count)[:, None], xp.inf, gap)
    return xp.maximum(1 - gap / (KEEP_OUT * safety.separation_m), 0.0).sum(-1)


def touching(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[..., N] bool: this robot's sphere touched another's since the last decision, or touches an obstacle."""
    radius = scenario.vehicle_config.body.radius_m
    return (world.closest_m < 2 * radius) | (obstacle_gap(scenario, world.body.pos) < radius)


def outside(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[..., N] bool: this robot is outside the arena."""
    arena = zip(world.body.pos, scenario.arena.low_m, scenario.arena.high_m, strict=True)
    out = [(p < low) | (p > high) for p, low, high in arena]
    return out[0] | out[1] | out[2]


def failed(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[...] bool: robots touched each other or an obstacle, or one left the arena."""
    return (touching(scenario, world) | outside(scenario, world)).any(-1)


def succeeded(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[...] bool: every robot has been at its goal, slow enough, for the hold time."""
    return (world.arrived_s >= scenario.success.hold_s - 1e-4).all(-1)


def privileged(scenario: FlightScenario, world: FlightWorld) -> Array:
    """Return [..., N, P] for the critic: true places, velocities and goals of all robots, seen from each robot, and
    time left; of the robot itself also attitude, rates and quantities that no robot observes (`unseen`).
    """
    xp = namespace(world.goal_m)
    pos, vel = positions(world.body), velocities(world.body)
    mates = mates_of(scenario.count) if world.near is None else world.near
    own = [world.goal_m - pos, vel, xp.stack(world.hidden.wind_m_s[:2], -1), world.arrived_s[..., None]]
    own += [xp.stack(up_axis(world.body.quat), -1), xp.stack(world.body.omega, -1), unseen(scenario, world)]
    others = [pos[..., mates, :] - pos[..., :, None, :], vel[..., mates, :], (world.goal_m - pos)[..., mates, :]]
    flat = xp.concatenate(others, -1)
    left = 1 - world.step[..., None, None] / scenario.max_steps + own[0][..., :1] * 0
    return xp.concatenate([*own, left, flat.reshape(*flat.shape[:-2], -1)], -1)


def team_privileged(scenario: FlightScenario, world: FlightWorld) -> Array:
    """Return [..., P], these values for a critic of the whole team: every robot once, from the origin of the arena."""
    xp = namespace(world.goal_m)
    pos, body = positions(world.body), world.body
    each = [pos, world.goal_m - pos, velocities(body), xp.stack(up_axis(body.quat), -1), xp.stack(body.omega, -1)]
    each += [world.arrived_s[..., None], unseen(scenario, world)]
    left = 1 - world.step[..., None] / scenario.max_steps
    shared = [world.hidden.wind_m_s[0][..., :1], world.hidden.wind_m_s[1][..., :1], left]
    flat = xp.concatenate(each, -1).reshape(*pos.shape[:-2], -1)
    return xp.concatenate([part.astype(flat.dtype) for part in (flat, *shared)], -1)


TASK = Task(
    observation,
    action,
    reward_terms,
    WEIGHTS,
    failed,
    succeeded,
    privileged,
    team_privileged=team_privileged,
    law=RoundaboutLaw,
)
