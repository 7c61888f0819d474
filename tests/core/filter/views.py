"""Parameters and views for the tests of the filter."""

import dataclasses
from typing import Any

import numpy as np

from robomarl.core.filter.memory import UNKNOWN_M_S, Bias, FilterCarry
from robomarl.core.filter.model.hold import NOWHERE_M
from robomarl.core.filter.params import Arena, SafetyParams, from_vehicle
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.view import Goal, Heard, LocalView, NothingSensed, Own, Plan

PARAMS = from_vehicle(load_vehicle("crazyflie_21"), 0.02, Arena((-3.0, -3.0, 0.1), (3.0, 3.0, 3.0)))
_ERRORS = ("position_error_m", "velocity_error_m_s", "accel_error_m_s2", "accel_bias_m_s2", "lift_bias_m_s2")
_NONE = dict.fromkeys(("delay_s", *_ERRORS), 0.0)
EXACT = dataclasses.replace(PARAMS, safety=dataclasses.replace(PARAMS.safety, **_NONE))
"""A vehicle without delay, noise and error: what is left are the bare formulas."""


def make_view(pos, vel, mates=(), age_s=0.02, own_age_s=0.0, mask=None) -> LocalView:
    """A view of one robot; `mates` are pairs of position and velocity, which send no plan."""
    mate_pos = np.array([m[0] for m in mates], float).reshape(-1, 3)
    mate_vel = np.array([m[1] for m in mates], float).reshape(-1, 3)
    heard = np.ones(len(mates), bool) if mask is None else np.asarray(mask)
    return LocalView(
        own=Own(np.array(pos, float), np.array([1.0, 0, 0, 0]), np.array(vel, float), np.zeros(3), np.array(own_age_s)),
        heard=Heard(heard, mate_pos, mate_vel, np.full(len(mates), age_s), Plan(mate_pos, mate_vel, mate_pos)),
        sensed=NothingSensed(),
        goal=Goal(np.zeros(3), np.array([1.0, 0, 0, 0])),
        role=np.array(0),
        time_s=np.array(0.0),
    )


def random_views(random: np.random.Generator, num: int, mates: int = 3, mask_share: float = 0.8) -> LocalView:
    """Views [num] of robots that are close together and fast; half of the mates send a plan."""
    where = np.array([0, 0, 1.5])
    pos, mate_pos = (random.uniform(-1, 1, (num, *shape, 3)) + where for shape in ((), (mates,)))
    vel, mate_vel = (random.normal(size=(num, *shape, 3)) * 0.5 for shape in ((), (mates,)))
    planned = random.random((num, mates, 1)) < 0.5
    plan_vel = mate_vel + random.uniform(-0.2, 0.2, mate_vel.shape)
    plan_pos = mate_pos + 0.14 * (mate_vel + plan_vel) / 2
    plan = Plan(np.where(planned, plan_pos, mate_pos), np.where(planned, plan_vel, mate_vel), mate_pos)
    unit, zero = np.zeros((num, 4)), np.zeros((num, 3))
    age_s = random.choice([0.0, 0.02, 0.04, 0.1, 0.3], (num, mates))
    return LocalView(
        own=Own(pos, unit, vel, zero, random.choice([0.0, 0.01], num)),
        heard=Heard(random.random((num, mates)) < mask_share, mate_pos, mate_vel, age_s, plan),
        sensed=NothingSensed(),
        goal=Goal(zero, unit),
        role=np.zeros(num, int),
        time_s=np.zeros(num),
    )


def spread_out(view: LocalView, factor: float | np.ndarray) -> LocalView:
    """Mates that many times as far away, plans with them."""
    away = (factor - 1) * (view.heard.pos_m - view.own.pos_m[:, None])
    plan = Plan(view.heard.plan.pos_m + away, view.heard.plan.vel_m_s, view.heard.plan.stop_m + away)
    return view._replace(heard=view.heard._replace(pos_m=view.heard.pos_m + away, plan=plan))


def random_carry(params: SafetyParams, random: np.random.Generator, num: int) -> FilterCarry:
    """Memories [num] in the middle of a flight."""
    low, high = (np.array(v) for v in (params.limits.accel_min_m_s2, params.limits.accel_max_m_s2))
    commands = np.zeros((num, params.queue_length, 4))
    commands[..., :3] = random.uniform(low, high, commands[..., :3].shape)
    some, bound = random.normal(size=(num, 3)), np.array(params.bias_m_s2)
    estimate, since = random.uniform(-bound, bound, (num, 3)), random.choice([0.0, 0.02, 0.4, 1.98], num)
    bias = Bias(
        estimate_m_s2=estimate,
        doubt_m_s2=random.uniform(0, 1, (num, 3)) * (bound - np.abs(estimate)),
        anchor_m_s=np.where(since[:, None] > 0, some, UNKNOWN_M_S),
        made_m_s=some * since[:, None],
        unsure_m_s=np.abs(some) * since[:, None],
        since_s=since,
        misfits=random.integers(0, 3, num),
    )
    stays = random.random((num, 1)) < 0.3
    place = np.where(stays, random.normal(size=(num, 3)), NOWHERE_M)
    return FilterCarry(commands, Plan(some, some, some), place, bias, random.integers(0, 9, num))


def pick(tree, index) -> Any:
    """Entry `index` of every array of nested tuples."""
    if isinstance(tree, tuple):
        parts = [pick(part, index) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    return tree[index]


def leaves(tree, prefix=""):
    """(name, array) of every array of nested tuples; names are dotted, of plain tuples the indices."""
    if isinstance(tree, tuple):
        for name, part in zip(getattr(tree, "_fields", map(str, range(len(tree)))), tree, strict=True):
            yield from leaves(part, f"{prefix}.{name}" if prefix else name)
    else:
        yield prefix, tree


def replace_leaf(tree, name, value) -> Any:
    """The nested NamedTuples with one array replaced, named with dots."""
    head, _, rest = name.partition(".")
    return tree._replace(**{head: replace_leaf(getattr(tree, head), rest, value) if rest else value})
