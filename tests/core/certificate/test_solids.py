"""Obstacles: the bound of the rule beside distances that another program works out."""

import dataclasses

import numpy as np
import pytest

from benchmarks.filter.fallbacks.places import surface_m
from robomarl.core.certificate.course import CommittedCourse, places
from robomarl.core.certificate.figures import figures_of
from robomarl.core.certificate.solids import room_left
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.filter.params import from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle

OBSTACLES = (
    Obstacle("box", (-0.3, -0.5, -1.0), (0.3, 0.5, 1.0)),
    Obstacle("sphere", (0.0, 0.0, 0.0), radius_m=0.4),
    Obstacle("capsule", (0.0, 0.0, -1.0), (0.0, 0.0, 1.0), radius_m=0.15),
)
SEGMENTS, BRAKE = 15, 1.3


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda o: o.kind)
def test_the_bound_is_never_more_than_the_distance(obstacle: Obstacle):
    """Of two thousand courses beside and through the obstacle; it loses nothing at a flat side, little at a corner."""
    params = from_vehicle(load_any_vehicle("crazyflie_21"), 0.02)
    params = dataclasses.replace(params, obstacles=(obstacle,))
    figures = figures_of(params, 0.07)
    random, count = np.random.default_rng(0), 2000
    way = random.normal(size=(count, 3))
    vel = way / np.linalg.norm(way, axis=-1, keepdims=True) * random.uniform(0, 1.2, (count, 1))
    start = random.uniform(-1.2, 1.2, (count, 3))
    course = CommittedCourse(start, vel, np.zeros(count), np.full(count, BRAKE), np.full(count, 0.25))
    times, many = (np.broadcast_to(np.linspace(0, 1.0, n), (count, n)) for n in (SEGMENTS + 1, 1001))
    found = room_left(constants_of(figures.front), places(course, times, np)[:, None], np)[:, 0]
    kept = figures.front.safety.clearance_m
    smoothed = np.hypot.reduce(figures.accel_m_s2) * (16**2 - 1) * 0.02**2 / 24
    assert kept is not None and kept == pytest.approx(
        0.10 + 1.12 * np.hypot.reduce(figures.unlearned.half_m) + smoothed
    )
    true = surface_m(obstacle, places(course, many, np), False).min(-1) - kept
    bend = BRAKE * (1.0 / SEGMENTS) ** 2 / 8
    clear = true > -kept  # inside a body a distance is 0, and not negative
    assert (found[clear] <= true[clear] + bend + 1e-9).all()
    assert (found[~clear] < 0).all()
    assert (true - found)[clear].max() < 1.2 / SEGMENTS / 4 + bend and np.median((true - found)[clear]) < 1e-3
