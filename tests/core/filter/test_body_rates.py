"""Commands of vehicles under a load: acceleration and body rates through a filter for accelerations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.core.filter.body_rates import WIDTH, BodyRatesFilter
from robomarl.core.filter.filter import Arena, SafetyFilter, from_vehicle
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.view import LocalView, blank_view

ARENA = Arena((-2.0, -2.0, 0.1), (2.0, 2.0, 3.0))
SAFETY = BodyRatesFilter(from_vehicle(load_vehicle("carrier_600"), 0.01, ARENA))


def drawn(random: np.random.Generator, batch: tuple[int, ...]) -> LocalView:
    """A robot somewhere in the arena that moves and hears nobody."""
    view = blank_view(0, batch=batch)
    pos = np.broadcast_to(random.uniform((-2, -2, 0.1), (2, 2, 3)), (*batch, 3))
    vel = np.broadcast_to(random.uniform(-1, 1, 3), (*batch, 3))
    return view._replace(own=view.own._replace(pos_m=pos, vel_m_s=vel))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31 - 1), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_one_robot_and_a_batch_get_the_same(seed: int, kind: type, broken: bool):
    nominal = np.random.default_rng(seed).uniform(-4, 4, WIDTH).astype(kind)
    if broken:
        nominal[seed % WIDTH] = np.nan  # wherever it is, it is a fault of the policy
    one = SAFETY(SAFETY.init(), drawn(np.random.default_rng(seed), ()), nominal)[1]
    many = SAFETY(SAFETY.init((2,)), drawn(np.random.default_rng(seed), (2,)), np.stack([nominal] * 2))[1]
    np.testing.assert_allclose(many.command[1], one.command, atol=1e-6)
    assert (bool(many.active[1]), int(many.reason[1])) == (bool(one.active), int(one.reason))
    assert np.isfinite(one.command).all()


def test_rates_go_with_the_acceleration_that_they_belong_to():
    """Unchanged in the middle of the arena; dropped as soon as another acceleration is sent."""
    view = blank_view(0)
    middle = view._replace(own=view.own._replace(pos_m=np.array([0.0, 0.0, 1.5])))
    nominal = np.array([0.5, -0.2, 0.1, 0.7, -0.6])
    free = SAFETY(SAFETY.init(), middle, nominal)[1]
    np.testing.assert_allclose(free.command, nominal, atol=1e-9)
    assert not free.active
    wall = view._replace(own=view.own._replace(pos_m=np.array([1.99, 0.0, 1.5]), vel_m_s=np.array([0.8, 0.0, 0.0])))
    held = SAFETY(SAFETY.init(), wall, nominal)[1]
    assert held.active
    assert held.command[0] < 0
    np.testing.assert_array_equal(held.command[3:], 0.0)


@pytest.mark.parametrize("wrong", [np.zeros(4), np.zeros((2, 6)), np.asarray(0.0)])
def test_commands_of_another_kind_are_refused(wrong: np.ndarray):
    with pytest.raises(ValueError, match=r"with body rates it must be \[..., 5\]"):
        SAFETY(SAFETY.init(), blank_view(0), wrong)
    with pytest.raises(ValueError, match=r"it must be \[..., 4\]"):
        SafetyFilter(SAFETY.params)(SAFETY.init(), blank_view(0), np.zeros(WIDTH))  # type: ignore[arg-type]
