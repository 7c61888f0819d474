"""Start of an episode with a load: the load's pose and goal, the vehicles above it, the randomized parameters."""

import math

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, Vec4, to_world
from robomarl.domains.flight.core.control.indi import Control, Reading, rest_control
from robomarl.domains.flight.core.payload.scenario import CableConfig, LoadConfig, PoseRange
from robomarl.domains.flight.lab.payload.cables import azimuth
from robomarl.domains.flight.lab.payload.follow import goal_attitude
from robomarl.domains.flight.lab.payload.state import NEVER_S, CargoParameters, Load, Rigid, spread
from robomarl.domains.flight.lab.quadrotor import RigidVehicle
from robomarl.domains.flight.lab.randomize import RandomizeConfig
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.sim.randomize import Interval, between

LOAD_DRAWS = 20
"""Uniform draws per team: poses of start and goal, the load's mass and centre, and the lost vehicle with its time."""


def start_load(scenario: FlightScenario, draws: Array, robot: Array) -> tuple[Load, Array]:
    """The load at the start of an episode, and its goal's place [..., N, 3].

    Args:
        scenario: fixed numbers and ranges; it has a load.
        draws: [..., LOAD_DRAWS] uniform in [0, 1).
        robot: [..., N, 16] uniform draws of the vehicles.
    """
    load, cables = scenario.carried
    xp = namespace(draws)
    place, quat = draw_pose(load.start, draws[..., 0:6])
    goal, goal_quat = draw_pose(load.goal, draws[..., 6:12])
    cargo = draw_cargo(scenario.randomize, (load, cables), draws[..., 12:20], robot)
    parts = _parts(quat)
    centre = tuple(p + o for p, o in zip(_parts(place), to_world(parts, cargo.com_m), strict=True))
    zero = centre[0] * 0
    rigid = Rigid(centre, parts, (zero, zero, zero), (zero, zero, zero))
    each = robot[..., 0] * 0
    fan_out = each[..., None]
    return Load(
        rigid=rigid,
        cargo=cargo,
        tension_n=each,
        measured_pos_m=place[..., None, :] + fan_out,
        measured_quat=quat[..., None, :] + fan_out,
        goal_quat=goal_quat[..., None, :] + fan_out,
        crossed=xp.zeros(zero.shape, bool),
        azimuth_rad=each,
        winding_rad=each,
    ), goal[..., None, :] + fan_out


def draw_pose(span: PoseRange, draws: Array) -> tuple[Array, Array]:
    """Place [..., 3] and attitude [..., 4] out of a range; `draws` is [..., 6]."""
    xp = namespace(draws)
    low, high = (xp.asarray(corner, dtype=draws.dtype) for corner in (span.low_m, span.high_m))
    roll, pitch, yaw = (2 * draws[..., i] - 1 for i in (3, 4, 5))
    quat = goal_attitude(roll * span.tilt_rad, pitch * span.tilt_rad, yaw * span.yaw_rad)
    return low + (high - low) * draws[..., :3], quat


def draw_cargo(
    ranges: RandomizeConfig, sections: tuple[LoadConfig, CableConfig], team: Array, robot: Array
) -> CargoParameters:
    """Draw the parameters of the load and the cables; `team` is [..., 8]."""
    xp = namespace(team)
    load, cables = sections
    count = robot.shape[-2]
    offset, turn = between(ranges.load_com_m, team[..., 1]), 2 * math.pi * team[..., 2]
    x, y, z = load.com_m
    aside, way = between(ranges.attachment_m, robot[..., 7]), 2 * math.pi * robot[..., 8]
    points = np.array(cables.load_points_m, np.float32)
    px, py, pz = (xp.asarray(points[:, i], dtype=robot.dtype) for i in range(3))
    lost = xp.asarray(np.arange(count)) == xp.floor(team[..., 3:4] * count)
    still = robot[..., 9] * 0
    return CargoParameters(
        mass_kg=load.mass_kg * between(ranges.load_mass_scale, team[..., 0]),
        com_m=(x + offset * xp.cos(turn), y + offset * xp.sin(turn), z + 0 * turn),
        point_m=(px + aside * xp.cos(way), py + aside * xp.sin(way), pz + still),
        length_m=cables.length_m * between(ranges.cable_scale, robot[..., 9]),
        cut_s=xp.where(lost, _time(ranges.cut_s, team[..., 4:5]), NEVER_S) + still,
        off_s=xp.where(lost, _time(ranges.motors_off_s, team[..., 5:6]), NEVER_S) + still,
    )


def _time(interval: Interval, draw: Array) -> Array:
    """When something happens; a range that ends at 0 means never."""
    return namespace(draw).where(interval[1] > 0, between(interval, draw), draw * 0 + NEVER_S)


def place_vehicles(scenario: FlightScenario, load: Load, robot: Array) -> tuple[RigidVehicle, Control, Load]:
    """The vehicles above the load, their controllers' memory, and the load with its cables known.

    Each vehicle is at the end of its cable, which leans outwards, or nearer by its slack.

    Args:
        scenario: fixed numbers and ranges.
        load: of `start_load`.
        robot: [..., N, 16] uniform draws.
    """
    (_, cables), xp = scenario.carried, namespace(robot)
    rigid, each = load.rigid, robot[..., 0] * 0
    lean = tuple(xp.asarray(c, dtype=robot.dtype) + each for c in outward(cables).T)
    reach = load.cargo.length_m * (1 - cables.start_slack * robot[..., 2])
    arm = zip(load.cargo.point_m, spread(load.cargo.com_m), lean, strict=True)
    away = to_world(spread(rigid.quat), tuple(p - c + o * reach for p, c, o in arm))
    quat = tilted(cables.start_tilt_rad * robot[..., 0], 2 * math.pi * robot[..., 1])
    tied = to_world(quat, tuple(each + p for p in cables.vehicle_point_m))
    pos = tuple(r + a - t for r, a, t in zip(spread(rigid.pos), away, tied, strict=True))
    thrown = tuple(cables.start_speed_m_s * part for part in direction(robot[..., 0, 3], robot[..., 0, 4]))
    body = RigidVehicle(pos, quat, tuple(v + each for v in spread(thrown)), (each, each, each), (each,) * 4)
    body, control, tension = hover(scenario, body, to_world(spread(rigid.quat), lean))
    rigid = rigid._replace(vel=thrown)
    return body, control, load._replace(rigid=rigid, tension_n=tension, azimuth_rad=azimuth(body, rigid))


def direction(height: Array, turn: Array) -> Vec3:
    """A unit vector, uniform on the sphere, from two uniform draws (Archimedes: its height is uniform)."""
    xp = namespace(height)
    z, angle = 2 * height - 1, 2 * math.pi * turn
    flat = xp.sqrt(1 - z * z)
    return flat * xp.cos(angle), flat * xp.sin(angle), z


def hover(scenario: FlightScenario, body: RigidVehicle, lean: Vec3) -> tuple[RigidVehicle, Control, Array]:
    """Rotors and controllers as after some time of hovering with taut cables (or slack ones), and the tensions."""
    vehicle, (load, cables) = scenario.vehicle_config, scenario.carried
    taut = 1.0 if cables.start_slack == 0 else 0.0
    mass, each = vehicle.body.mass_kg, body.pos[0] * 0
    tension = each + namespace(each).asarray(taut * hanging(load, cables), dtype=each.dtype)
    pull = tuple(-tension * o for o in lean)
    rotor = (mass * GRAVITY_M_S2 - pull[2]) / 4
    body = body._replace(rotors=(rotor,) * 4)
    reading = Reading(body.quat, body.vel, body.omega, body.rotors)
    return body, rest_control(reading, tuple(p / mass for p in pull)), tension


def hanging(load: LoadConfig, cables: CableConfig) -> np.ndarray:
    """[N] tensions [N] of the level load at rest: vertical parts without a moment, of least sum of squares."""
    points = np.array(cables.load_points_m) - np.array(load.com_m)
    balance = np.stack([np.ones(len(points)), points[:, 0], points[:, 1]])
    lift = np.linalg.lstsq(balance, np.array([load.mass_kg * GRAVITY_M_S2, 0.0, 0.0]), rcond=None)[0]
    return np.maximum(lift, 0.0) / np.cos(cables.spread_rad)


def outward(cables: CableConfig) -> np.ndarray:
    """[N, 3] unit vectors in the load frame along which the cables lean from the load to the vehicles."""
    points = np.array(cables.load_points_m)[:, :2]
    away = points - points.mean(0)
    away = away / np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-6)
    sine, cosine = math.sin(cables.spread_rad), math.cos(cables.spread_rad)
    return np.concatenate([sine * away, np.full((len(away), 1), cosine)], -1)


def tilted(angle_rad: Array, direction_rad: Array) -> Vec4:
    """Attitude turned from level by an angle about a horizontal axis."""
    xp = namespace(angle_rad)
    sine = xp.sin(angle_rad / 2)
    return (xp.cos(angle_rad / 2), sine * xp.cos(direction_rad), sine * xp.sin(direction_rad), angle_rad * 0)


def _parts(vector: Array) -> tuple[Array, ...]:
    return tuple(vector[..., i] for i in range(vector.shape[-1]))
