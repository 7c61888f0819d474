"""Robots on the floor move as their wheels can."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from robomarl.core.geometry import norm, yaw_of
from robomarl.domains.ground.lab.controllers.waypoint import commanded_velocity, driving
from robomarl.domains.ground.lab.drive import driven, wheel_twist
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of


@pytest.fixture(scope="module")
def scenario() -> Any:
    return load_scenario("navigation")


@pytest.fixture
def omni(scenario: Any) -> Any:
    return dataclasses.replace(scenario, vehicle="ssl_omni")


def world_of(scenario: Any, seed: int = 0, speed: float = 0.0) -> Any:
    """Two teams, driving ahead."""
    world = simulation_of(scenario).batch(scenario, "fast", 2, seed).reset()
    yaw = yaw_of(world.quat_wxyz)
    velocity = speed * np.stack([np.cos(yaw), np.sin(yaw), 0 * yaw], -1)
    return world._replace(vel_m_s=velocity.astype(np.float32))


def drive(scenario: Any, world: Any, command: np.ndarray, most_m_s: float = 9.0) -> Any:
    return driven(scenario, world, command, world.pos_m[..., 0] * 0 + most_m_s)


def test_an_arc_is_the_limit_of_many_short_ones(scenario: Any):
    """A robot that turns and is commanded what keeps its twist goes on a circle."""
    world, turn = world_of(scenario, speed=0.08), 1.5
    world = world._replace(omega_rad_s=world.omega_rad_s + np.array([0, 0, turn], np.float32))
    ahead = scenario.vehicle_config.drive.look_ahead_m
    yaw = yaw_of(world.quat_wxyz)
    front, side = (np.stack([np.cos(a), np.sin(a), 0 * a, 0 * a], -1) for a in (yaw, yaw + np.pi / 2))
    keeps = 0.08 * turn * side - ahead * turn**2 * front
    after, angle, radius = drive(scenario, world, keeps), turn * scenario.period_s, 0.08 / turn
    along, across = radius * np.sin(angle), radius * (1 - np.cos(angle))
    np.testing.assert_allclose(after.pos_m - world.pos_m, (along * front + across * side)[..., :3], atol=2e-6)
    np.testing.assert_allclose(np.cos(yaw_of(after.quat_wxyz) - yaw), np.cos(angle), atol=1e-6)


def test_the_commanded_point_accelerates_as_commanded(scenario: Any):
    world, rng = world_of(scenario, speed=0.05), np.random.default_rng(0)
    command = np.zeros((2, 3, 4), np.float32)
    command[..., :2] = rng.uniform(-0.3, 0.3, (2, 3, 2))
    model = simulation_of(scenario).model

    def speed(now: Any) -> np.ndarray:
        return commanded_velocity(scenario, driving(model.views(scenario, now)))

    after = drive(scenario, world, command)
    np.testing.assert_allclose((speed(after) - speed(world)) / scenario.period_s, command[..., :2], atol=0.03)


@pytest.mark.parametrize("name", ["gritsbot", "ssl_omni"])
def test_nobody_is_faster_than_the_vehicle(scenario: Any, name: str):
    fast = dataclasses.replace(scenario, vehicle=name)
    vehicle, world = fast.vehicle_config, world_of(fast)
    command = np.zeros((2, 3, 4), np.float32)
    command[..., :2] = vehicle.limits.accel_max_m_s2[:2]
    for _ in range(60):
        most = world.pos_m[..., 0] * 0 + 9
        twist = wheel_twist(vehicle, fast.period_s, world, command, most) if name == "gritsbot" else None
        world = drive(fast, world, command, vehicle.limits.speed_m_s if twist is None else 9.0)
        if twist:
            wheels = np.abs(twist[0]) + np.abs(twist[1]) * vehicle.drive.track_m / 2
            assert wheels.max() <= vehicle.drive.wheel_speed_m_s + 1e-6
        else:
            assert norm(world.vel_m_s).max() <= vehicle.limits.speed_m_s + 1e-3
    assert norm(world.vel_m_s).min() > 0.1, "they do drive"


def test_a_slower_role_brakes_to_its_limit_and_stays_there(scenario: Any):
    world = world_of(scenario, speed=0.12)
    ahead = np.concatenate([world.vel_m_s * 3, world.vel_m_s[..., :1] * 0], -1)
    first = drive(scenario, world, ahead, 0.05)
    brake = scenario.vehicle_config.safety.brake_m_s2 * scenario.period_s
    assert norm(first.vel_m_s).min() >= 0.12 - brake - 1e-4, "no faster than it can"
    for _ in range(30):
        first = drive(scenario, first, ahead, 0.05)
    np.testing.assert_allclose(norm(first.vel_m_s), 0.05, atol=2e-3)


def test_an_omnidirectional_robot_goes_straight_while_it_turns(omni: Any):
    world = world_of(omni)
    command = np.zeros((2, 3, 4), np.float32)
    command[..., 0], command[..., 3] = 0.5, 2.0
    start = world
    for _ in range(30):
        world = drive(omni, world, command)
    way = world.pos_m - start.pos_m
    np.testing.assert_allclose(way[..., 0], 0.5 * 0.5 * (1 + 1 / 30), rtol=0.01)
    assert np.abs(way[..., 1]).max() < 1e-3
    assert np.abs(world.omega_rad_s[..., 2] - 2.0).max() < 1e-6


def test_a_command_is_in_force_one_decision_later(scenario: Any):
    sim = simulation_of(scenario).batch(scenario, "fast", 2, 0)
    before = sim.reset()
    command = np.full((2, 3, 4), 0.2, np.float32)
    first = sim.step(command)
    np.testing.assert_array_equal(first.pos_m, before.pos_m)
    assert norm(sim.step(command).pos_m - before.pos_m).min() > 0


@pytest.mark.parametrize("kind", ["scenario", "omni"])
def test_a_long_turn_ends_where_the_sum_of_its_arcs_does(kind: str, request: pytest.FixtureRequest):
    """A thousand decisions in single precision: the attitude stays one, and its heading is that of the sum."""
    scenario = request.getfixturevalue(kind)
    world = world_of(scenario)
    yaw = yaw_of(world.quat_wxyz).astype(float)
    for turn in np.random.default_rng(0).uniform(-1, 3, 1000):
        world = world._replace(omega_rad_s=world.omega_rad_s * 0 + np.array([0, 0, turn], np.float32))
        command = np.zeros((2, 3, 4), np.float32)
        command[..., 3] = turn
        if kind == "scenario":
            ahead, toward = scenario.vehicle_config.drive.look_ahead_m, np.stack([np.cos(yaw), np.sin(yaw)], -1)
            command[..., :2] = -ahead * turn**2 * toward  # keeps the twist
        world = drive(scenario, world, command)
        yaw += world.omega_rad_s[..., 2] * scenario.period_s
        world = world._replace(**{k: getattr(world, k).astype(np.float32) for k in ("pos_m", "vel_m_s", "quat_wxyz")})
    np.testing.assert_allclose(norm(world.quat_wxyz), 1.0, atol=1e-6)
    np.testing.assert_allclose(np.exp(1j * yaw_of(world.quat_wxyz)), np.exp(1j * yaw), atol=2e-4)
