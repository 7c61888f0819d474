"""The filter of every kind of vehicle: one result on all paths, named fallbacks, limits, nothing out of the plane."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.config import UserError, build, to_dict
from robomarl.core.filter.filter import Arena, Reason, SafetyFilter, SafetyParams, from_vehicle
from robomarl.core.filter.memory import UNKNOWN_M_S
from robomarl.core.filter.model.bodies import Obstacle, Strangers, Tail
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.view import LocalView
from robomarl.lab.jax_filter.filter import make_jax_filter
from tests.core.filter.test_filter import numbers
from tests.core.filter.views import PARAMS, pick, random_carry, random_views, spread_out

NUM = 120
ARENA = Arena((-3.0, -3.0, 0.1), (3.0, 3.0, 3.0))
OBSTACLES = (
    Obstacle("sphere", (0.8, 0.0, 1.5), radius_m=0.2),
    Obstacle("capsule", (-1.0, -1.0, 1.0), (-1.0, 1.0, 2.0), 0.1),
    Obstacle("box", (-0.2, 1.2, 0.0), (0.4, 1.5, 3.0)),
)
STRANGERS = Strangers(0.3, 0.6, 1.5, 0.03, 0.1, 0.4)
CLEAR = dataclasses.replace(PARAMS, safety=dataclasses.replace(PARAMS.safety, clearance_m=0.12))


class Seen(NamedTuple):
    """A task's sensors that see strangers."""

    strangers_mask: np.ndarray
    strangers_pos_m: np.ndarray
    strangers_vel_m_s: np.ndarray
    strangers_age_s: np.ndarray


VEHICLES = {
    "quadrotor": PARAMS,
    "quadrotor among obstacles": dataclasses.replace(CLEAR, obstacles=OBSTACLES),
    "quadrotor with a tail": dataclasses.replace(CLEAR, obstacles=OBSTACLES, tail=Tail((0.0, 0.1, -0.6), 0.3, 0.1)),
    "quadrotor among strangers": dataclasses.replace(CLEAR, strangers=STRANGERS),
    "quadrotor that evades": dataclasses.replace(CLEAR, strangers=dataclasses.replace(STRANGERS, answer="evade")),
    "omnidirectional": from_vehicle(load_any_vehicle("ssl_omni"), 0.02, ARENA),
    "differential": from_vehicle(load_any_vehicle("turtlebot3_burger"), 0.02, ARENA),
    "differential among all": dataclasses.replace(
        from_vehicle(load_any_vehicle("turtlebot3_burger"), 0.02, ARENA), obstacles=OBSTACLES, strangers=STRANGERS
    ),
}


def views_for(params: SafetyParams, random: np.random.Generator, num: int = NUM) -> LocalView:
    """Views of robots close together; attitudes and strangers where the vehicle reads them."""
    views = random_views(random, num)
    quat = random.normal(size=(num, 4))
    quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
    views = views._replace(own=views.own._replace(quat_wxyz=quat, omega_rad_s=random.normal(size=(num, 3))))
    if params.planar:
        for array in (views.own.vel_m_s, views.heard.vel_m_s):
            array *= params.limits.speed_m_s
    if params.strangers:
        pos = views.own.pos_m[:, None] + random.uniform(-1.5, 1.5, (num, 2, 3))
        ages = random.choice([0.0, 0.05, 0.2], (num, 2))
        views = views._replace(sensed=Seen(random.random((num, 2)) < 0.8, pos, random.normal(size=(num, 2, 3)), ages))
    return views


def carry_for(params: SafetyParams, random: np.random.Generator, num: int = NUM):
    """Memories; a vehicle in the plane has never been commanded out of it."""
    carry = random_carry(params, random, num)
    flat = (1.0, 1.0, 0.0) if params.planar else (1.0, 1.0, 1.0)
    bias = carry.bias
    parts = {name: getattr(bias, name) * flat for name in ("estimate_m_s2", "doubt_m_s2", "made_m_s", "unsure_m_s")}
    known = (bias.since_s > 0)[:, None]
    return carry._replace(bias=bias._replace(**parts, anchor_m_s=np.where(known, bias.anchor_m_s * flat, UNKNOWN_M_S)))


@pytest.mark.parametrize("mode", ["qp", "textbook", "off"])
@pytest.mark.parametrize("name", VEHICLES)
def test_one_robot_is_filtered_like_many(name: str, mode, random: np.random.Generator):
    params = VEHICLES[name]
    safety, views, carries = SafetyFilter(params, mode), views_for(params, random), carry_for(params, random)
    nominal = random.uniform(-4, 4, (NUM, 4))
    nominal[3, 1], views.own.pos_m[7, 0], views.own.vel_m_s[9] = np.nan, np.inf, np.nan
    views.own.quat_wxyz[10, 2], views.own.omega_rad_s[12, 2] = np.nan, np.inf
    if params.strangers:
        sensed: Any = views.sensed
        sensed.strangers_mask[[14, 16]] = True
        sensed.strangers_vel_m_s[14, 1], sensed.strangers_age_s[16, 0] = np.nan, 0.7
    together = safety(carries, views, nominal)
    for i in range(NUM):
        alone = safety(pick(carries, i), pick(views, i), nominal[i])
        np.testing.assert_allclose(numbers(alone), numbers(pick(together, i)), atol=1e-8, rtol=1e-9, err_msg=str(i))
    result = together[1]
    if params.look_ahead_m:
        assert (result.reason[[10, 12]] == Reason.NON_FINITE).all()
    if params.strangers:
        assert result.reason[14] == Reason.NON_FINITE
        assert mode != "qp" or result.reason[16] == Reason.STALE


@pytest.mark.parametrize("name", VEHICLES)
def test_commands_are_finite_within_the_limits_and_in_the_plane(name: str, random: np.random.Generator):
    params = VEHICLES[name]
    safety, views = SafetyFilter(params), views_for(params, random, 600)
    views.own.vel_m_s[:50] *= 20
    views.own.pos_m[50:100] += 4
    _, result = safety(carry_for(params, random, 600), views, random.uniform(-50, 50, (600, 4)))
    low, high = (np.array(v) for v in (params.limits.accel_min_m_s2, params.limits.accel_max_m_s2))
    assert (result.command[:, :3] >= low - 1e-9).all()
    assert (result.command[:, :3] <= high + 1e-9).all()
    assert (np.isfinite(result.slack) & (result.slack >= 0)).all()
    assert set(np.unique(result.reason)) <= {Reason.OK, Reason.INFEASIBLE}
    if params.planar:
        assert (result.command[:, 2] == 0).all()


@pytest.mark.parametrize("name", ["quadrotor that evades", "differential among all"])
def test_jax_gives_the_same_commands(name: str, random: np.random.Generator):
    params = VEHICLES[name]
    carry, views, nominal = carry_for(params, random), views_for(params, random), random.uniform(-2, 2, (NUM, 4))
    single = jax.tree.map(lambda x: np.asarray(x, np.float32) if x.dtype == float else x, (carry, views, nominal))
    double = jax.tree.map(lambda x: np.asarray(x, float) if x.dtype == np.float32 else x, single)
    _, expected = SafetyFilter(params)(*double)
    _, found = jax.jit(make_jax_filter(params).__call__)(*single)
    same = np.asarray(found.reason) == expected.reason
    assert same.mean() > 0.98
    np.testing.assert_allclose(np.asarray(found.command)[same], expected.command[same], atol=1e-3)


@pytest.mark.parametrize("name", VEHICLES)
def test_parameters_survive_a_bundle(name: str):
    params = VEHICLES[name]
    assert build(SafetyParams, to_dict(params), "bundle.json") == params


def test_the_stricter_of_two_keeps_clear_of_the_obstacles_and_strangers_of_both():
    ours = dataclasses.replace(CLEAR, obstacles=OBSTACLES[:2], strangers=STRANGERS)
    theirs = dataclasses.replace(
        CLEAR, obstacles=OBSTACLES[1:], strangers=dataclasses.replace(STRANGERS, separation_m=0.5, max_age_s=0.2)
    )
    for both in (ours.tighten(theirs), theirs.tighten(ours)):
        assert set(both.obstacles) == set(OBSTACLES)
        assert both.strangers == dataclasses.replace(STRANGERS, separation_m=0.5, max_age_s=0.2)
    assert PARAMS.tighten(ours).strangers == STRANGERS
    late = dataclasses.replace(ours, strangers=dataclasses.replace(STRANGERS, gain_per_s=8.0))
    assert PARAMS.tighten(late).strangers == late.strangers, "the vehicle's own gain is of its mates"
    for both in (ours.tighten(late), late.tighten(ours)):
        assert both.strangers == dataclasses.replace(STRANGERS, gain_per_s=CLEAR.safety.gain_per_s)
    with pytest.raises(ValueError, match="strangers.answer differs"):
        ours.tighten(VEHICLES["quadrotor that evades"])
    with pytest.raises(ValueError, match="planar differs"):
        PARAMS.tighten(VEHICLES["omnidirectional"])


def test_strangers_may_have_a_gain_of_their_own():
    plain = VEHICLES["quadrotor among strangers"]
    assert plain.strangers is not None
    late = constants_of(dataclasses.replace(plain, strangers=dataclasses.replace(plain.strangers, gain_per_s=8.0)))
    before = constants_of(plain)
    assert late.strangers is not None
    assert (late.strangers.slope_per_s, late.strangers.keep) == (16.0, pytest.approx(1 - 8.0 * plain.period_s))
    assert (late.mates, late.slope_per_s, late.keep) == (before.mates, before.slope_per_s, before.keep)
    with pytest.raises(ValueError, match="strangers.gain_per_s = 30 is too large"):
        dataclasses.replace(plain, strangers=dataclasses.replace(plain.strangers, gain_per_s=30.0))


def test_strangers_and_what_to_assume_of_them_belong_together(random: np.random.Generator):
    with_them = VEHICLES["quadrotor among strangers"]
    views = views_for(with_them, random, 5)
    nominal = np.zeros((5, 4))
    for safety in (SafetyFilter(PARAMS), make_jax_filter(PARAMS)):
        with pytest.raises(UserError, match="strangers is unset"):
            safety(safety.init((5,)), views, nominal)
    safety = SafetyFilter(with_them)
    with pytest.raises(UserError, match="the view does not sense any"):
        safety(safety.init(), pick(random_views(random, 1), 0), nominal[0])


def test_a_policy_may_ask_for_a_smaller_gain_but_not_for_a_larger(random: np.random.Generator):
    safety, views = SafetyFilter(PARAMS), spread_out(random_views(random, NUM), 3.0)
    carry, nominal = random_carry(PARAMS, random, NUM), random.uniform(-1, 1, (NUM, 4))
    owners = PARAMS.safety.gain_per_s
    plain = safety(carry, views, nominal)[1]
    for gain in (owners, 3 * owners):
        np.testing.assert_array_equal(safety(carry, views, nominal, np.full(NUM, gain))[1].command, plain.command)
    gains = random.uniform(0, owners, NUM)
    gains[0], gains[1] = np.nan, -1.0
    found = safety(carry, views, nominal, gains)[1]
    for i in range(NUM):
        alone = safety(pick(carry, i), pick(views, i), nominal[i], gains[i])[1]
        np.testing.assert_allclose(alone.command, found.command[i], atol=1e-8)
    assert found.reason[0] == Reason.NON_FINITE
    # Each row is at least as strict: who was stopped for good before is so now, and more have to turn away.
    assert np.logical_or(found.active, ~plain.active)[1:].all() and found.active.sum() > plain.active.sum()
    on_jax = make_jax_filter(PARAMS)
    jaxed = jax.jit(on_jax.__call__)(*jax.tree.map(jnp.asarray, (carry, views, nominal, gains)))[1]
    same = np.asarray(jaxed.reason) == found.reason
    assert same.mean() > 0.98
    np.testing.assert_allclose(np.asarray(jaxed.command)[same], found.command[same], atol=1e-3)
