"""The ball's flight and the blow of a racket, against numbers worked out by hand."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.domains.volleyball.lab.physics.ball import NEVER, FlyingBall, blow, fallen, struck
from robomarl.domains.volleyball.lab.physics.drone import Drone
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.lab.sim.scenario import load_scenario

G = 9.81
PLATE_M = 0.155
"""Height of the ball's middle over the vehicle's centre while it touches the racket: 0.055 + 0.1."""


@pytest.fixture(scope="module")
def scenario() -> VolleyScenario:
    return load_scenario("volley_bump", VolleyScenario)


def numbers(*values: float) -> Any:
    return tuple(np.array([value], float) for value in values)


def still(z: float = 0.0, vz: float = 0.0) -> Drone:
    zero = (0.0, 0.0)
    return Drone(numbers(*zero, z), numbers(1, 0, 0, 0), numbers(*zero, vz), numbers(0, 0, 0), numbers(0, 0, 0, 0))


def after_step(scenario: VolleyScenario, drone: Drone, ball: FlyingBall, restitution: float):
    """One sub-step with the drone in steady motion, by the code under test."""
    dt_s = scenario.physics_dt_s
    later = drone._replace(pos=tuple(p + dt_s * v for p, v in zip(drone.pos, drone.vel, strict=True)))
    free = fallen(ball, dt_s)
    wide = [FlyingBall(*(tuple(c[..., None] for c in part) for part in one)) for one in (ball, free)]
    each = [Drone(*(tuple(c[..., None] for c in part) for part in one)) for one in (drone, later)]
    made = blow(scenario, (each[0], each[1]), (wide[0], wide[1]), np.array([[restitution]]))
    return (*struck(scenario, each[1], free, made), made)


def test_a_ball_that_falls_for_half_a_second_follows_the_parabola():
    ball = fallen(FlyingBall(numbers(1, 2, 5), numbers(3, -4, 6)), 0.5)
    np.testing.assert_allclose(np.ravel(ball.pos), [2.5, 0.0, 5 + 3 - G / 8])
    np.testing.assert_allclose(np.ravel(ball.vel), [3, -4, 6 - G / 2])


def test_a_ball_bounces_at_the_time_of_its_impact(scenario: VolleyScenario):
    """It starts 1 cm over the racket at 5 m/s: it touches after 1.996 ms, and flies up for the remaining time."""
    speed, gap, restitution = 5.0, 0.01, 0.8
    ball = FlyingBall(numbers(0, 0, PLATE_M + gap), numbers(0, 0, -speed))
    drone, after, hit, made = after_step(scenario, still(), ball, restitution)
    at_s = (-speed + np.sqrt(speed**2 + 2 * G * gap)) / G
    assert hit.all()
    np.testing.assert_allclose(made.at_s, at_s, rtol=1e-6)
    incoming, mass = speed + G * at_s, 1 / (1 / 0.005 + 1 / 1.52)
    impulse = (1 + restitution) * incoming * mass
    left_s = scenario.physics_dt_s - at_s
    leaves = impulse / 0.005 - incoming
    np.testing.assert_allclose(after.vel[2], leaves - G * left_s, rtol=1e-6)
    np.testing.assert_allclose(after.pos[2], PLATE_M + leaves * left_s - G * left_s**2 / 2, rtol=1e-6)
    np.testing.assert_allclose(drone.vel[2], -impulse / 1.52, rtol=1e-6)


@pytest.mark.parametrize("aside", [(0.0, 0.0), (0.15, 0.0), (-0.07, 0.12)])
def test_a_blow_holds_the_momentum_and_the_restitution_also_off_the_middle(scenario: VolleyScenario, aside):
    restitution, drone = 0.7, still(vz=1.5)
    ball = FlyingBall(numbers(*aside, PLATE_M + 0.01), numbers(0.4, -0.3, -6.0))
    after_drone, after, hit, made = after_step(scenario, drone, ball, restitution)
    assert hit.all()
    gravity = np.array([0, 0, -G * scenario.physics_dt_s])
    before = 0.005 * (np.ravel(ball.vel) + gravity) + 1.52 * np.ravel(drone.vel)  # the drone is held against gravity
    now = 0.005 * np.ravel(after.vel) + 1.52 * np.ravel(after_drone.vel)
    np.testing.assert_allclose(now, before, rtol=1e-9, atol=1e-9)
    at_s, point = made.at_s.item(), np.ravel(made.point)
    plate = np.ravel(after_drone.vel) + np.cross(np.ravel(after_drone.omega), point)
    left = scenario.physics_dt_s - at_s
    parting = after.vel[2].item() + G * left - plate[2]
    meeting = ball.vel[2].item() - G * at_s - 1.5
    np.testing.assert_allclose(parting, -restitution * meeting, rtol=1e-6)
    turned = np.abs(np.ravel(after_drone.omega)[:2]).max()
    assert (turned < 1e-3) == (aside == (0.0, 0.0)), "it drifts by half a millimetre before it is hit in the middle"


def test_a_ball_beside_the_racket_or_going_up_is_not_hit(scenario: VolleyScenario):
    beside = FlyingBall(numbers(0.21, 0, PLATE_M + 0.01), numbers(0, 0, -5.0))
    upwards = FlyingBall(numbers(0, 0, PLATE_M + 0.001), numbers(0, 0, 5.0))
    for ball in (beside, upwards):
        drone, after, hit, made = after_step(scenario, still(), ball, 0.8)
        assert not hit.any() and (made.at_s == NEVER).all()
        np.testing.assert_allclose(np.ravel(after.pos), np.ravel(fallen(ball, scenario.physics_dt_s).pos))
        assert (np.ravel(drone.vel) == 0).all()


def test_jax_and_numpy_give_equal_blows(scenario: VolleyScenario):
    ball = FlyingBall(numbers(0.1, -0.05, PLATE_M + 0.01), numbers(0.5, 0.2, -5.0))
    mine = after_step(scenario, still(vz=0.5), ball, 0.75)
    theirs = after_step(
        scenario, Drone(*jax.tree.map(jnp.asarray, tuple(still(vz=0.5)))), jax.tree.map(jnp.asarray, ball), 0.75
    )
    for a, b in zip(jax.tree.leaves(mine), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-4)


def test_a_heavier_ball_pushes_the_drone_more(scenario: VolleyScenario):
    ball = FlyingBall(numbers(0, 0, PLATE_M + 0.01), numbers(0, 0, -5.0))
    heavy = dataclasses.replace(scenario, ball=dataclasses.replace(scenario.with_ball[1], mass_kg=0.05))
    light, more = (after_step(one, still(), ball, 0.8)[0].vel[2].item() for one in (scenario, heavy))
    assert more < 9 * light < 0
