"""The rules against deadlock in C: the same as in Python in every bit, whatever the traffic."""

import dataclasses

import numpy as np
import pytest

from robomarl.core.filter import kernel
from robomarl.core.filter.give_way import GiveWay, WayCarry
from robomarl.core.filter.params import SafetyParams
from robomarl.core.view import LocalView
from tests.core.filter.views import PARAMS, leaves, make_view, pick, random_views

pytestmark = pytest.mark.skipif(not kernel.usable(), reason="the C kernel is not built here")
KINDS = {
    "in an arena": PARAMS,
    "without one": dataclasses.replace(PARAMS, arena=None),
    "in the plane": dataclasses.replace(
        PARAMS,
        planar=True,
        look_ahead_m=0.1,
        limits=dataclasses.replace(
            PARAMS.limits,
            accel_min_m_s2=(*PARAMS.limits.accel_min_m_s2[:2], 0.0),
            accel_max_m_s2=(*PARAMS.limits.accel_max_m_s2[:2], 0.0),
        ),
    ),
}


def bits(numbers) -> bytes:
    return np.asarray(numbers, float).tobytes()


def same(one: WayCarry, other: WayCarry) -> bool:
    pairs = zip(leaves(one), leaves(other), strict=True)
    return all(name == like and bits(a) == bits(b) for (name, a), (like, b) in pairs)


def in_traffic(random: np.random.Generator, mates: int) -> LocalView:
    """One robot on a long way, its mates about its middle."""
    view = pick(random_views(random, 1, mates, mask_share=0.9), 0)
    own = view.own._replace(pos_m=random.uniform(-2, 2, 3), vel_m_s=random.normal(size=3) * random.choice([0.02, 0.5]))
    return view._replace(own=own, goal=view.goal._replace(pos_m=-own.pos_m + random.normal(size=3) * 0.5))


@pytest.mark.parametrize("mates", [0, 1, 3, 5, 7, 8, 19])
@pytest.mark.parametrize("params", KINDS.values(), ids=KINDS)
def test_all_of_a_flight_is_the_same_in_every_bit(params: SafetyParams, mates: int, random: np.random.Generator):
    in_c, in_python = GiveWay(params, "c"), GiveWay(params, "numpy")
    turned = led = 0
    for flight in range(12):
        view, kind = in_traffic(random, mates), np.float32 if flight % 2 else np.float64
        one, other = in_c.init(np.zeros(())), in_python.init(np.zeros(()))
        for _ in range(60):
            nominal = random.uniform(-2, 2, 4).astype(kind)
            one, found = in_c(one, view, nominal)
            other, wanted = in_python(other, view, nominal)
            assert bits(found) == bits(wanted)
            assert same(one, other)
            turned, led = turned + (one.detour_s > 0), led + (one.roundabout.known_s > 0)
            one, other = one._replace(active=True), other._replace(active=np.bool_(True))
            view = view._replace(own=view.own._replace(pos_m=view.own.pos_m + 0.02 * view.own.vel_m_s))
    assert turned
    assert bool(led) is (mates > 4)


def test_it_is_the_kernel_that_decides():
    rules, view = GiveWay(PARAMS, "c"), make_view((0, 0, 1), (1, 0, 0))
    assert type(rules(rules.init(np.zeros(())), view, np.zeros(4))[0].stuck_s) is float


@pytest.mark.parametrize(
    "spoil",
    [
        lambda view: view._replace(own=view.own._replace(pos_m=np.array([np.nan, 0, 1]))),
        lambda view: view._replace(goal=view.goal._replace(pos_m=np.zeros(3, np.float32))),
        lambda view: view._replace(heard=view.heard._replace(vel_m_s=np.zeros((2, 6))[:, ::2])),
    ],
    ids=["not a number", "single precision", "not in one piece"],
)
def test_what_is_not_as_in_flight_is_left_to_python(spoil):
    rules, python = GiveWay(PARAMS, "c"), GiveWay(PARAMS, "numpy")
    view = spoil(make_view((0, 0, 1), (1, 0, 0), [((1, 0, 1), (0, 0, 0)), ((0, 2, 1), (0, 0, 0))]))
    found, wanted = (r(r.init(np.zeros(())), view, np.ones(4)) for r in (rules, python))
    assert bits(found[1]) == bits(wanted[1])
    assert type(found[0].stuck_s) is not float


def test_what_an_error_in_numpy_says_comes_through(monkeypatch: pytest.MonkeyPatch):
    def broken(*_: float) -> float:
        raise ArithmeticError("no tangent")

    rules = GiveWay(PARAMS, "c")
    assert rules._kernel
    given = rules._kernel._with
    monkeypatch.setattr(rules._kernel, "_with", tuple(broken if part is np.tanh else part for part in given))
    view = make_view((0, 0, 1), (1, 0, 0), [((0.8, 0, 1.1), (-1, 0, 0))])._replace(
        goal=make_view((0, 0, 1), (0, 0, 0)).goal._replace(pos_m=np.array([3.0, 0, 1]))
    )
    with pytest.raises(ArithmeticError, match="no tangent"):
        rules(rules.init(np.zeros(())), view, np.ones(4))
