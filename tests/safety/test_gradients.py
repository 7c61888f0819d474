"""Closed-form gradients of every barrier against central differences and against JAX."""

import dataclasses
from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from robomarl.safety import barriers, gradients
from robomarl.safety.barriers import Body
from robomarl.safety.bodies import Obstacle, Strangers
from robomarl.safety.constants import Constants, constants_of
from robomarl.safety.kinds import POINT, Kind, Shape
from robomarl.safety.motion import Floats, Motion, Predicted
from tests.safety.views import PARAMS

STEP = 1e-6
coordinate = st.floats(-1.5, 1.5)
vector = st.tuples(coordinate, coordinate, coordinate)
times = st.sampled_from([(0.0, 0.0), (-0.02, 0.2), (0.15, 0.3)])


@cache
def constants() -> Constants:
    safety = dataclasses.replace(PARAMS.safety, clearance_m=0.15)
    obstacles = (
        Obstacle("sphere", (0.0, 0.0, 0.0), radius_m=0.2),
        Obstacle("capsule", (0.0, 0.0, 0.0), (0.4, -0.7, 0.5), 0.1),
        Obstacle("box", (-0.2, -0.3, -0.4), (0.3, 0.1, 0.5)),
    )
    return constants_of(
        dataclasses.replace(PARAMS, safety=safety, obstacles=obstacles, strangers=Strangers(0.3, 0.8, 2, 0.02, 0.1, 1))
    )


def kinds() -> dict[str, tuple[Kind, Shape]]:
    c = constants()
    assert c.strangers is not None
    evaded = c.strangers._replace(evade=True, brake_share=0.5, lost_share=1.0)
    moving = {"mate": c.mates, "stranger": c.strangers, "evaded": evaded}
    shapes = dict(zip(("sphere", "capsule", "box"), ((s.kind, s.shape) for s in c.solids), strict=True))
    return {name: (kind, POINT) for name, kind in moving.items()} | shapes


NAMES = ("mate", "stranger", "evaded", "sphere", "capsule", "box")


def differences(value: Callable[..., float], *points: tuple) -> list[np.ndarray]:
    """Central differences by each vector."""
    found = []
    for which, point in enumerate(points):
        ends = []
        for axis in np.eye(3):
            pair = [[*points[:which], tuple(np.array(point) + s * STEP * axis), *points[which + 1 :]] for s in (1, -1)]
            ends.append((value(*pair[0]) - value(*pair[1])) / (2 * STEP))
        found.append(np.array(ends))
    return found


def agree(value: Callable[..., float], slope: tuple, *points: tuple) -> None:
    """The closed form with differences of two step sizes, where those agree: at a switch there is no derivative."""
    one = differences(value, *points)
    shifted = [tuple(np.array(p) + 3e-6) for p in points]
    two = differences(value, *shifted)
    for found, expected, beside in zip(slope, one, two, strict=True):
        assume(np.abs(expected - beside).max() < 1e-3 * (1 + np.abs(expected).max()))
        np.testing.assert_allclose(found, expected, atol=1e-4, rtol=1e-4)


@settings(max_examples=40)
@pytest.mark.parametrize("name", NAMES)
@given(vector, vector, vector, times)
def test_pairs_by_differences(name, pos, vel, body_vel, time):
    c, (kind, shape) = constants(), kinds()[name]
    still = name in ("sphere", "capsule", "box")
    wait, since = (0.0, 0.0) if still else time
    body = Body(Motion((0.1, 0.0, -0.1), (0.0,) * 3 if still else body_vel), wait, since, shape)

    def value(pos: tuple, vel: tuple) -> float:
        return barriers.pair(c, kind, Predicted(Motion(pos, vel), 0.03, 0.1), body, Floats).value

    assume(barriers.pair(c, kind, Predicted(Motion(pos, vel), 0.03, 0.1), body, Floats).gap_m > 0.02)
    agree(value, gradients.pair(c, kind, Predicted(Motion(pos, vel), 0.03, 0.1), body, Floats), pos, vel)


@settings(max_examples=40)
@pytest.mark.parametrize("name", NAMES)
@given(vector, vector, vector)
def test_textbook_pairs_by_differences(name, pos, vel, body_vel):
    c, (kind, shape) = constants(), kinds()[name]
    body = Body(Motion((0.1, 0.0, -0.1), body_vel), 0.0, 0.0, shape)

    def value(pos: tuple, vel: tuple) -> float:
        return barriers.pair_textbook(c, kind, Motion(pos, vel), body, Floats).value

    assume(barriers.pair_textbook(c, kind, Motion(pos, vel), body, Floats).gap_m > 0.02)
    agree(value, gradients.pair_textbook(c, kind, Motion(pos, vel), body, Floats), pos, vel)


@given(vector)
def test_speed_limit_by_differences(vel):
    assume(np.linalg.norm(vel) > 1e-2)
    c = constants()

    def value(vel: tuple) -> float:
        return barriers.speed_limit(c, Predicted(Motion((0, 0, 0), vel), 0.03, 0.1), Floats).value

    slope = gradients.speed_limit(Predicted(Motion((0, 0, 0), vel), 0.03, 0.1), Floats)
    agree(value, (slope.vel,), vel)
    np.testing.assert_array_equal(slope.pos, 0)


@given(st.floats(0.04, 4), st.floats(-1, 1))
def test_walls_by_differences(gap, speed):
    c, own = constants(), Predicted(Motion((0, 0, 0), (0, 0, 0)), 0.03, 0.1)
    assume(abs((gap - 0.03) * c.slope_per_s - c.brake_m_s2 / c.slope_per_s) > 1e-3)
    by_gap, by_speed = gradients.wall(c, own, gap, Floats)
    ends = [barriers.wall(c, own, gap + s * STEP, speed, Floats)[1] for s in (1, -1)]
    assert by_gap == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5)
    ends = [barriers.wall(c, own, gap, speed + s * STEP, Floats)[1] for s in (1, -1)]
    assert by_speed == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5)


@settings(max_examples=3)
@pytest.mark.parametrize("name", NAMES)
@given(st.integers(0, 10**6))
def test_jax_says_the_same(name, seed):
    """In double precision, many states at once."""
    random = np.random.default_rng(seed)
    c, (kind, shape) = constants(), kinds()[name]
    pos, vel, body_vel = random.uniform(-1.5, 1.5, (3, 3, 64))
    with jax.enable_x64(True):

        def value(pos: jax.Array, vel: jax.Array) -> jax.Array:
            body = Body(Motion((0.1, 0.0, -0.1), tuple(jnp.asarray(body_vel))), 0.1, 0.2, shape)
            own = Predicted(Motion(tuple(pos), tuple(vel)), 0.03, 0.1)
            return barriers.pair(c, kind, own, body, jnp).value.sum()

        expected = [np.asarray(g) for g in jax.grad(value, (0, 1))(jnp.asarray(pos), jnp.asarray(vel))]
    own = Predicted(Motion(tuple(pos), tuple(vel)), 0.03, 0.1)
    body = Body(Motion((0.1, 0.0, -0.1), tuple(body_vel)), 0.1, 0.2, shape)
    gap = barriers.pair(c, kind, own, body, np).gap_m
    for found, grad in zip(gradients.pair(c, kind, own, body, np), expected, strict=True):
        np.testing.assert_allclose(np.broadcast_to(found, (3, 64))[:, gap > 0], grad[:, gap > 0], atol=1e-9, rtol=1e-7)
