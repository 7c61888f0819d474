"""The filter of vehicles that were thrown acts once they are upright, and not before."""

import numpy as np

from robomarl.core.filter.body_rates import BodyRatesFilter
from robomarl.core.view import LocalView, blank_view
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.model.upright_filter import FilterOnceUpright
from robomarl.lab.sim.scenario import load_scenario

UPRIGHT, ON_ITS_SIDE = (1.0, 0.0, 0.0, 0.0), (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)


def near_a_mate(quat: tuple[float, ...]) -> LocalView:
    """Two robots that hear each other 0.3 m apart; this is both of them, [2, ...]."""
    view = blank_view(2, batch=(2,))
    view.own.quat_wxyz[:] = quat
    view.own.pos_m[:] = [[0, 0, 5], [0.3, 0, 5]]
    view.heard.mask[:] = True
    far = [[0.0, 3.0, 5.0], [0.0, 3.0, 5.0]]
    for i, mate in enumerate(([0.3, 0, 5], [0.0, 0, 5])):
        view.heard.pos_m[i] = [mate, far[i]]
    for part in view.heard.plan:
        part[:] = view.heard.pos_m
    view.heard.plan.vel_m_s[:] = 0.0
    return view


def test_it_waits_until_the_vehicle_is_upright_for_a_while():
    params = safety_params(load_scenario("recover_3"))
    once_upright = FilterOnceUpright(BodyRatesFilter(params, "qp"), 0.01)
    toward = np.array([[3.0, 0, 0, 0, 0], [-3.0, 0, 0, 0, 0]])
    carry = once_upright.init((2,))
    for _ in range(40):
        carry, result = once_upright(carry, near_a_mate(ON_ITS_SIDE), toward)
        assert np.array_equal(result.command, toward)
        assert not result.active.any()
    passed = 0
    for _ in range(40):
        carry, result = once_upright(carry, near_a_mate(UPRIGHT), toward)
        passed += not result.active.any()
    assert 30 <= passed <= 31
    assert result.active.all()
    assert result.command[0, 0] < 1.0 and result.command[1, 0] > -1.0
    carry, result = once_upright(carry, near_a_mate(ON_ITS_SIDE), toward)
    assert result.active.all(), "once on, it stays on"
