"""The two engines, and JAX against numpy, on equal starts; errors that are planted are found."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.geometry import norm
from robomarl.domains.volleyball.lab.engines.mjcf import build_model, spring
from robomarl.domains.volleyball.lab.model import MODEL
from robomarl.domains.volleyball.lab.physics.drone import allocated, rotor_thrusts, wrench, wrench_matrix
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.world import drones_of
from robomarl.lab.sim.check import CheckConfig, check_engines
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of


@pytest.fixture(scope="module")
def scenario() -> VolleyScenario:
    return load_scenario("volley_bump", VolleyScenario)


@pytest.fixture(scope="module")
def pair() -> VolleyScenario:
    return load_scenario("volley_bump_pass", VolleyScenario)


@pytest.mark.parametrize("name", ["volley_bump", "volley_bump_pass", "volley_back_and_forth"])
def test_the_engines_agree_on_flight_and_bounce(name: str):
    figures = check_engines(load_scenario(name), CheckConfig(("fast", "mujoco"), 0.6))
    assert figures["passed"] is True, figures
    assert not figures["undeclared"]


def test_another_restitution_in_one_engine_is_found(scenario: VolleyScenario):
    config = CheckConfig(("fast", "mujoco"), 0.3)
    assert not check_engines(scenario, config, {"mujoco": 0.7})["passed"]


def test_another_mass_in_one_engine_is_found(scenario: VolleyScenario):
    """`mujoco` flies a vehicle that is 5 % heavier than the scenario of `fast`."""
    config = CheckConfig(("fast", "mujoco"), 0.6)
    sims = {sim: simulation_of(scenario).batch(scenario, sim, 2, 0) for sim in config.sims}
    for sim in sims.values():
        sim.reset()
    heavy: Any = sims["mujoco"]
    heavy._model.body_mass[1] *= 1.05
    heavy.set_world(sims["fast"].world)
    for _ in range(30):
        worlds = [sim.step(np.zeros((2, 1, 4))) for sim in sims.values()]
    assert norm(worlds[0].pos_m - worlds[1].pos_m).max() > 0.02


@pytest.mark.parametrize("restitution", [0.7, 0.8, 0.9])
def test_mujocos_ball_bounces_with_the_wanted_restitution(scenario: VolleyScenario, restitution: float):
    """Gravity acts for the 5 ms of a contact on a ball that `fast` turns about at once: 0.05 m/s."""
    made = dataclasses.replace(scenario.randomize, restitution=(restitution, restitution))
    certain = dataclasses.replace(scenario.with_ball[0], scatter=0.0)
    chosen, speeds = dataclasses.replace(scenario, randomize=made, racket=certain), []
    for sim in ("fast", "mujoco"):
        teams = simulation_of(scenario).batch(chosen, sim, 16, 0)
        world = teams.reset()
        above = 0.155 + np.linspace(0.1, 0.3, 16)
        place = world.pos_m[:, 0] + np.stack([0 * above, 0 * above, above], -1).astype(np.float32)
        own = world.own._replace(ball_pos_m=place, ball_vel_m_s=np.tile(np.array([0, 0, -5], np.float32), (16, 1)))
        upright = np.tile(np.array([1, 0, 0, 0], np.float32), (16, 1, 1))
        teams.set_world(world._replace(own=own, quat_wxyz=upright))
        speeds.append([teams.step(np.zeros((16, 1, 4))) for _ in range(8)][-1].own.ball_vel_m_s[:, 2])
    more = speeds[1] - speeds[0] - 9.81 * 0.005
    assert abs(more.mean()) < 0.01 * 5 and abs(more).max() < 0.025 * 5


def test_the_spring_of_a_contact_has_less_damping_for_a_bouncier_ball(scenario: VolleyScenario):
    (stiff, weak), (same, strong) = spring(scenario, 0.9), spring(scenario, 0.7)
    assert stiff == same < 0 and strong < weak < 0


def test_the_model_has_a_racket_for_each_drone_and_one_ball(pair: VolleyScenario):
    model = build_model(pair)
    assert (model.nq, model.nv, model.nu) == (2 * 7 + 3, 2 * 6 + 3, 8)
    np.testing.assert_allclose(model.body_mass[1:], [1.52, 1.52, 0.005])


def test_jax_and_numpy_move_the_world_alike(pair: VolleyScenario):
    sim = simulation_of(pair).batch(pair, "fast", 4, 1)
    world, random = sim.reset(), np.random.default_rng(0)
    advance = jax.jit(lambda *given: MODEL.advance(pair, *given))
    for _ in range(30):
        command = random.uniform(-2, 2, (4, 2, 4)).astype(np.float32)
        draws = random.random((4, 2, MODEL.num_draws), np.float32)
        theirs = advance(jax.tree.map(jnp.asarray, world), command, draws)
        world = MODEL.advance(pair, world, command, draws)
        for mine, other in zip(jax.tree.leaves(world), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_allclose(np.asarray(mine, float), np.asarray(other, float), atol=2e-3)


def test_the_rotors_make_the_wrench_that_they_are_asked_for(scenario: VolleyScenario):
    vehicle = scenario.vehicle_config
    wanted = (14.0, (0.05, -0.04, 0.01))
    thrusts = allocated(vehicle, np.array(wanted[0]), tuple(map(np.array, wanted[1])))
    throttle = tuple(np.sqrt(t / vehicle.rotors.max_thrust_n) for t in thrusts)
    lift, torque = wrench(vehicle, throttle)
    np.testing.assert_allclose([lift, *torque], [wanted[0], *wanted[1]], rtol=1e-9)
    assert wrench_matrix(vehicle).shape == (4, 4)


def test_saturated_rotors_keep_the_torque_and_give_up_thrust(scenario: VolleyScenario):
    vehicle = scenario.vehicle_config
    thrusts = allocated(vehicle, np.array(24.0), (np.array(0.5), np.array(0.0), np.array(0.0)))
    lift, roll, *_ = wrench_matrix(vehicle) @ np.array(thrusts)
    np.testing.assert_allclose(roll, 0.5, rtol=1e-9)
    assert lift < 24.0 and max(thrusts) <= vehicle.rotors.max_thrust_n + 1e-9


def test_a_hovering_drone_asks_for_its_weight(scenario: VolleyScenario):
    sim = simulation_of(scenario).batch(scenario, "fast", 1, 0)
    world = sim.reset()
    upright = world._replace(quat_wxyz=np.array([[[1, 0, 0, 0]]], np.float32))
    zero = np.zeros((1, 1))
    thrusts = rotor_thrusts(scenario.vehicle_config, drones_of(upright), (zero, zero, zero), zero)
    np.testing.assert_allclose(sum(thrusts), 1.52 * 9.81, rtol=1e-6)


def test_a_turn_about_the_vertical_takes_little_of_a_climb(scenario: VolleyScenario):
    """Without the limit of the yaw torque a turn of 3 rad/s would cost a third of the thrust."""
    sim = simulation_of(scenario).batch(scenario, "fast", 1, 0)
    world = sim.reset()
    turning = np.zeros((1, 1, 3), np.float32)
    turning[..., 2] = 3.0
    world = world._replace(quat_wxyz=np.array([[[1, 0, 0, 0]]], np.float32), omega_rad_s=turning)
    zero = np.zeros((1, 1))
    thrusts = rotor_thrusts(scenario.vehicle_config, drones_of(world), (zero, zero, zero + 4.0), zero)
    assert sum(thrusts) > 0.98 * 1.52 * (9.81 + 4.0)
