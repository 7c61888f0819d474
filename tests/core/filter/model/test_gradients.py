"""JAX gradients of the barriers against central differences: training goes through them."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.filter.model import barriers, pairs
from robomarl.core.filter.model.bodies import Obstacle, Strangers
from robomarl.core.filter.model.body_kinds import POINT, Kind, Shape
from robomarl.core.filter.model.constants import Constants, constants_of
from robomarl.core.filter.model.motion import Motion, Predicted
from robomarl.core.filter.model.pairs import Body
from tests.core.filter.views import PARAMS

STEP = 1e-6
NUM = 200
KNOWN = (0.1, -0.05, 0.4), (0.1, 0.1, 0.5), (1.0, -0.5, 0.3)
"""Bias, its doubt, last command."""
UNSURE = (0.03, 0.02, 0.05), (0.1, 0.05, 0.2)
"""Along each axis, of place and velocity."""


def constants() -> Constants:
    safety = dataclasses.replace(PARAMS.safety, clearance_m=0.15)
    obstacles = (
        Obstacle("sphere", (0.0, 0.0, 0.0), radius_m=0.2),
        Obstacle("capsule", (0.0, 0.0, 0.0), (0.4, -0.7, 0.5), 0.1),
        Obstacle("box", (-0.2, -0.3, -0.4), (0.3, 0.1, 0.5)),
    )
    strangers = Strangers(0.3, 0.8, 2, 0.02, 0.1, 1)
    return constants_of(dataclasses.replace(PARAMS, safety=safety, obstacles=obstacles, strangers=strangers))


C = constants()


def kinds() -> dict[str, tuple[Kind, Shape]]:
    assert C.strangers is not None
    evaded = C.strangers._replace(evade=True, brake_share=0.5, lost_share=1.0)
    moving = {"mate": C.mates, "stranger": C.strangers, "evaded": evaded}
    shapes = dict(zip(("sphere", "capsule", "box"), ((s.kind, s.shape) for s in C.solids), strict=True))
    return {name: (kind, POINT) for name, kind in moving.items()} | shapes


def agree(value: Callable, *points: np.ndarray) -> None:
    """Where differences of both sides agree: at a switch there is no derivative."""
    with jax.enable_x64(True):
        found = jax.grad(lambda *p: value(*p).sum(), tuple(range(len(points))))(*map(jnp.asarray, points))
        found = np.concatenate([np.asarray(g) for g in found])
        flat = np.concatenate(points)
        at = lambda x: np.asarray(value(*jnp.split(jnp.asarray(x), len(points))))  # noqa: E731
        middle, sides = at(flat), []
        for sign in (1, -1):
            steps = (flat + sign * STEP * np.eye(len(flat))[i][:, None] for i in range(len(flat)))
            sides.append(np.stack([(at(x) - middle) * sign / STEP for x in steps]))
    smooth = np.abs(sides[0] - sides[1]) < 1e-3 * (1 + np.abs(sides[0]))
    assert np.isfinite(found).all()
    assert smooth.mean() > 0.95
    np.testing.assert_allclose(found[smooth], (sides[0] + sides[1])[smooth] / 2, atol=1e-4, rtol=1e-4)
    assert np.abs(found).max() > 0.1


@pytest.mark.parametrize("time", [(0.0, 0.0, 0.0), (-0.02, 0.16, 0.0), (0.15, 0.33, C.spread_s)])
@pytest.mark.parametrize("name", kinds())
def test_of_pairs(name: str, time: tuple, random: np.random.Generator):
    kind, shape = kinds()[name]
    still = name in ("sphere", "capsule", "box")
    wait, since, early = (0.0, 0.0, 0.0) if still else time
    pos, vel, body_vel = random.uniform(-1.5, 1.5, (3, 3, NUM))
    pos += 0.6 * np.sign(pos)  # not in one place

    def value(pos: jax.Array, vel: jax.Array) -> jax.Array:
        own = Predicted(Motion(tuple(pos), tuple(vel)), *UNSURE, *KNOWN)
        moves = tuple(jnp.asarray(body_vel) * (0.0 if still else 1.0))
        zero = pos[0] * 0.0
        body = Body(Motion((zero + 0.1, zero, zero - 0.1), moves), zero + wait, zero + since, shape)
        body = body._replace(late_m=zero + 0.02, early_s=zero + early)
        return pairs.pair(C, kind, own, body, jnp).value

    agree(value, pos, vel)


def test_of_planes(random: np.random.Generator):
    def value(given: jax.Array) -> jax.Array:
        gap, speed, doubt = given
        unsure = 0.03 + doubt * C.horizon_s**2 / 2, 0.1 + doubt * C.horizon_s
        return barriers.plane(C, barriers.Toward(speed, 0.2, 1.0, *unsure, doubt), gap, jnp)[1]

    agree(value, random.uniform([[-0.3], [-1], [0]], [[4], [1], [1]], (3, NUM)))
