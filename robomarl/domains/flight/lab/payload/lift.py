"""The lift task: the team brings the load that hangs from its cables to a pose, and keeps it there.

The rewards start from Zeng et al. (CoRL 2025): pose, smoothness, effort, downwash. All robots get
equal rewards.
"""

import itertools
from dataclasses import replace

import numpy as np

from robomarl.core.geometry import namespace, quat_conjugate, quat_multiply, smooth_norm
from robomarl.core.spec import ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.core.vectors import cross, dot, to_body, to_world, up_axis
from robomarl.domains.flight.lab.payload.controllers import catch
from robomarl.domains.flight.lab.payload.controllers.catch import CatchLaw
from robomarl.domains.flight.lab.payload.controllers.decentralized import PlaceLaw
from robomarl.domains.flight.lab.payload.controllers.goal_motion import goal_fields
from robomarl.domains.flight.lab.payload.controllers.lost_mate import lasting_fields
from robomarl.domains.flight.lab.payload.controllers.trim import trim_fields
from robomarl.domains.flight.lab.payload.follow import pose_errors
from robomarl.domains.flight.lab.payload.state import attitude, flying, origin, spread
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.base import Task, Terms
from robomarl.domains.flight.lab.tasks.unseen import unseen
from robomarl.domains.flight.lab.world import FlightWorld, positions, velocities

HISTORY = 3
CRUISE_M_S, CRUISE_RAD_S = 0.8, 0.7
"""Fastest that the load shall move and turn on its way to the goal, in the potential."""
CROWDED, APART = 2.0, 2.6
"""Times the safety distance: nearer than that vehicles crowd each other; so far apart they are under the law, which the
safety filter hardly changes."""
WEIGHTS = {
    "progress": 2.0,
    "position": 1.5,
    "attitude": 1.5,
    "precise": 1.0,
    "smooth": 0.5,
    "rates": 0.5,
    "effort": 0.5,
    "downwash": 0.5,
    "spread": 1.0,
    "apart": 0.0,
    "lean": 0.0,
    "failed": -10.0,
}


def observation(scenario: FlightScenario) -> ObservationSpec:
    """Return the observation: load, own state, goal, its motion and own index; no teammates, no velocity
    of the load, no message.

    A thrown team observes less of the load, and the teammates.
    """
    if thrown(scenario):
        return catch.observation(scenario)
    pose = ("load_error", "load_turn", "point_error", "place_error", "cable", "load_axes")
    fields = (*pose, "own_axes", "velocity", "body_rates")
    past = tuple(ObservationField(name, HISTORY) for name in fields)
    return ObservationSpec((*past, ObservationField("own_index"), *means_of(scenario)))


def means_of(scenario: FlightScenario) -> tuple[ObservationField, ...]:
    """Return the fields that carriers observe over time: the goal's motion, lasting effects of a lost teammate, and
    the own point's error.
    """
    follow_s, trim_s = (scenario.load.follow_s, scenario.load.trim_s) if scenario.load else (0.0, 0.0)
    period_s = scenario.period_s
    lasting = lasting_fields(scenario.remembered_s, period_s)
    return (*goal_fields(follow_s, period_s), *lasting, *trim_fields(trim_s, period_s))


def thrown(scenario: FlightScenario) -> bool:
    """Return True if the team starts in attitudes from which no robot could carry."""
    return scenario.cables is not None and scenario.cables.start_tilt_rad > np.pi / 2


LOST = (0.3, 4.0)
"""Range of the time at which a vehicle is lost in imitation, over the time limit. One team in five loses a cable
while it flies, and one in five a vehicle's motors; the remaining robots learn from it the scripted controller's
response.
"""


def with_losses(scenario: FlightScenario) -> FlightScenario:
    """The scenario with vehicles that are lost now and then, where they carry a load and are not lost already."""
    if scenario.load is None or thrown(scenario):
        return scenario
    span = (LOST[0] * scenario.time_limit_s, LOST[1] * scenario.time_limit_s)
    return replace(scenario, randomize=replace(scenario.randomize, cut_s=span, motors_off_s=span))


def law(scenario: FlightScenario) -> PlaceLaw | CatchLaw:
    """The law that flies without learning, and that policies imitate."""
    scenario.command.must_be_flown(scenario.name, "the law")
    return CatchLaw(scenario) if thrown(scenario) else PlaceLaw(scenario)


def action(scenario: FlightScenario) -> ActionSpec:
    """Return the elements of the scenario's kind of command, within its limits."""
    limits = zip(scenario.command.elements, *scenario.command_limits, strict=True)
    return ActionSpec(tuple(ActionField(*names, float(low), float(high)) for names, low, high in limits))


def reward_terms(scenario: FlightScenario, before: FlightWorld, after: FlightWorld, command: Array) -> Terms:
    """Named terms, [..., N] each, before their weights."""
    xp = namespace(after.goal_m)
    count, one = scenario.count, after.goal_m[..., 0] * 0 + 1
    distance, angle = pose_errors(after)
    change, now = after.queue[0] - before.queue[0], after.queue[0]
    busiest = xp.stack(after.body.rotors, -1).max((-1, -2)) / scenario.vehicle_config.rotors.max_thrust_n
    shared = {
        "progress": (potential(after) - potential(before)) / scenario.period_s,
        "position": xp.exp(-1.5 * distance),
        "attitude": xp.exp(-1.5 * angle),
        "precise": xp.exp(-10 * distance) * xp.exp(-5 * angle),
        "smooth": xp.exp(-(change * change).sum((-1, -2)) / count**2),
        "rates": xp.exp(-xp.sqrt((now[..., scenario.command.rates_from :] ** 2).sum((-1, -2)) + 1e-9) / count),
        "effort": xp.exp(-busiest),
        "downwash": 1 - xp.exp(-3 * wash_distance(after).min(-1)),
        "spread": -crowding(scenario, after),
        "apart": -crowding(scenario, after, APART),
        "lean": up_axis(after.body.quat)[2].mean(-1) - 1,
        "failed": failed(scenario, after) / scenario.period_s,
    }
    return {name: value[..., None] * one for name, value in shared.items()}


def potential(world: FlightWorld) -> Array:
    """[...] how well the load is under way, 0 at rest at the goal; its change is the progress term.

    Distance [m] and angle [rad] to the goal, and a share of the error of velocity and angular velocity: towards the
    goal, slower near it. As the change of a potential it does not change which policy is best (Ng, Harada and
    Russell, 1999), but the right pull at a cable pays at once instead of seconds later.
    """
    xp, load = namespace(world.goal_m), world.carried
    rigid = load.rigid
    way = world.goal_m[..., 0, :] - origin(rigid, load.cargo.com_m)
    turn = rotation_vector(load.goal_quat[..., 0, :], attitude(rigid))
    vel, omega = xp.stack(rigid.vel, -1), xp.stack(to_world(rigid.quat, rigid.omega), -1)
    value = 0.0
    for left, rate, fastest in ((way, vel, CRUISE_M_S), (turn, omega, CRUISE_RAD_S)):
        size = smooth_norm(left)
        wanted = left * xp.minimum(fastest / (size + 1e-6), 1.5)[..., None]
        value = value - size - 0.4 * xp.sqrt(((rate - wanted) ** 2).sum(-1) + 1e-9)
    return value


def rotation_vector(goal: Array, now: Array) -> Array:
    """[..., 3] axis times angle of the rotation from one attitude to another, in the world [rad]."""
    xp = namespace(goal)
    relative = quat_multiply(goal, quat_conjugate(now))
    sine, sign = smooth_norm(relative[..., 1:]), xp.where(relative[..., :1] < 0, -1.0, 1.0)
    angle = 2 * xp.arctan2(sine, xp.abs(relative[..., 0]))
    return relative[..., 1:] * sign * (angle / sine)[..., None]


def wash_distance(world: FlightWorld) -> Array:
    """[..., N] distance between the thrust line of each vehicle and the load's centre of mass [m]."""
    load, xp = world.carried, namespace(world.goal_m)
    away = tuple(r - p for r, p in zip(spread(load.rigid.pos), world.body.pos, strict=True))
    aside = cross(away, up_axis(world.body.quat))
    return xp.sqrt(dot(aside, aside) + 1e-9)


def crowding(scenario: FlightScenario, world: FlightWorld, times: float = CROWDED) -> Array:
    """Return [...] how deep the closest vehicles are inside `times` the safety distance: 0 outside, 1 at the centre."""
    near = times * scenario.vehicle_config.safety.separation_m
    return namespace(world.goal_m).maximum(1 - least_gap(scenario, world) / near, 0.0)


def least_gap(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[...] least distance between two vehicles that still fly [m]."""
    xp = namespace(world.goal_m)
    up = flying(world.carried, world.step * scenario.period_s)
    pos, least = world.body.pos, None
    for i, j in itertools.combinations(range(scenario.count), 2):
        gap = xp.sqrt(sum((p[..., i] - p[..., j]) ** 2 for p in pos))
        gap = xp.where(up[..., i] & up[..., j], gap, 1e3)
        least = gap if least is None else xp.minimum(least, gap)
    return pos[0][..., 0] * 0 + 1e3 if least is None else least


def failed(scenario: FlightScenario, world: FlightWorld) -> Array:
    """Return True [...] if vehicles touched each other or the load, cables crossed or wound up, or a
    vehicle or the load left the arena.

    A vehicle that is lost does not count: it hangs or has fallen.
    """
    load, (_, cables) = world.carried, scenario.carried
    up = flying(load, world.step * scenario.period_s)
    radius = scenario.vehicle_config.body.radius_m
    touching = least_gap(scenario, world) < 2 * radius
    bumped = ((box_distance(scenario, world) < radius) & up).any(-1)
    away = (outside(scenario, positions(world.body)) & up).any(-1)
    fallen = outside(scenario, origin(load.rigid, load.cargo.com_m))
    wound = namespace(world.goal_m).abs(load.winding_rad.mean(-1)) > cables.max_twist_rad
    return touching | bumped | away | fallen | wound | (load.crossed & cables.crossing_fails)


def box_distance(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[..., N] distance of each vehicle's centre to the load's box [m]."""
    load, (section, _), xp = world.carried, scenario.carried, namespace(world.goal_m)
    away = tuple(p - r for p, r in zip(world.body.pos, spread(load.rigid.pos), strict=True))
    local = tuple(a + c for a, c in zip(to_body(spread(load.rigid.quat), away), spread(load.cargo.com_m), strict=True))
    square = 0.0
    for x, low, high in zip(local, section.box_low_m, section.box_high_m, strict=True):
        square = square + xp.maximum(xp.maximum(low - x, x - high), 0.0) ** 2
    return xp.sqrt(square + 1e-12)


def outside(scenario: FlightScenario, place: Array) -> Array:
    """[...] bool: a place [..., 3] is outside the arena."""
    arena = scenario.arena
    return ((place < np.array(arena.low_m)) | (place > np.array(arena.high_m))).any(-1)


def succeeded(scenario: FlightScenario, world: FlightWorld) -> Array:
    """[...] bool: the load has been at its goal for the hold time."""
    return (world.arrived_s >= scenario.success.hold_s - 1e-4).all(-1)


def team_privileged(scenario: FlightScenario, world: FlightWorld) -> Array:
    """Return [..., P] for the critic: true load, vehicles, cables and goal, parameters that no robot observes, and
    time left.
    """
    load, xp = world.carried, namespace(world.goal_m)
    rigid = load.rigid
    place = origin(rigid, load.cargo.com_m)
    team = [place, attitude(rigid), xp.stack(rigid.vel, -1), xp.stack(rigid.omega, -1)]
    team += [world.goal_m[..., 0, :] - place, load.goal_quat[..., 0, :]]
    scale = load.cargo.mass_kg / scenario.carried[0].mass_kg
    team += [xp.stack([scale - 1, *load.cargo.com_m[:2], 1 - world.step / scenario.max_steps], -1)]
    pos = positions(world.body) - place[..., None, :]
    each = [pos, velocities(world.body), xp.stack(world.body.quat, -1), xp.stack(world.body.omega, -1)]
    each += [load.tension_n[..., None] * 0.1, load.cargo.length_m[..., None], unseen(scenario, world)]
    return xp.concatenate([*team, xp.concatenate(each, -1).reshape(*place.shape[:-1], -1)], -1)


def privileged(scenario: FlightScenario, world: FlightWorld) -> Array:
    """Return [..., N, P]: `team_privileged` for each robot, and the robot's index."""
    shared, xp = team_privileged(scenario, world), namespace(world.goal_m)
    index = xp.asarray(np.eye(scenario.count, dtype=np.float32))
    whole = shared[..., None, :] + world.goal_m[..., :1] * 0
    return xp.concatenate([whole, index + whole[..., :1] * 0], -1)


TASK = Task(
    observation, action, reward_terms, WEIGHTS, failed, succeeded, privileged, pose_errors, team_privileged, law
)
