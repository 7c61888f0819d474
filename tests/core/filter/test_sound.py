"""Two that fly straight at each other, with all of the bias against them, stay apart: computed without the campaign."""

import dataclasses

import numpy as np
import pytest

from robomarl.core.filter.filter import SafetyFilter, SafetyParams
from robomarl.core.view import Plan
from tests.core.filter.views import PARAMS, make_view

CONTACT_M = 0.14
PERIOD_S = 0.02


def with_bias(bias: float) -> SafetyParams:
    safety = dataclasses.replace(PARAMS.safety, accel_bias_m_s2=bias, lift_bias_m_s2=None)
    return dataclasses.replace(PARAMS, safety=safety, arena=None)


def nearest(params: SafetyParams, bias: float, learned: bool, backend: str = "auto") -> float:
    """Least distance of two point masses, 4 m apart at first, that accelerate at each other as hard as they can."""
    safety, toward = SafetyFilter(params, backend=backend), np.array([1.0, -1.0])  # type: ignore[arg-type]
    carry = [safety.init(), safety.init()]
    if learned:
        known = [
            c.bias._replace(estimate_m_s2=np.array([s * bias, 0, 0]), doubt_m_s2=np.zeros(3))
            for c, s in zip(carry, toward, strict=True)
        ]
        carry = [c._replace(bias=b) for c, b in zip(carry, known, strict=True)]
    pos, vel = np.array([-2.0, 2.0]), np.zeros(2)
    queue = np.zeros((params.queue_length, 2))
    heard = [(pos.copy(), vel.copy(), [c.plan for c in carry])] * 2
    least = np.inf
    for _ in range(400):
        (then_pos, then_vel, plans), commands = heard[0], np.zeros(2)
        for i, j in ((0, 1), (1, 0)):
            mate = [(then_pos[j], 0.0, 1.5), (then_vel[j], 0.0, 0.0)]
            view = make_view((pos[i], 0, 1.5), (vel[i], 0, 0), [mate])
            if np.any(plans[j].pos_m):
                sent = Plan(*(np.asarray(part)[None] for part in plans[j]))
                view = view._replace(heard=view.heard._replace(plan=sent))
            carry[i], result = safety(carry[i], view, np.array([3.0 * toward[i], 0, 0, 0]))
            commands[i] = result.command[0]
        heard = [heard[1], (pos.copy(), vel.copy(), [c.plan for c in carry])]
        accel, queue = queue[0] + bias * toward, np.concatenate([queue[1:], commands[None]])
        pos, vel = pos + vel * PERIOD_S + accel * PERIOD_S**2 / 2, vel + accel * PERIOD_S
        least = min(least, pos[1] - pos[0])
    return least


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("bias", [0.7, 1.0])
def test_a_learned_bias_leaves_the_brakes(bias: float, backend: str):
    """Taken off after the clip, it costs nothing of the brake; before it, 0.7 used up almost half of it."""
    found = nearest(with_bias(bias), bias, learned=True, backend=backend)
    assert found > PARAMS.safety.separation_m > CONTACT_M
    assert found < 1.0, "they do come near"


@pytest.mark.parametrize("bias", [0.7, 1.0])
def test_a_bias_of_which_nothing_is_known_leaves_them_apart(bias: float):
    assert nearest(with_bias(bias), bias, learned=False) > PARAMS.safety.separation_m


def test_a_box_without_room_for_all_of_it_is_refused_with_the_sum():
    with pytest.raises(ValueError, match=r"along z, .* = 1.6 \+ 0.3 \+ 1.2 = 3.1; widen the box or lower the brake"):
        dataclasses.replace(PARAMS, safety=dataclasses.replace(PARAMS.safety, lift_bias_m_s2=1.2))
