"""Ugly decisions, on which the filter's backends have to agree: what no flight ever looks like, all mixed together.

Positions that coincide or are a kilometre apart, on a grid so that rows are parallel; no velocity, or an absurd one;
ages below 0, at their limit and beyond; mates unheard (with or without rubbish in their rows), heard twice, with plans
that are none; gains near 0; memories of all kinds; and now and then a number that is none, or too large.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.view import Heard, LocalView, Own, Plan, blank_view

Params = Any
"""`SafetyParams`: the filter is imported where it is run."""
BAD = (np.nan, np.inf, -np.inf, 1e6, -1e6, 0.999e6, -1e300, 1e-300, -0.0)
SPOILT = 0.15
"""Share of the decisions in which one number is one of those."""


class Case(NamedTuple):
    """Arguments of a filter, for P robots."""

    carry: Any
    """`FilterCarry`."""
    view: LocalView
    nominal: np.ndarray
    gain_per_s: np.ndarray | None


class Seen(NamedTuple):
    """A task's sensors that see strangers."""

    strangers_mask: np.ndarray
    strangers_pos_m: np.ndarray
    strangers_vel_m_s: np.ndarray
    strangers_age_s: np.ndarray


def vehicles() -> dict[str, Params]:
    """Every kind of vehicle, surroundings and queue."""
    from robomarl.core.filter.filter import Arena, from_vehicle
    from robomarl.core.filter.model.bodies import Obstacle, Strangers, Tail

    arena, strangers = Arena((-3.0, -3.0, 0.1), (3.0, 3.0, 3.0)), Strangers(0.3, 0.6, 1.5, 0.03, 0.1, 0.4)
    obstacles = (
        Obstacle("sphere", (0.8, 0.0, 1.5), radius_m=0.2),
        Obstacle("capsule", (-1.0, -1.0, 1.0), (-1.0, 1.0, 2.0), 0.1),
        Obstacle("box", (-0.2, 1.2, 0.0), (0.4, 1.5, 3.0)),
    )

    def of(name: str, period_s: float = 0.02, mates: int = 0, **more: Any) -> Params:
        params = from_vehicle(load_any_vehicle(name), period_s, arena, mates)
        safety = dataclasses.replace(params.safety, clearance_m=params.safety.clearance_m or 0.12)
        return dataclasses.replace(params, safety=safety, **more)

    plain = of("crazyflie_21", 0.02, 2)
    none = dict.fromkeys(("delay_s", "position_error_m", "velocity_error_m_s", "accel_error_m_s2"), 0.0)
    evading = dataclasses.replace(strangers, answer="evade")
    tail = Tail((0.0, 0.1, -0.6), 0.3, 0.1)
    return {
        "quadrotor": plain,
        "quadrotor without an arena": dataclasses.replace(plain, arena=None),
        "quadrotor without delay": dataclasses.replace(plain, safety=dataclasses.replace(plain.safety, **none)),
        "quadrotor with a long queue": of("crazyflie_21", 0.005),
        "quadrotor among all": of("crazyflie_21", obstacles=obstacles, strangers=strangers, tail=tail),
        "quadrotor that evades": of("crazyflie_21", strangers=evading),
        "carrier": of("carrier_600", 0.01, 2),
        "omnidirectional": of("ssl_omni", 0.04, 1, strangers=strangers),
        "differential": of("turtlebot3_burger", 0.02, 1),
        "differential among all": of("turtlebot3_burger", obstacles=obstacles, strangers=strangers),
    }


def filter_of(params: Params, width: int, backend: Any) -> Any:
    """The filter for commands of so many elements."""
    from robomarl.core.filter.body_rates import WIDTH, BodyRatesFilter
    from robomarl.core.filter.filter import SafetyFilter

    return (BodyRatesFilter if width == WIDTH else SafetyFilter)(params, backend=backend)


def draw(params: Params, random: np.random.Generator, num: int, width: int = 4) -> Case:
    """Decisions of P robots; team-mates, strangers and the gain are drawn anew for each call.

    Args:
        params: of the filter.
        random: where it is drawn from.
        num: P.
        width: elements of a command.
    """
    view = _view(params, random, num)
    limits = np.max(np.abs((params.limits.accel_min_m_s2, params.limits.accel_max_m_s2)))
    safety = filter_of(params, width, "numpy")
    carry = safety.init((num,))
    for _ in range(int(random.integers(4))):
        carry, _ = safety(carry, view, random.uniform(-limits, limits, (num, width)))
    nominal = _scaled(random, (num, width), (0.0, 0.1, 3.0, 50.0, 1e5)).round(int(random.integers(12)))
    gain = None
    if random.random() < 0.7:
        gain = random.choice([0.0, 1e-12, 1e-3, 0.05, 0.7, params.safety.gain_per_s, 1e3, -1.0], num)
    case = Case(carry, view, nominal, gain)
    _spoil(random, [part for name, part in leaves(case) if not name.startswith("carry.plan")], num)
    return case


def _view(params: Params, random: np.random.Generator, num: int) -> LocalView:
    mates, view = int(random.integers(6)), blank_view(0, batch=(num,))
    pos = np.array([0.0, 0.0, 1.2]) + _scaled(random, (num, 3), (0.0, 1e-9, 1.0, 2.0, 2.0, 30.0))
    quat = random.normal(size=(num, 4))
    age = random.choice([0.0, 0.0, 0.01, -0.01, params.safety.delay_s, 0.3], num, p=[0.4, 0.2, 0.2, 0.1, 0.07, 0.03])
    own = Own(
        pos,
        quat / np.linalg.norm(quat, axis=-1, keepdims=True),
        _velocity(random, (num, 3)),
        _velocity(random, (num, 3)),
        age,
    )
    heard = _others(random, pos, mates, params.safety.max_age_s)
    if params.strangers:
        seen = _others(random, pos, int(random.integers(4)), params.strangers.max_age_s)
        view = view._replace(sensed=Seen(seen.mask, seen.pos_m, seen.vel_m_s, seen.age_s))
    return view._replace(own=own, heard=heard)


def _others(random: np.random.Generator, pos: np.ndarray, count: int, max_age_s: float) -> Heard:
    """[P, count] bodies around positions [P, 3]."""
    num, shape = len(pos), (len(pos), count, 3)
    there = pos[:, None] + _scaled(random, shape, (0.0, 1e-9, 0.05, 0.5, 1.0, 1.0, 100.0))
    grid = random.random(num) < 0.3
    there[grid] = np.round(there[grid] * 2) / 2
    vel, likely = _velocity(random, shape), random.choice([0.0, 0.5, 1.0, 1.0], (num, 1))
    age = random.choice([0.0, 0.02, -0.02, 0.1, max_age_s, 0.9 * max_age_s, -1e-9], shape[:2])
    old = random.random(shape[:2]) < 0.02
    age[old] = random.choice([1.01 * max_age_s, -3.0, 1e5], int(old.sum()))
    if count > 1:  # heard twice, in a tenth of the decisions
        twice = random.random(num) < 0.1
        for part in (there, vel, age):
            part[twice, 1] = part[twice, 0]
    plan_vel = vel + _scaled(random, shape, (0.0, 0.1, 0.1, 100.0))
    plan_pos = there + _scaled(random, shape, (0.0, 0.0, 0.05, 0.05, 1e4)) + 0.15 * vel
    same = random.random(shape[:2]) < 0.4
    plan_pos[same] = there[same]
    mask = random.random(shape[:2]) < likely
    # Rows of those who are not heard hold zeros, or rubbish that nobody may read.
    rubbish = random.choice([0.0, 0.0, np.nan, 1e9, 0.3], (num, 1))
    for part in (there, vel, plan_pos, plan_vel):
        part[~mask] = np.broadcast_to(rubbish[..., None], shape)[~mask]
    return Heard(mask, there, vel, age, Plan(plan_pos, plan_vel, plan_pos))


def _velocity(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return _scaled(random, shape, (0.0, 1e-9, 0.1, 0.5, 0.5, 1.5, 100.0))


def _scaled(random: np.random.Generator, shape: tuple[int, ...], scales: tuple[float, ...]) -> np.ndarray:
    """Normal numbers, of one of these sizes in each decision; some components are 0."""
    size = random.choice(scales, (shape[0], *[1] * (len(shape) - 1)))
    return random.normal(size=shape) * size * (random.random(shape) < 0.85)


def _spoil(random: np.random.Generator, parts: list[np.ndarray], num: int) -> None:
    """Put a bad number into some decisions."""
    parts = [part for part in parts if part.dtype == float and part.size]
    for i in np.flatnonzero(random.random(num) < SPOILT):
        part = parts[random.integers(len(parts))]
        row = part[i : i + 1].reshape(-1) if part.ndim > 1 else part[i : i + 1]
        row[random.integers(row.size)] = random.choice(BAD)


def leaves(tree: Any, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """(dotted name, array) of nested NamedTuples; what is None is left out."""
    if isinstance(tree, tuple):
        for field, part in zip(tree._fields, tree, strict=True):  # type: ignore[attr-defined]
            yield from leaves(part, f"{name}.{field}" if name else field)
    elif tree is not None:
        yield name, tree


def one_of(tree: Any, index: Any) -> Any:
    """Entry `index` of every array of nested tuples."""
    if isinstance(tree, tuple):
        return type(tree)(*(one_of(part, index) for part in tree))
    return None if tree is None else tree[index]
