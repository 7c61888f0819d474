"""Start of an episode: places, goals and randomized parameters, array-generic."""

import math

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.geometry import namespace
from robomarl.core.hardware.sections import Vector3
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.domains.flight.lab.payload.start import LOAD_DRAWS, place_vehicles, start_load
from robomarl.domains.flight.lab.quadrotor import Physics, RigidVehicle, Vec3
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import (
    FlightParameters,
    FlightWorld,
    StateEstimates,
    positions,
    queue_length,
    velocities,
)
from robomarl.lab.sim.message import Air, Message, mates_of
from robomarl.lab.sim.randomize import between

ROBOT_DRAWS = 16
TEAM_DRAWS = 5


def num_cells(scenario: FlightScenario) -> int:
    """Further draws per team: a load's, or one for each place of random goals; 0 where there is neither."""
    if scenario.load:
        return LOAD_DRAWS
    return len(_cells(scenario)) if scenario.goal.kind == "random" else 0


def start_world(scenario: FlightScenario, robot: Array, team: Array, cells: Array) -> FlightWorld:
    """The state at the start of an episode; see `start_ring` for the arguments."""
    start = start_carrying if scenario.load else start_ring
    return start(scenario, robot, team, cells)


def start_ring(scenario: FlightScenario, robot: Array, team: Array, cells: Array) -> FlightWorld:
    """The start of a team that carries nothing: on a ring, or at places of its own.

    Args:
        scenario: fixed numbers and ranges.
        robot: [..., N, ROBOT_DRAWS] uniform draws in [0, 1).
        team: [..., TEAM_DRAWS] uniform draws.
        cells: [..., `num_cells`] uniform draws.
    """
    xp = namespace(robot)
    start, vehicle = scenario.start, scenario.vehicle_config
    turn = 2 * math.pi * team[..., 0]
    angle = turn[..., None] + xp.asarray(np.arange(scenario.count) * (2 * np.pi / scenario.count), dtype=robot.dtype)
    ring = xp.stack([xp.cos(angle), xp.sin(angle), angle * 0], -1) * scenario.ring_radius_m
    level = xp.asarray((0.0, 0.0, start.height_m), dtype=robot.dtype)
    centred = 2 * robot - 1
    pos = (_named(start.places_m, ring) if start.places_m else level + ring) + start.jitter_m * centred[..., 0:3]
    vel = start.speed_m_s * centred[..., 3:6]
    half_yaw = start.yaw_rad * centred[..., 6] / 2
    goal = _goals(scenario, team[..., 1], cells, (level, ring)) + scenario.goal.jitter_m * centred[..., 7:10]
    zero = pos[..., 0] * 0
    hidden = _draw_hidden(scenario, robot[..., 10:16], team[..., 2:5], zero)
    hover = zero + vehicle.body.mass_kg * GRAVITY_M_S2 / 4
    body = RigidVehicle(
        _parts(pos), (xp.cos(half_yaw), zero, zero, xp.sin(half_yaw)), _parts(vel), (zero,) * 3, (hover,) * 4
    )
    return still_world(scenario, body, hidden, goal, team)


def start_carrying(scenario: FlightScenario, robot: Array, team: Array, cells: Array) -> FlightWorld:
    """The start of a team that carries a load: above it, or as harsh as the scenario asks for."""
    load, goal = start_load(scenario, cells, robot)
    body, control, load = place_vehicles(scenario, load, robot)
    hidden = _draw_hidden(scenario, robot[..., 10:16], team[..., 2:5], body.pos[0] * 0)
    world = still_world(scenario, body, hidden, goal, team)
    return world._replace(control=control, load=load)


def still_world(
    scenario: FlightScenario, body: RigidVehicle, hidden: FlightParameters, goal: Array, team: Array
) -> FlightWorld:
    """A world in which nothing has been commanded, heard or reached yet; `goal` is [..., N, 3]."""
    xp, zero = namespace(goal), body.pos[0] * 0
    pos, vel = positions(body), velocities(body)
    measured = StateEstimates(pos, vel)
    mates = mates_of(scenario.count)
    nothing = xp.stack([zero + value for value in scenario.rest_command], -1)
    return FlightWorld(
        body=body,
        queue=(nothing,) * queue_length(scenario),
        hidden=hidden,
        gust_m_s=(zero,) * 3,
        measured=measured,
        sent=(Message(*measured),) * round(scenario.radio.latency_s / scenario.period_s),
        air=Air(pos[..., mates, :], vel[..., mates, :], pos[..., mates, 0] * 0),
        goal_m=goal,
        arrived_s=zero,
        closest_m=zero + scenario.start.min_spacing_m,
        step=(team[..., 0] * 0).astype(np.int32),
    )


def _draw_hidden(scenario: FlightScenario, robot: Array, team: Array, zero: Array) -> FlightParameters:
    xp, ranges, vehicle = namespace(robot), scenario.randomize, scenario.vehicle_config
    delay_s = between(ranges.delay_s, robot[..., 3])
    size, direction = between(ranges.wind_m_s, team[..., 0]), 2 * math.pi * team[..., 1]
    physics = Physics(
        mass_kg=vehicle.body.mass_kg * between(ranges.mass_scale, robot[..., 0]),
        thrust_scale=between(ranges.thrust_scale, robot[..., 1]),
        rotor_tau_s=vehicle.rotors.time_constant_s * between(ranges.rotor_tau_scale, robot[..., 2]),
    )
    return FlightParameters(
        physics=physics,
        delay_substeps=xp.round(delay_s / scenario.physics_dt_s).astype(np.int32),
        noise_scale=between(ranges.noise_scale, robot[..., 4]),
        packet_loss=between(ranges.packet_loss, robot[..., 5]),
        wind_m_s=(
            zero + (size * xp.cos(direction))[..., None],
            zero + (size * xp.sin(direction))[..., None],
            zero,
        ),
        gust_m_s=zero + between(ranges.gust_m_s, team[..., 2])[..., None],
    )


def _parts(vector: Array) -> Vec3:
    return vector[..., 0], vector[..., 1], vector[..., 2]


def _cells(scenario: FlightScenario) -> np.ndarray:
    """[M, 3] places on a square grid inside the ring, so far apart that jitter keeps goals separate."""
    spacing = scenario.goal.min_separation_m + 2 * math.sqrt(2) * scenario.goal.jitter_m
    reach = scenario.ring_radius_m
    steps = math.floor(reach / spacing)
    axis = np.arange(-steps, steps + 1) * spacing
    grid = np.stack(np.meshgrid(axis, axis, [0.0], indexing="ij"), -1).reshape(-1, 3)
    cells = grid[np.linalg.norm(grid, axis=-1) <= reach + 1e-9]
    if len(cells) < scenario.count:
        raise UserError(
            f"{scenario.name}.toml: goal.min_separation_m = {scenario.goal.min_separation_m:g} leaves room for "
            f"{len(cells)} goals, not {scenario.count}; make it smaller or start.ring_radius_m larger."
        )
    return cells


def _goals(scenario: FlightScenario, turn: Array, cells: Array, start: tuple[Array, Array]) -> Array:
    """[..., N, 3] where the robots are sent; `start` is the level and the ring that they start on."""
    level, ring = start
    if scenario.goal.kind == "places":
        return _named(scenario.goal.places_m, ring)
    return level + (-ring if scenario.goal.kind == "far_side" else _random_places(scenario, turn, cells))


def _named(places_m: tuple[Vector3, ...], like: Array) -> Array:
    """[..., N, 3] places of a scenario file."""
    return like * 0 + namespace(like).asarray(places_m, dtype=like.dtype)


def _random_places(scenario: FlightScenario, turn: Array, draws: Array) -> Array:
    """[..., N, 3] distinct grid places, the grid turned at random."""
    xp = namespace(draws)
    order = xp.argsort(draws, axis=-1)[..., : scenario.count]
    place = xp.asarray(_cells(scenario), dtype=draws.dtype)[order]
    c, s = xp.cos(2 * math.pi * turn)[..., None], xp.sin(2 * math.pi * turn)[..., None]
    x, y = place[..., 0], place[..., 1]
    return xp.stack([c * x - s * y, s * x + c * y, place[..., 2]], -1)
